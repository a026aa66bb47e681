// Reads a platform from JSON. Input is checked key by key: errors name the file and the key.
#include "skel/sim/platform.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/format.hpp"
#include "base/json.hpp"
#include "base/read_file.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"

namespace skel::sim {

namespace {

using detail::json_reader;

constexpr std::size_t most_machines = 65536;
constexpr std::size_t most_bytes = std::size_t{16} << 20;
constexpr double most_seconds = 1e9;

std::map<std::string, network_kind, std::less<>> const kinds = {
    {"bus", network_kind::bus},     {"switch", network_kind::star}, {"hypercube", network_kind::hypercube},
    {"torus", network_kind::torus}, {"mesh", network_kind::mesh},   {"fat-tree", network_kind::fat_tree}};

double seconds_of(json_reader const& n) {
  return n.number(0, most_seconds, "a number of seconds from 0 to 1e9");
}

std::vector<unsigned> sizes(json_reader const& n) {
  std::vector<unsigned> all;
  for (auto const& item : n.items("a list of 1 to 16 whole numbers", 1, 16))
    all.push_back(item.whole<unsigned>(1, most_machines));
  return all;
}

std::size_t product(json_reader const& n, std::vector<unsigned> const& factors) {
  std::size_t p = 1;
  for (unsigned const f : factors) {
    p *= f;
    if (p > most_machines) n.fail(detail::format("has room for more than {} machines", most_machines));
  }
  return p;
}

void read_load(json_reader const& n, machine& m) {
  n.only_keys({"available", "repeat_seconds"});
  for (auto const& step : n["available"].items("a list of [seconds, share]", 1)) {
    auto const pair = step.items("[seconds, share]", 2, 2);
    availability const a{seconds_of(pair[0]), pair[1].number(1e-3, 1, "a share from 0.001 to 1")};
    if (!m.available.empty() && a.at_seconds <= m.available.back().at_seconds)
      step.fail("must be later than the entry before it");
    m.available.push_back(a);
  }
  if (!n.has("repeat_seconds")) return;
  m.repeat_seconds = n["repeat_seconds"].number(1e-3, most_seconds, "a number of seconds from 0.001 to 1e9");
  if (m.available.back().at_seconds >= m.repeat_seconds)
    n["repeat_seconds"].fail("must be later than the last entry of \"available\"");
}

void read_machines(json_reader const& n, platform& p) {
  n.only_keys({"name", "count", "power", "load"});
  machine m;
  m.name = n.has("name") ? n["name"].text() : "host";
  m.power = n.has("power") ? n["power"].number(1e-6, 1e6, "a number from 1e-6 to 1e6") : 1;
  if (n.has("load")) read_load(n["load"], m);
  auto const count = n.has("count") ? n["count"].whole<std::size_t>(1, most_machines) : 1;
  if (p.machines.size() + count > most_machines)
    n.fail(detail::format("more than {} machines", most_machines));
  auto const name = m.name;
  for (std::size_t i = 0; i < count; ++i) {
    if (count > 1) m.name = detail::format("{}-{}", name, i + 1);
    p.machines.push_back(m);
  }
}

network read_network(json_reader const& n, std::size_t machines) {
  n.only_keys(
      {"kind", "latency_seconds", "bandwidth_bytes_per_second", "dimensions", "down", "up", "parallel"});
  network w;
  auto const kind = n["kind"].text();
  auto const found = kinds.find(kind);
  if (found == kinds.end()) {
    std::vector<std::string_view> known;
    known.reserve(kinds.size());
    for (auto const& [name, unused] : kinds) known.push_back(name);
    n["kind"].fail(detail::format("unknown kind \"{}\"; known: {}", kind, detail::join(known, ", ")));
  }
  w.kind = found->second;
  w.latency_seconds = seconds_of(n["latency_seconds"]);
  w.bandwidth_bytes_per_second =
      n["bandwidth_bytes_per_second"].number(1, 1e15, "a number of bytes per second from 1 to 1e15");
  bool const grid = w.kind == network_kind::torus || w.kind == network_kind::mesh;
  bool const tree = w.kind == network_kind::fat_tree;
  std::size_t room = most_machines;
  if (!grid && n.has("dimensions")) n["dimensions"].fail("only a torus and a mesh have dimensions");
  for (char const* key : {"down", "up", "parallel"})
    if (!tree && n.has(key)) n[key].fail("only a fat tree has this");
  if (grid) {
    w.dimensions = sizes(n["dimensions"]);
    room = product(n["dimensions"], w.dimensions);
    if (w.kind == network_kind::mesh && room > 1024) n["dimensions"].fail("a mesh has at most 1024 nodes");
  } else if (tree) {
    w.down = sizes(n["down"]);
    w.up = sizes(n["up"]);
    w.parallel = sizes(n["parallel"]);
    if (w.up.size() != w.down.size() || w.parallel.size() != w.down.size())
      n.fail("\"down\", \"up\" and \"parallel\" must have one entry per level");
    room = product(n["down"], w.down);
    product(n["up"], w.up);
    product(n["parallel"], w.parallel);
  }
  if (machines > room) n.fail(detail::format("has room for {} machines, but there are {}", room, machines));
  return w;
}

failure read_failure(json_reader const& n, platform const& p) {
  n.only_keys({"rank", "host", "at_seconds"});
  failure f;
  f.at_seconds = seconds_of(n["at_seconds"]);
  if (n.has("rank") == n.has("host")) n.fail("needs either \"rank\" or \"host\"");
  if (n.has("rank")) {
    f.rank = n["rank"].whole<int>(0, p.ranks() - 1);
    return f;
  }
  auto const name = n["host"].text();
  auto const at =
      std::find_if(p.machines.begin(), p.machines.end(), [&](auto const& m) { return m.name == name; });
  if (at == p.machines.end()) n["host"].fail(detail::format("there is no host \"{}\"", name));
  if (std::any_of(std::next(at), p.machines.end(), [&](auto const& m) { return m.name == name; }))
    n["host"].fail(detail::format("several hosts are named \"{}\", expected a \"rank\"", name));
  f.rank = static_cast<int>(at - p.machines.begin());
  return f;
}

}  // namespace

platform platform::parse(std::string_view text, std::string const& file) {
  auto const document = json_reader::parse(text, file);
  json_reader const root(document, file);
  root.only_keys(
      {"name", "about", "hosts", "network", "send_overhead_seconds", "receive_overhead_seconds", "failures"});
  platform p;
  p.name = root.has("name") ? root["name"].text() : file;
  if (root.has("about")) p.about = root["about"].text();
  for (auto const& item : root["hosts"].items("a list of at least one host", 1)) read_machines(item, p);
  p.wires = read_network(root["network"], p.machines.size());
  if (root.has("send_overhead_seconds")) p.send_overhead_seconds = seconds_of(root["send_overhead_seconds"]);
  if (root.has("receive_overhead_seconds"))
    p.receive_overhead_seconds = seconds_of(root["receive_overhead_seconds"]);
  if (root.has("failures"))
    for (auto const& item : root["failures"].items("a list of failures"))
      p.failures.push_back(read_failure(item, p));
  return p;
}

platform platform::read(std::string const& path) {
  auto const text = detail::read_file(path, most_bytes);
  if (!text) throw usage_error(detail::one_line(path + ": cannot be read"));
  if (text->size() > most_bytes) throw usage_error(detail::one_line(path + ": larger than 16 MiB"));
  return parse(*text, path);
}

platform platform::find(std::string const& file_or_name) {
  return file_or_name.find('/') != std::string::npos || file_or_name.ends_with(".json") ? read(file_or_name)
                                                                                        : ready(file_or_name);
}

void platform::take(int ranks) {
  if (ranks < 1 || ranks > this->ranks())
    throw usage_error(detail::format("platform {} has 1 to {} ranks, not {}", name, this->ranks(), ranks));
  machines.resize(static_cast<std::size_t>(ranks));
  std::erase_if(failures, [&](auto const& f) { return f.rank >= ranks; });
}

}  // namespace skel::sim
