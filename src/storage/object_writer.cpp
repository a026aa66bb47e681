#include "storage/object_writer.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace skel::storage {

namespace {

constexpr std::size_t alignment = 64;

}  // namespace

stripe_buffer::stripe_buffer(std::size_t block_bytes) : bytes_(block_bytes + sizeof(hash128) + alignment) {}

std::byte* stripe_buffer::data() noexcept {
  auto const past = reinterpret_cast<std::uintptr_t>(bytes_.data()) % alignment;
  return bytes_.data() + (past == 0 ? 0 : alignment - past);
}

object_writer::object_writer(object_info object, std::vector<byte_sink> shards, kernel with)
    : object_(std::move(object)), coder_(object_.code, with), shards_(object_.code.shards()) {
  if (shards.size() != shards_.size())
    throw std::invalid_argument("object_writer: expected one sink per shard");
  auto const largest = object_.length == 0 ? 0 : object_.block_bytes(0);
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    auto const header = shard_header{object_, static_cast<std::uint32_t>(i)}.encode();
    shards_[i].to = std::move(shards[i]);
    shards_[i].header = hash_of(header);
    shards_[i].block = stripe_buffer(largest);
    if (shards_[i].to) shards_[i].to(header);
  }
}

void object_writer::write(std::span<std::byte const> bytes) {
  if (bytes.size() > object_.length - written_)
    throw std::length_error("object_writer: more bytes than announced");
  while (!bytes.empty()) {
    auto const block = object_.block_bytes(stripe_);
    auto const offset = filled_ % block;
    auto const part = bytes.first(std::min(bytes.size(), block - offset));
    std::memcpy(shards_[filled_ / block].block.data() + offset, part.data(), part.size());
    bytes = bytes.subspan(part.size());
    filled_ += part.size();
    written_ += part.size();
    if (filled_ == object_.stripe_bytes(stripe_)) write_stripe();
  }
}

void object_writer::write_stripe() {
  auto const m = object_.code.data_shards();
  auto const size = object_.block_bytes(stripe_);
  for (auto at = filled_; at < m * size; ++at) shards_[at / size].block.data()[at % size] = std::byte{0};
  std::vector<std::byte const*> data;
  std::vector<std::byte*> parity;
  for (std::size_t i = 0; i < shards_.size(); ++i)
    if (i < m)
      data.push_back(shards_[i].block.data());
    else
      parity.push_back(shards_[i].block.data());
  coder_.encode(data, parity, size);
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    auto& s = shards_[i];
    auto* const block = s.block.data();
    auto const hash = hasher_(s.header, stripe_, {block, size});
    s.hashes.update(hash);
    if (i < m) object_hash_.update(hash);
    std::ranges::copy(hash, block + size);
    if (s.to) s.to({block, size + hash.size()});
  }
  ++stripe_;
  filled_ = 0;
}

void object_writer::finish() {
  if (written_ != object_.length) throw std::length_error("object_writer: fewer bytes than announced");
  for (auto& s : shards_)
    if (s.to) s.to(shard_footer{object_hash_.value(), s.hashes.value()}.encode(s.header));
}

}  // namespace skel::storage
