#include "skel/storage/placement.hpp"

#include <algorithm>
#include <tuple>

#include "skel/error.hpp"

namespace skel::storage {

namespace {

// A host and its eligible places, in the order in which they were given.
struct host {
  std::string const* name;
  std::vector<std::size_t> places;
};

std::vector<host> hosts_of(std::span<place const> places, bool remote) {
  std::vector<host> hosts;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].remote != remote) continue;
    auto const& name = host_of(places[i]);
    auto known = std::ranges::find_if(hosts, [&](auto const& h) { return *h.name == name; });
    if (known == hosts.end()) known = hosts.insert(known, {&name, {}});
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

std::vector<std::size_t> place_shards(std::span<place const> places, std::size_t shards,
                                      placement_choice const& how) {
  if (places.empty()) throw usage_error("missing directories for shards");
  auto const hosts = hosts_of(places, goes_remote(places, how));
  auto const home = std::ranges::find_if(hosts, [&](auto const& h) { return *h.name == how.home; });
  auto const first = home != hosts.end() ? static_cast<std::size_t>(home - hosts.begin()) : how.part;
  std::vector<std::size_t> chosen(shards);
  for (std::size_t s = 0; s < shards; ++s) {
    auto const& at = hosts[(first + s) % hosts.size()].places;
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
