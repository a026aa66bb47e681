// Tests the placement of shards in all small arrangements of hosts and directories.
#include "skel/storage/placement.hpp"

#include <algorithm>
#include <map>
#include <random>
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

// Returns the places of a part whose home is the first host, with these loads and free bytes.
std::vector<std::size_t> placed(std::vector<place> const& places, std::size_t shards,
                                std::vector<disk_use> const& use, std::uint32_t part = 0,
                                std::string const& home = "near0", std::uint32_t parts = 1) {
  placement_choice how{home, part, 1, 0};
  how.use = use;
  how.shard_bytes = 100;
  how.parts = parts;
  return place_shards(places, shards, how);
}

std::vector<disk_use> loads(std::vector<double> const& of) {
  std::vector<disk_use> all;
  all.reserve(of.size());
  for (double const l : of) all.push_back({l});
  return all;
}

std::vector<disk_use> rooms(std::vector<std::uint64_t> const& of) {
  std::vector<disk_use> all;
  all.reserve(of.size());
  for (auto const f : of) all.push_back({0, f});
  return all;
}

using chosen = std::vector<std::size_t>;

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

TEST_CASE("after the home, the least loaded hosts come first, and equally loaded ones in turn") {
  auto const places = places_of({1, 1, 1, 1, 1});
  CHECK(placed(places, 3, loads({9, 1, 0, 4, 0.1})) == chosen{0, 2, 4});  // busy as it is, home has one
  CHECK(placed(places, 5, loads({9, 1, 0, 4, 0.1})) == chosen{0, 2, 4, 1, 3});
  CHECK(placed(places, 3, loads({9, 1, 0, 4, 0.1}), 0, "") == chosen{2, 4, 1});
  CHECK(placed(places, 3, loads({9, 1, 0, 4, 0.1}), 4, "") == chosen{4, 2, 1});
  CHECK(placed(places, 3, loads({1, 8, 7, 9, 30})) == chosen{0, 1, 2});  // all others are loaded
  CHECK(placed(places, 7, loads({9, 1, 0, 4, 0.1})) == chosen{0, 2, 4, 1, 3, 0, 2});
  CHECK(placed(places_of({2}), 3, loads({9, 9})) == chosen{0, 1, 0});
  std::vector<disk_use> const some{{1}, {1}, {}, {5}, {1}};  // an unknown load is as the least
  CHECK(placed(places, 4, some) == chosen{0, 1, 2, 4});
  CHECK(placed(places, 3, some, 0, "near2") == chosen{2, 4, 0});
  // Hosts whose cores all have work differ by noise only, as idle ones do.
  for (auto const& use :
       {loads({1, 1.3, 0.8, 1.1, 0.9}), loads({5, 7, 6, 9, 8}), loads({0.1, 0, 0.3, 0.2, 0})})
    for (std::uint32_t part = 0; part < 5; ++part)
      for (auto const* const home : {"", "near3"})
        CHECK(placed(places, 3, use, part, home) == place_shards(places, 3, {home, part, 1, 0}));
}

TEST_CASE("a directory without room receives no shard unless none has room") {
  auto const places = places_of({1, 2, 1, 1});
  CHECK(placed(places, 3, rooms({100, 99, 100, 0, 100})) == chosen{0, 2, 4});
  CHECK(placed(places, 3, rooms({99, 0, 0, 100, 100})) == chosen{3, 4, 3});  // two share a host
  CHECK(placed(places, 2, rooms({0, 0, 0, 0, 100})) == chosen{4, 4});
  CHECK(placed(places, 3, rooms({0, 1, 2, 3, 4})) == place_shards(places, 3, {"near0", 0, 1, 0}));
  // Room for all parts of the generation is preferred, but less than different hosts are.
  CHECK(placed(places, 3, rooms({700, 700, 700, 699, 700}), 0, "near0", 7) == chosen{0, 1, 4});
  CHECK(placed(places, 3, rooms({700, 700, 700, 699, 699}), 0, "near0", 7) == chosen{0, 1, 3});
  CHECK(placed(places, 1, rooms({99, 699, 699, 99, 99}), 0, "near0", 7) == chosen{1});
}

TEST_CASE("whatever the loads and the room, two shards share a host only if there are too few") {
  std::mt19937 random(1);
  auto const below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (int round = 0; round < 3000; ++round) {
    std::vector<int> directories(1 + below(9));
    for (auto& d : directories) d = static_cast<int>(1 + below(3));
    auto const places = places_of(directories);
    std::vector<disk_use> use;
    std::set<std::string> with_room;
    for (auto const& p : places) {
      use.push_back({static_cast<double>(below(40)) / 10, below(5) * 99});
      if (use.back().free >= 100) with_room.insert(p.host);
    }
    auto const shards = 1 + below(12);
    auto const where = placed(places, shards, use, static_cast<std::uint32_t>(below(9)),
                              "near" + std::to_string(below(9)), 3);
    std::map<std::string, std::size_t> on;
    for (auto const i : where) {
      ++on[places.at(i).host];
      if (!with_room.empty()) REQUIRE(use[i].free >= 100);
    }
    auto const hosts = with_room.empty() ? directories.size() : with_room.size();
    REQUIRE(on.size() == std::min(hosts, shards));
    for (auto const& [host, n] : on) REQUIRE(n <= (shards + hosts - 1) / hosts);
  }
}

TEST_CASE("there is a choice if there are more hosts than shards of the generation's kind") {
  auto places = places_of({2, 1, 1});
  CHECK(has_choice(places, 2, {}));
  CHECK_FALSE(has_choice(places, 3, {}));
  for (auto const& p : places_of({1, 1, 1, 1}, true)) places.push_back(p);
  CHECK_FALSE(has_choice(places, 3, {"", 0, 1, 5}));
  CHECK(has_choice(places, 3, {"", 0, 5, 5}));
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
