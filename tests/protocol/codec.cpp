// The fields of messages: decoding inverts encoding, invalid bytes are errors; equality and hash.
#include "protocol/codec.hpp"

#include <limits>

#include "catch.hpp"
#include "protocol/digest.hpp"

namespace {

using skel::role::operator==;

struct pair_of {
  int from = 0;
  std::uint64_t n = 0;
};
struct everything {
  bool flag = false;
  double measure = 0;
  std::string text{};
  std::vector<pair_of> pairs{};
  skel::range_list ranges{};
  std::optional<int> maybe{};
};
struct nothing {};
using message = std::variant<skel::role::call_message, everything, nothing>;

}  // namespace

template <>
inline constexpr unsigned skel::role::first_kind<message> = 32;

namespace {

using namespace skel;

std::vector<std::byte> written(message const& m) {
  std::vector<std::byte> out;
  encode(m, out);
  return out;
}

message read(std::span<std::byte const> bytes) { return role::decode<message>(bytes); }

std::vector<message> samples() {
  return {
      role::call_message(role::hello{~0ULL, 3, 1234.5}),
      role::call_message(role::failed{7, "seven"}),
      role::call_message(role::please_stop{}),
      role::call_message(role::part_lost{3}),
      role::call_message(role::blamed{5, {1, 2}}),
      role::call_message(role::stopped{}),
      role::call_message(role::stop{true}),
      role::call_message(role::finish{{.how = role::outcome::status::stopped_early, .tasks = 9}}),
      role::call_message(role::abort{"why"}),
      everything{},
      everything{true, 1e-300, "text", {{1, 2}, {std::numeric_limits<int>::max(), ~0ULL}}, {{5, 6, 7}}, 4},
      nothing{}};
}

}  // namespace

TEST_CASE("decoding inverts encoding for every message") {
  for (auto const& m : samples()) {
    auto bytes = written(m);
    bytes.push_back(std::byte{42});  // the first byte of the next message
    std::span<std::byte const> rest(bytes);
    CHECK(role::decode<message>(rest) == m);
    CHECK(rest.size() == 1);
  }
}

TEST_CASE("equality and hash take every field of a message") {
  auto const hash = [](message const& m) { return role::digest().add(m).value(); };
  auto const all = samples();
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < all.size(); ++k) {
      CHECK((all[i] == all[k]) == (i == k));
      CHECK((hash(all[i]) == hash(all[k])) == (i == k));
    }
  everything const same{true, 1, "text", {{1, 2}}, {{5, 6, 7}}, 4};
  for (auto const& other : {everything{false, 1, "text", {{1, 2}}, {{5, 6, 7}}, 4},
                            everything{true, 2, "text", {{1, 2}}, {{5, 6, 7}}, 4},
                            everything{true, 1, "next", {{1, 2}}, {{5, 6, 7}}, 4},
                            everything{true, 1, "text", {{1, 3}}, {{5, 6, 7}}, 4},
                            everything{true, 1, "text", {{1, 2}}, {{5, 6, 8}}, 4},
                            everything{true, 1, "text", {{1, 2}}, {{5, 6, 7}}, std::nullopt}}) {
    CHECK(other != same);
    CHECK(hash(other) != hash(same));
  }
}

TEST_CASE("a truncated message is an error") {
  for (auto const& m : samples()) {
    auto const bytes = written(m);
    for (std::size_t n = 0; n < bytes.size(); ++n)
      CHECK_THROWS_AS(read(std::span(bytes).first(n)), protocol_error);
  }
}

TEST_CASE("bytes that encode no message are errors") {
  auto const bytes = [](auto... b) { return std::vector<std::byte>{static_cast<std::byte>(b)...}; };
  CHECK_THROWS_AS(read(bytes(9)), protocol_error);     // kinds between call_message's and the skeleton's
  CHECK_THROWS_AS(read(bytes(34)), protocol_error);    // and after the skeleton's
  CHECK_THROWS_AS(read(bytes(6, 2)), protocol_error);  // stop: neither true nor false
  CHECK_THROWS_AS(read(bytes(3, 255, 255, 255, 255, 15)), protocol_error);      // part_lost: invalid rank
  CHECK_THROWS_AS(read(bytes(32, 0, 0, 0, 200, 1)), protocol_error);            // more pairs than bytes
  CHECK_THROWS_AS(read(bytes(32, 0, 0, 0, 0, 1, 5, 0, 1, 0)), protocol_error);  // a range without tasks
  CHECK_THROWS_AS(read(written(everything{.measure = -1})), protocol_error);
}

TEST_CASE("small messages take few bytes") {
  CHECK(written(nothing{}).size() == 1);
  CHECK(written(role::call_message(role::stop{})).size() == 2);
  CHECK(written(role::call_message(role::hello{0})).size() == 4);
}
