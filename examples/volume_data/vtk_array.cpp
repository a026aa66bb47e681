#include "vtk_array.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <vector>

#include "skel/error.hpp"

namespace skel::volume_data {

namespace {

std::uint64_t read_count(vtk_file const& file, byte_source& from) {
  std::array<std::byte, 8> bytes{};
  auto const used = std::span(bytes).first(file.header_width);
  from.require(used);
  if (file.swapped) std::ranges::reverse(used);
  std::uint64_t count = 0;  // little endian from here on, or big endian and shifted
  for (std::size_t i = 0; i < file.header_width; ++i)
    count |= static_cast<std::uint64_t>(
                 used[std::endian::native == std::endian::little ? i : file.header_width - 1 - i])
             << (8 * i);
  return count;
}

/// As many bytes as a count in front of them says.
class counted_source final : public byte_source {
 public:
  counted_source(vtk_file const& file, source from) : from_(std::move(from)) {
    left_ = read_count(file, *from_);
  }
  std::size_t read(std::span<std::byte> to) override {
    auto const got = from_->read(to.first(std::min<std::uint64_t>(to.size(), left_)));
    left_ -= got;
    return got;
  }
  void skip(std::uint64_t bytes) override {
    auto const there = std::min(bytes, left_);
    from_->skip(there);
    left_ -= there;
    if (there < bytes) ends_too_early(bytes - there);
  }
  [[nodiscard]] std::uint64_t most() const override { return std::min(left_, from_->most()); }
  [[nodiscard]] std::string place() const override { return from_->place(); }

 private:
  source from_;
  std::uint64_t left_;
};

/// vtkZLibDataCompressor: the number of blocks, their size, the last one's size (0: as the others), the
/// compressed size of each, and then the blocks, each a zlib stream.
class blocks_source final : public byte_source {
 public:
  blocks_source(vtk_file const& file, source from) : from_(std::move(from)), buffer_(buffer_size) {
    auto const blocks = read_count(file, *from_);
    block_ = read_count(file, *from_);
    last_ = read_count(file, *from_);
    if (last_ == 0) last_ = block_;
    if (blocks > from_->most() / file.header_width)
      from_->fail(fmt::format("{} compressed blocks, more than the file has room for", blocks));
    for (std::uint64_t i = 0; i < blocks; ++i) packed_.push_back(read_count(file, *from_));
    if (blocks > 0 && (block_ > UINT64_MAX / 2 / blocks || last_ > UINT64_MAX / 4))
      from_->fail("compressed blocks are larger than can be");
    left_ = blocks == 0 ? 0 : (blocks - 1) * block_ + last_;
    if (inflateInit(&stream_) != Z_OK) from_->fail("zlib has no memory");
  }
  ~blocks_source() override { inflateEnd(&stream_); }
  blocks_source(blocks_source const&) = delete;
  blocks_source& operator=(blocks_source const&) = delete;

  std::size_t read(std::span<std::byte> to) override {
    std::size_t done = 0;
    while (done < to.size() && (in_block_ > 0 || open_block())) {
      auto const room = std::min<std::uint64_t>({to.size() - done, in_block_, 1U << 30});
      inflate_some(to.subspan(done, room));
      done += room;
      in_block_ -= room;
      left_ -= room;
    }
    return done;
  }
  /// Blocks that are passed over whole are not unpacked.
  void skip(std::uint64_t bytes) override {
    while (bytes > 0 && (in_block_ > 0 || open_block()) && bytes >= in_block_) {
      bytes -= in_block_;
      left_ -= in_block_;
      in_block_ = 0;
      at_ = end_;
    }
    byte_source::skip(bytes);
  }
  [[nodiscard]] std::uint64_t most() const override {
    auto const in = from_->most() + (end_ - at_);
    return std::min(left_, in > (UINT64_MAX >> 11U) ? UINT64_MAX : in * 1032 + 1032 * 64);
  }
  [[nodiscard]] std::string place() const override { return from_->place(); }

 private:
  bool open_block() {
    while (next_ < packed_.size()) {
      if (packed_left_ > 0) skip_packed();
      packed_left_ = packed_[next_++];
      in_block_ = next_ == packed_.size() ? last_ : block_;
      if (inflateReset(&stream_) != Z_OK) from_->fail("zlib cannot go on");
      if (in_block_ > 0) return true;
    }
    return false;
  }
  // A block's stream may have its checksum left when all of its bytes are out.
  void skip_packed() {
    from_->skip(packed_left_);
    packed_left_ = 0;
    at_ = end_;
  }
  void refill() {
    at_ = 0;
    end_ = std::min<std::uint64_t>(buffer_.size(), packed_left_);
    from_->require(std::span(buffer_).first(end_));
    packed_left_ -= end_;
  }
  void inflate_some(std::span<std::byte> to) {
    stream_.next_out = reinterpret_cast<Bytef*>(to.data());
    stream_.avail_out = static_cast<uInt>(to.size());
    while (stream_.avail_out > 0) {
      if (at_ == end_) {
        if (packed_left_ == 0) from_->fail("a compressed block is shorter than it should be");
        refill();
      }
      stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data() + at_);
      stream_.avail_in = static_cast<uInt>(end_ - at_);
      int const code = inflate(&stream_, Z_NO_FLUSH);
      at_ = end_ - stream_.avail_in;
      if (code != Z_OK && code != Z_BUF_ERROR && !(code == Z_STREAM_END && stream_.avail_out == 0))
        from_->fail(fmt::format("a compressed block is damaged ({})",
                                stream_.msg != nullptr ? stream_.msg : "shorter than it should be"));
    }
    if (in_block_ == to.size()) at_ = end_;  // what follows belongs to the next block
  }

  source from_;
  std::vector<std::uint64_t> packed_;
  std::uint64_t block_ = 0, last_ = 0;
  std::size_t next_ = 0;
  std::uint64_t packed_left_ = 0, in_block_ = 0, left_ = 0;
  z_stream stream_{};
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0, end_ = 0;
};

}  // namespace

source open_array(vtk_file const& file, vtk_array const& array) {
  using kind = vtk_array::kind;
  source bytes;
  if (array.format == kind::appended) {
    if (file.appended_at == 0)
      throw usage_error(
          fmt::format("{}: array {}: expected <AppendedData>, there is none", file.path, array.name));
    if (array.offset > UINT64_MAX - file.appended_at)
      throw usage_error(fmt::format("{}: array {}: an offset of {}", file.path, array.name, array.offset));
    bytes = file_bytes(file.path, file.appended_at + array.offset);
    if (!file.appended_raw) bytes = from_base64(std::move(bytes));
  } else {
    bytes = file_bytes(file.path, array.begin, array.end - array.begin);
    if (array.format == kind::ascii) return from_text(std::move(bytes), array.type);
    bytes = from_base64(std::move(bytes));
  }
  if (file.compressed) return std::make_unique<blocks_source>(file, std::move(bytes));
  return std::make_unique<counted_source>(file, std::move(bytes));
}

bool swapped(vtk_file const& file, vtk_array const& array) {
  return file.swapped && array.format != vtk_array::kind::ascii;
}

}  // namespace skel::volume_data
