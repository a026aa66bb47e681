// libFuzzer: any bytes are a shard or an error; shards of any bytes, some with hashes made right, give an
// object or an error, and never more memory than the files hold would explain. Codes by name likewise.
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "fuzz.hpp"
#include "skel/checkpoint/object_writer.hpp"
#include "skel/checkpoint/shard_store.hpp"

namespace {

using namespace skel::storage;

// A directory of one file each, in memory.
class files_in_memory final : public file_system {
 public:
  std::map<std::string, std::vector<std::byte>> content;  // by path

  std::unique_ptr<file> create(std::string const& path) override {
    return std::make_unique<memory_file>(content[path] = {});
  }
  std::unique_ptr<file> open(std::string const& path) override {
    return std::make_unique<memory_file>(content.at(path));
  }
  void rename(std::string const& from, std::string const& to) override {
    content[to] = std::move(content.at(from));
    content.erase(from);
  }
  void remove(std::string const& path) override { content.erase(path); }
  std::vector<std::string> list(std::string const& directory) override {
    std::vector<std::string> names;
    for (auto const& [path, bytes] : content)
      if (path.starts_with(directory + '/')) names.push_back(path.substr(directory.size() + 1));
    return names;
  }
  void sync_directory(std::string const& /*directory*/) override {}

 private:
  class memory_file final : public file {
   public:
    explicit memory_file(std::vector<std::byte>& bytes) : bytes_(bytes) {}
    void write(std::span<std::byte const> bytes) override {
      bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    std::size_t read_at(std::uint64_t offset, std::span<std::byte> bytes) override {
      if (offset >= bytes_.size()) return 0;
      auto const n = std::min<std::uint64_t>(bytes.size(), bytes_.size() - offset);
      std::memcpy(bytes.data(), bytes_.data() + offset, n);
      return n;
    }
    std::uint64_t size() override { return bytes_.size(); }
    void sync() override {}

   private:
    std::vector<std::byte>& bytes_;
  };
};

// So that the fuzzer gets past the hash of the header.
void make_header_hash_right(std::vector<std::byte>& shard) {
  if (shard.size() < 64) return;
  std::uint32_t length = 0;
  std::memcpy(&length, shard.data() + 12, 4);
  if (length < 32 || length > shard.size()) return;
  skel::observe::xxh3_128_hasher h;
  h.update(std::span(shard).first(length - 16));
  auto const hash = h.value();
  std::memcpy(shard.data() + length - 16, hash.data(), 16);
}

void read_all(files_in_memory& files) {
  shard_store store({"a", "b", "c"}, {}, files);
  for (auto const& o : store.scan()) {
    fuzz::expect_error_or_result([&] { store.get(o, [](auto) {}); });
    fuzz::expect_error_or_result([&] { (void)store.repair(o, store.verify(o)); });
  }
}

// Three shards as they are written; the input says which bytes of them change.
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
      store.get(o, [&](auto part) { back.insert(back.end(), part.begin(), part.end()); });
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
