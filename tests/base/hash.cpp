#include "skel/hash.hpp"

#include <span>
#include <string_view>
#include <utility>

#include "catch.hpp"

using skel::xxh3_hasher;
using skel::xxh3_hex;

namespace {
std::span<std::byte const> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }
}  // namespace

TEST_CASE("XXH3's published values") {
  CHECK(xxh3_hex({}) == "2d06800538d394c2");          // xxHash: tests/sanity_test_vectors.h, length 0, seed 0
  CHECK(xxh3_hex(bytes("a")) == "e6c632b61e964e1f");  // printf a | xxhsum -H3
  CHECK(xxh3_hex(bytes("abc")) == "78af5f94892f3950");  // printf abc | xxhsum -H3
}

TEST_CASE("pieces hash like the whole") {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i);
  for (std::size_t const cut : {1U, 63U, 64U, 1023U, 100'000U}) {
    xxh3_hasher hasher;
    for (std::size_t at = 0; at < text.size(); at += cut)
      hasher.update(bytes(std::string_view(text).substr(at, cut)));
    xxh3_hasher const moved = std::move(hasher);
    CHECK(moved.hex() == xxh3_hex(bytes(text)));
  }
}
