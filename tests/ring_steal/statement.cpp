// The byte format of a search's statements: decoding inverts encoding and refuses truncated input.
#include "catch.hpp"
#include "ring_steal/books.hpp"
#include "skel/error.hpp"

using skel::detail::steal_statement;

TEST_CASE("decoding inverts encoding and reads nothing beyond the statement") {
  std::vector<std::byte> const some{std::byte{1}, std::byte{0}, std::byte{255}};
  for (auto const& s : {steal_statement{}, steal_statement{300, some, 0, {}}, steal_statement{0, {}, 2, some},
                        steal_statement{1ULL << 40U, some, 1, std::vector<std::byte>(1000)}}) {
    std::vector<std::byte> bytes;
    skel::detail::encode(s, bytes);
    bytes.push_back(std::byte{7});
    std::span<std::byte const> in(bytes);
    auto const read = skel::detail::decode_statement(in);
    CHECK(read.tasks == s.tasks);
    CHECK(read.sum == s.sum);
    CHECK(read.bags == s.bags);
    CHECK(read.waiting == s.waiting);
    CHECK(in.size() == 1);
  }
}

TEST_CASE("a statement truncated at any byte is refused") {
  std::vector<std::byte> bytes;
  skel::detail::encode({500, std::vector<std::byte>(9), 3, std::vector<std::byte>(20)}, bytes);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    std::span<std::byte const> in(bytes.data(), n);
    CHECK_THROWS_AS(static_cast<void>(skel::detail::decode_statement(in)), skel::protocol_error);
  }
}
