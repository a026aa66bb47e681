#include "skel/storage/encode.hpp"

#include <random>

#include "catch.hpp"
#include "skel/error.hpp"

using namespace skel::storage;

TEST_CASE("any m shards restore a buffer") {
  std::mt19937 random(1);
  for (auto const* const spec : {"ida:4,2", "parity:3", "replicate:3", "ida:1,2"}) {
    code const how(spec);
    for (std::size_t const size : {0, 1, 3, 4, 5, 1000}) {
      std::vector<std::byte> buffer(size);
      for (auto& b : buffer) b = static_cast<std::byte>(random());
      auto const all = encode(how, buffer);
      REQUIRE(all.size() == how.shards());
      for (unsigned lost = 0; lost < 1U << how.shards(); ++lost) {
        auto shards = all;
        std::size_t left = 0;
        for (std::size_t s = 0; s < shards.size(); ++s)
          if ((lost >> s & 1U) != 0)
            shards[s].clear();
          else
            ++left;
        if (left >= how.data_shards() || size == 0)
          CHECK(decode(how, shards, size) == buffer);
        else
          CHECK_THROWS_AS(decode(how, shards, size), skel::error);
      }
    }
  }
}

TEST_CASE("the data shards are the buffer in pieces") {
  std::vector<std::byte> const buffer{std::byte{1}, std::byte{2}, std::byte{3}};
  auto const shards = encode(code("parity:2"), buffer);
  CHECK(shards[0] == std::vector{std::byte{1}, std::byte{2}});
  CHECK(shards[1] == std::vector{std::byte{3}, std::byte{0}});
  CHECK(shards[2] == std::vector{std::byte{1 ^ 3}, std::byte{2}});
}

TEST_CASE("decode refuses shards of another number or size") {
  std::vector<std::byte> const buffer(10);
  auto shards = encode(code("ida:4,2"), buffer);
  CHECK_THROWS_AS(decode(code("ida:4,1"), shards, 10), skel::usage_error);
  CHECK_THROWS_AS(decode(code("ida:4,2"), shards, 13), skel::usage_error);
  shards[2].pop_back();
  CHECK_THROWS_AS(decode(code("ida:4,2"), shards, 10), skel::usage_error);
}
