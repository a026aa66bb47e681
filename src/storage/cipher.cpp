#include "storage/cipher.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/format.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"
#include "skel/storage/file_system.hpp"

#if SKEL_WITH_SODIUM
#include <sodium.h>
#endif

namespace skel::storage {

namespace {

constexpr std::size_t piece = 1U << 16U;
constexpr std::size_t stream_header = 24;
constexpr std::size_t piece_overhead = 17;

std::optional<std::array<std::byte, 32>> from_digits(std::span<std::byte const> file) {
  std::string_view text(reinterpret_cast<char const*>(file.data()), file.size());
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  std::array<std::byte, 32> bytes{};
  if (text.size() != 2 * bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto const byte = detail::from_digits<std::uint8_t>(text.substr(2 * i, 2), 16);
    if (!byte) return std::nullopt;
    bytes[i] = std::byte{*byte};
  }
  return bytes;
}

}  // namespace

key::key(std::span<std::byte const, 32> bytes) : bytes_{} { std::ranges::copy(bytes, bytes_.begin()); }

key key::read(std::string const& path) {
  if (!can_seal())
    throw usage_error(path + ": this skel was built without libsodium (on Debian: libsodium-dev)");
  constexpr std::size_t longest = 66;         // digits, carriage return, line feed
  std::vector<std::byte> bytes(longest + 1);  // a longer file is not a key
  try {
    bytes.resize(real_file_system().open(path)->read_at(0, bytes));
  } catch (error const& bad) {
    throw usage_error(bad.what());
  }
  if (bytes.size() == 32) return key(std::span<std::byte const, 32>(bytes));
  if (auto const read = from_digits(bytes); read && bytes.size() <= longest) return key(*read);
  throw usage_error(detail::format("{}: not a key, expected 32 bytes or 64 hexadecimal digits", path));
}

std::uint64_t sealed_length(std::uint64_t content_length) noexcept {
  if (content_length > std::numeric_limits<std::uint64_t>::max() / 4) return 0;
  auto const pieces = std::max<std::uint64_t>(1, (content_length + piece - 1) / piece);
  return stream_header + content_length + pieces * piece_overhead;
}

#if SKEL_WITH_SODIUM

static_assert(stream_header == crypto_secretstream_xchacha20poly1305_HEADERBYTES &&
              piece_overhead == crypto_secretstream_xchacha20poly1305_ABYTES);

bool can_seal() noexcept { return sodium_init() >= 0; }

key::~key() { sodium_memzero(bytes_.data(), bytes_.size()); }

namespace {

unsigned char const* raw(std::byte const* p) { return reinterpret_cast<unsigned char const*>(p); }
unsigned char* raw(std::byte* p) { return reinterpret_cast<unsigned char*>(p); }

std::string context_of(object_info const& object) {
  auto const& m = object.belongs_to;
  auto const part = m.parts == 0
                        ? std::string()
                        : detail::format(" {} {} {} {} {}", m.stamp, m.identity, m.part, m.parts, m.machine);
  auto const base = m.base == 0 ? std::string() : detail::format(" {} {}", m.base, m.base_stamp);
  return detail::format("skel {} {} {}{}{} {}", shard_schema, object.generation, object.content_length, part,
                        base, object.name);
}

// Cuts a stream of bytes into pieces of equal size.
template <class Use>
void in_pieces(std::vector<std::byte>& buffer, std::size_t size, std::span<std::byte const> bytes,
               Use const& use) {
  while (!bytes.empty()) {
    if (buffer.size() == size) {
      use();
      buffer.clear();
    }
    auto const part = bytes.first(std::min(bytes.size(), size - buffer.size()));
    buffer.insert(buffer.end(), part.begin(), part.end());
    bytes = bytes.subspan(part.size());
  }
}

}  // namespace

struct sealing_state {
  crypto_secretstream_xchacha20poly1305_state stream{};
  std::string context;
  byte_sink to;
  std::vector<std::byte> plain{}, sealed{};

  sealing_state(key const& with, object_info const& object, byte_sink receiver)
      : context(context_of(object)), to(std::move(receiver)) {
    if (!can_seal()) throw error("cannot initialise libsodium");
    std::array<std::byte, stream_header> header{};
    crypto_secretstream_xchacha20poly1305_init_push(&stream, raw(header.data()), raw(with.bytes().data()));
    to(header);
  }
  ~sealing_state() { sodium_memzero(&stream, sizeof stream); }

  void push(unsigned char tag) {
    sealed.resize(plain.size() + piece_overhead);
    crypto_secretstream_xchacha20poly1305_push(
        &stream, raw(sealed.data()), nullptr, raw(plain.data()), plain.size(),
        reinterpret_cast<unsigned char const*>(context.data()), context.size(), tag);
    to(sealed);
  }

  void write(std::span<std::byte const> bytes) {
    in_pieces(plain, piece, bytes, [&] { push(crypto_secretstream_xchacha20poly1305_TAG_MESSAGE); });
  }
  void finish() { push(crypto_secretstream_xchacha20poly1305_TAG_FINAL); }
};

struct opening_state {
  crypto_secretstream_xchacha20poly1305_state stream{};
  key with;
  object_info object;
  std::string context;
  byte_sink to;
  std::vector<std::byte> header{}, sealed{}, plain{};
  bool started = false, ended = false;

  opening_state(key const& secret, object_info const& what, byte_sink receiver)
      : with(secret), object(what), context(context_of(what)), to(std::move(receiver)) {
    if (!can_seal()) throw error("cannot initialise libsodium");
  }
  ~opening_state() { sodium_memzero(&stream, sizeof stream); }

  [[noreturn]] void refuse() const {
    throw wrong_key(
        detail::format("{}, generation {}: wrong key, or data was altered", object.name, object.generation));
  }

  void begin() {
    started = crypto_secretstream_xchacha20poly1305_init_pull(&stream, raw(header.data()),
                                                              raw(with.bytes().data())) == 0;
    if (!started) refuse();
  }

  void pull() {
    if (!started || ended || sealed.size() < piece_overhead) refuse();
    plain.resize(sealed.size() - piece_overhead);
    unsigned char tag = 0;
    if (crypto_secretstream_xchacha20poly1305_pull(
            &stream, raw(plain.data()), nullptr, &tag, raw(sealed.data()), sealed.size(),
            reinterpret_cast<unsigned char const*>(context.data()), context.size()) != 0)
      refuse();
    ended = tag == crypto_secretstream_xchacha20poly1305_TAG_FINAL;
    to(plain);
  }

  void write(std::span<std::byte const> bytes) {
    if (!started) {
      auto const part = bytes.first(std::min(bytes.size(), stream_header - header.size()));
      header.insert(header.end(), part.begin(), part.end());
      bytes = bytes.subspan(part.size());
      if (header.size() < stream_header) return;
      begin();
    }
    in_pieces(sealed, piece + piece_overhead, bytes, [&] { pull(); });
  }
  void finish() {
    pull();
    if (!ended) refuse();
  }
};

#else

namespace {

[[noreturn]] void without_sodium() {
  throw usage_error("a key was given, but this skel was built without libsodium (on Debian: libsodium-dev)");
}

}  // namespace

bool can_seal() noexcept { return false; }
key::~key() = default;

struct sealing_state {
  sealing_state(key const&, object_info const&, byte_sink const&) { without_sodium(); }
  void write(std::span<std::byte const>) { without_sodium(); }
  void finish() { without_sodium(); }
};
struct opening_state : sealing_state {
  using sealing_state::sealing_state;
};

#endif

template <class State>
piecewise_cipher<State>::piecewise_cipher(key const& with, object_info const& object, byte_sink to)
    : state_(std::make_unique<State>(with, object, std::move(to))) {}
template <class State>
piecewise_cipher<State>::~piecewise_cipher() = default;
template <class State>
void piecewise_cipher<State>::write(std::span<std::byte const> bytes) {
  state_->write(bytes);
}
template <class State>
void piecewise_cipher<State>::finish() {
  state_->finish();
}
template class piecewise_cipher<sealing_state>;
template class piecewise_cipher<opening_state>;

}  // namespace skel::storage
