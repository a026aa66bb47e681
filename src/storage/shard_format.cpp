#include "storage/shard_format.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/format.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"
#include "storage/cipher.hpp"

namespace skel::storage {

namespace {

constexpr std::string_view magic = "skel shd";
constexpr std::uint64_t longest_object = std::uint64_t{1} << 56U;
constexpr std::size_t hash_bytes = sizeof(hash128);

// Writes little-endian numbers on every machine.
class writer {
 public:
  void number(std::uint64_t value, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void text(std::string_view t) {
    number(t.size(), 2);
    for (char const c : t) bytes.push_back(static_cast<std::byte>(c));
  }
  std::vector<std::byte> bytes;
};

class reader {
 public:
  explicit reader(std::span<std::byte const> bytes) : rest_(bytes) {}

  std::uint64_t number(std::size_t width) {
    auto const bytes = take(width);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < width; ++i) value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    return value;
  }
  std::string text() {
    auto const bytes = take(static_cast<std::size_t>(number(2)));
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
  }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

 private:
  std::span<std::byte const> take(std::size_t n) {
    if (n > rest_.size()) throw error("header too short");
    auto const part = rest_.first(n);
    rest_ = rest_.subspan(n);
    return part;
  }
  std::span<std::byte const> rest_;
};

hash128 hash_bytes_of(std::span<std::byte const> bytes) {
  skel::xxh3_128_hasher h;
  h.update(bytes);
  return h.value();
}

bool ends_with_its_hash(std::span<std::byte const> bytes) {
  auto const hash = hash_bytes_of(bytes.first(bytes.size() - hash_bytes));
  return std::ranges::equal(hash, bytes.last(hash_bytes));
}

void append(std::vector<std::byte>& to, hash128 const& hash) {
  to.insert(to.end(), hash.begin(), hash.end());
}

[[noreturn]] void wrong(std::string_view what) { throw error(detail::format("invalid header: {}", what)); }

// Headers not written by encode() have a wrong hash. These checks reject forged headers.
void check(shard_header const& h) {
  auto const& o = h.object;
  if (h.index >= o.code.shards()) wrong("shard index");
  if (o.block_size == 0 || o.block_size > largest_block) wrong("block size");
  if (o.length > longest_object) wrong("length");
  if (o.belongs_to.parts == 0 ? o.belongs_to != membership{} : o.belongs_to.part > o.belongs_to.parts)
    wrong("part number");
  if (o.belongs_to.base != 0 && o.belongs_to.base >= o.generation) wrong("base");  // so chains have an end
  auto const expected = o.sealed == sealing::none ? o.content_length : sealed_length(o.content_length);
  if (o.length != expected) wrong("content length");
  try {
    object_info::check_name(o.name);
  } catch (usage_error const& bad) {
    wrong(bad.what());
  }
}

// For an object that belongs to no generation nothing is written: zeros up to the hash.
constexpr std::size_t membership_bytes = 32, base_bytes = 16;

void append(writer& to, membership const& m) {
  if (m == membership{}) return;
  to.number(m.stamp, 8);
  to.number(m.identity, 8);
  to.number(m.part, 4);
  to.number(m.parts, 4);
  to.number(m.machine, 8);
  if (m.base == 0) return;
  to.number(m.base, 8);
  to.number(m.base_stamp, 8);
}

membership read_membership(reader& from, bool has_base) {
  membership m;
  if (from.left() < membership_bytes) return m;
  m.stamp = from.number(8);
  m.identity = from.number(8);
  m.part = static_cast<std::uint32_t>(from.number(4));
  m.parts = static_cast<std::uint32_t>(from.number(4));
  m.machine = from.number(8);
  if (!has_base) return m;
  if (from.left() < base_bytes) wrong("base");
  m.base = from.number(8);
  m.base_stamp = from.number(8);
  if (m.base == 0) wrong("base");
  return m;
}

}  // namespace

std::uint64_t object_info::stripes() const {
  auto const full = std::uint64_t{block_size} * code.data_shards();
  return (length + full - 1) / full;
}

std::size_t object_info::stripe_bytes(std::uint64_t stripe) const {
  auto const full = std::uint64_t{block_size} * code.data_shards();
  return static_cast<std::size_t>(std::min(full, length - stripe * full));
}

std::size_t object_info::block_bytes(std::uint64_t stripe) const {
  auto const m = code.data_shards();
  return (stripe_bytes(stripe) + m - 1) / m;
}

std::uint64_t object_info::shard_bytes() const {
  auto const n = stripes();
  return n == 0 ? 0 : (n - 1) * block_size + block_bytes(n - 1);
}

void object_info::check_name(std::string const& name) {
  auto const bad = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '/' || c == 0x7f; };
  if (name.empty() || name.size() > longest_name || name.front() == '.' || std::ranges::any_of(name, bad))
    throw usage_error(detail::format(
        "invalid object name \"{}\", expected 1 to {} bytes without slash, control character or leading dot",
        detail::one_line(name), longest_name));
}

std::vector<std::byte> shard_header::encode() const {
  object_info::check_name(object.name);
  writer w;
  for (char const c : magic) w.bytes.push_back(static_cast<std::byte>(c));
  w.number(object.belongs_to.base == 0 ? shard_schema : increment_schema, 4);
  w.number(0, 4);  // the header's length, set below
  w.number(index, 4);
  w.number(object.code.data_shards(), 4);
  w.number(object.code.parity_shards(), 4);
  w.number(object.block_size, 4);
  w.number(object.generation, 8);
  w.number(object.length, 8);
  w.number(object.content_length, 8);
  w.number(static_cast<std::uint64_t>(object.sealed), 1);
  w.text(object.code.to_string());
  w.text(object.name);
  append(w, object.belongs_to);
  while ((w.bytes.size() + hash_bytes) % 64 != 0)
    w.number(0, 1);  // padding: aligns the blocks as far as their hashes permit
  auto const length = w.bytes.size() + hash_bytes;
  for (std::size_t i = 0; i < 4; ++i)
    w.bytes[magic.size() + 4 + i] = static_cast<std::byte>(length >> (8 * i));
  append(w.bytes, hash_bytes_of(w.bytes));
  return std::move(w.bytes);
}

shard_header shard_header::decode(std::span<std::byte const> bytes) {
  constexpr std::size_t front = magic.size() + 8;
  if (bytes.size() < front || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
    throw error("not a shard");
  reader r(bytes.subspan(magic.size(), 8));
  auto const schema = r.number(4);
  if (schema != shard_schema && schema != increment_schema)
    throw error(detail::format("found shard format {}, expected format {} or {}", schema, shard_schema,
                               increment_schema));
  auto const length = r.number(4);
  if (length < front + hash_bytes || length > longest || length > bytes.size())
    throw error("header too short");
  bytes = bytes.first(static_cast<std::size_t>(length));
  if (!ends_with_its_hash(bytes)) throw error("hash of the header does not match");

  reader fields(bytes.subspan(front, bytes.size() - front - hash_bytes));
  shard_header h;
  h.index = static_cast<std::uint32_t>(fields.number(4));
  auto const data = fields.number(4);
  auto const parity = fields.number(4);
  h.object.block_size = static_cast<std::uint32_t>(fields.number(4));
  h.object.generation = fields.number(8);
  h.object.length = fields.number(8);
  h.object.content_length = fields.number(8);
  auto const sealed = fields.number(1);
  if (sealed > static_cast<std::uint64_t>(sealing::xchacha20_poly1305)) wrong("unknown encryption");
  h.object.sealed = static_cast<sealing>(sealed);
  try {
    h.object.code = storage::code(fields.text());
  } catch (usage_error const& bad) {
    wrong(bad.what());
  }
  if (h.object.code.data_shards() != data || h.object.code.parity_shards() != parity)
    wrong("number of shards");
  h.object.name = fields.text();
  h.object.belongs_to = read_membership(fields, schema == increment_schema);
  check(h);
  return h;
}

std::string shard_header::file_name() const {
  auto const& m = object.belongs_to;
  if (m.parts == 0) return detail::format("{}.{}.{:03}.shard", object.name, object.generation, index);
  return detail::format("{}.{}.{}-of-{}.{:03}.shard", object.name, object.generation, m.part, m.parts, index);
}

hash128 hash_of(std::span<std::byte const> encoded_header) {
  hash128 hash;
  std::ranges::copy(encoded_header.last(hash_bytes), hash.begin());
  return hash;
}

hash128 block_hasher::operator()(hash128 const& header, std::uint64_t stripe,
                                 std::span<std::byte const> block) {
  writer number;
  number.number(stripe, 8);
  hasher_.reset();
  hasher_.update(header);
  hasher_.update(number.bytes);
  hasher_.update(block);
  return hasher_.value();
}

std::vector<std::byte> shard_footer::encode(hash128 const& header) const {
  std::vector<std::byte> bytes;
  append(bytes, object);
  append(bytes, shard);
  auto all = bytes;
  append(all, header);
  append(bytes, hash_bytes_of(all));
  return bytes;
}

shard_footer shard_footer::decode(hash128 const& header, std::span<std::byte const, size> bytes) {
  shard_footer f{};
  std::ranges::copy(bytes.first(hash_bytes), f.object.begin());
  std::ranges::copy(bytes.subspan(hash_bytes, hash_bytes), f.shard.begin());
  if (!std::ranges::equal(f.encode(header), bytes)) throw error("hash of the footer does not match");
  return f;
}

std::uint64_t shard_layout::block_at(std::uint64_t stripe) const {
  return header_bytes + stripe * (std::uint64_t{object->block_size} + hash_bytes);
}

std::uint64_t shard_layout::footer_at() const {
  return header_bytes + object->shard_bytes() + object->stripes() * hash_bytes;
}

}  // namespace skel::storage
