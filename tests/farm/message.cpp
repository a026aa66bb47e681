// The codec of the roles' messages: everything comes back, nothing hostile gets through.
#include "farm/role/message.hpp"

#include <cmath>
#include <random>

#include "catch.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

using skel::role::message;
using skel::role::outcome;

namespace {

std::uint64_t any_number(std::mt19937_64& dice) { return dice() >> (dice() % 64); }

message any_message(std::mt19937_64& dice) {
  message m;
  m.kind = static_cast<skel::role::message_kind>(dice() % skel::role::message_kinds);
  if (dice() % 2) m.number = any_number(dice);
  if (dice() % 2) m.extra = any_number(dice);
  if (dice() % 2) m.power = static_cast<double>(dice() % 1000) / 7;
  for (std::uint64_t n = dice() % 5; n > 0; --n)
    m.ranges.push_back({dice() >> (2 + dice() % 60), 1 + dice() % 1000, 1 + dice() % 1000});
  for (std::uint64_t n = dice() % 8; n > 5; --n)
    m.running.push_back({any_number(dice) >> 24, 1 + dice() % 9, 1});
  if (dice() % 4 == 0) m.text = std::string(dice() % 300, 'x');
  if (dice() % 4 == 0) {
    outcome o;
    o.how = static_cast<outcome::status>(dice() % 5);
    o.task = any_number(dice);
    o.rank = static_cast<int>(dice() % 4096);
    o.more = dice() % 9;
    o.text = "why";
    o.tasks = any_number(dice);
    o.handed_out_again = dice() % 99;
    m.result = o;
  }
  return m;
}

std::vector<std::byte> encoded(message const& m) {
  std::vector<std::byte> bytes;
  skel::role::encode(m, bytes);
  return bytes;
}

}  // namespace

TEST_CASE("messages are read as they were written, and leave what follows") {
  std::mt19937_64 dice(5);
  for (int i = 0; i < 20000; ++i) {
    auto const m = any_message(dice);
    auto bytes = encoded(m);
    bytes.push_back(std::byte{7});
    std::span<std::byte const> rest(bytes);
    REQUIRE(skel::role::decode(rest) == m);
    REQUIRE(rest.size() == 1);
  }
}

TEST_CASE("a message cut off anywhere is refused") {
  std::mt19937_64 dice(6);
  for (int i = 0; i < 500; ++i) {
    auto const bytes = encoded(any_message(dice));
    for (std::size_t n = 0; n < bytes.size(); ++n) {
      std::span<std::byte const> part(bytes.data(), n);
      REQUIRE_THROWS_AS(skel::role::decode(part), skel::protocol_error);
    }
  }
}

TEST_CASE("a power is a number, and not negative") {
  for (double const power : {std::nan(""), -1.0, HUGE_VAL}) {
    message m;
    m.power = power;
    auto const bytes = encoded(m);
    std::span<std::byte const> rest(bytes);
    CHECK_THROWS_AS(skel::role::decode(rest), skel::protocol_error);
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
      if (bytes.size() > 2) bytes[0] = static_cast<std::byte>(dice() % 13), bytes[1] &= std::byte{63};
    }
    std::span<std::byte const> rest(bytes);
    try {
      auto const m = skel::role::decode(rest);
      REQUIRE(m.ranges.capacity() <= bytes.size());
    } catch (skel::protocol_error const&) {
    }
  }
}

TEST_CASE("a grant of one range takes few bytes") {
  CHECK(encoded({.kind = skel::role::message_kind::grant, .ranges = {{100, 10, 1}}}).size() <= 7);
}

TEST_CASE("numbers end where 64 bits end") {
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

TEST_CASE("a block that is packed in place is read as any other") {
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
