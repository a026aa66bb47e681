// Reads and writes a machine as JSON, schema 1.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "skel/model/machine.hpp"
#include "text.hpp"

namespace skel::model {

namespace {

using json = nlohmann::ordered_json;
using detail::json_reader;

constexpr double most_seconds = 1e9;
constexpr double most_bytes = 1e18;

json to_json(curve const& c) {
  json object;
  object["deviation"] = c.deviation;
  object["pieces"] = json::array();
  for (auto const& p : c.pieces) {
    json one;
    one["from_bytes"] = p.from_bytes;
    if (std::isfinite(p.to_bytes)) one["to_bytes"] = p.to_bytes;  // the last piece has no end
    one["latency_seconds"] = p.latency_seconds;
    one["gap_seconds_per_byte"] = p.gap_seconds_per_byte;
    object["pieces"].push_back(std::move(one));
  }
  return object;
}

json to_json(machine_at const& m) {
  json object;
  object["ranks"] = m.ranks;
  object["kind"] = m.kind;
  object["latency_seconds"] = m.latency_seconds;
  object["gap_seconds_per_byte"] = m.gap_seconds_per_byte;
  auto const found = [&](char const* name, double value) {
    if (value > 0) object[name] = value;
  };
  found("latency_by_size", m.latency_by_size);
  found("latency_by_number", m.latency_by_number);
  found("gap_by_size", m.gap_by_size);
  found("gap_by_number", m.gap_by_number);
  auto const measured = [&](char const* name, curve const& c) {
    if (!c.empty()) object[name] = to_json(c);
  };
  measured("all_to_all", m.all_to_all);
  measured("ping_pong", m.ping_pong);
  measured("exchange", m.exchange);
  for (auto const& t : m.timings)
    object["timings"].push_back({{"pattern", t.pattern},
                                 {"bytes", t.bytes},
                                 {"messages", t.messages},
                                 {"seconds", t.seconds},
                                 {"deviation", t.deviation}});
  return object;
}

curve read_curve(json_reader const& in) {
  curve c;
  c.deviation = in.number_or("deviation", 0, 1e9, 0);
  for (auto const& one : in["pieces"].items()) {
    piece p;
    p.from_bytes = one.number_or("from_bytes", 0, most_bytes, 0);
    p.to_bytes = one.number_or("to_bytes", 0, most_bytes, std::numeric_limits<double>::infinity());
    p.latency_seconds = one["latency_seconds"].number(0, most_seconds);
    p.gap_seconds_per_byte = one["gap_seconds_per_byte"].number(0, most_seconds);
    if (p.to_bytes <= p.from_bytes || (!c.pieces.empty() && p.from_bytes != c.pieces.back().to_bytes))
      one.fail("expected contiguous pieces");
    c.pieces.push_back(p);
  }
  return c;
}

machine_at read_at(json_reader const& in) {
  machine_at m;
  m.ranks = static_cast<int>(in.number_or("ranks", 0, 1 << 24, 0));
  m.kind = in.text_or("kind", "raw");
  m.latency_seconds = in["latency_seconds"].number(0, most_seconds);
  m.gap_seconds_per_byte = in["gap_seconds_per_byte"].number(0, most_seconds);
  m.latency_by_size = in.number_or("latency_by_size", 0, most_seconds, 0);
  m.latency_by_number = in.number_or("latency_by_number", 0, most_seconds, 0);
  m.gap_by_size = in.number_or("gap_by_size", 0, most_seconds, 0);
  m.gap_by_number = in.number_or("gap_by_number", 0, most_seconds, 0);
  if (in.has("all_to_all")) m.all_to_all = read_curve(in["all_to_all"]);
  if (in.has("ping_pong")) m.ping_pong = read_curve(in["ping_pong"]);
  if (in.has("exchange")) m.exchange = read_curve(in["exchange"]);
  if (in.has("timings"))
    for (auto const& t : in["timings"].items())
      m.timings.push_back({t["pattern"].text(), t["bytes"].number(0, most_bytes),
                           t["messages"].number(0, 1e9), t["seconds"].number(0, most_seconds),
                           t.number_or("deviation", 0, 1e9, 0)});
  return m;
}

}  // namespace

machine machine::parse(std::string_view text, std::string const& file) {
  auto const whole = json_reader::parse(text, file);
  json_reader const root(whole, file);
  machine m;
  m.name = root.text_or("name", file);
  if (root.number_or("skel_machine", 0, 1e9, 1) != 1) root["skel_machine"].fail("unknown schema, expected 1");
  if (root.has("measured"))
    for (auto const& in : root["measured"].items()) m.at.push_back(read_at(in));
  else
    m.at.push_back(read_at(root));
  if (m.at.empty()) root["measured"].fail("expected at least one entry");
  std::ranges::stable_sort(m.at, {}, &machine_at::ranks);
  return m;
}

machine machine::read(std::string const& path) { return parse(read_text(path), path); }

std::string machine::to_json() const {
  json object;
  object["skel_machine"] = 1;
  object["name"] = name;
  object["measured"] = json::array();
  for (auto const& m : at) object["measured"].push_back(skel::model::to_json(m));
  return object.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace skel::model
