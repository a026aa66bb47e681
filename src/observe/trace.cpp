#include "skel/observe/trace.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/format.hpp"
#include "base/text.hpp"
#include "skel/atomic_file.hpp"
#include "trace_rows.hpp"

namespace skel::observe {

namespace {

std::string json_text(std::string const& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string arguments(trace_span const& span) {
  auto const& text = text_of(span.what);
  if (text.first == nullptr) return "{}";
  auto all = detail::format(R"({{"{}":{})", text.first, span.first_task);
  if (text.count != nullptr) detail::append_format(all, R"(,"{}":{})", text.count, span.count);
  return all + '}';
}

}  // namespace

// Messages and the sink have separate lanes, because any idle thread handles them.
activity_text const& text_of(activity what) {
  static constexpr activity_text texts[] = {
      {"compute", nullptr, "first_task", "tasks"}, {"idle", nullptr, nullptr, nullptr},
      {"send", "messages", "peer", "bytes"},       {"receive", "messages", "peer", "bytes"},
      {"sink", "sink", "first_task", "tasks"},     {"steal", "messages", "peer", "bytes"},
      {"loss", "messages", "rank", nullptr}};
  return texts[static_cast<std::size_t>(what)];
}

bool is_moment(activity what) { return what == activity::steal || what == activity::loss; }

std::map<int, process_row> processes(std::span<rank_trace const> traces) {
  std::map<int, process_row> rows;
  for (auto const& trace : traces) {
    auto& row = rows[trace.rank];
    row.host = trace.host;
    row.dropped += trace.dropped;
    for (auto const& span : trace.spans) row.lanes.emplace(span.thread, span.what);
  }
  return rows;
}

std::string lane_name(std::uint32_t lane, activity what) {
  auto const* const name = text_of(what).lane;
  return name != nullptr ? name : detail::format("thread {}", lane);
}

std::string process_name(int rank, process_row const& row) {
  auto text = detail::format("rank {}", rank);
  if (!row.host.empty()) text += detail::format(" on {}", row.host);
  if (row.dropped > 0) text += detail::format(" ({} older spans dropped)", row.dropped);
  return text;
}

namespace {

void write_metadata(atomic_file& file, int rank, process_row const& row) {
  file.write(detail::format(R"({{"name":"process_name","ph":"M","pid":{},"tid":0,"args":{{"name":{}}}}})",
                            rank, json_text(process_name(rank, row))));
  file.write(detail::format(
      ",\n"
      R"({{"name":"process_sort_index","ph":"M","pid":{},"tid":0,"args":{{"sort_index":{}}}}})",
      rank, rank));
  for (auto const& [lane, what] : row.lanes) {
    file.write(
        detail::format(",\n"
                       R"({{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":"{}"}}}})",
                       rank, lane, lane_name(lane, what)));
  }
}

// One event per line, for grep. Microseconds with three decimals: the resolution of the clock.
void write_spans(atomic_file& file, rank_trace const& trace) {
  constexpr double microseconds = 1e6;
  auto const category = json_text(trace.label);
  std::string line;
  for (auto const& span : trace.spans) {
    auto const begin = trace.offset_seconds + span.begin;
    auto const duration = std::max(span.end - span.begin, 0.0);
    if (!std::isfinite(begin) || !std::isfinite(duration)) continue;  // JSON has no such numbers
    line.clear();
    detail::append_format(line,
                          ",\n"
                          R"({{"name":"{}","cat":{},"pid":{},"tid":{},"ts":{:.3f},)",
                          text_of(span.what).name, category, trace.rank, span.thread, begin * microseconds);
    line += is_moment(span.what) ? R"("ph":"i","s":"t",)"
                                 : detail::format(R"("ph":"X","dur":{:.3f},)", duration * microseconds);
    detail::append_format(line, R"("args":{}}})", arguments(span));
    file.write(line);
  }
}

bool is_otf2(std::string const& path) { return detail::lower(path).ends_with(".otf2"); }

}  // namespace

void write_chrome_trace(std::string const& path, std::span<rank_trace const> traces) {
  atomic_file file(path);
  file.write("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
  char const* separator = "";
  for (auto const& [rank, row] : processes(traces)) {
    file.write(separator);
    write_metadata(file, rank, row);
    separator = ",\n";
  }
  for (auto const& trace : traces) write_spans(file, trace);  // a metadata event precedes each trace
  file.write("\n]}\n");
  file.commit();
}

void write_trace(std::string const& path, std::span<rank_trace const> traces) {
  is_otf2(path) ? write_otf2_trace(path, traces) : write_chrome_trace(path, traces);
}

void check_trace_file(std::string const& path) {
  if (is_otf2(path)) check_otf2_path(path);
  atomic_file const probe(path);
  detail::require_ending(path, {".json", ".otf2"});
}

}  // namespace skel::observe
