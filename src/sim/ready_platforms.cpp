// The built-in platforms: the machines of the papers, as far as they are described, and current ones.

#include <array>
#include <cmath>
#include <random>
#include <set>

#include "base/format.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"
#include "skel/sim/platform.hpp"

namespace skel::sim {

namespace {

struct ready_text {
  char const* name;
  char const* json;
};

// The powers of the first two are those of [Lee97, tables 1 and 3]. No paper describes more of its network
// than the kind; `about` names the assumptions.
constexpr std::array<ready_text, 8> texts = {{
    {"lee-1997-14", R"({
  "about": "Lee, Lee, Lu 1997: 12 HP 715/33, Sparc 2, Sparc 20; shared 10 Mb/s Ethernet assumed",
  "hosts": [{"name": "hp-715-33", "count": 12, "power": 1},
            {"name": "sparc-2", "power": 0.442},
            {"name": "sparc-20", "power": 1.347}],
  "network": {"kind": "bus", "latency_seconds": 1e-3, "bandwidth_bytes_per_second": 1.25e6}
})"},
    {"lee-1997-loss-9", R"({
  "about": "Lee, Lee, Lu 1997, loss test: 3 Sparc 2, 2 Sparc 10 (power 1), 4 Sparc 20; 10 Mb/s Ethernet assumed",
  "hosts": [{"name": "sparc-2", "count": 3, "power": 0.77},
            {"name": "sparc-10", "count": 2, "power": 1},
            {"name": "sparc-20", "count": 4, "power": 1.96}],
  "network": {"kind": "bus", "latency_seconds": 1e-3, "bandwidth_bytes_per_second": 1.25e6}
})"},
    {"ipsc860", R"({
  "about": "Intel iPSC/860, hypercube of 16; 2.8 MB/s links, 75 us start-up assumed",
  "hosts": [{"name": "node", "count": 16}],
  "network": {"kind": "hypercube", "latency_seconds": 1e-5, "bandwidth_bytes_per_second": 2.8e6},
  "send_overhead_seconds": 4e-5,
  "receive_overhead_seconds": 3.5e-5
})"},
    {"delta-256", R"({
  "about": "Intel Touchstone Delta, 256 nodes of its mesh as 16 x 16; 10 MB/s links, 75 us start-up assumed",
  "hosts": [{"name": "node", "count": 256}],
  "network": {"kind": "mesh", "dimensions": [16, 16], "latency_seconds": 1e-7, "bandwidth_bytes_per_second": 1e7},
  "send_overhead_seconds": 4e-5,
  "receive_overhead_seconds": 3.5e-5
})"},
    {"pentium4-14", R"({
  "about": "14 Pentium 4 on gigabit: l = 2.43e-4 s, g = 1.51e-7 s per 32-bit word, as measured at 8 processors",
  "hosts": [{"name": "pentium-4", "count": 14}],
  "network": {"kind": "switch", "latency_seconds": 2.43e-4, "bandwidth_bytes_per_second": 26490066}
})"},
    {"athlon-11", R"({
  "about": "11 Athlon XP on switched 100 Mb/s; 100 us latency assumed",
  "hosts": [{"name": "athlon-xp", "count": 11}],
  "network": {"kind": "switch", "latency_seconds": 1e-4, "bandwidth_bytes_per_second": 1.25e7}
})"},
    {"hp720-28", R"({
  "about": "28 HP 720 on shared 10 Mb/s Ethernet; 1 ms latency assumed",
  "hosts": [{"name": "hp-720", "count": 28}],
  "network": {"kind": "bus", "latency_seconds": 1e-3, "bandwidth_bytes_per_second": 1.25e6}
})"},
    {"cluster-1024", R"({
  "about": "present-day: 1,024 equal nodes, non-blocking fat tree of 100 Gb/s, 1 to 2 us",
  "hosts": [{"name": "node", "count": 1024}],
  "network": {"kind": "fat-tree", "down": [32, 32], "up": [1, 32], "parallel": [1, 1],
              "latency_seconds": 5e-7, "bandwidth_bytes_per_second": 1.25e10},
  "send_overhead_seconds": 3e-7,
  "receive_overhead_seconds": 3e-7
})"},
}};

constexpr char const* cluster_about =
    "N nodes as those of cluster-1024 (cluster:ranks=1024), 32 at each switch of a non-blocking fat tree";

constexpr char const* uneven_about =
    "N unequal machines (uneven:ranks=256,seed=1): power 0.25 to 4, load that changes; switched 10 Gb/s, 10 "
    "us";

std::string known_names() {
  std::string all;
  for (auto const& t : texts) all += std::string(t.name) + ", ";
  return all + "cluster[:ranks=N], uneven[:ranks=N,seed=S]";
}

// "ranks=256,seed=1"
struct made_spec {
  std::uint64_t ranks;
  std::uint64_t seed = 1;
};
made_spec parse_made(std::string_view name, std::string_view spec, made_spec u) {
  bool const seeds = name == "uneven";
  std::set<std::string_view> seen;
  while (!spec.empty()) {
    auto const part = spec.substr(0, spec.find(','));
    spec.remove_prefix(std::min(spec.size(), part.size() + 1));
    auto const equals = part.find('=');
    auto const key = part.substr(0, equals);
    auto const value = equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
    if (!seen.insert(key).second)
      throw usage_error(detail::format("platform {}: {} stands twice", name, key));
    auto const n = detail::from_digits<std::uint64_t>(value);
    if (key == "ranks" && n && *n >= 1 && *n <= 65536)
      u.ranks = *n;
    else if (seeds && key == "seed" && n)
      u.seed = *n;
    else
      throw usage_error(detail::format("platform {}: bad \"{}\"; expected ranks=1...65536{}", name, part,
                                       seeds ? " and seed=N" : ""));
  }
  return u;
}

platform cluster(made_spec const& c) {
  auto p = platform::ready("cluster-1024");
  auto const at_a_switch = p.wires.down.front();
  p.name = detail::format("cluster:ranks={}", c.ranks);
  p.about = cluster_about;
  auto node = p.machines.front();
  p.machines.clear();
  for (std::uint64_t i = 0; i < c.ranks; ++i) {
    node.name = detail::format("node-{}", i + 1);
    p.machines.push_back(node);
  }
  p.wires.down.back() = static_cast<unsigned>((c.ranks + at_a_switch - 1) / at_a_switch);
  return p;
}

platform uneven(made_spec const& u) {
  std::mt19937_64 dice(u.seed);
  // Does not use std::uniform_real_distribution: its numbers differ between standard libraries.
  auto const random = [&] { return static_cast<double>(dice() >> 11) * 0x1p-53; };
  platform p;
  p.name = detail::format("uneven:ranks={},seed={}", u.ranks, u.seed);
  p.about = uneven_about;
  for (std::uint64_t i = 0; i < u.ranks; ++i) {
    machine m;
    m.name = detail::format("node-{}", i + 1);
    m.power = 0.25 * std::pow(16.0, random());
    // Other users take up to three quarters of the machine in every other stretch, which lasts 1 to 10
    // seconds.
    double at = 0;
    for (int k = 0; k < 16; ++k) {
      m.available.push_back({at, k % 2 == 0 ? 1 : 1 - 0.75 * random()});
      at += 1 + 9 * random();
    }
    m.repeat_seconds = at;
    p.machines.push_back(std::move(m));
  }
  p.wires.kind = network_kind::star;
  p.wires.latency_seconds = 1e-5;
  p.wires.bandwidth_bytes_per_second = 1.25e9;
  return p;
}

}  // namespace

std::vector<ready_name> ready_platforms() {
  std::vector<ready_name> all;
  all.reserve(texts.size() + 2);
  for (auto const& t : texts) all.push_back({t.name, platform::parse(t.json, t.name).about});
  all.push_back({"cluster", cluster_about});
  all.push_back({"uneven", uneven_about});
  return all;
}

platform platform::ready(std::string_view name) {
  for (auto const& t : texts)
    if (name == t.name) return parse(t.json, t.name);
  auto const kind = name.substr(0, name.find(':'));
  auto const spec = name.size() > kind.size() ? name.substr(kind.size() + 1) : std::string_view();
  if (kind == "cluster") return cluster(parse_made(kind, spec, {.ranks = 1024}));
  if (kind == "uneven") return uneven(parse_made(kind, spec, {.ranks = 256}));
  throw usage_error(detail::format(
      "unknown platform \"{}\"; known: {}; or a file, with a / or .json in its name", name, known_names()));
}

}  // namespace skel::sim
