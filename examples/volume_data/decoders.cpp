// Base64, deflate and numbers in text: see byte_source.hpp.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "byte_source.hpp"
#include "characters.hpp"
#include "program/text.hpp"
#include "skel/error.hpp"

namespace volume_data {

namespace {

/// A source that reads another through a buffer.
class decoder : public byte_source {
 public:
  explicit decoder(source from) : from_(std::move(from)), buffer_(buffer_size) {}
  [[nodiscard]] std::string place() const override { return from_->place(); }

 protected:
  /// The next byte, or -1.
  int next() {
    if (at_ == end_ && !refill()) return -1;
    return static_cast<int>(buffer_[at_++]);
  }
  bool refill() {
    at_ = 0;
    end_ = from_->read(buffer_);
    return end_ > 0;
  }
  [[nodiscard]] std::uint64_t unread() const { return from_->most() + (end_ - at_); }

  source from_;
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0, end_ = 0;
};

class base64_source final : public decoder {
 public:
  using decoder::decoder;
  std::size_t read(std::span<std::byte> to) override {
    std::size_t done = 0;
    while (done < to.size()) {
      if (taken_ == have_ && !decode_four()) break;
      to[done++] = three_[taken_++];
    }
    return done;
  }
  [[nodiscard]] std::uint64_t most() const override { return unread() / 4 * 3 + 3; }

 private:
  static int digit(int c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+') return 62;
    return c == '/' ? 63 : -1;
  }
  bool decode_four() {
    std::uint32_t bits = 0;
    unsigned digits = 0;
    unsigned padding = 0;
    while (digits + padding < 4) {
      int const c = next();
      if (is_space(c)) continue;
      if (c < 0 && digits + padding == 0) return false;
      if (c == '=' && digits >= 2) {
        ++padding;
      } else if (digit(c) >= 0 && padding == 0) {
        bits |= static_cast<std::uint32_t>(digit(c)) << (18 - 6 * digits++);
      } else {
        fail(c < 0 ? "the base64 text ends within a group of four digits" : "expected a base64 digit");
      }
    }
    for (unsigned i = 0; i < 3; ++i) three_[i] = static_cast<std::byte>(bits >> (16 - 8 * i));
    have_ = 3 - padding;
    taken_ = 0;
    return true;
  }

  std::array<std::byte, 3> three_{};
  unsigned have_ = 0, taken_ = 0;
};

class inflating_source final : public decoder {
 public:
  explicit inflating_source(source from) : decoder(std::move(from)) {
    if (inflateInit2(&stream_, 15 + 32) != Z_OK) fail("zlib: out of memory");  // detects gzip or zlib
  }
  ~inflating_source() override { inflateEnd(&stream_); }
  inflating_source(inflating_source const&) = delete;
  inflating_source& operator=(inflating_source const&) = delete;

  std::size_t read(std::span<std::byte> to) override {
    std::size_t done = 0;
    while (done < to.size()) {
      if (at_ == end_ && !refill()) {
        if (!between_) fail("the compressed data are truncated");
        break;
      }
      auto const room = static_cast<uInt>(std::min<std::size_t>(to.size() - done, 1U << 30));
      stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data() + at_);
      stream_.avail_in = static_cast<uInt>(end_ - at_);
      stream_.next_out = reinterpret_cast<Bytef*>(to.data() + done);
      stream_.avail_out = room;
      int const code = inflate(&stream_, Z_NO_FLUSH);
      at_ = end_ - stream_.avail_in;
      done += room - stream_.avail_out;
      between_ = code == Z_STREAM_END;
      if (between_ && inflateReset(&stream_) != Z_OK) fail("zlib: cannot reset the stream");
      if (!between_ && code != Z_OK && code != Z_BUF_ERROR)
        fail(fmt::format("the compressed data are damaged ({})",
                         stream_.msg != nullptr ? stream_.msg : "no reason given"));
    }
    return done;
  }
  /// One byte of deflate data yields at most 1,032 bytes.
  [[nodiscard]] std::uint64_t most() const override {
    auto const in = unread();
    return in > (UINT64_MAX >> 11U) ? UINT64_MAX : in * 1032 + 1032 * 64;
  }

 private:
  z_stream stream_{};
  bool between_ = false;
};

class text_source final : public decoder {
 public:
  text_source(source from, scalar_type type) : decoder(std::move(from)), type_(type), width_(size_of(type)) {}

  std::size_t read(std::span<std::byte> to) override {
    std::size_t done = 0;
    for (; done + width_ <= to.size(); done += width_)
      if (!number(to.data() + done)) break;
    return done;
  }
  [[nodiscard]] std::uint64_t most() const override { return (unread() / 2 + 1) * width_; }
  void expect_end() override {
    if (behind_space() >= 0) goes_on();
  }

 private:
  int behind_space() {
    int c = next();
    while (is_space(c)) c = next();
    return c;
  }
  bool number(std::byte* to) {
    std::array<char, 64> word{};
    std::size_t length = 0;
    int c = behind_space();
    for (; c >= 0 && !is_space(c); c = next()) {
      if (length == word.size()) fail("expected a number, found more than 64 characters");
      word[length++] = static_cast<char>(c);
    }
    if (length == 0) return false;
    std::string_view const text(word.data(), length);
    with_type(type_, [&](auto value) {
      auto const number = parsed<decltype(value)>(text);
      if (!number) fail(fmt::format("expected a number of type {}, found \"{}\"", name_of(type_), text));
      std::memcpy(to, &*number, sizeof value);
    });
    return true;
  }
  /// Integers may be written as 5.0 or 1e3, up to 2^53, beyond which they are not exact.
  template <class Number>
  static std::optional<Number> parsed(std::string_view text) {
    auto const number = skel::program::to_number<Number>(text);
    if (number || !std::is_integral_v<Number>) return number;
    constexpr double exact = 9007199254740992.0;
    auto const value = skel::program::to_number<double>(text);
    if (!value || *value != std::floor(*value) || !(std::abs(*value) < exact)) return std::nullopt;
    if constexpr (std::is_integral_v<Number>)
      if (!std::in_range<Number>(static_cast<std::int64_t>(*value))) return std::nullopt;
    return static_cast<Number>(*value);
  }

  scalar_type type_;
  std::size_t width_;
};

}  // namespace

source inflated(source from) { return std::make_unique<inflating_source>(std::move(from)); }
source from_base64(source from) { return std::make_unique<base64_source>(std::move(from)); }
source from_text(source from, scalar_type type) {
  return std::make_unique<text_source>(std::move(from), type);
}

}  // namespace volume_data
