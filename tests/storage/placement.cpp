// Tests the placement of shards in all small arrangements of hosts and directories.
#include "skel/storage/placement.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "catch.hpp"
#include "skel/error.hpp"

using namespace skel::storage;

namespace {

// Returns hosts with these numbers of directories.
std::vector<place> places_of(std::vector<int> const& directories_per_host, bool remote = false) {
  std::vector<place> all;
  for (std::size_t h = 0; h < directories_per_host.size(); ++h)
    for (int d = 0; d < directories_per_host[h]; ++d)
      all.push_back({(remote ? "/far" : "/near") + std::to_string(h) + "/" + std::to_string(d),
                     (remote ? "far" : "near") + std::to_string(h), remote});
  return all;
}

// Returns the least and the greatest number of uses.
template <class Name>
std::pair<std::size_t, std::size_t> extremes(std::vector<place> const& places,
                                             std::vector<std::size_t> const& chosen, Name const& name_of) {
  std::map<std::string, std::size_t> used;
  for (auto const& p : places) used[name_of(p)];
  for (auto const c : chosen) ++used[name_of(places.at(c))];
  auto const [least, most] = std::ranges::minmax_element(used, {}, [](auto const& u) { return u.second; });
  return {least->second, most->second};
}

}  // namespace

TEST_CASE("shards are spread evenly over hosts, and over the directories of each") {
  for (int a = 1; a <= 3; ++a)
    for (int b = 1; b <= 3; ++b)
      for (int c = 1; c <= 3; ++c)
        for (std::size_t shards = 1; shards <= 10; ++shards)
          for (std::uint32_t part = 0; part < 7; ++part)
            for (auto const* const home : {"", "near0", "near1", "near2", "elsewhere"}) {
              auto const places = places_of({a, b, c});
              auto const chosen = place_shards(places, shards, {home, part, 1, 0});
              REQUIRE(chosen.size() == shards);
              auto const [least, most] = extremes(places, chosen, [](auto const& p) { return p.host; });
              REQUIRE(most - least <= 1);  // two share a host only if there are too few hosts
              for (auto const* const host : {"near0", "near1", "near2"}) {
                std::vector<place> own;
                std::vector<std::size_t> of_host;
                for (auto const& p : places)
                  if (p.host == host) own.push_back(p);
                for (auto const i : chosen)
                  if (places[i].host == host)
                    of_host.push_back(
                        static_cast<std::size_t>(std::ranges::find(own, places[i]) - own.begin()));
                auto const [l, m] = extremes(own, of_host, [](auto const& p) { return p.directory; });
                REQUIRE(m - l <= 1);
              }
              if (std::string(home).starts_with("near")) REQUIRE(places[chosen[0]].host == home);
            }
}

TEST_CASE("without a home the parts of a generation start at different hosts") {
  auto const places = places_of({1, 1, 1, 1, 1});
  std::set<std::size_t> first;
  for (std::uint32_t part = 0; part < 5; ++part) first.insert(place_shards(places, 3, {"", part, 1, 0})[0]);
  CHECK(first.size() == 5);
}

TEST_CASE("a directory without a host is a host of its own") {
  std::vector<place> const places{
      {"/a", "", false}, {"/b", "", false}, {"/c", "x", false}, {"/d", "x", false}};
  auto const chosen = place_shards(places, 3, {"/b", 0, 1, 0});
  CHECK(chosen == std::vector<std::size_t>{1, 2, 0});
}

TEST_CASE("every n-th generation goes to remote places, the others to local ones") {
  auto places = places_of({2, 1});
  for (auto const& p : places_of({1, 1, 1}, true)) places.push_back(p);
  for (std::uint64_t every : {0U, 1U, 2U, 5U})
    for (std::uint64_t g = 1; g <= 20; ++g) {
      bool const remote = every != 0 && g % every == 0;
      for (auto const i : place_shards(places, 6, {"near0", 0, g, every})) CHECK(places[i].remote == remote);
    }
  CHECK_FALSE(goes_remote(places_of({1}), {"", 0, 5, 5}));  // no remote places exist
  CHECK(goes_remote(places_of({1}, true), {"", 0, 4, 5}));  // no local places exist
  CHECK_THROWS_AS(place_shards({}, 3, {}), skel::usage_error);
}

TEST_CASE("a spare place is one that has not failed, on the host with the fewest shards") {
  auto places = places_of({2, 1, 1});                              // 0 and 1 on one host, 2, 3
  for (auto const& p : places_of({1}, true)) places.push_back(p);  // 4
  std::vector<std::size_t> const taken{0, 1, 2};
  std::vector<bool> failed(5);
  CHECK(spare_place(places, 0, taken, failed) == 3);
  failed[3] = true;
  CHECK(spare_place(places, 0, taken, failed) == 2);  // one shard there, two on the other
  failed[2] = true;
  CHECK(spare_place(places, 0, taken, failed) == 0);
  CHECK(spare_place(places, 4, taken, failed) == 4);  // remote shards stay remote
  failed[0] = failed[1] = true;
  CHECK(spare_place(places, 0, taken, failed) == 4);
  failed[4] = true;
  CHECK_FALSE(spare_place(places, 0, taken, failed).has_value());
}
