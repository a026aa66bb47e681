#include "storage/object_reader.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/format.hpp"
#include "skel/error.hpp"

namespace skel::storage {

namespace {

constexpr std::uint64_t out_of_order = std::numeric_limits<std::uint64_t>::max();

}  // namespace

// --- shard_reader

shard_reader::shard_reader(file_system& files, std::string path, report_problem report)
    : path_(std::move(path)), report_(std::move(report)), file_(files.open(path_)) {
  try {
    std::vector<std::byte> front(shard_header::longest);
    front.resize(file_->read_at(0, front));
    header_ = shard_header::decode(front);
    // Encoding it again must give the same bytes: the hash in the file is that of the header.
    auto const encoded = header_.encode();
    header_hash_ = hash_of(encoded);
    layout_.header_bytes = encoded.size();
    layout_.object = &header_.object;
    if (!std::ranges::equal(encoded, std::span(front).first(std::min(front.size(), encoded.size()))))
      throw error("header is not in canonical form");
    read_footer();
  } catch (error const& bad) {
    if (std::string_view(bad.what()).starts_with(path_)) throw;
    throw error(detail::format("{}: {}", path_, bad.what()));
  }
}

void shard_reader::read_footer() {
  suspect_ = true;
  auto const size = file_->size();
  if (size != layout_.file_bytes())
    defect_ = detail::format("{} bytes long, expected {}", size, layout_.file_bytes());
  if (size < layout_.file_bytes()) return;
  std::array<std::byte, shard_footer::size> back{};
  if (file_->read_at(layout_.footer_at(), back) != back.size()) throw error("file shrank while it was read");
  try {
    footer_ = shard_footer::decode(header_hash_, back);
    has_footer_ = true;
    suspect_ = false;
  } catch (error const& bad) {
    if (defect_.empty()) defect_ = bad.what();
  }
}

void shard_reader::check_hashes() {
  if (!has_footer_) return;
  skel::xxh3_128_hasher all;
  suspect_ = true;
  try {
    for (std::uint64_t stripe = 0; stripe < header_.object.stripes(); ++stripe) {
      hash128 hash{};
      file_->read_at(layout_.block_at(stripe) + header_.object.block_bytes(stripe), hash);
      all.update(hash);
    }
    suspect_ = all.value() != footer_.shard;
  } catch (error const&) {  // NOLINT(bugprone-empty-catch): read_block() reports unreadable blocks
  }
}

void shard_reader::report(std::string const& what) const {
  if (report_) report_(detail::format("{}: {}", path_, what));
}

void shard_reader::report_block(std::uint64_t stripe, std::string const& what) {
  constexpr std::uint64_t most_reported = 3;
  ++bad_blocks_;
  if (bad_blocks_ > most_reported) return;
  report(detail::format("block {} of {}: {}", stripe + 1, header_.object.stripes(), what));
  if (bad_blocks_ == most_reported) report("further bad blocks are not reported");
}

bool shard_reader::read_block(std::uint64_t stripe, std::byte* to) {
  bool const in_order = next_ == stripe;
  next_ = out_of_order;
  auto const size = header_.object.block_bytes(stripe);
  try {
    std::span const bytes(to, size + block_hash_.size());
    if (file_->read_at(layout_.block_at(stripe), bytes) != bytes.size()) {
      report_block(stripe, "the file ends before this block");
      return false;
    }
  } catch (error const& bad) {
    report_block(stripe, bad.what());
    return false;
  }
  auto const hash = hasher_(header_hash_, stripe, {to, size});
  if (!std::equal(hash.begin(), hash.end(), to + size)) {
    report_block(stripe, "hash does not match");
    return false;
  }
  block_hash_ = hash;
  hashes_.update(hash);
  if (in_order) next_ = stripe + 1;
  return true;
}

bool shard_reader::finish() {
  if (bad_blocks_ != 0 || !defect_.empty()) return false;
  if (next_ == header_.object.stripes() && hashes_.value() == footer_.shard) return true;
  report("hashes of the blocks do not match the shard's");
  return false;
}

// --- object_reader

object_reader::object_reader(std::vector<std::unique_ptr<shard_reader>> shards, kernel with)
    : object_(shards.empty() ? object_info{} : shards.front()->header().object),
      coder_(object_.code, with),
      pieces_(object_.code.shards()) {
  if (shards.empty()) throw std::invalid_argument("object_reader: no shards");
  expected_ = shards.front()->footer().object;
  for (auto& s : shards) {
    auto& p = pieces_.at(s->header().index);
    if (s->header().object != object_ || s->footer().object != expected_ || p.from != nullptr)
      throw std::invalid_argument("object_reader: shards of different objects, or a repeated shard");
    p.from = std::move(s);
  }
  for (std::size_t i = 0; i < pieces_.size(); ++i)
    pieces_[i].header = hash_of(shard_header{object_, static_cast<std::uint32_t>(i)}.encode());
}

std::byte* object_reader::block_of(std::size_t shard) {
  auto& block = pieces_[shard].block;
  if (block.empty()) block = stripe_buffer(object_.block_bytes(0));
  return block.data();
}

bool object_reader::has_suspect() const {
  return std::ranges::any_of(pieces_, [](piece const& p) { return p.from != nullptr && p.from->suspect(); });
}

// Reads the data shards first: if they are good, nothing has to be computed.
void object_reader::read_stripe(std::uint64_t stripe, depth how_deep) {
  auto const m = object_.code.data_shards();
  std::size_t good = 0;
  for (auto& p : pieces_) p.present = false;
  for (bool const suspect : {false, true}) {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      auto& p = pieces_[i];
      if (p.from == nullptr || p.from->suspect() != suspect) continue;
      if (good >= m && (suspect || how_deep != depth::everything)) continue;
      p.present = p.from->read_block(stripe, block_of(i));
      if (!p.present) continue;
      p.hash = p.from->block_hash();
      ++good;
    }
  }
  if (good < m)
    throw error(detail::format("{}, generation {}: {} of {} blocks of stripe {} are good, expected {}",
                               object_.name, object_.generation, good, pieces_.size(), stripe + 1, m));
  auto const size = object_.block_bytes(stripe);
  std::vector<std::byte*> blocks(pieces_.size());
  std::vector<bool> present(pieces_.size());
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    present[i] = pieces_[i].present;
    if (present[i] || i < m || how_deep != depth::data) blocks[i] = block_of(i);
  }
  std::ignore = coder_.rebuild(blocks, present, size);
  for (std::size_t i = 0; i < pieces_.size(); ++i)
    if (!present[i] && blocks[i] != nullptr)
      pieces_[i].hash = hasher_(pieces_[i].header, stripe, {blocks[i], size});
  if (how_deep == depth::everything) compare_parity(size);
}

void object_reader::compare_parity(std::size_t size) {
  auto const m = object_.code.data_shards();
  std::vector<std::byte const*> data;
  std::vector<stripe_buffer> again(object_.code.parity_shards(), stripe_buffer(size));
  std::vector<std::byte*> parity;
  data.reserve(m);
  parity.reserve(again.size());
  for (std::size_t i = 0; i < m; ++i) data.push_back(pieces_[i].block.data());
  for (auto& buffer : again) parity.push_back(buffer.data());
  coder_.encode(data, parity, size);
  for (std::size_t i = m; i < pieces_.size(); ++i)
    if (std::memcmp(parity[i - m], pieces_[i].block.data(), size) != 0) pieces_[i].wrong = true;
}

template <class Use>
void object_reader::walk(depth how_deep, Use const& use) {
  skel::xxh3_128_hasher hash;
  for (std::uint64_t stripe = 0; stripe < object_.stripes(); ++stripe) {
    read_stripe(stripe, how_deep);
    for (std::size_t i = 0; i < object_.code.data_shards(); ++i) hash.update(pieces_[i].hash);
    use(stripe);
  }
  if (hash.value() != expected_)
    throw error(detail::format("{}, generation {}: the restored data differ from the stored data",
                               object_.name, object_.generation));
}

void object_reader::read(byte_sink const& to) {
  walk(depth::data, [&](std::uint64_t stripe) {
    auto left = object_.stripe_bytes(stripe);
    auto const size = object_.block_bytes(stripe);
    for (std::size_t i = 0; left > 0; ++i) {
      auto const part = std::min(left, size);
      to({pieces_[i].block.data(), part});
      left -= part;
    }
  });
}

void object_reader::rebuild(std::vector<byte_sink> const& to) {
  if (to.size() != pieces_.size()) throw std::invalid_argument("object_reader: expected one sink per shard");
  std::vector<skel::xxh3_128_hasher> hashes(pieces_.size());
  for (std::size_t i = 0; i < to.size(); ++i)
    if (to[i]) to[i](shard_header{object_, static_cast<std::uint32_t>(i)}.encode());
  walk(depth::data_and_parity, [&](std::uint64_t stripe) {
    auto const size = object_.block_bytes(stripe);
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (!to[i]) continue;
      auto& p = pieces_[i];
      hashes[i].update(p.hash);
      std::ranges::copy(p.hash, p.block.data() + size);
      to[i]({p.block.data(), size + p.hash.size()});
    }
  });
  for (std::size_t i = 0; i < to.size(); ++i)
    if (to[i]) to[i](shard_footer{expected_, hashes[i].value()}.encode(pieces_[i].header));
}

std::vector<bool> object_reader::verify(count_bytes const& progress) {
  walk(depth::everything, [&](std::uint64_t stripe) {
    if (progress) progress(object_.stripe_bytes(stripe));
  });
  std::vector<bool> whole(pieces_.size());
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    auto const& p = pieces_[i];
    if (p.from == nullptr) continue;
    if (p.from->suspect()) {
      if (p.from->defect().empty()) p.from->report("hashes of the blocks do not match the shard's");
      continue;
    }
    if (p.wrong) p.from->report("not the parity of the data shards");
    whole[i] = p.from->finish() && !p.wrong;
  }
  return whole;
}

}  // namespace skel::storage
