#include "simgrid_network.hpp"

#include <bit>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/s4u.hpp>
#include <string>

namespace skel::sim {

namespace {

namespace s4u = simgrid::s4u;
constexpr double any_speed = 1e9;  // machine.cpp computes the time of tasks, not SimGrid

std::string numbered(char const* what, std::size_t i) { return what + std::to_string(i); }

s4u::Host* make_host(s4u::NetZone* zone, std::size_t i) {
  return zone->create_host(numbered("node", i), any_speed)->seal();
}

// Builds a shared bus, or a switch with a full-duplex link to each host.
std::vector<s4u::Host*> build_star(network const& wires, std::size_t ranks) {
  auto* const zone = s4u::create_star_zone("network");
  double const bandwidth = wires.bandwidth_bytes_per_second;
  bool const bus = wires.kind == network_kind::bus;
  s4u::Link* shared = nullptr;
  if (bus) shared = zone->create_link("bus", bandwidth)->set_latency(wires.latency_seconds)->seal();
  std::vector<s4u::Host*> hosts;
  for (std::size_t i = 0; i < ranks; ++i) {
    auto* const host = make_host(zone, i);
    if (bus) {
      zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {s4u::LinkInRoute(shared)}, true);
    } else {
      auto* const own = zone->create_split_duplex_link(numbered("link", i), bandwidth)
                            ->set_latency(wires.latency_seconds / 2)
                            ->seal();
      zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                      {s4u::LinkInRoute(own, s4u::LinkInRoute::Direction::UP)}, true);
    }
    hosts.push_back(host);
  }
  zone->seal();
  return hosts;
}

// SimGrid's own zones create a host in every place. Ranks use the first ones.
class all_places {
 public:
  [[nodiscard]] s4u::ClusterCallbacks callbacks() {
    return s4u::ClusterCallbacks([this](s4u::NetZone* zone, std::vector<unsigned long> const&,
                                        unsigned long id) {
      if (hosts_.size() <= id) hosts_.resize(id + 1);
      hosts_[id] = make_host(zone, id);
      return std::pair(hosts_[id]->get_netpoint(), static_cast<simgrid::kernel::routing::NetPoint*>(nullptr));
    });
  }
  [[nodiscard]] std::vector<s4u::Host*> first(std::size_t ranks) const {
    return {hosts_.begin(), hosts_.begin() + static_cast<std::ptrdiff_t>(ranks)};
  }

 private:
  std::vector<s4u::Host*> hosts_;
};

std::vector<s4u::Host*> build_torus(network const& wires, std::size_t ranks) {
  std::vector<unsigned long> dimensions(wires.dimensions.begin(), wires.dimensions.end());
  if (wires.kind ==
      network_kind::hypercube)  // the smallest that holds all ranks: a torus of two in each direction
    dimensions.assign(std::max<std::size_t>(1, std::bit_width(ranks - 1)), 2);
  all_places places;
  s4u::create_torus_zone("network", nullptr, dimensions, places.callbacks(), wires.bandwidth_bytes_per_second,
                         wires.latency_seconds, s4u::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
  return places.first(ranks);
}

std::vector<s4u::Host*> build_fat_tree(network const& wires, std::size_t ranks) {
  all_places places;
  s4u::FatTreeParams const shape(static_cast<unsigned>(wires.down.size()), wires.down, wires.up,
                                 wires.parallel);
  s4u::create_fatTree_zone("network", nullptr, shape, places.callbacks(), wires.bandwidth_bytes_per_second,
                           wires.latency_seconds, s4u::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
  return places.first(ranks);
}

// Builds dimension-ordered routes between the ranks' places, like the mesh routing chips of the Delta.
std::vector<s4u::Host*> build_mesh(network const& wires, std::size_t ranks) {
  auto* const zone = s4u::create_full_zone("network");
  auto const& dimensions = wires.dimensions;
  std::size_t places = 1;
  for (unsigned const d : dimensions) places *= d;
  // links[place * dimensions + d]: from a place to the next one in dimension d
  std::vector<s4u::Link const*> links(places * dimensions.size());
  for (std::size_t at = 0; at < links.size(); ++at)
    links[at] = zone->create_split_duplex_link(numbered("link", at), wires.bandwidth_bytes_per_second)
                    ->set_latency(wires.latency_seconds)
                    ->seal();
  std::vector<s4u::Host*> hosts;
  for (std::size_t i = 0; i < ranks; ++i) hosts.push_back(make_host(zone, i));
  for (std::size_t from = 0; from < ranks; ++from)
    for (std::size_t to = 0; to < ranks; ++to) {
      if (from == to) continue;
      std::vector<s4u::LinkInRoute> route;
      std::size_t at = from;
      std::size_t step = 1;
      for (std::size_t d = 0; d < dimensions.size(); step *= dimensions[d], ++d) {
        auto const target = to / step % dimensions[d];
        while (at / step % dimensions[d] < target) {
          route.emplace_back(links[at * dimensions.size() + d], s4u::LinkInRoute::Direction::UP);
          at += step;
        }
        while (at / step % dimensions[d] > target) {
          at -= step;
          route.emplace_back(links[at * dimensions.size() + d], s4u::LinkInRoute::Direction::DOWN);
        }
      }
      zone->add_route(hosts[from]->get_netpoint(), hosts[to]->get_netpoint(), nullptr, nullptr, route, false);
    }
  zone->seal();
  return hosts;
}

}  // namespace

std::vector<s4u::Host*> build_network(network const& wires, std::size_t ranks) {
  switch (wires.kind) {
    case network_kind::bus:
    case network_kind::star:
      return build_star(wires, ranks);
    case network_kind::hypercube:
    case network_kind::torus:
      return build_torus(wires, ranks);
    case network_kind::fat_tree:
      return build_fat_tree(wires, ranks);
    case network_kind::mesh:
      return build_mesh(wires, ranks);
  }
  return {};
}

}  // namespace skel::sim
