// Reads a platform from JSON. Input is checked key by key: errors name the file and the key.
#include "skel/sim/platform.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "base/format.hpp"
#include "base/one_line.hpp"
#include "base/parse_json.hpp"
#include "skel/error.hpp"

namespace skel::sim {

namespace {

using nlohmann::json;

constexpr std::size_t most_machines = 65536;
constexpr std::size_t most_bytes = std::size_t{16} << 20;
constexpr double most_seconds = 1e9;

std::map<std::string, network_kind, std::less<>> const kinds = {
    {"bus", network_kind::bus},     {"switch", network_kind::star}, {"hypercube", network_kind::hypercube},
    {"torus", network_kind::torus}, {"mesh", network_kind::mesh},   {"fat-tree", network_kind::fat_tree}};

// A value of the document and its position.
class node {
 public:
  node(json const& value, std::string file, std::string path)
      : value_(&value), file_(std::move(file)), path_(std::move(path)) {}

  [[noreturn]] void fail(std::string const& what) const {
    throw usage_error(detail::one_line(path_.empty() ? detail::format("{}: {}", file_, what)
                                                     : detail::format("{}: {}: {}", file_, path_, what)));
  }
  // Formats the value for a message. Omits the contents of lists, which may be nested too deep for nlohmann's
  // dump.
  [[nodiscard]] std::string shown() const {
    if (value_->is_array()) return detail::format("a list of {}", value_->size());
    if (value_->is_object()) return "an object";
    return value_->dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 60);
  }
  void must(bool condition, char const* expected) const {
    if (!condition) fail(detail::format("must be {}, found {}", expected, shown()));
  }
  void only_keys(std::initializer_list<std::string_view> known) const {
    must(value_->is_object(), "an object");
    for (auto const& [key, unused] : value_->items())
      if (std::find(known.begin(), known.end(), key) == known.end())
        fail(detail::format("unknown key \"{}\"; known: {}", key, detail::join(known, ", ")));
  }
  [[nodiscard]] bool has(char const* key) const { return value_->contains(key); }
  [[nodiscard]] node at(char const* key) const {
    if (!has(key)) fail(detail::format("the key \"{}\" is missing", key));
    return {(*value_)[key], file_, path_.empty() ? key : path_ + "." + key};
  }
  [[nodiscard]] std::vector<node> items(std::size_t least, char const* expected) const {
    must(value_->is_array() && value_->size() >= least, expected);
    std::vector<node> all;
    for (std::size_t i = 0; i < value_->size(); ++i)
      all.emplace_back((*value_)[i], file_, detail::format("{}[{}]", path_, i));
    return all;
  }
  [[nodiscard]] double number(double low, double high, char const* expected) const {
    must(value_->is_number(), expected);
    auto const x = value_->get<double>();
    must(std::isfinite(x) && x >= low && x <= high, expected);
    return x;
  }
  [[nodiscard]] double seconds() const {
    return number(0, most_seconds, "a number of seconds from 0 to 1e9");
  }
  [[nodiscard]] std::uint64_t whole(std::uint64_t low, std::uint64_t high) const {
    auto const expected = detail::format("a whole number from {} to {}", low, high);
    must(value_->is_number_unsigned(), expected.c_str());
    auto const n = value_->get<std::uint64_t>();
    must(n >= low && n <= high, expected.c_str());
    return n;
  }
  [[nodiscard]] std::string text() const {
    must(value_->is_string(), "a text");
    return value_->get<std::string>();
  }

 private:
  json const* value_;
  std::string file_;
  std::string path_;
};

std::vector<unsigned> sizes(node const& n) {
  std::vector<unsigned> all;
  for (auto const& item : n.items(1, "a list of whole numbers"))
    all.push_back(static_cast<unsigned>(item.whole(1, most_machines)));
  if (all.size() > 16) n.fail("has more than 16 entries");
  return all;
}

std::size_t product(node const& n, std::vector<unsigned> const& factors) {
  std::size_t p = 1;
  for (unsigned const f : factors) {
    p *= f;
    if (p > most_machines) n.fail(detail::format("has room for more than {} machines", most_machines));
  }
  return p;
}

void read_load(node const& n, machine& m) {
  n.only_keys({"available", "repeat_seconds"});
  for (auto const& step : n.at("available").items(1, "a list of [seconds, share]")) {
    auto const pair = step.items(2, "[seconds, share]");
    if (pair.size() != 2) step.fail("must be [seconds, share]");
    availability const a{pair[0].seconds(), pair[1].number(1e-3, 1, "a share from 0.001 to 1")};
    if (!m.available.empty() && a.at_seconds <= m.available.back().at_seconds)
      step.fail("must be later than the entry before it");
    m.available.push_back(a);
  }
  if (!n.has("repeat_seconds")) return;
  m.repeat_seconds =
      n.at("repeat_seconds").number(1e-3, most_seconds, "a number of seconds from 0.001 to 1e9");
  if (m.available.back().at_seconds >= m.repeat_seconds)
    n.at("repeat_seconds").fail("must be later than the last entry of \"available\"");
}

void read_machines(node const& n, platform& p) {
  n.only_keys({"name", "count", "power", "load"});
  machine m;
  m.name = n.has("name") ? n.at("name").text() : "host";
  m.power = n.has("power") ? n.at("power").number(1e-6, 1e6, "a number from 1e-6 to 1e6") : 1;
  if (n.has("load")) read_load(n.at("load"), m);
  auto const count = n.has("count") ? n.at("count").whole(1, most_machines) : 1;
  if (p.machines.size() + count > most_machines)
    n.fail(detail::format("more than {} machines", most_machines));
  auto const name = m.name;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (count > 1) m.name = detail::format("{}-{}", name, i + 1);
    p.machines.push_back(m);
  }
}

network read_network(node const& n, std::size_t machines) {
  n.only_keys(
      {"kind", "latency_seconds", "bandwidth_bytes_per_second", "dimensions", "down", "up", "parallel"});
  network w;
  auto const kind = n.at("kind").text();
  auto const found = kinds.find(kind);
  if (found == kinds.end()) {
    std::vector<std::string_view> known;
    known.reserve(kinds.size());
    for (auto const& [name, unused] : kinds) known.push_back(name);
    n.at("kind").fail(detail::format("unknown kind \"{}\"; known: {}", kind, detail::join(known, ", ")));
  }
  w.kind = found->second;
  w.latency_seconds = n.at("latency_seconds").seconds();
  w.bandwidth_bytes_per_second =
      n.at("bandwidth_bytes_per_second").number(1, 1e15, "a number of bytes per second from 1 to 1e15");
  bool const grid = w.kind == network_kind::torus || w.kind == network_kind::mesh;
  bool const tree = w.kind == network_kind::fat_tree;
  std::size_t room = most_machines;
  for (char const* key : {"dimensions"})
    if (!grid && n.has(key)) n.at(key).fail("only a torus and a mesh have dimensions");
  for (char const* key : {"down", "up", "parallel"})
    if (!tree && n.has(key)) n.at(key).fail("only a fat tree has this");
  if (grid) {
    w.dimensions = sizes(n.at("dimensions"));
    room = product(n.at("dimensions"), w.dimensions);
    if (w.kind == network_kind::mesh && room > 1024) n.at("dimensions").fail("a mesh has at most 1024 nodes");
  } else if (tree) {
    w.down = sizes(n.at("down"));
    w.up = sizes(n.at("up"));
    w.parallel = sizes(n.at("parallel"));
    if (w.up.size() != w.down.size() || w.parallel.size() != w.down.size())
      n.fail("\"down\", \"up\" and \"parallel\" must have one entry per level");
    room = product(n.at("down"), w.down);
    product(n.at("up"), w.up);
    product(n.at("parallel"), w.parallel);
  }
  if (machines > room) n.fail(detail::format("has room for {} machines, but there are {}", room, machines));
  return w;
}

failure read_failure(node const& n, platform const& p) {
  n.only_keys({"rank", "host", "at_seconds"});
  failure f;
  f.at_seconds = n.at("at_seconds").seconds();
  if (n.has("rank") == n.has("host")) n.fail("needs either \"rank\" or \"host\"");
  if (n.has("rank")) {
    f.rank = static_cast<int>(n.at("rank").whole(0, p.machines.size() - 1));
    return f;
  }
  auto const name = n.at("host").text();
  auto const at =
      std::find_if(p.machines.begin(), p.machines.end(), [&](auto const& m) { return m.name == name; });
  if (at == p.machines.end()) n.at("host").fail(detail::format("there is no host \"{}\"", name));
  if (std::any_of(std::next(at), p.machines.end(), [&](auto const& m) { return m.name == name; }))
    n.at("host").fail(detail::format("several hosts are named \"{}\", expected a \"rank\"", name));
  f.rank = static_cast<int>(at - p.machines.begin());
  return f;
}

// Puts the line first: nlohmann's own message has the position in the middle.
json parse_json(std::string_view text, std::string const& file) {
  try {
    return detail::parse_json(text);
  } catch (json::parse_error const& e) {
    auto const until = text.substr(0, std::min(text.size(), e.byte));
    auto const line = 1 + std::count(until.begin(), until.end(), '\n');
    std::string what = e.what();
    if (auto const at = what.rfind("syntax error"); at != std::string::npos) what.erase(0, at);
    throw usage_error(detail::one_line(detail::format("{}:{}: not JSON: {}", file, line, what)));
  } catch (json::exception const& e) {
    throw usage_error(detail::one_line(detail::format("{}: not JSON: {}", file, e.what())));
  }
}

}  // namespace

platform platform::parse(std::string_view text, std::string const& file) {
  json const document = parse_json(text, file);
  node const root(document, file, "");
  root.only_keys(
      {"name", "about", "hosts", "network", "send_overhead_seconds", "receive_overhead_seconds", "failures"});
  platform p;
  p.name = root.has("name") ? root.at("name").text() : file;
  if (root.has("about")) p.about = root.at("about").text();
  for (auto const& item : root.at("hosts").items(1, "a list of at least one host")) read_machines(item, p);
  p.wires = read_network(root.at("network"), p.machines.size());
  if (root.has("send_overhead_seconds")) p.send_overhead_seconds = root.at("send_overhead_seconds").seconds();
  if (root.has("receive_overhead_seconds"))
    p.receive_overhead_seconds = root.at("receive_overhead_seconds").seconds();
  if (root.has("failures"))
    for (auto const& item : root.at("failures").items(0, "a list of failures"))
      p.failures.push_back(read_failure(item, p));
  return p;
}

platform platform::read(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) {
    text.resize(most_bytes + 1);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  }
  if (!file && !file.eof()) throw usage_error(detail::one_line(path + ": cannot be read"));
  if (text.size() > most_bytes) throw usage_error(detail::one_line(path + ": larger than 16 MiB"));
  return parse(text, path);
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
