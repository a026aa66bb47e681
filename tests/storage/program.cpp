// Runs skel-checkpoint as a user does.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "catch.hpp"
#include "codes_support.hpp"
#include "observe/support.hpp"
#include "outcome.hpp"
#include "skel/storage/repository.hpp"
#include "storage/cipher.hpp"
#include "storage/claim.hpp"

namespace {

auto checkpoint(std::string const& arguments) { return test::run_program(SKEL_CHECKPOINT, arguments, 50); }

// Eight directories and a file.
struct eight_disks {
  test::temporary_directory where;
  std::string directories, file = where.file("state.bin"), out = where.file("out");
  std::string data;

  eight_disks() {
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

using test::contains, test::success;

}  // namespace

TEST_CASE("a file survives a wiped directory and a flipped bit, and both are reported") {
  eight_disks const p;
  auto const encode = success(
      checkpoint("encode --code ida:6,2 --store " + p.directories + " " + p.file + " --progress always"));
  CHECK(contains(encode, "encode state.bin"));
  CHECK(contains(encode, "100 %"));
  CHECK(contains(encode, "state.bin, generation 1: 8 shards of 166.7 kB, 1 MB in "));
  auto verify = checkpoint("verify --from " + p.directories);
  CHECK(verify.code == 0);
  CHECK(verify.text == "state.bin, generation 1: ida:6,2: 8 of 8 shards, 2 more can be lost\n");

  std::filesystem::remove_all(p.disk(2));
  flip_a_bit(p.shard(4), 100000);
  auto const decode = success(checkpoint("decode --store " + p.directories + " -o " + p.out + " state.bin"));
  CHECK(test::read_file(p.out) == p.data);
  CHECK(contains(decode, "skel-checkpoint: " + p.disk(2) + ": No such file or directory"));
  CHECK(contains(decode, "skel-checkpoint: " + p.shard(4) + ": block 2 of 3: hash does not match"));
  verify = checkpoint("verify --from " + p.directories + " state.bin");
  CHECK(verify.code == 1);
  CHECK(contains(verify.text, "6 of 8 shards, 0 more can be lost"));

  std::filesystem::create_directory(p.disk(2));
  auto const repair = success(checkpoint("repair --from " + p.directories + " state.bin"));
  CHECK(contains(repair, p.shard(2) + ": rewritten"));
  CHECK(contains(repair, p.shard(4) + ": rewritten"));
  CHECK(checkpoint("verify --quiet --from " + p.directories).text.empty());
}

TEST_CASE("a generation replaces the previous one once it is whole") {
  eight_disks const p;
  auto const encode = "encode --quiet --code parity:7 --to " + p.directories + " " + p.file;
  CHECK(checkpoint(encode).code == 0);
  std::ofstream(p.file, std::ios::binary) << "second";
  CHECK(checkpoint(encode + " --keep 2").code == 0);
  CHECK(checkpoint("list --from " + p.directories).text ==
        "state.bin, generation 2: 6 B, parity:7, 8 of 8 shards, 1 more can be lost\n"
        "state.bin, generation 1: 1 MB, parity:7, 8 of 8 shards, 1 more can be lost\n");
  for (int const i : {0, 1})
    std::filesystem::remove(p.disk(i) + "/state.bin.2.00" + std::to_string(i) + ".shard");
  auto const decode = success(checkpoint("decode --store " + p.directories + " -o " + p.out + " state.bin"));
  CHECK(contains(decode, "state.bin, generation 2: 6 of 8 shards are readable, 7 needed"));
  CHECK(test::read_file(p.out) == p.data);
  auto const second =
      checkpoint("decode --from " + p.directories + " -o " + p.out + " state.bin --generation 2");
  CHECK(second.code == 1);
  CHECK(contains(second.text, "state.bin: no generation can be restored"));
  CHECK(test::read_file(p.out) == p.data);  // untouched
  CHECK(checkpoint(encode).code == 0);
  CHECK(contains(checkpoint("list --from " + p.directories).text, "state.bin, generation 3: 6 B"));
  CHECK_FALSE(contains(checkpoint("list --from " + p.directories).text, "generation 1"));
}

namespace {

// The eight disks hold an object; the directories "more" hold another one of the same name and
// generation.
struct two_writers : eight_disks {
  std::string more, ids[2];
  two_writers() {
    checkpoint("encode --quiet --code ida:6,2 --to " + directories + " " + file);
    std::ofstream(file, std::ios::binary) << "of another writer";
    for (int i = 0; i < 3; ++i) {
      auto const directory = where.file("more" + std::to_string(i));
      std::filesystem::create_directory(directory);
      more += (i == 0 ? "" : ",") + directory;
    }
    checkpoint("encode --quiet --code ida:2,1 --to " + more + " " + file);
    auto const list = checkpoint("list --from " + all()).text;
    std::size_t at = 0;
    for (auto& id : ids) {
      at = list.find(", object ", at) + 9;
      id = list.substr(at, 16);
    }
  }
  [[nodiscard]] std::string all() const { return directories + "," + more; }
};

}  // namespace

TEST_CASE("two objects of one name and generation are listed, and one must be selected") {
  two_writers const p;
  auto const list = checkpoint("list --from " + p.all()).text;
  CHECK(list == "state.bin, generation 1: 1 MB, ida:6,2, 8 of 8 shards, 2 more can be lost, object " +
                    p.ids[0] + " in " + p.directories +
                    "\nstate.bin, generation 1: 17 B, ida:2,1, 3 of 3 shards, 1 more can be lost, object " +
                    p.ids[1] + " in " + p.more + "\n");
  auto const refusal = "skel-checkpoint: state.bin, generation 1 exists more than once, as objects " +
                       p.ids[0] + " and " + p.ids[1] + ": select one with --object\n";
  auto const decode = "decode --quiet --from " + p.all() + " -o " + p.out + " state.bin";
  auto const r = checkpoint(decode);
  CHECK(r.code == 2);
  CHECK(r.text == refusal);
  CHECK_FALSE(std::filesystem::exists(p.out));
  CHECK(checkpoint(decode + " --object " + p.ids[0]).code == 0);
  CHECK(test::read_file(p.out) == p.data);
  CHECK(checkpoint(decode + " --object " + p.ids[1].substr(0, 8)).code == 0);
  CHECK(test::read_file(p.out) == "of another writer");
  CHECK(checkpoint(decode + " --object xyz").code == 2);
  auto const verify = checkpoint("verify --from " + p.all());
  CHECK(verify.code == 1);
  CHECK(contains(verify.text, "state.bin, generation 1 exists more than once, as objects"));
  for (auto const& id : p.ids) CHECK(contains(verify.text, " more can be lost, object " + id + "\n"));
  CHECK(checkpoint("repair --from " + p.all() + " state.bin").text == refusal);
  // The remains of a dead writer are not ambiguous.
  for (int i = 0; i < 2; ++i)
    std::filesystem::remove(p.where.file("more" + std::to_string(i)) + "/state.bin.1.00" + std::to_string(i) +
                            ".shard");
  auto const given = checkpoint(decode);
  CHECK(given.code == 0);
  CHECK(given.text == "skel-checkpoint: state.bin, generation 1: object " + p.ids[1] +
                          ", written by another run, is lost: 1 of its 3 shards found; object " + p.ids[0] +
                          " is restored\n");
  CHECK(test::read_file(p.out) == p.data);
}

TEST_CASE("verify fails without shards, and list without directories") {
  eight_disks const p;
  for (std::string const quiet : {"", "--quiet "}) {
    auto const verify = checkpoint("verify " + quiet + "--from " + p.directories);
    CHECK(verify.code == 1);
    CHECK(verify.text == "skel-checkpoint: " + p.directories + ": no shards found\n");
  }
  auto const missing = p.where.file("missing");
  CHECK(checkpoint("verify --from " + missing).code == 1);
  auto const list = checkpoint("list --from " + missing + "," + missing);
  CHECK(list.code == 2);
  CHECK(contains(list.text, missing + ": No such file or directory"));
  CHECK(std::ranges::count(list.text, '\n') == 1);
  CHECK(checkpoint("list --from " + missing + "," + p.directories).code == 0);
  CHECK(checkpoint("list --from " + p.directories).text.empty());
}

TEST_CASE("after repair, verify finds nothing that repair did not report") {
  eight_disks const p;
  REQUIRE(checkpoint("encode --quiet --code ida:6,2 --to " + p.directories + " " + p.file).code == 0);
  auto const repair = "repair --from " + p.directories + " state.bin";
  auto const verify = "verify --quiet --from " + p.directories;
  auto const beside = p.disk(4) + "/state.bin.1.001.shard";
  test::write_file(beside, "no shard");
  std::filesystem::rename(p.shard(2), p.disk(3) + "/moved.shard");
  test::write_file(p.shard(2), "nor is this");
  CHECK(checkpoint(verify).code == 1);
  auto const removed = success(checkpoint(repair));
  CHECK(contains(removed, beside + ": removed\n"));
  CHECK_FALSE(std::filesystem::exists(beside));
  CHECK(checkpoint(verify).code == 0);

  REQUIRE(::mkfifo(beside.c_str(), 0666) == 0);  // like a file without permission, even for root
  auto const left = checkpoint(repair);
  CHECK(left.code == 1);
  CHECK(contains(left.text, beside + ": cannot be read and was kept: make it readable or remove it"));
  CHECK(std::filesystem::exists(beside));
  CHECK(checkpoint(verify).code == 1);
  std::filesystem::remove(beside);
  CHECK(checkpoint(repair).code == 0);
  CHECK(checkpoint(verify).code == 0);
}

TEST_CASE("an unreadable shard stays if it may belong to another writer") {
  two_writers const p;
  test::write_file(p.where.file("more0") + "/state.bin.1.000.shard", "no shard");
  auto const repair = "repair --from " + p.all() + " state.bin --object ";
  CHECK(checkpoint(repair + p.ids[0]).code == 1);
  CHECK(std::filesystem::exists(p.where.file("more0") + "/state.bin.1.000.shard"));
  CHECK(checkpoint("repair --from " + p.more + " state.bin").code == 0);  // rewrites it
}

TEST_CASE("repair removes second copies and the shards of a dead writer") {
  two_writers const p;
  for (int i = 0; i < 2; ++i)
    std::filesystem::remove(p.where.file("more" + std::to_string(i)) + "/state.bin.1.00" + std::to_string(i) +
                            ".shard");
  std::filesystem::copy_file(p.shard(0), p.disk(1) + "/copy.shard");
  CHECK(checkpoint("verify --quiet --from " + p.all()).code == 1);
  auto const repair = success(checkpoint("repair --from " + p.all() + " state.bin"));
  CHECK(contains(repair, p.disk(1) + "/copy.shard: removed\n"));
  CHECK(contains(repair, "/state.bin.1.002.shard: removed\n"));
  auto const verify = checkpoint("verify --from " + p.all());
  CHECK(verify.code == 0);
  CHECK(verify.text == "state.bin, generation 1: ida:6,2: 8 of 8 shards, 2 more can be lost\n");
}

TEST_CASE("a directory with two names does not count as a second copy") {
  eight_disks const p;
  REQUIRE(checkpoint("encode --quiet --code ida:6,2 --to " + p.directories + " " + p.file).code == 0);
  auto const link = p.where.file("link");
  std::filesystem::create_directory_symlink(p.disk(0), link);
  auto const repair = checkpoint("repair --from " + p.directories + "," + link + " state.bin");
  CHECK(repair.code == 2);
  CHECK(contains(repair.text, link + ": given twice, expected different directories"));
  std::filesystem::create_hard_link(p.shard(1), p.disk(2) + "/link.shard");
  auto const linked = checkpoint("repair --from " + p.directories + " state.bin");
  CHECK(linked.code == 2);
  CHECK(contains(linked.text, "same file as"));
  CHECK(std::filesystem::exists(p.shard(1)));
}

TEST_CASE("usage errors give one line and exit code 2") {
  eight_disks const p;
  auto const check = [](std::string const& arguments, std::string const& text) {
    INFO(text);
    CHECK(test::refusal(checkpoint(arguments)).starts_with(text));
  };
  check("encode --code raid:5 --to " + p.directories + " " + p.file,
        "unknown code \"raid:5\"; known: replicate:COPIES");
  check("encode --code ida:6,3 --to " + p.directories + " " + p.file,
        "ida:6,3 makes 9 shards, expected one directory each");
  check("encode --code ida:6,2 --to " + p.directories + " nothing-here",
        "nothing-here: No such file or directory");
  check("encode --code ida:6,2 --to " + p.directories + " " + p.disk(0), p.disk(0) + ": Is a directory");
  check("encode --code ida:1,1 --to " + p.disk(0) + ",/nowhere " + p.file,
        "/nowhere: No such file or directory");
  check("decode --from " + p.directories + " -o " + p.out + " state.bin",
        p.directories + ": no shards of \"state.bin\"");
  check("decode --from " + p.directories + " state.bin", "--output is required");
  check("decode --from " + p.directories + " -o /nowhere/out state.bin",
        "/nowhere/out: No such file or directory");
  check("decode", "");
  check("encode --code ida:6,2 --key-file " + p.file + " --to " + p.directories + " " + p.file,
        "--key-file: " + p.file +
            (skel::storage::can_seal() ? ": not a key, expected 32 bytes or 64 hexadecimal digits"
                                       : ": this skel was built without libsodium"));
  CHECK(checkpoint("--version").code == 0);
  CHECK(checkpoint("").code == 2);
}

namespace {

// Eight directories with two generations of four parts.
struct program_store : eight_disks {
  skel::storage::repository_options options;
  program_store() {
    options.code = skel::storage::code("ida:6,2");
    options.identity = {"skel-test", "1.0", 5};
    for (int i = 0; i < 8; ++i) options.places.push_back({disk(i), "", false});
    for (std::uint64_t g = 1; g <= 2; ++g) {
      skel::storage::repository const store(options);
      auto const plan = store.next(4);
      for (std::uint32_t p = 0; p < 4; ++p)
        store.prepare(plan, p, "rank-" + std::to_string(p), test::random_bytes(250000, 10 * g + p));
      store.commit(plan);
      store.remove_old(plan);
    }
  }
  [[nodiscard]] std::string path(int disk_number, std::uint64_t generation, int part, int index) const {
    return disk(disk_number) + "/rank-" + std::to_string(part) + "." + std::to_string(generation) + "." +
           std::to_string(part) + "-of-4.00" + std::to_string(index) + ".shard";
  }
};

}  // namespace

TEST_CASE("the checkpoints of a program are listed, verified and repaired by generation") {
  program_store const p;
  auto const whole = [](int g) {
    return "skel-test 1.0, generation " + std::to_string(g) + ": 4 parts, 1 MB, ida:6,2: whole\n";
  };
  CHECK(checkpoint("list --from " + p.directories).text == whole(2) + whole(1));
  auto verify = checkpoint("verify --from " + p.directories + " --progress always");
  CHECK(verify.code == 0);
  CHECK(contains(verify.text, "verify skel-test 1.0, generation 2"));
  CHECK(contains(verify.text, "100 %"));

  // Part p begins at disk p: disk 2 holds shard 2 of part 0, 1 of part 1, 0 of part 2, 7 of part 3.
  std::filesystem::remove_all(p.disk(2));
  flip_a_bit(p.path(5, 2, 0, 5), 1000);
  CHECK(contains(checkpoint("list --from " + p.directories).text,
                 "skel-test 1.0, generation 2: 4 parts, 1 MB, ida:6,2: degraded\n"
                 "  part 0, rank-0: 7 of 8 shards, 1 more can be lost\n"));
  verify = checkpoint("verify --from " + p.directories);
  INFO(verify.text);
  CHECK(verify.code == 1);
  CHECK(contains(verify.text, p.path(5, 2, 0, 5) + ": block 1 of 1: hash does not match"));
  CHECK(contains(verify.text,
                 "  part 0, rank-0: 6 of 8 shards, 0 more can be lost\n"
                 "  part 1, rank-1: 7 of 8 shards, 1 more can be lost\n"));

  std::filesystem::create_directory(p.disk(2));
  auto const repair = success(checkpoint("repair --from " + p.directories));
  CHECK(contains(repair, p.path(5, 2, 0, 5) + ": rewritten"));
  CHECK(contains(repair, p.path(2, 2, 0, 2) + ": rewritten"));
  CHECK(contains(repair, "/manifest.2.4-of-4.002.shard: rewritten"));
  CHECK(contains(repair, "skel-test 1.0, generation 2: all shards of 4 parts are whole"));
  CHECK(checkpoint("verify --generation 2 --from " + p.directories).text == whole(2));
  CHECK(checkpoint("verify --generation 2 --from " + p.directories).code == 0);

  std::filesystem::copy_file(p.path(5, 2, 0, 5), p.disk(6) + "/copy.shard");
  CHECK(checkpoint("verify --quiet --generation 2 --from " + p.directories).code == 1);
  auto const tidied = checkpoint("repair --generation 2 --from " + p.directories);
  CHECK(tidied.code == 0);
  CHECK(contains(tidied.text, p.disk(6) + "/copy.shard: removed"));
  CHECK(checkpoint("verify --generation 2 --from " + p.directories).code == 0);
  CHECK(checkpoint("verify --quiet --from " + p.directories).code == 0);

  // Every generation is repaired, not only the newest one.
  std::filesystem::copy_file(p.path(5, 1, 0, 5), p.disk(6) + "/old-copy.shard");
  flip_a_bit(p.path(4, 1, 0, 4), 1000);
  CHECK(checkpoint("verify --quiet --from " + p.directories).code == 1);
  auto const all = checkpoint("repair --from " + p.directories);
  CHECK(all.code == 0);
  CHECK(contains(all.text, p.disk(6) + "/old-copy.shard: removed"));
  CHECK(contains(all.text, p.path(4, 1, 0, 4) + ": rewritten"));
  CHECK(checkpoint("verify --quiet --from " + p.directories).code == 0);
}

TEST_CASE("a lost generation is reported, and the previous one is repaired") {
  program_store const p;
  for (int const i : {1, 2, 3}) std::filesystem::remove(p.path(i, 2, 1, i - 1));
  std::filesystem::remove(p.path(4, 1, 0, 4));
  auto const list = checkpoint("list --from " + p.directories).text;
  INFO(list);
  CHECK(contains(list,
                 "generation 2: 4 parts, 1 MB, ida:6,2: lost\n"
                 "  part 1, rank-1: 5 of 8 shards, lost: 6 needed\n"));
  auto const repair = success(checkpoint("repair --from " + p.directories));
  CHECK(contains(repair, "skel-checkpoint: skel-test 1.0, generation 2: lost"));
  CHECK(contains(repair, p.path(4, 1, 0, 4) + ": rewritten"));
  auto const lost = checkpoint("repair --generation 2 --from " + p.directories);
  CHECK(lost.code == 1);
  CHECK(contains(lost.text, "no generation can be repaired"));

  // Another program's shard, whose others are elsewhere.
  skel::storage::repository_options other;
  other.code = skel::storage::code("ida:2,1");
  other.identity = {"skel-other", "1.0", 5};
  for (int i = 0; i < 3; ++i) {
    other.places.push_back({p.where.file("other" + std::to_string(i)), "", false});
    std::filesystem::create_directory(other.places.back().directory);
  }
  skel::storage::repository const elsewhere(other);
  elsewhere.prepare(elsewhere.next(1), 0, "foreign", test::random_bytes(1000, 1));
  std::filesystem::copy_file(other.places[1].directory + "/foreign.1.0-of-1.001.shard",
                             p.disk(1) + "/foreign.1.0-of-1.001.shard");
  auto const kept = success(checkpoint("repair --from " + p.directories));
  CHECK(contains(kept, "unknown program, generation 1: lost; --remove-lost removes it"));
  CHECK(checkpoint("verify --quiet --from " + p.directories).code == 1);
  auto const removed = success(checkpoint("repair --remove-lost --from " + p.directories));
  CHECK(contains(removed, p.disk(1) + "/foreign.1.0-of-1.001.shard: removed"));
  CHECK(contains(removed, p.path(0, 2, 0, 0) + ": removed"));
  auto const verify = checkpoint("verify --from " + p.directories);
  CHECK(verify.code == 0);
  CHECK(verify.text == "skel-test 1.0, generation 1: 4 parts, 1 MB, ida:6,2: whole\n");
  // Nothing is removed where nothing can be restored.
  for (int const i : {1, 2, 3}) std::filesystem::remove(p.path(i, 1, 1, i - 1));
  CHECK(checkpoint("repair --remove-lost --from " + p.directories).code == 1);
  CHECK(std::filesystem::exists(p.path(0, 1, 0, 0)));
}

TEST_CASE("an increment is listed with its base, and repaired together with it") {
  program_store const p;
  skel::storage::repository const store(p.options);
  auto plan = store.next(4);
  plan.append_to(store.catalogue().at(0).plan);
  for (std::uint32_t part = 0; part < 4; ++part)
    store.prepare(plan, part, "rank-" + std::to_string(part), test::random_bytes(25000, part));
  store.commit(plan);
  store.remove_old(plan);
  std::string const title =
      "skel-test 1.0, generation 3: 4 parts, 100 kB appended to generation 2, ida:6,2: ";
  CHECK(contains(checkpoint("list --from " + p.directories).text, title + "whole\n"));
  auto const content = store.read(store.catalogue().at(0), 0);
  CHECK(content.size() == 275000);

  std::filesystem::remove(p.path(2, 2, 0, 2));
  flip_a_bit(p.path(4, 3, 1, 3), 1000);
  CHECK(contains(checkpoint("list --from " + p.directories).text, title + "degraded\n"));
  CHECK(checkpoint("verify --generation 3 --from " + p.directories).code == 1);
  auto const repair = success(checkpoint("repair --from " + p.directories));
  CHECK(contains(repair, p.path(2, 2, 0, 2) + ": rewritten"));
  CHECK(contains(repair, p.path(4, 3, 1, 3) + ": rewritten"));
  CHECK(checkpoint("verify --generation 3 --from " + p.directories).code == 0);
  CHECK(store.read(store.catalogue().at(0), 0) == content);

  for (int const i : {1, 2, 3}) std::filesystem::remove(p.path(i, 2, 1, i - 1));
  CHECK(contains(checkpoint("list --from " + p.directories).text, title + "lost\n"));
}

TEST_CASE("two processes that store one name at once do not disturb each other") {
  eight_disks const p;
  auto const encode = [&](char const* where, std::string const& disks) {
    std::filesystem::create_directory(p.where.file(where));
    std::ofstream(p.where.file(where) + "/state.bin", std::ios::binary) << p.data << where;
    return std::string(SKEL_CHECKPOINT) + " encode --quiet --code ida:6,2 --to " + disks + " " +
           p.where.file(where) + "/state.bin; echo " + where + " $?; ";
  };
  auto const decode = "decode --quiet --from " + p.directories + " -o " + p.out + " state.bin";
  checkpoint("encode --quiet --code ida:6,2 --to " + p.directories + " " + p.file);
  std::string turned;
  for (int i = 8; i-- > 0;) turned += (i == 7 ? "" : ",") + p.disk(i);
  auto const first = encode("a", p.directories), second = encode("b", turned);
  for (int i = 0; i < 5; ++i) {
    auto const both = test::run_program("sh", "-c '(" + first + ") & " + second + " wait'", 100);
    INFO(both.text);
    CHECK((contains(both.text, "a 0") && contains(both.text, "b 0")));  // each waits for a short other
    auto const restored = checkpoint(decode);
    CHECK(restored.text.empty());
    CHECK((test::read_file(p.out) == p.data + "a" || test::read_file(p.out) == p.data + "b"));
    CHECK(checkpoint("verify --quiet --from " + p.directories).code == 0);
  }
}

TEST_CASE("an object that another living process writes is refused") {
  eight_disks const p;
  auto const claim = skel::storage::claim_directory(p.disk(3), "state.bin");
  auto const encode = checkpoint("encode --code ida:6,2 --to " + p.directories + " " + p.file);
  INFO(encode.text);
  CHECK(encode.code == 2);
  CHECK(contains(encode.text, "skel-checkpoint: " + p.disk(3) + ": another process writes \"state.bin\": "));
  CHECK(checkpoint("encode --quiet --name other --code ida:6,2 --to " + p.directories + " " + p.file).code ==
        0);
}

TEST_CASE("shards and the restored file have the permissions of the file") {
  eight_disks const p;
  auto const mode_of = [](std::string const& path) { return std::filesystem::status(path).permissions(); };
  for (auto const mode : {0600, 0750}) {
    std::filesystem::permissions(p.file, static_cast<std::filesystem::perms>(mode));
    auto const wanted = mode_of(p.file);
    std::filesystem::remove(p.out);
    CHECK(checkpoint("encode --quiet --generation 1 --code ida:6,2 --to " + p.directories + " " + p.file)
              .code == 0);
    CHECK(mode_of(p.shard(3)) == wanted);
    std::filesystem::remove(p.shard(2));
    CHECK(checkpoint("repair --quiet --from " + p.directories + " state.bin").code == 0);
    CHECK(mode_of(p.shard(2)) == wanted);
    CHECK(checkpoint("decode --quiet --from " + p.directories + " -o " + p.out + " state.bin").code == 0);
    CHECK(mode_of(p.out) == wanted);
    for (int i = 0; i < 8; ++i) std::filesystem::remove(p.shard(i));
  }
}

TEST_CASE("decode writes to standard output, and nothing there if the object is lost") {
  eight_disks const p;
  checkpoint("encode --quiet --code ida:6,2 --to " + p.directories + " " + p.file);
  auto const decode = "decode --from " + p.directories + " -o - state.bin";
  CHECK(checkpoint(decode).text == p.data);
  for (int const i : {1, 2, 3}) flip_a_bit(p.shard(i), 100000);  // in the second stripe
  auto const lost = checkpoint(decode);
  CHECK(lost.code == 1);
  CHECK_FALSE(contains(lost.text, p.data.substr(0, 1000)));
  CHECK(checkpoint(decode + " > /dev/full").code == 1);
}

TEST_CASE("with a key, an object that is not encrypted is refused") {
  if (!skel::storage::can_seal()) return;
  eight_disks const p;
  auto const key = " --key-file " + p.where.file("key");
  std::ofstream(p.where.file("key"), std::ios::binary) << std::string(32, 'k');
  auto const encode = "encode --quiet --keep 0 --code ida:6,2 --to " + p.directories + " " + p.file;
  auto const decode = "decode --from " + p.directories + " -o " + p.out + " state.bin";
  CHECK(checkpoint(encode + key).code == 0);
  std::ofstream(p.file, std::ios::binary) << "forged";
  CHECK(checkpoint(encode).code == 0);
  auto const sealed = checkpoint(decode + key);
  CHECK(sealed.code == 0);
  CHECK(contains(sealed.text,
                 "state.bin, generation 2: not encrypted, but a key was given (--key-file): ignored"));
  CHECK(test::read_file(p.out) == p.data);
  auto const forged = checkpoint(decode + key + " --generation 2");
  CHECK(forged.code == 2);
  CHECK(forged.text ==
        "skel-checkpoint: state.bin, generation 2: not encrypted, but a key was given (--key-file)\n");
}

TEST_CASE("without a name only a program's checkpoints are repaired") {
  eight_disks const p;
  auto const r = checkpoint("repair --from " + p.directories);
  CHECK(r.code == 2);
  CHECK(contains(r.text, "no program's checkpoint found; give the NAME of a single object"));
}
