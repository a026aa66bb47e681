#include "storage/shard_reader.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/format.hpp"
#include "skel/error.hpp"

namespace skel::storage {

namespace {

constexpr std::uint64_t out_of_order = std::numeric_limits<std::uint64_t>::max();

}  // namespace

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

}  // namespace skel::storage
