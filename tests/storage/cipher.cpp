// Encrypted objects can be restored only with the key; verification and repair need none.
#include "storage/cipher.hpp"

#include <algorithm>
#include <fstream>

#include "catch.hpp"
#include "observe/support.hpp"
#include "skel/error.hpp"
#include "store_support.hpp"

using namespace skel::storage;

namespace {

key some_key(int seed) {
  auto const bytes = test::random_bytes(32, static_cast<std::uint64_t>(seed));
  return key(std::span<std::byte const, 32>(bytes));
}

std::string refused_key(std::string const& path) {
  try {
    (void)key::read(path);
  } catch (skel::usage_error const& bad) {
    return bad.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("keys are read from files") {
  if (!can_seal()) {
    CHECK(refused_key("key") == "key: this skel was built without libsodium (on Debian: libsodium-dev)");
    return;
  }
  test::temporary_directory const d;
  std::string const digits = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eFF";
  std::ofstream(d.file("digits")) << digits << "\n";
  auto const k = key::read(d.file("digits"));
  CHECK(k.bytes()[1] == std::byte{1});
  CHECK(k.bytes()[31] == std::byte{255});
  std::ofstream(d.file("raw")) << std::string(32, 'x');
  CHECK(key::read(d.file("raw")).bytes()[7] == std::byte{'x'});
  std::ofstream(d.file("bad")) << digits.substr(1);
  CHECK(refused_key(d.file("bad")) ==
        d.file("bad") + ": not a key, expected 32 bytes or 64 hexadecimal digits");
  std::ofstream(d.file("line end")) << digits << "\r\n";
  CHECK(key::read(d.file("line end")).bytes()[1] == std::byte{1});
  for (auto const* const more : {"\n\n\n", "\n\n\n\n\n\nx"}) {
    std::ofstream(d.file("long")) << digits << more;
    CHECK(refused_key(d.file("long")).find("not a key") != std::string::npos);
  }
  std::ofstream(d.file("letters")) << std::string(64, 'g');
  CHECK(refused_key(d.file("letters")).find("not a key") != std::string::npos);
  CHECK(refused_key(d.file("none")) == d.file("none") + ": No such file or directory");
}

TEST_CASE("encrypted objects need their key for restoring, not for verification and repair") {
  if (!can_seal()) {
    test::store_in_memory s(3);
    put_options o;
    o.seal_with = some_key(1);
    CHECK_THROWS_WITH(
        s.put("ida:2,1", test::of({1}), o),
        "a key was given, but this skel was built without libsodium (on Debian: libsodium-dev)");
    return;
  }
  for (std::size_t const length : {0U, 1U, 65535U, 65536U, 65537U, 200000U}) {
    test::store_in_memory s(4);
    auto const data = test::random_bytes(length, length);
    put_options options;
    options.seal_with = some_key(1);
    auto const o = s.put("ida:2,2", data, options);
    CHECK(o.object.length == sealed_length(length));
    auto const get = [&](std::optional<key> const& with) {
      test::byte_vector out;
      s.store.get(
          o, [&] { return s.into(out); }, with);
      return out;
    };
    CHECK(get(some_key(1)) == data);
    CHECK_THROWS_WITH(get(some_key(2)), "state, generation 1: wrong key, or data was altered");
    CHECK_THROWS_WITH(get(std::nullopt), "state, generation 1: encrypted, missing key");
    if (length >= 16) {  // no shard contains 16 bytes of the plain data
      for (auto const& path : s.files.all_paths()) {
        auto const& shard = s.files.content(path);
        CHECK(std::search(shard.begin(), shard.end(), data.begin(), data.begin() + 16) == shard.end());
      }
    }
    auto const before = s.files.content(o.shards.at(1));
    s.files.content(o.shards.at(1)).clear();
    auto const whole = s.store.verify(o);
    CHECK((whole.shards.size() == 3 && !whole.shards.contains(1)));
    s.store.repair(o, whole);
    CHECK(s.files.content(o.shards.at(1)) == before);
  }
}

// Hashes do not protect against forgery; encryption does. Sealed bytes do not open under another
// name or generation.
TEST_CASE("sealed pieces open only under their name, in order and complete") {
  if (!can_seal()) return;
  object_info o{"state", 3, code("ida:1,1"), 0, 150000, 1U << 16U, sealing::xchacha20_poly1305};
  test::byte_vector sealed;
  auto const data = test::random_bytes(150000, 1);
  sealer s(some_key(1), o, [&](auto part) { sealed.insert(sealed.end(), part.begin(), part.end()); });
  for (std::size_t at = 0; at < data.size(); at += 1000) s.write(std::span(data).subspan(at, 1000));
  s.finish();
  CHECK(sealed.size() == sealed_length(data.size()));
  auto const opens = [&](object_info const& as, std::span<std::byte const> bytes) {
    test::byte_vector out;
    try {
      opener opened(some_key(1), as, [&](auto part) { out.insert(out.end(), part.begin(), part.end()); });
      opened.write(bytes);
      opened.finish();
    } catch (skel::error const&) {
      return false;
    }
    return out == data;
  };
  CHECK(opens(o, sealed));
  auto another = o;
  another.generation = 4;
  CHECK_FALSE(opens(another, sealed));
  another = o;
  another.name = "other";
  CHECK_FALSE(opens(another, sealed));
  o.belongs_to = {1, 2, 0, 3, 4};
  sealed.clear();
  sealer of_part(some_key(1), o, [&](auto part) { sealed.insert(sealed.end(), part.begin(), part.end()); });
  of_part.write(data);
  of_part.finish();
  CHECK(opens(o, sealed));
  for (membership const other :
       {membership{}, membership{5, 2, 0, 3, 4}, membership{1, 5, 0, 3, 4}, membership{1, 2, 1, 3, 4},
        membership{1, 2, 0, 4, 4}, membership{1, 2, 0, 3, 5}, membership{1, 2, 0, 3, 4, 8, 9}}) {
    another = o;
    another.belongs_to = other;
    CHECK_FALSE(opens(another, sealed));
  }
  constexpr std::size_t piece = 65536 + 17;
  CHECK_FALSE(opens(o, std::span(sealed).first(24 + piece)));  // cut between pieces
  CHECK_FALSE(opens(o, std::span(sealed).first(10)));
  CHECK_FALSE(opens(o, {}));
  auto swapped = sealed;
  std::swap_ranges(swapped.begin() + 24, swapped.begin() + 24 + piece, swapped.begin() + 24 + piece);
  CHECK_FALSE(opens(o, swapped));
  for (std::size_t const at : {0U, 30U, 65600U, 150000U}) {
    auto changed = sealed;
    changed[at] ^= std::byte{1};
    CHECK_FALSE(opens(o, changed));
  }
}
