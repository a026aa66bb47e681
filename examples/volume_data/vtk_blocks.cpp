#include "vtk_blocks.hpp"

#include <fmt/format.h>
#include <lz4.h>
#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "skel/error.hpp"

namespace volume_data {

namespace {

class damaged final : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Unpacks one block after the other.
class block_codec {
 public:
  block_codec() = default;
  block_codec(block_codec const&) = delete;
  block_codec& operator=(block_codec const&) = delete;
  virtual ~block_codec() = default;

  /// An upper bound on the bytes made of one.
  [[nodiscard]] virtual std::uint64_t most_of_one() const = 0;
  /// Begins a block of `packed` bytes that become `size`.
  virtual void begin(std::uint64_t packed, std::uint64_t size) = 0;
  /// Takes bytes from the front of `in` and fills the front of `out`, and removes both. Returns whether
  /// the block ends; throws `damaged`.
  virtual bool run(std::span<std::byte const>& in, std::span<std::byte>& out) = 0;

 protected:
  static void advance(std::span<std::byte const>& in, std::size_t in_left, std::span<std::byte>& out,
                      std::size_t out_left) {
    in = in.last(in_left);
    out = out.last(out_left);
  }
};

class zlib_codec final : public block_codec {
 public:
  zlib_codec() {
    if (inflateInit(&stream_) != Z_OK) throw std::bad_alloc();
  }
  ~zlib_codec() override { inflateEnd(&stream_); }
  zlib_codec(zlib_codec const&) = delete;
  zlib_codec& operator=(zlib_codec const&) = delete;

  [[nodiscard]] std::uint64_t most_of_one() const override { return 1032; }
  void begin(std::uint64_t /*packed*/, std::uint64_t /*size*/) override { inflateReset(&stream_); }
  bool run(std::span<std::byte const>& in, std::span<std::byte>& out) override {
    stream_.next_in =
        reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));  // zlib does not write to it
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    int const code = inflate(&stream_, Z_NO_FLUSH);
    advance(in, stream_.avail_in, out, stream_.avail_out);
    if (code != Z_OK && code != Z_BUF_ERROR && code != Z_STREAM_END)
      throw damaged(stream_.msg != nullptr ? stream_.msg : "no reason given");
    return code == Z_STREAM_END;
  }

 private:
  z_stream stream_{};
};

class lzma_codec final : public block_codec {
 public:
  lzma_codec() = default;
  ~lzma_codec() override { lzma_end(&stream_); }
  lzma_codec(lzma_codec const&) = delete;
  lzma_codec& operator=(lzma_codec const&) = delete;

  /// The longest match, of 273 bytes, takes a third of a bit at the least.
  [[nodiscard]] std::uint64_t most_of_one() const override { return 8192; }
  void begin(std::uint64_t /*packed*/, std::uint64_t /*size*/) override {
    constexpr std::uint64_t most_memory = std::uint64_t{128} << 20;  // level 9 needs 65 MiB
    if (lzma_stream_decoder(&stream_, most_memory, 0) != LZMA_OK) throw std::bad_alloc();
  }
  bool run(std::span<std::byte const>& in, std::span<std::byte>& out) override {
    stream_.next_in = reinterpret_cast<std::uint8_t const*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    auto const code = lzma_code(&stream_, LZMA_RUN);
    advance(in, stream_.avail_in, out, stream_.avail_out);
    if (code == LZMA_MEMLIMIT_ERROR) throw damaged("unpacking needs more than 128 MiB");
    if (code != LZMA_OK && code != LZMA_BUF_ERROR && code != LZMA_STREAM_END)
      throw damaged("incorrect xz data");
    return code == LZMA_STREAM_END;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

class lz4_codec final : public block_codec {
 public:
  [[nodiscard]] std::uint64_t most_of_one() const override { return 255; }
  void begin(std::uint64_t packed, std::uint64_t size) override {
    constexpr std::uint64_t most = std::numeric_limits<int>::max();
    if (packed > most || size > most) throw damaged("an LZ4 block has at most 2 GiB");
    packed_left_ = packed;
    packed_.clear();
    block_.clear();
    size_ = size;
    given_ = 0;
  }
  bool run(std::span<std::byte const>& in, std::span<std::byte>& out) override {
    auto const taken = std::min<std::uint64_t>(in.size(), packed_left_);
    packed_.insert(packed_.end(), in.begin(), in.begin() + static_cast<std::ptrdiff_t>(taken));
    in = in.subspan(taken);
    packed_left_ -= taken;
    if (packed_left_ > 0) return false;
    if (block_.empty()) unpack();
    auto const part = std::min<std::size_t>(out.size(), block_.size() - given_);
    std::ranges::copy(std::span(block_).subspan(given_, part), out.begin());
    out = out.subspan(part);
    given_ += part;
    return given_ == block_.size();
  }

 private:
  void unpack() {
    if (size_ > most_of_one() * packed_.size())
      throw damaged("an LZ4 block yields at most 255 times its size");
    block_.resize(size_);
    int const got = LZ4_decompress_safe(reinterpret_cast<char const*>(packed_.data()),
                                        reinterpret_cast<char*>(block_.data()),
                                        static_cast<int>(packed_.size()), static_cast<int>(size_));
    if (got < 0) throw damaged("incorrect LZ4 data, or more than expected");
    block_.resize(static_cast<std::size_t>(got));
  }

  std::uint64_t packed_left_ = 0, size_ = 0;
  std::vector<std::byte> packed_, block_;
  std::size_t given_ = 0;
};

std::unique_ptr<block_codec> codec_named(vtk_file const& file) {
  if (file.compressor == "vtkZLibDataCompressor") return std::make_unique<zlib_codec>();
  if (file.compressor == "vtkLZMADataCompressor") return std::make_unique<lzma_codec>();
  if (file.compressor == "vtkLZ4DataCompressor") return std::make_unique<lz4_codec>();
  throw skel::usage_error(
      fmt::format("{}: unknown compressor \"{}\"; known: vtkZLibDataCompressor, vtkLZ4DataCompressor, "
                  "vtkLZMADataCompressor",
                  file.path, file.compressor));
}

class blocks_source final : public byte_source {
 public:
  blocks_source(vtk_file const& file, source from, bool alone)
      : from_(std::move(from)), codec_(codec_named(file)), alone_(alone), buffer_(buffer_size) {
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
  }

  std::size_t read(std::span<std::byte> to) override {
    std::size_t done = 0;
    while (done < to.size() && (in_block_ > 0 || open_block())) {
      auto const room = std::min<std::uint64_t>({to.size() - done, in_block_, 1U << 30});
      unpack(to.subspan(done, room));
      done += room;
      in_block_ -= room;
      left_ -= room;
      if (in_block_ == 0) skip_packed();  // what follows belongs to the next block
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
    auto const factor = codec_->most_of_one();
    return std::min(left_, in > UINT64_MAX / factor - 64 ? UINT64_MAX : (in + 64) * factor);
  }
  [[nodiscard]] std::string place() const override { return from_->place(); }

 private:
  bool open_block() {
    while (next_ < packed_.size()) {
      if (packed_left_ > 0) skip_packed();
      packed_left_ = packed_[next_++];
      in_block_ = next_ == packed_.size() ? last_ : block_;
      begun_ = false;
      if (in_block_ > 0) return true;
    }
    return false;
  }
  void skip_packed() {
    from_->skip(packed_left_);
    packed_left_ = 0;
    at_ = end_;
  }
  /// Fills `to` from the block; if that is all of it, the block must end here, behind its checksum.
  void unpack(std::span<std::byte> to) {
    auto const is_last = to.size() == in_block_;
    bool ended = false;
    while (!to.empty() && !ended) ended = step(to);
    if (!to.empty()) from_->fail("a compressed block is too short");
    std::byte more{};
    auto behind = std::span(&more, 1);
    while (is_last && !ended && !behind.empty()) ended = step(behind);
    if (behind.empty()) from_->fail("a compressed block is too long");
  }
  /// Unpacks some bytes to the front of `to` and removes it. Returns whether the block ends.
  bool step(std::span<std::byte>& to) {
    if (at_ == end_ && packed_left_ > 0) {
      at_ = 0;
      end_ = std::min<std::uint64_t>(buffer_.size(), packed_left_);
      from_->require(std::span(buffer_).first(end_));
      packed_left_ -= end_;
    }
    auto in = std::span<std::byte const>(buffer_).subspan(at_, end_ - at_);
    auto const room = to.size();
    bool ended = false;
    try {
      if (!std::exchange(begun_, true)) codec_->begin(in.size() + packed_left_, in_block_);
      ended = codec_->run(in, to);
    } catch (damaged const& e) {
      from_->fail(fmt::format("a compressed block is damaged ({})", e.what()));
    }
    bool const stuck = in.size() == end_ - at_ && to.size() == room && !ended;
    if (stuck) from_->fail("a compressed block is too short");
    at_ = end_ - in.size();
    return ended;
  }

  source from_;
  std::unique_ptr<block_codec> codec_;
  bool alone_;
  std::vector<std::uint64_t> packed_;
  std::uint64_t block_ = 0, last_ = 0;
  std::size_t next_ = 0;
  std::uint64_t packed_left_ = 0, in_block_ = 0, left_ = 0;
  bool begun_ = false;
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0, end_ = 0;
};

}  // namespace

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

source unpacked_blocks(vtk_file const& file, source from, bool alone) {
  return std::make_unique<blocks_source>(file, std::move(from), alone);
}

}  // namespace volume_data
