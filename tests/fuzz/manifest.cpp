// libFuzzer: any text gives a manifest, which is rewritten identically, or an error; any file name
// is parsed or rejected; and a store with arbitrary headers, whose hashes are corrected, gives its
// catalogue and its newest generation, or an error.
#include "storage/manifest.hpp"

#include <cstdlib>
#include <cstring>

#include "fuzz.hpp"
#include "memory_files.hpp"
#include "skel/storage/repository.hpp"
#include "storage/object_writer.hpp"
#include "storage/part_name.hpp"

namespace {

using namespace skel::storage;

void read_manifest(fuzz::input in) {
  fuzz::expect_error_or_result([&] {
    auto const m = manifest::decode(in.text());
    if (manifest::decode(m.encode()) != m) std::abort();
  });
}

// Takes numbers from the input; returns zeros after its end.
class numbers {
 public:
  explicit numbers(fuzz::input in) : in_(in) {}
  std::uint64_t operator()(std::uint64_t most) {
    auto const n = at_ < in_.size ? in_.data[at_++] : 0;
    return n == 255 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(n) % (most + 1);
  }

 private:
  fuzz::input in_;
  std::size_t at_ = 0;
};

// Reads whole shards, one after the other, of arbitrary objects taken from the input.
void read_store(fuzz::input in) {
  fuzz::files_in_memory files;
  repository_options options;
  for (auto const* const d : {"a", "b", "c"}) options.places.push_back({d, "", false});
  options.code = code("ida:2,1");
  options.identity = {"p", "1", 1};
  numbers next(in);
  for (int i = 0; i < 12; ++i) {
    object_info o;
    o.name = "x";
    o.generation = next(3);
    o.code = code(next(1) == 0 ? "ida:2,1" : "replicate:3");
    o.length = o.content_length = next(40);
    o.block_size = static_cast<std::uint32_t>(16);
    auto const parts = static_cast<std::uint32_t>(next(3));
    o.belongs_to = {next(2), next(1) == 0 ? options.identity.hash() : 7, static_cast<std::uint32_t>(next(4)),
                    parts};
    if (o.length > 40 || (parts == 0 ? o.belongs_to != membership{} : o.belongs_to.part > parts)) continue;
    std::vector<byte_sink> sinks(3);
    auto const index = next(2) % 3;
    auto& to =
        files.content[std::string(1, static_cast<char>('a' + i % 3)) + "/" + std::to_string(i) + ".shard"];
    sinks[index] = [&](auto bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); };
    object_writer w(o, sinks);
    w.write(std::vector<std::byte>(o.length, static_cast<std::byte>(next(2))));
    w.finish();
  }
  repository const store(options, {}, files);
  for (auto const& g : store.catalogue())
    fuzz::expect_error_or_result([&] { store.repair(g, store.verify(g)); });
  fuzz::expect_error_or_result([&] { (void)store.restore(); });
  fuzz::expect_error_or_result([&] {
    auto const plan = store.next(1);
    std::vector<std::byte> const state(50, std::byte{9});
    store.prepare(plan, 0, "state", state);
    store.commit(plan);
    store.remove_old(plan);
    if (store.read(store.catalogue().at(0), 0) != state) std::abort();
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  if (size == 0) return 0;
  fuzz::input const in{bytes + 1, size - 1};
  switch (bytes[0] % 3) {
    case 0:
      read_manifest(in);
      break;
    case 1:
      (void)part_name::parse(in.text());
      break;
    default:
      read_store(in);
  }
  return 0;
}
