#include "skel/observe/report_json.hpp"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace skel::observe {

// Not in the class, where report_field is still incomplete.
report_value::report_value(bool flag) : value(flag) {}
report_value::report_value(std::int64_t number) : value(number) {}
report_value::report_value(std::uint64_t number) : value(number) {}
report_value::report_value(double number) : value(number) {}
report_value::report_value(char const* text) : value(std::string(text)) {}
report_value::report_value(std::string text) : value(std::move(text)) {}
report_value::report_value(list items) : value(std::move(items)) {}
report_value::report_value(report_object fields) : value(std::move(fields)) {}

namespace {

using json = nlohmann::ordered_json;

void add_number(json& object, char const* key, double value) {
  if (std::isfinite(value)) object[key] = value;
}
void add_numbers(json& object, std::initializer_list<std::pair<char const*, double>> values) {
  for (auto const& [key, value] : values) add_number(object, key, value);
}

void add_text(json& object, char const* key, std::string const& text) {
  if (!text.empty()) object[key] = text;
}

json to_json(report_value const& value);

void add_fields(json& object, report_object const& fields) {
  for (auto const& field : fields) {
    if (object.contains(field.key))
      throw std::logic_error("report: the key " + field.key + " already exists");
    auto converted = to_json(field.value);
    if (!converted.is_null()) object[field.key] = std::move(converted);
  }
}

// null: a number that is not finite
struct value_converter {
  json operator()(double number) const { return std::isfinite(number) ? json(number) : json(); }
  json operator()(report_object const& fields) const {
    json object = json::object();
    add_fields(object, fields);
    return object;
  }
  json operator()(report_value::list const& items) const {
    json array = json::array();
    for (auto const& item : items) array.push_back(to_json(item));
    return array;
  }
  json operator()(auto const& plain) const { return plain; }
};

json to_json(report_value const& value) { return std::visit(value_converter{}, value.value); }

json to_json(rank_report const& row) {
  json object;
  object["rank"] = row.rank;
  add_text(object, "host", row.host);
  object["tasks"] = row.tasks;
  add_numbers(object, {{"busy_seconds", row.busy_seconds},
                       {"idle_seconds", row.idle_seconds},
                       {"communication_seconds", row.communication_seconds}});
  object["messages_sent"] = row.messages_sent;
  object["bytes_sent"] = row.bytes_sent;
  if (row.peak_memory_bytes != 0) object["peak_memory_bytes"] = row.peak_memory_bytes;
  return object;
}

json to_json(phase_report const& part) {
  json object;
  object["phase"] = part.phase;
  object["level"] = part.level;
  add_number(object, "seconds", part.seconds);
  object["bytes"] = part.bytes;
  if (part.sizes.empty()) return object;
  json& sizes = object["sizes"] = json::object();
  for (auto const& [name, value] : part.sizes) add_number(sizes, name.c_str(), value);
  return object;
}

json to_json(group_report const& g) {
  json object;
  object["sizes"] = g.sizes;
  object["size_found"] = g.size_found;
  object["reassigned"] = g.reassigned;
  object["split"] = g.split;
  object["taken_over"] = g.taken_over;
  object["units_read"] = g.units_read;
  add_numbers(object, {{"read_seconds", g.read_seconds},
                       {"compute_seconds", g.compute_seconds},
                       {"send_seconds", g.send_seconds},
                       {"sink_seconds", g.sink_seconds}});
  if (g.preload_seconds > 0) add_number(object, "preload_seconds", g.preload_seconds);
  add_numbers(object, {{"host_idle_seconds", g.host_idle_seconds},
                       {"worker_idle_seconds", g.worker_idle_seconds},
                       {"worker_idle_spread_seconds", g.worker_idle_spread}});
  return object;
}

json to_json(checkpoint_report const& c) {
  json object;
  object["restored_tasks"] = c.restored_tasks;
  if (c.restored_generation > 0) object["restored_generation"] = c.restored_generation;
  if (c.restore_seconds > 0) add_number(object, "restore_seconds", c.restore_seconds);
  object["saved"] = c.saved;
  object["failed"] = c.failed;
  object["bytes"] = c.bytes;
  object["written_bytes"] = c.written_bytes;
  add_numbers(object, {{"blocked_seconds", c.blocked_seconds},
                       {"serialise_seconds", c.serialise_seconds},
                       {"code_seconds", c.code_seconds},
                       {"transfer_seconds", c.transfer_seconds},
                       {"write_seconds", c.write_seconds},
                       {"sync_seconds", c.sync_seconds}});
  return object;
}

json to_json(task_failure const& f) {
  json object{{"task", f.task}, {"rank", f.rank}, {"times", f.times}, {"text", f.text}};
  if (f.ended_ranks) object["ended_ranks"] = true;
  return object;
}

json to_json(faulty_rank const& f) {
  json object{{"rank", f.rank}, {"task", f.task}, {"computed_again", f.computed_again}};
  if (!f.in_sink.empty()) object["in_sink"] = f.in_sink;
  return object;
}

json to_json(rank_loss const& l) {
  json object{{"rank", l.rank}, {"attempt", l.attempt}};
  if (l.was_root) object["was_root"] = true;
  object["noticed"] = std::array{"silence", "ended", "mpi", "agreed", "connection", "retired"}.at(
      static_cast<std::size_t>(l.noticed));
  if (l.silent_seconds > 0) add_number(object, "silent_seconds", l.silent_seconds);
  return object;
}

json to_json(team_report const& t) { return {{"ranks", t.ranks}, {"tasks", t.tasks}}; }

template <class Row>
json rows(std::vector<Row> const& list) {
  json array = json::array();
  for (auto const& row : list) array.push_back(to_json(row));
  return array;
}

json to_json(audit_report const& a) {
  json object{{"checked", a.checked}, {"unchecked", a.unchecked}};
  if (!a.at_fault.empty()) object["at_fault"] = rows(a.at_fault);
  return object;
}

json to_json(needs_report const& n) {
  json object{{"memory_bytes", n.memory}, {"threads", n.threads}};
  if (n.not_started > 0) object["not_started"] = n.not_started;
  return object;
}

}  // namespace

std::string report_to_json(report const& run, report_extra const& extra) {
  json object;
  object["skel"] = SKEL_VERSION;
  object["schema"] = report_schema;
  add_text(object, "program", extra.program);
  add_text(object, "skeleton", run.skeleton);
  add_text(object, "schedule", run.schedule);
  add_text(object, "results", run.results);
  object["ranks"] = run.ranks;
  if (run.threads_per_rank > 0) object["threads_per_rank"] = run.threads_per_rank;
  object["tasks"] = run.tasks;
  add_numbers(object, {{"seconds", run.seconds}, {"busy_share", run.busy_share}});
  if (extra.result_xxh3) object["result_xxh3"] = *extra.result_xxh3;
  if (run.stopped_early) object["stopped_early"] = true;
  object["lost_ranks"] = run.lost_ranks;
  if (!run.lost_before.empty()) object["lost_before"] = run.lost_before;
  if (run.attempt > 1) object["attempt"] = run.attempt;
  if (run.spares > 0) object["spares"] = run.spares;
  if (!run.losses.empty()) object["losses"] = rows(run.losses);
  object["tasks_handed_out_again"] = run.tasks_handed_out_again;
  if (!run.failed_tasks.empty()) object["failed_tasks"] = rows(run.failed_tasks);
  if (run.audit) object["audit"] = to_json(*run.audit);
  if (run.needs) object["needs"] = to_json(*run.needs);
  if (!run.teams.empty()) object["teams"] = rows(run.teams);
  if (run.steals) object["steals"] = *run.steals;
  object["messages"] = run.messages;
  object["bytes"] = run.bytes;
  auto per_rank = rows(run.per_rank);
  auto phases = rows(run.phases);
  object["checkpoint"] = object["groups"] = object["phases"] = object["per_rank"] =
      json();  // so that extra fields of these names are refused, too
  add_fields(object, extra.fields);
  object.erase("checkpoint");
  object.erase("groups");
  object.erase("phases");
  object.erase("per_rank");
  if (run.checkpoint) object["checkpoint"] = to_json(*run.checkpoint);
  if (run.groups) object["groups"] = to_json(*run.groups);
  if (!phases.empty()) object["phases"] = std::move(phases);
  if (!per_rank.empty()) object["per_rank"] = std::move(per_rank);
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace skel::observe
