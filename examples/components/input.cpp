#include "input.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <vector>

#include "skel/error.hpp"
#include "skel/hash.hpp"

namespace components {

// Only zlib's inflate() is used, because its own file reader ignores bytes behind the packed data.
struct input::gzip {
  gzip() {
    constexpr int largest_window = 15, with_gzip_header = 16;
    if (inflateInit2(&stream, largest_window + with_gzip_header) != Z_OK) throw std::bad_alloc();
  }
  ~gzip() { inflateEnd(&stream); }
  gzip(gzip const&) = delete;
  gzip& operator=(gzip const&) = delete;

  [[nodiscard]] std::uint64_t position() const { return taken - stream.avail_in; }

  static constexpr std::array<std::byte, 2> magic{std::byte{0x1f}, std::byte{0x8b}};
  z_stream stream{};
  std::vector<std::byte> packed = std::vector<std::byte>(std::size_t{1} << 18);
  std::uint64_t taken = 0;  // packed bytes consumed
  bool complete = false;    // at the end of a member
};

input::input(std::string path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "rbe")) {
  if (!file_) throw skel::usage_error(fmt::format("{}: {}", path_, std::strerror(errno)));
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // all reads are large
  std::array<std::byte, 2> first{};
  bool const packed = read_file(first) == first.size() && first == gzip::magic;
  if (packed) gzip_ = std::make_unique<gzip>();
  rewind();
}

input::~input() = default;

void input::rewind() {
  if (std::fseek(file_.get(), 0, SEEK_SET) != 0)
    throw skel::usage_error(fmt::format("{}: cannot be read twice, expected a regular file", path_));
  if (gzip_) gzip_ = std::make_unique<gzip>();
  position_ = 0;
}

std::size_t input::read(std::span<std::byte> to) {
  auto const got = gzip_ ? unpack(to) : read_file(to);
  position_ += got;
  return got;
}

std::size_t input::read_file(std::span<std::byte> to) {
  auto const got = std::fread(to.data(), 1, to.size(), file_.get());
  if (got < to.size() && std::ferror(file_.get()) != 0)
    throw skel::usage_error(fmt::format("{}: {}", path_, std::strerror(errno)));
  return got;
}

std::size_t input::unpack(std::span<std::byte> to) {
  auto& g = *gzip_;
  auto& stream = g.stream;
  std::size_t done = 0;
  while (done < to.size()) {
    if (stream.avail_in == 0) {
      auto const got = read_file(g.packed);
      g.taken += got;
      stream.next_in = reinterpret_cast<Bytef*>(g.packed.data());
      stream.avail_in = static_cast<uInt>(got);
      if (got == 0) {
        if (!g.complete) fail_packed("truncated gzip file");
        break;
      }
    }
    if (g.complete) {
      if (std::byte{*stream.next_in} != gzip::magic[0]) fail_at_rest();
      inflateReset(&stream);
      g.complete = false;
    }
    auto const room = static_cast<uInt>(std::min<std::size_t>(to.size() - done, 1U << 30));
    stream.next_out = reinterpret_cast<Bytef*>(to.data() + done);
    stream.avail_out = room;
    int const code = inflate(&stream, Z_NO_FLUSH);
    done += room - stream.avail_out;
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code != Z_OK && code != Z_STREAM_END)
      fail_packed(fmt::format("damaged gzip file ({})", stream.msg != nullptr ? stream.msg : "?"));
    g.complete = code == Z_STREAM_END;
  }
  return done;
}

std::string input::begins_with(std::size_t size) {
  std::string head(size, '\0');
  head.resize(read(std::as_writable_bytes(std::span(head))));
  rewind();
  return head;
}

std::uint64_t input::size() const {
  struct stat status {};
  if (::fstat(::fileno(file_.get()), &status) != 0)
    throw skel::usage_error(fmt::format("{}: {}", path_, std::strerror(errno)));
  return static_cast<std::uint64_t>(status.st_size);
}

void input::seek(std::uint64_t position) {
  if (position == position_) return;
  if (gzip_ || ::fseeko(file_.get(), static_cast<off_t>(position), SEEK_SET) != 0)
    throw skel::usage_error(fmt::format("{}: cannot be read from byte {} on", path_, position));
  position_ = position;
}

std::string input::sample() {
  constexpr std::uint64_t blocks = 64, block = 4096;
  auto const bytes = size(), last = bytes - std::min(bytes, block);
  std::array<std::byte, block> some;
  skel::xxh3_hasher hasher;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    ::fseeko(file_.get(), static_cast<off_t>(last * i / (blocks - 1)), SEEK_SET);
    hasher.update(std::span(some).first(read_file(some)));
  }
  rewind();
  return fmt::format("{} {}", bytes, hasher.hex());
}

void input::fail_at(std::uint64_t at, std::string const& text) const {
  throw skel::usage_error(
      fmt::format("{}: at byte {}{}: {}", path_, at, gzip_ ? " of the unpacked data" : "", text));
}

void input::fail_at_rest() const {
  std::fseek(file_.get(), 0, SEEK_END);
  auto const rest = static_cast<std::uint64_t>(std::ftell(file_.get())) - gzip_->position();
  fail_packed(fmt::format("expected the end of the file or another gzip file, found {} other bytes", rest));
}

void input::fail_packed(std::string const& text) const {
  throw skel::usage_error(
      fmt::format("{}: at byte {} of the packed file: {}", path_, gzip_->position(), text));
}

}  // namespace components
