// Platforms from JSON: values that are read, and error messages for wrong input.
#include "skel/sim/platform.hpp"

#include <string>

#include "catch.hpp"
#include "skel/error.hpp"

using skel::sim::network_kind;
using skel::sim::platform;

namespace {

std::string error_of(std::string const& json) {
  try {
    static_cast<void>(platform::parse(json, "p.json"));
  } catch (skel::usage_error const& e) {
    CHECK(std::string(e.what()).find('\n') == std::string::npos);
    return e.what();
  }
  return {};
}

std::string with(std::string const& hosts, std::string const& network, std::string const& more = "") {
  return R"({"hosts": )" + hosts + R"(, "network": )" + network + more + "}";
}
std::string const one = R"([{"count": 2}])";
std::string const bus = R"({"kind": "bus", "latency_seconds": 1e-3, "bandwidth_bytes_per_second": 1e6})";

std::string grid(std::string const& kind, std::string const& more) {
  return R"({"kind": ")" + kind + R"(", "latency_seconds": 0, "bandwidth_bytes_per_second": 1)" + more + "}";
}

}  // namespace

TEST_CASE("a platform with everything") {
  auto const p = platform::parse(R"({
    "name": "n", "about": "a",
    "hosts": [{"name": "slow", "power": 0.5},
              {"name": "fast", "count": 2, "power": 2, "load": {"available": [[0, 1], [5, 0.25]], "repeat_seconds": 9}}],
    "network": {"kind": "fat-tree", "down": [2, 2], "up": [1, 2], "parallel": [1, 1],
                "latency_seconds": 1e-6, "bandwidth_bytes_per_second": 1e9},
    "send_overhead_seconds": 1e-6, "receive_overhead_seconds": 2e-6,
    "failures": [{"rank": 2, "at_seconds": 3}, {"host": "slow", "at_seconds": 4.5}]})",
                                 "p.json");
  CHECK(p.ranks() == 3);
  CHECK(p.machines[0].name == "slow");
  CHECK(p.machines[2].name == "fast-2");
  CHECK(p.machines[2].available[1].share == 0.25);
  CHECK(p.wires.kind == network_kind::fat_tree);
  CHECK(p.failures.at(1).rank == 0);
  CHECK(p.failures.at(1).at_seconds == 4.5);
}

TEST_CASE("errors name the file and the key") {
  CHECK(error_of("{").starts_with("p.json:1: not JSON: syntax error"));
  CHECK(error_of("{\n\n,}").starts_with("p.json:3: not JSON"));
  CHECK(error_of("[]") == "p.json: expected an object, found []");
  CHECK(error_of("{}") == "p.json: missing \"hosts\"");
  CHECK(error_of(R"({"hosts": [], "network": {}})") ==
        "p.json: hosts: expected a list of at least one host, found []");
  CHECK(error_of(R"({"host": 1})").starts_with("p.json: unknown key \"host\"; known: name, about, hosts"));
  CHECK(error_of(with(R"([{"power": "much"}])", bus)) ==
        "p.json: hosts[0].power: expected a number from 1e-6 to 1e6, found \"much\"");
  CHECK(error_of(with(R"([{"power": 1e400}])", bus)).starts_with("p.json"));
  CHECK(error_of(with(R"([{"count": 70000}])", bus))
            .starts_with("p.json: hosts[0].count: expected a whole number from 1 to 65536, found 70000"));
  CHECK(error_of(with(R"([{"count": 60000}, {"count": 60000}])", bus)) ==
        "p.json: hosts[1]: more than 65536 machines");
  CHECK(error_of(with(R"([{"count": -1}])", bus)).starts_with("p.json: hosts[0].count"));
  CHECK(error_of(with(R"([{"load": {"available": [[0, 0]]}}])", bus)) ==
        "p.json: hosts[0].load.available[0][1]: expected a share from 0.001 to 1, found 0");
  CHECK(error_of(with(R"([{"load": {"available": [[5, 1], [5, 1]]}}])", bus)) ==
        "p.json: hosts[0].load.available[1]: must be later than the entry before it");
  CHECK(
      error_of(with(one, R"({"kind": "string"})")) ==
      "p.json: network.kind: unknown kind \"string\"; known: bus, fat-tree, hypercube, mesh, switch, torus");
  CHECK(error_of(with(one, grid("torus", ""))) == "p.json: network: missing \"dimensions\"");
  CHECK(error_of(with(one, grid("mesh", R"(, "dimensions": [1, 1])"))) ==
        "p.json: network: has room for 1 machines, but there are 2");
  CHECK(error_of(with(one, grid("torus", R"(, "dimensions": [65536, 65536, 65536, 65536, 65536])"))) ==
        "p.json: network.dimensions: has room for more than 65536 machines");
  CHECK(error_of(with(one, grid("bus", R"(, "dimensions": [4])")))
            .starts_with("p.json: network.dimensions: only"));
  CHECK(error_of(with(one, bus, R"(, "failures": [{"rank": 2, "at_seconds": 1}])")) ==
        "p.json: failures[0].rank: expected a whole number from 0 to 1, found 2");
  CHECK(error_of(with(one, bus, R"(, "failures": [{"host": "x\n\u001b[31m", "at_seconds": 1}])"))
            .starts_with("p.json: failures[0].host: there is no host \"x"));
  CHECK(error_of(with(R"([{"name": "a"}, {"name": "a"}])", bus,
                      R"(, "failures": [{"host": "a", "at_seconds": 1}])")) ==
        "p.json: failures[0].host: several hosts are named \"a\", expected a \"rank\"");
  CHECK(error_of(R"({"hosts": [{}], "hosts": [{}, {}], "network": {}})") ==
        "p.json: not JSON: hosts is there twice");
  for (auto const* const end : {"", "]"})
    CHECK(error_of(std::string(100000, '[') + end) == "p.json: not JSON: nested more than 100 deep");
  CHECK(error_of("[1, ").starts_with("p.json:1: not JSON"));
  CHECK(error_of(std::string(100, '[') + std::string(100, ']')) ==
        "p.json: expected an object, found a list of 1");
  CHECK_THROWS_AS(platform::read("/"), skel::usage_error);
  CHECK_THROWS_AS(platform::find("/nowhere/p.json"), skel::usage_error);
}

TEST_CASE("damaged platforms are refused, not crashed on") {
  std::string const good =
      with(R"([{"name": "a", "count": 3, "power": 1.5, "load": {"available": [[0, 1]]}}])", bus,
           R"(, "failures": [{"rank": 1, "at_seconds": 1}])");
  REQUIRE(error_of(good).empty());
  for (std::size_t i = 0; i < good.size(); ++i) {
    CHECK_FALSE(error_of(good.substr(0, i)).empty());
    for (char const c : {'"', '{', ']', '-', '9', 'e', '\0', '\xff'}) {
      auto damaged = good;
      damaged[i] = c;
      static_cast<void>(error_of(damaged));  // fine or refused
    }
  }
}

TEST_CASE("ready platforms") {
  auto const names = skel::sim::ready_platforms();
  CHECK(names.size() == 10);
  for (auto const& n : names) CHECK(platform::ready(n.name).ranks() > 0);
  auto const lee = platform::find("lee-1997-14");
  CHECK(lee.ranks() == 14);
  CHECK(lee.machines[12].power == 0.442);
  CHECK(lee.machines[13].power == 1.347);
  CHECK(platform::ready("cluster-1024").ranks() == 1024);
  CHECK_THROWS_AS(platform::ready("lee"), skel::usage_error);

  auto uneven = platform::ready("uneven:ranks=300,seed=5");
  CHECK(uneven.ranks() == 300);
  for (auto const& m : uneven.machines) {
    CHECK(m.power >= 0.25);
    CHECK(m.power <= 4);
  }
  CHECK(uneven.machines[7].power != platform::ready("uneven:ranks=300,seed=6").machines[7].power);
  CHECK_THROWS_AS(platform::ready("uneven:ranks=0"), skel::usage_error);
  CHECK_THROWS_AS(platform::ready("uneven:ranks=3,ranks=4"), skel::usage_error);
  auto const same = [](platform const& a, platform const& b) {
    auto const nodes = [](platform const& p) {
      std::vector<std::pair<std::string, double>> all;
      for (auto const& m : p.machines) all.emplace_back(m.name, m.power);
      return all;
    };
    return nodes(a) == nodes(b) && a.wires.down == b.wires.down && a.wires.up == b.wires.up;
  };
  CHECK(same(platform::ready("cluster"), platform::ready("cluster-1024")));
  CHECK(platform::ready("cluster:ranks=4096").ranks() == 4096);
  CHECK(platform::ready("cluster:ranks=33").wires.down == std::vector<unsigned>{32, 2});
  CHECK_THROWS_AS(platform::ready("cluster:ranks=0"), skel::usage_error);
  CHECK_THROWS_AS(platform::ready("cluster:seed=1"), skel::usage_error);
  CHECK_THROWS_AS(platform::ready("clusters"), skel::usage_error);
  uneven.failures = {{299, 1}, {3, 1}};
  uneven.take(10);
  CHECK(uneven.ranks() == 10);
  CHECK(uneven.failures.size() == 1);
  CHECK_THROWS_AS(uneven.take(11), skel::usage_error);
}
