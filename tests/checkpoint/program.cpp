// skel-checkpoint as users start it.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "catch.hpp"
#include "codes_support.hpp"
#include "observe_support.hpp"
#include "running.hpp"
#include "skel/checkpoint/cipher.hpp"

namespace {

auto checkpoint(std::string const& arguments) { return test::run_program(SKEL_CHECKPOINT, arguments, 50); }

// Eight directories and a file.
struct place {
  test::temporary_directory where;
  std::string directories, file = where.file("state.bin"), out = where.file("out");
  std::string data;

  place() {
    for (int i = 0; i < 8; ++i) {
      std::filesystem::create_directory(disk(i));
      directories += (i == 0 ? "" : ",") + disk(i);
    }
    auto const bytes = test::random_bytes(1000003, 1);
    data.assign(reinterpret_cast<char const*>(bytes.data()), bytes.size());
    std::ofstream(file, std::ios::binary) << data;
  }
  [[nodiscard]] std::string disk(int i) const { return where.file("disk" + std::to_string(i)); }
  [[nodiscard]] std::string shard(int i) const {
    return disk(i) + "/state.bin.1.00" + std::to_string(i) + ".shard";
  }
};

void flip_a_bit(std::string const& path, std::streamoff at) {
  std::fstream f(path, std::ios::binary | std::ios::in | std::ios::out);
  f.seekg(at);
  auto const c = static_cast<char>(f.get() ^ 4);
  f.seekp(at);
  f.put(c);
}

using test::contains;

}  // namespace

TEST_CASE("a file survives a wiped directory and a flipped bit, and is told of both") {
  place const p;
  auto const encode =
      checkpoint("encode --code ida:6,2 --to " + p.directories + " " + p.file + " --progress always");
  INFO(encode.text);
  REQUIRE(encode.code == 0);
  CHECK(contains(encode.text, "encode state.bin"));
  CHECK(contains(encode.text, "100 %"));
  CHECK(contains(encode.text, "state.bin, generation 1: 8 shards of 166.7 kB, 1 MB in "));
  auto verify = checkpoint("verify --from " + p.directories);
  CHECK(verify.code == 0);
  CHECK(verify.text == "state.bin, generation 1: ida:6,2: 8 of 8 shards, 2 more can be lost\n");

  std::filesystem::remove_all(p.disk(2));
  flip_a_bit(p.shard(4), 100000);
  auto const decode = checkpoint("decode --from " + p.directories + " -o " + p.out + " state.bin");
  INFO(decode.text);
  CHECK(decode.code == 0);
  CHECK(test::read_file(p.out) == p.data);
  CHECK(contains(decode.text, "skel-checkpoint: " + p.disk(2) + ": No such file or directory"));
  CHECK(contains(decode.text, "skel-checkpoint: " + p.shard(4) + ": block 2 of 3: its hash does not match"));
  verify = checkpoint("verify --from " + p.directories + " state.bin");
  CHECK(verify.code == 1);
  CHECK(contains(verify.text, "6 of 8 shards, 0 more can be lost"));

  std::filesystem::create_directory(p.disk(2));
  auto const repair = checkpoint("repair --from " + p.directories + " state.bin");
  INFO(repair.text);
  CHECK(repair.code == 0);
  CHECK(contains(repair.text, p.shard(2) + ": written anew"));
  CHECK(contains(repair.text, p.shard(4) + ": written anew"));
  CHECK(checkpoint("verify --quiet --from " + p.directories).text.empty());
}

TEST_CASE("the next generation takes the place of the one before when it is whole") {
  place const p;
  auto const encode = "encode --quiet --code parity:7 --to " + p.directories + " " + p.file;
  CHECK(checkpoint(encode).code == 0);
  std::ofstream(p.file, std::ios::binary) << "second";
  CHECK(checkpoint(encode + " --keep 2").code == 0);
  CHECK(checkpoint("list --from " + p.directories).text ==
        "state.bin, generation 2: 6 B, parity:7, 8 of 8 shards, 1 more can be lost\n"
        "state.bin, generation 1: 1 MB, parity:7, 8 of 8 shards, 1 more can be lost\n");
  for (int const i : {0, 1})
    std::filesystem::remove(p.disk(i) + "/state.bin.2.00" + std::to_string(i) + ".shard");
  auto const decode = checkpoint("decode --from " + p.directories + " -o " + p.out + " state.bin");
  INFO(decode.text);
  CHECK(decode.code == 0);  // the one before
  CHECK(contains(decode.text, "state.bin, generation 2: 6 of 8 shards can be read, 7 are needed"));
  CHECK(test::read_file(p.out) == p.data);
  auto const second =
      checkpoint("decode --from " + p.directories + " -o " + p.out + " state.bin --generation 2");
  CHECK(second.code == 1);
  CHECK(contains(second.text, "state.bin: no generation can be given back"));
  CHECK(test::read_file(p.out) == p.data);  // untouched
  CHECK(checkpoint(encode).code == 0);
  CHECK(contains(checkpoint("list --from " + p.directories).text, "state.bin, generation 3: 6 B"));
  CHECK_FALSE(contains(checkpoint("list --from " + p.directories).text, "generation 1"));
}

TEST_CASE("mistakes are one line and exit code 2") {
  place const p;
  auto const check = [](std::string const& arguments, std::string const& text, int code = 2) {
    auto const r = checkpoint(arguments);
    INFO(r.text);
    CHECK(r.code == code);
    CHECK(contains(r.text, "skel-checkpoint: " + text));
    CHECK(std::count(r.text.begin(), r.text.end(), '\n') == 1);
  };
  check("encode --code raid:5 --to " + p.directories + " " + p.file,
        "unknown code \"raid:5\"; known: replicate:COPIES");
  check("encode --code ida:6,3 --to " + p.directories + " " + p.file,
        "ida:6,3 makes 9 shards, one for each directory");
  check("encode --code ida:6,2 --to " + p.directories + " nothing-here",
        "nothing-here: No such file or directory");
  check("encode --code ida:6,2 --to " + p.directories + " " + p.disk(0), p.disk(0) + ": Is a directory");
  check("encode --code ida:1,1 --to " + p.disk(0) + ",/nowhere " + p.file,
        "/nowhere/.state.bin.1.001.shard.writing: No such", 1);
  check("decode --from " + p.directories + " -o " + p.out + " state.bin",
        p.directories + ": no shards of \"state.bin\"");
  check("decode --from " + p.directories + " state.bin", "--output is required");
  check("decode --from " + p.directories + " -o /nowhere/out state.bin",
        "/nowhere/out: No such file or directory");
  check("decode", "");
  check("encode --code ida:6,2 --key-file " + p.file + " --to " + p.directories + " " + p.file,
        skel::storage::can_seal() ? p.file + ": a key is 32 bytes or 64 hexadecimal digits"
                                  : "--key-file: this skel was built");
  CHECK(checkpoint("--version").code == 0);
  CHECK(checkpoint("").code == 2);
}
