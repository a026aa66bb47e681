// libFuzzer: any bytes give a shard or an error. Arbitrary shards, some with corrected hashes, give
// an object or an error, and never use more memory than the size of the files justifies. The same
// for names of codes.
#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "fuzz.hpp"
#include "memory_files.hpp"
#include "storage/object_writer.hpp"
#include "storage/shard_store.hpp"

namespace {

using namespace skel::storage;
using fuzz::files_in_memory;

// Corrects the hash, so that the fuzzer gets past the header.
void make_header_hash_right(std::vector<std::byte>& shard) {
  if (shard.size() < 64) return;
  std::uint32_t length = 0;
  std::memcpy(&length, shard.data() + 12, 4);
  if (length < 32 || length > shard.size()) return;
  skel::xxh3_128_hasher h;
  h.update(std::span(shard).first(length - 16));
  auto const hash = h.value();
  std::memcpy(shard.data() + length - 16, hash.data(), 16);
}

void read_all(files_in_memory& files) {
  shard_store store({"a", "b", "c"}, {}, files);
  for (auto const& o : store.scan()) {
    fuzz::expect_error_or_result([&] { store.get(o, [] { return [](auto) {}; }); });
    fuzz::expect_error_or_result([&] { (void)store.repair(o, store.verify(o)); });
  }
}

// Changes bytes of three valid shards, as selected by the input.
void damage(fuzz::input in) {
  files_in_memory files;
  shard_store store({"a", "b", "c"}, {}, files);
  std::array<std::byte, 100> data;
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i);
  put_options options;
  options.block_size = 16;
  auto const made = store.put(
      "x", code("ida:2,1"), data.size(), [&](auto const& to) { to(data); }, options);
  for (auto rest = in.bytes(); rest.size() >= 4; rest = rest.subspan(4)) {
    auto& shard = files.content[made.shards.at(std::to_integer<unsigned>(rest[0]) % 3)];
    auto const at = std::to_integer<std::size_t>(rest[1]) * 256 + std::to_integer<std::size_t>(rest[2]);
    shard[at % shard.size()] = rest[3];
    if ((rest[0] & std::byte{128}) != std::byte{}) make_header_hash_right(shard);
  }
  for (auto const& o : store.scan()) {
    fuzz::expect_error_or_result([&] {
      std::vector<std::byte> back;
      store.get(o, [&] {
        back.clear();
        return [&](auto part) { back.insert(back.end(), part.begin(), part.end()); };
      });
      if (o.object == made.object && o.hash == made.hash && !std::ranges::equal(back, data)) std::abort();
    });
  }
  read_all(files);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  if (size == 0) return 0;
  fuzz::input const in{bytes + 1, size - 1};
  switch (bytes[0] % 4) {
    case 0:
      fuzz::expect_error_or_result([&] { (void)code(in.text()).to_string(); });
      break;
    case 1:
      damage(in);
      break;
    default: {
      files_in_memory files;
      auto const third = in.size / 3;
      for (std::size_t i = 0; i < 3; ++i) {
        auto const part = in.bytes().subspan(i * third, third);
        auto& shard = files.content[std::string(1, static_cast<char>('a' + i)) + "/x.shard"];
        shard.assign(part.begin(), part.end());
        if (bytes[0] % 4 == 2) make_header_hash_right(shard);
      }
      read_all(files);
    }
  }
  return 0;
}
