// Exports a platform of skel::sim for other SimGrid programs. export_platform PLATFORM RANKS COSTS
// TASKS SEED FOLDER writes platform.xml, hostfile, costs.csv (the costs that skel-simulate uses)
// and overheads (one line for smpi/ois and one for smpi/or) into FOLDER.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <numeric>
#include <string>

#include "skel/error.hpp"
#include "skel/sim/platform.hpp"
#include "tools/simulate/costs.hpp"

namespace {

using skel::sim::machine;
using skel::sim::network_kind;
using skel::sim::platform;

constexpr double flops_at_power_1 = 1e9;
constexpr double longest_load = 3600;  // seconds for which a changing load is exported

std::string joined(std::vector<unsigned> const& numbers) {
  return fmt::format("{}", fmt::join(numbers, ","));
}

std::string wire(skel::sim::network const& n, double latency) {
  return fmt::format("bandwidth=\"{:.17g}Bps\" latency=\"{:.17g}s\"", n.bandwidth_bytes_per_second, latency);
}

void write_load(std::ostream& out, machine const& m, std::size_t i) {
  if (m.available.empty()) return;
  out << fmt::format("    <trace id=\"load{}\" periodicity=\"-1\">\n", i);
  double period = 0;
  do {
    for (auto const& a : m.available)
      out << fmt::format("      {:.17g} {:.17g}\n", period + a.at_seconds, a.share);
    period += m.repeat_seconds;
  } while (m.repeat_seconds > 0 && period < longest_load);
  out << "    </trace>\n";
  out << fmt::format("    <trace_connect trace=\"load{}\" element=\"node{}\" kind=\"SPEED\"/>\n", i, i);
}

// A bus or a switch, SimGrid's star.
void write_star(std::ostream& out, platform const& p) {
  bool const bus = p.wires.kind == network_kind::bus;
  out << "  <zone id=\"network\" routing=\"Cluster\">\n";
  if (bus) out << fmt::format("    <link id=\"bus\" {}/>\n", wire(p.wires, p.wires.latency_seconds));
  for (std::size_t i = 0; i < p.machines.size(); ++i) {
    auto const& m = p.machines[i];
    out << fmt::format("    <host id=\"node{}\" speed=\"{:.17g}f\"/>\n", i, m.power * flops_at_power_1);
    if (bus) {
      out << fmt::format("    <host_link id=\"node{}\" up=\"bus\" down=\"bus\"/>\n", i);
    } else {
      out << fmt::format("    <link id=\"link{}\" {} sharing_policy=\"SPLITDUPLEX\"/>\n", i,
                         wire(p.wires, p.wires.latency_seconds / 2));
      out << fmt::format("    <host_link id=\"node{}\" up=\"link{}_UP\" down=\"link{}_DOWN\"/>\n", i, i, i);
    }
  }
  for (std::size_t i = 0; i < p.machines.size(); ++i) write_load(out, p.machines[i], i);
  out << "  </zone>\n";
}

void write_fat_tree(std::ostream& out, platform const& p) {
  auto const& n = p.wires;
  for (auto const& m : p.machines)
    if (m.power != p.machines.front().power || !m.available.empty())
      throw skel::usage_error("fat tree: expected equal machines without loads, as SimGrid's XML requires");
  auto const places = std::accumulate(n.down.begin(), n.down.end(), 1U, std::multiplies<>());
  out << fmt::format(
      "  <cluster id=\"network\" prefix=\"node\" suffix=\"\" radical=\"0-{}\" speed=\"{:.17g}f\" "
      "bw=\"{:.17g}Bps\" "
      "lat=\"{:.17g}s\" topology=\"FAT_TREE\" topo_parameters=\"{};{};{};{}\" "
      "sharing_policy=\"SPLITDUPLEX\"/>\n",
      places - 1, p.machines.front().power * flops_at_power_1, n.bandwidth_bytes_per_second,
      n.latency_seconds, n.down.size(), joined(n.down), joined(n.up), joined(n.parallel));
}

void write_platform(std::ostream& out, platform const& p) {
  out << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
         "<platform version=\"4.1\">\n";
  switch (p.wires.kind) {
    case network_kind::bus:
    case network_kind::star:
      write_star(out, p);
      break;
    case network_kind::fat_tree:
      write_fat_tree(out, p);
      break;
    default:
      throw skel::usage_error("expected a platform with a bus, a switch or a fat tree");
  }
  out << "</platform>\n";
}

void run(char** argv) {
  auto p = platform::find(argv[1]);
  p.take(std::stoi(argv[2]));
  std::string const folder = std::string(argv[6]) + "/";
  std::ofstream xml(folder + "platform.xml"), hosts(folder + "hostfile"), costs(folder + "costs.csv"),
      overheads(folder + "overheads");
  write_platform(xml, p);
  for (int i = 0; i < p.ranks(); ++i) hosts << "node" << i << "\n";
  for (double const c : skel::simulate::task_costs(argv[3], std::stoull(argv[4]), std::stoull(argv[5])))
    costs << fmt::format("{:.17g}\n", c);
  // size:constant:per byte
  overheads << fmt::format("0:{:.17g}:0\n0:{:.17g}:0\n", p.send_overhead_seconds, p.receive_overhead_seconds);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fputs("usage: export_platform PLATFORM RANKS COSTS TASKS SEED FOLDER\n", stderr);
    return 2;
  }
  try {
    run(argv);
    return 0;
  } catch (std::exception const& bad) {
    std::fprintf(stderr, "export_platform: %s\n", bad.what());
    return 2;
  }
}
