#include "vtk_array.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "skel/error.hpp"

namespace volume_data {

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

/// Yields the number of bytes stated by a count in front of them. `alone`: nothing may follow them.
class counted_source final : public byte_source {
 public:
  counted_source(vtk_file const& file, source from, bool alone) : from_(std::move(from)), alone_(alone) {
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
  void expect_end() override {
    if (left_ > 0) goes_on();
    if (alone_) from_->expect_end();
  }
  [[nodiscard]] std::uint64_t most() const override { return std::min(left_, from_->most()); }
  [[nodiscard]] bool counted() const override { return true; }
  [[nodiscard]] std::string place() const override { return from_->place(); }

 private:
  source from_;
  std::uint64_t left_ = 0;
  bool alone_;
};

/// vtkZLibDataCompressor: the number of blocks, their size, the size of the last one (0: like the
/// others), the compressed size of each, and the blocks, each a zlib stream.
class blocks_source final : public byte_source {
 public:
  blocks_source(vtk_file const& file, source from, bool alone)
      : from_(std::move(from)), alone_(alone), buffer_(buffer_size) {
    auto const blocks = read_count(file, *from_);
    block_ = read_count(file, *from_);
    last_ = read_count(file, *from_);
    if (last_ == 0) last_ = block_;
    if (blocks > from_->most() / file.header_width)
      from_->fail(fmt::format("{} compressed blocks, more than the file has room for", blocks));
    for (std::uint64_t i = 0; i < blocks; ++i) packed_.push_back(read_count(file, *from_));
    if (blocks > 0 && (block_ > UINT64_MAX / 2 / blocks || last_ > UINT64_MAX / 4))
      from_->fail("compressed blocks are impossibly large");
    left_ = blocks == 0 ? 0 : (blocks - 1) * block_ + last_;
    if (inflateInit(&stream_) != Z_OK) from_->fail("zlib: out of memory");
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
  /// Blocks that are skipped completely are not decompressed.
  void skip(std::uint64_t bytes) override {
    while (bytes > 0 && (in_block_ > 0 || open_block()) && bytes >= in_block_) {
      bytes -= in_block_;
      left_ -= in_block_;
      in_block_ = 0;
      at_ = end_;
    }
    byte_source::skip(bytes);
  }
  void expect_end() override {
    if (left_ > 0) goes_on();
    if (alone_) from_->expect_end();
  }
  [[nodiscard]] bool counted() const override { return true; }
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
      if (inflateReset(&stream_) != Z_OK) from_->fail("zlib: cannot reset the stream");
      if (in_block_ > 0) return true;
    }
    return false;
  }
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
    bool ended = false;
    while (stream_.avail_out > 0 && !ended) ended = inflate_once();
    if (stream_.avail_out > 0) from_->fail("a compressed block is too short");
    if (in_block_ == to.size() && !ended) expect_block_end();
    if (in_block_ == to.size()) skip_packed();  // what follows belongs to the next block
  }
  // Its checksum may remain after all of its bytes.
  void expect_block_end() {
    std::byte more{};
    stream_.next_out = reinterpret_cast<Bytef*>(&more);
    stream_.avail_out = 1;
    bool ended = false;
    while (stream_.avail_out > 0 && !ended) ended = inflate_once();
    if (stream_.avail_out == 0) from_->fail("a compressed block is too long");
  }
  /// Whether the stream ends.
  bool inflate_once() {
    if (at_ == end_) {
      if (packed_left_ == 0) from_->fail("a compressed block is too short");
      refill();
    }
    stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data() + at_);
    stream_.avail_in = static_cast<uInt>(end_ - at_);
    int const code = inflate(&stream_, Z_NO_FLUSH);
    at_ = end_ - stream_.avail_in;
    if (code != Z_OK && code != Z_BUF_ERROR && code != Z_STREAM_END)
      from_->fail(fmt::format("a compressed block is damaged ({})",
                              stream_.msg != nullptr ? stream_.msg : "no reason given"));
    return code == Z_STREAM_END;
  }

  source from_;
  bool alone_;
  std::vector<std::uint64_t> packed_;
  std::uint64_t block_ = 0, last_ = 0;
  std::size_t next_ = 0;
  std::uint64_t packed_left_ = 0, in_block_ = 0, left_ = 0;
  z_stream stream_{};
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0, end_ = 0;
};

constexpr std::array<std::string_view, 10> types{"Int8",   "UInt8", "Int16",  "UInt16",  "Int32",
                                                 "UInt32", "Int64", "UInt64", "Float32", "Float64"};

[[noreturn]] void refuse(vtk_file const& file, vtk_array const& array, std::string const& text) {
  throw skel::usage_error(fmt::format("{}: array {}: {}", file.path, array.name, text));
}

source appended(vtk_file const& file, vtk_array const& array) {
  if (file.appended_at == 0) refuse(file, array, "missing <AppendedData>");
  std::uint64_t offset = 0;
  auto const* const last = array.offset.data() + array.offset.size();
  auto const [end, code] = std::from_chars(array.offset.data(), last, offset);
  if (code != std::errc{} || end != last || offset > UINT64_MAX - file.appended_at)
    refuse(file, array, fmt::format("expected an offset, found \"{}\"", array.offset));
  auto bytes = file_bytes(file.path, file.appended_at + offset);
  return file.appended_raw ? std::move(bytes) : from_base64(std::move(bytes));
}

}  // namespace

bool is_scalar(vtk_array const& array) {
  return array.components == "1" && std::ranges::find(types, array.type_name) != types.end();
}

scalar_type type_of(vtk_file const& file, vtk_array const& array) {
  if (array.components != "1")
    refuse(file, array, fmt::format("expected 1 component, found {}", array.components));
  auto const at = std::ranges::find(types, array.type_name);
  if (at == types.end())
    refuse(file, array,
           fmt::format("unknown type \"{}\"; known: {}", array.type_name, fmt::join(types, ", ")));
  return static_cast<scalar_type>(at - types.begin());
}

source open_array(vtk_file const& file, vtk_array const& array) {
  bool const inside = array.format != "appended";  // then nothing follows the values
  if (inside && array.format != "ascii" && array.format != "binary")
    refuse(file, array, fmt::format("expected format ascii, binary or appended, found \"{}\"", array.format));
  auto bytes = inside ? file_bytes(file.path, array.begin, array.end - array.begin) : appended(file, array);
  if (array.format == "ascii") return from_text(std::move(bytes), type_of(file, array));
  if (inside) bytes = from_base64(std::move(bytes));
  if (file.compressor.empty()) return std::make_unique<counted_source>(file, std::move(bytes), inside);
  if (file.compressor == "vtkZLibDataCompressor")
    return std::make_unique<blocks_source>(file, std::move(bytes), inside);
  refuse(file, array,
         fmt::format("expected compressor vtkZLibDataCompressor or none, found \"{}\"", file.compressor));
}

bool swapped(vtk_file const& file, vtk_array const& array) { return file.swapped && array.format != "ascii"; }

}  // namespace volume_data
