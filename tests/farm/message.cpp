// The farm's messages, and those of a farm of teams, through the codec: round trips, and hostile bytes.
#include "farm/role/message.hpp"

#include <random>

#include "catch.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"
#include "team_farm/role/message.hpp"

namespace role = skel::role;
namespace farm = skel::role::farm;
namespace team = skel::role::team;
using role::farm_message;
using role::team_message;

namespace {

std::uint64_t any_number(std::mt19937_64& dice) { return dice() >> (dice() % 64); }
double any_power(std::mt19937_64& dice) { return static_cast<double>(dice() % 1000) / 7; }
skel::range_list any_ranges(std::mt19937_64& dice) {
  skel::range_list ranges;
  for (std::uint64_t n = dice() % 5; n > 0; --n)
    ranges.push_back({dice() >> (2 + dice() % 60), 1 + dice() % 1000, 1 + dice() % 1000});
  return ranges;
}

std::optional<farm::load> any_load(std::mt19937_64& dice) {
  if (dice() % 2 == 0) return std::nullopt;
  return farm::load{any_number(dice), any_power(dice)};
}

farm_message any_message(std::mt19937_64& dice) {
  switch (dice() % 18) {
    case 16:
      return farm::refused{any_number(dice), any_number(dice), any_number(dice), any_number(dice),
                           std::string(dice() % 9, 'x')};
    case 0:
      return role::call_message(role::hello{dice(), dice() % 99, any_power(dice)});
    case 1:
      return role::call_message(role::failed{any_number(dice), std::string(dice() % 300, 'x')});
    case 2:
      return role::call_message(role::finish{{.how = static_cast<role::outcome::status>(dice() % 5),
                                              .task = any_number(dice),
                                              .rank = static_cast<int>(dice() % 4096),
                                              .text = "why",
                                              .tasks = any_number(dice)}});
    case 3:
      return farm::ask{any_number(dice), any_load(dice), static_cast<int>(dice() % 4096)};
    case 4:
      return farm::grant{any_ranges(dice), dice() % 2 == 0};
    case 5:
      return farm::grant_alone{{any_number(dice) >> 8, 1, 1}};
    case 6:
      return farm::nothing{};
    case 7:
      return farm::results{any_ranges(dice), any_number(dice), any_ranges(dice), any_load(dice)};
    case 8:
      return farm::begins{any_ranges(dice), any_load(dice)};
    case 9:
      return farm::take_stock{any_number(dice), dice() % 2 == 0};
    case 10:
      return farm::stock{any_number(dice), any_number(dice), any_ranges(dice)};
    case 11:
      return farm::steal{dice() % 2 == 0, any_power(dice), any_number(dice)};
    case 13:
      return farm::take_from{static_cast<int>(dice() % 4096), any_number(dice)};
    case 14:
      return farm::spacing{any_number(dice)};
    case 15:
      return farm::dismissed{};
    case 12:
      return farm::give{any_ranges(dice), dice() % 2 == 0, dice() % 2 == 0};
    default: {
      farm::none m{std::nullopt, dice() % 2 == 0, any_power(dice)};
      if (dice() % 2 == 0) m.busy = static_cast<int>(dice() % 4096);
      return m;
    }
  }
}

team_message any_team_message(std::mt19937_64& dice) {
  auto const rank = static_cast<int>(dice() % 4096);
  switch (dice() % 7) {
    case 0:
      return role::call_message(role::hello{dice(), dice() % 99, any_power(dice)});
    case 5:
      return team::retires{any_number(dice)};
    case 6:
      return team::released{any_number(dice)};
    case 1:
      return team::run{any_number(dice), {any_number(dice) >> 8, 1, 1}, any_number(dice), any_ranges(dice)};
    case 2:
      return team::cancel{any_number(dice), rank, std::string(dice() % 300, 'x')};
    case 3:
      return team::overran{any_number(dice), "why"};
    default: {
      team::ended m{any_number(dice), dice() % 2 == 0, std::nullopt, std::nullopt};
      if (dice() % 2 == 0) m.lost = rank;
      if (dice() % 2 == 0) m.failure = std::string(dice() % 300, 'x');
      return m;
    }
  }
}

template <class Message>
std::vector<std::byte> encoded(Message const& m) {
  std::vector<std::byte> bytes;
  role::encode(m, bytes);
  return bytes;
}

farm_message decoded(std::span<std::byte const>& bytes) { return role::decode<farm_message>(bytes); }

template <class Message>
void check_round_trip(Message const& m) {
  auto bytes = encoded(m);
  bytes.push_back(std::byte{7});
  std::span<std::byte const> rest(bytes);
  REQUIRE(role::decode<Message>(rest) == m);
  REQUIRE(rest.size() == 1);
}

template <class Message>
void check_cut_off(Message const& m) {
  auto const bytes = encoded(m);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    std::span<std::byte const> part(bytes.data(), n);
    REQUIRE_THROWS_AS(role::decode<Message>(part), skel::protocol_error);
  }
}

}  // namespace

TEST_CASE("messages survive a round trip and leave the following bytes") {
  std::mt19937_64 dice(5);
  for (int i = 0; i < 20000; ++i) {
    check_round_trip(any_message(dice));
    check_round_trip(any_team_message(dice));
  }
}

TEST_CASE("a message cut off anywhere is refused") {
  std::mt19937_64 dice(6);
  for (int i = 0; i < 500; ++i) {
    check_cut_off(any_message(dice));
    check_cut_off(any_team_message(dice));
  }
}

TEST_CASE("a power is a number and not negative") {
  for (double const power : {std::nan(""), -1.0, HUGE_VAL})
    for (farm_message const& m : {farm_message(role::call_message(role::hello{1, 1, power})),
                                  farm_message(farm::steal{true, power})}) {
      auto const bytes = encoded(m);
      std::span<std::byte const> rest(bytes);
      CHECK_THROWS_AS(decoded(rest), skel::protocol_error);
    }
}

TEST_CASE("random and damaged bytes are a message or a protocol_error") {
  std::mt19937_64 dice(8);
  for (int i = 0; i < 200000; ++i) {
    std::vector<std::byte> bytes;
    if (i % 2 == 0) {
      bytes = encoded(any_message(dice));
      bytes[dice() % bytes.size()] = static_cast<std::byte>(dice());
    } else {
      for (std::uint64_t n = dice() % 40; n > 0; --n) bytes.push_back(static_cast<std::byte>(dice()));
      if (bytes.size() > 2) bytes[0] = static_cast<std::byte>(dice() % 32);
    }
    std::span<std::byte const> rest(bytes);
    try {
      auto const m = decoded(rest);
      REQUIRE(given_tasks(m).size() <= bytes.size());
    } catch (skel::protocol_error const&) {
    }
  }
}

TEST_CASE("no message of a farm of teams is taken for one of a farm") {
  std::mt19937_64 dice(9);
  for (int i = 0; i < 2000; ++i) {
    auto const m = any_team_message(dice);
    if (std::holds_alternative<role::call_message>(m)) continue;  // the same in all skeletons
    auto const bytes = encoded(m);
    std::span<std::byte const> rest(bytes);
    REQUIRE_THROWS_AS(decoded(rest), skel::protocol_error);
  }
}

TEST_CASE("a grant of one range takes few bytes") {
  CHECK(encoded(farm_message(farm::grant{{{100, 10, 1}}})).size() <= 6);
}

TEST_CASE("64-bit numbers survive a round trip, longer ones are refused") {
  for (std::uint64_t n : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, ~std::uint64_t{0}}) {
    std::vector<std::byte> bytes;
    skel::bytes::put_varint(bytes, n);
    std::span<std::byte const> rest(bytes);
    CHECK(skel::bytes::get_varint(rest) == n);
    CHECK(rest.empty());
  }
  std::vector<std::byte> const endless(20, std::byte{0xff});
  std::span<std::byte const> rest(endless);
  CHECK_THROWS_AS(skel::bytes::get_varint(rest), skel::protocol_error);
}

TEST_CASE("a block packed in place is read like any other") {
  for (std::size_t const n : {0U, 1U, 127U, 128U, 20000U}) {
    std::vector<std::byte> bytes(3, std::byte{7});
    skel::bytes::put_block_by(bytes, [&](auto& out) { out.insert(out.end(), n, std::byte{9}); });
    skel::bytes::put_block(bytes, std::vector<std::byte>(2, std::byte{1}));
    auto in = std::span<std::byte const>(bytes).subspan(3);
    CHECK(skel::bytes::get_block(in) == std::vector<std::byte>(n, std::byte{9}));
    CHECK(skel::bytes::get_block(in) == std::vector<std::byte>(2, std::byte{1}));
    CHECK(in.empty());
  }
}
