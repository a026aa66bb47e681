#include "skel/storage/placement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "skel/error.hpp"

namespace skel::storage {

namespace {

// A host and its eligible places, in the order in which they were given.
struct host {
  std::string const* name;
  std::optional<double> load;
  std::vector<std::size_t> places;
};

// Sorts by load, in steps of a factor of two from the least on. If noise separated equal hosts, the shards
// of all parts would go to the same few.
void least_loaded_first(std::span<host> hosts) {
  double least = std::numeric_limits<double>::infinity();
  for (auto const& h : hosts) least = std::min(least, h.load.value_or(least));
  constexpr double idle = 0.25;
  auto const step = [&](host const& h) {
    return std::max(0, std::ilogb(h.load.value_or(0) / std::max(least, idle)));
  };
  std::ranges::stable_sort(hosts, {}, step);
}

std::vector<host> hosts_of(std::span<place const> places, placement_choice const& how, std::uint64_t room) {
  bool const remote = goes_remote(places, how);
  std::vector<host> hosts;
  for (std::size_t i = 0; i < places.size(); ++i) {
    auto const use = how.use.empty() ? disk_use{} : how.use.at(i);
    if (places[i].remote != remote || use.free < room) continue;
    auto const& name = host_of(places[i]);
    auto known = std::ranges::find_if(hosts, [&](auto const& h) { return *h.name == name; });
    if (known == hosts.end()) known = hosts.insert(known, {&name, use.load, {}});
    known->places.push_back(i);
  }
  return hosts;
}

}  // namespace

std::string const& host_of(place const& p) noexcept { return p.host.empty() ? p.directory : p.host; }

bool goes_remote(std::span<place const> places, placement_choice const& how) {
  auto const remote = std::ranges::count(places, true, &place::remote);
  if (remote == 0) return false;
  if (static_cast<std::size_t>(remote) == places.size()) return true;
  return how.remote_every != 0 && how.generation % how.remote_every == 0;
}

bool has_choice(std::span<place const> places, std::size_t shards, placement_choice const& how) {
  return hosts_of(places, how, 0).size() > shards;
}

std::vector<std::size_t> place_shards(std::span<place const> places, std::size_t shards,
                                      placement_choice const& how) {
  if (places.empty()) throw usage_error("missing directories for shards");
  auto hosts = hosts_of(places, how, how.shard_bytes * how.parts);
  if (hosts.size() < shards) hosts = hosts_of(places, how, how.shard_bytes);
  if (hosts.empty()) hosts = hosts_of(places, how, 0);
  auto const home = std::ranges::find_if(hosts, [&](auto const& h) { return *h.name == how.home; });
  bool const at_home = home != hosts.end();
  std::rotate(hosts.begin(),
              at_home ? home : hosts.begin() + static_cast<std::ptrdiff_t>(how.part % hosts.size()),
              hosts.end());
  least_loaded_first(std::span(hosts).subspan(at_home ? 1 : 0));
  std::vector<std::size_t> chosen(shards);
  for (std::size_t s = 0; s < shards; ++s) {
    auto const& at = hosts[s % hosts.size()].places;
    // Parts of one host start at different directories.
    chosen[s] = at[(how.part + s / hosts.size()) % at.size()];
  }
  return chosen;
}

std::optional<std::size_t> spare_place(std::span<place const> places, std::size_t meant,
                                       std::span<std::size_t const> taken, std::vector<bool> const& failed) {
  auto const cost = [&](std::size_t candidate) {
    auto const& p = places[candidate];
    auto const on_host =
        std::ranges::count_if(taken, [&](auto t) { return host_of(places[t]) == host_of(p); });
    return std::tuple(p.remote != places[meant].remote, on_host, std::ranges::count(taken, candidate));
  };
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (!failed.at(i) && (!best || cost(i) < cost(*best))) best = i;
  return best;
}

}  // namespace skel::storage
