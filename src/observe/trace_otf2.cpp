// Traces as OTF2 archives. One location per lane of a rank, an attribute per number of a span, and an MPI
// event for each end of a message whose other end is in the trace.
#include "skel/error.hpp"
#include "trace_rows.hpp"

#if SKEL_WITH_OTF2
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

// Its headers are C.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <otf2/otf2.h>
#pragma GCC diagnostic pop

#include "base/format.hpp"
#endif

namespace skel::observe {

#if SKEL_WITH_OTF2

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t ticks_per_second = 1'000'000'000;

// The archive beside its file run.otf2.
struct archive_files {
  explicit archive_files(fs::path const& anchor_file)
      : anchor(anchor_file), definitions(anchor_file), markers(anchor_file), events(anchor_file) {
    definitions.replace_extension(".def");
    markers.replace_extension(".marker");
    events.replace_extension();
  }
  fs::path anchor, definitions, markers, events;
};

[[noreturn]] void fail(fs::path const& path, std::string const& why) {
  throw error(detail::format("{}: {}", path.string(), why));
}

// Removes an earlier archive. A folder with other files in it is left, and is an error.
void remove_archive(archive_files const& old) {
  std::error_code ignored, failed;
  fs::remove(old.anchor, ignored);
  fs::remove(old.definitions, ignored);
  fs::remove(old.markers, ignored);
  std::vector<fs::path> parts;
  for (auto const& entry : fs::directory_iterator(old.events, ignored))
    if (auto const ending = entry.path().extension(); ending == ".evt" || ending == ".def")
      parts.push_back(entry.path());
  for (auto const& part : parts) fs::remove(part, ignored);
  fs::remove(old.events, failed);
  if (failed) fail(old.events, failed.message());
}

// An event of a lane: a span, in ticks.
struct lane_span {
  std::uint64_t begin, end;
  trace_span const* span;
  rank_trace const* of;
  bool has_partner = false;  // a message whose other end is in the trace
};

using lane_key = std::pair<int, std::uint32_t>;  // rank, lane
using lane_spans = std::map<lane_key, std::vector<lane_span>>;

bool is_finite(rank_trace const& trace, trace_span const& span) {
  return std::isfinite(trace.offset_seconds + span.begin) && std::isfinite(trace.offset_seconds + span.end);
}

// The spans of all lanes and the moments of all ranks, in ticks since the first or, if that is later, since
// the start of the context.
lane_spans spans_by_lane(std::span<rank_trace const> traces, std::vector<lane_span>& moments) {
  double first = 0;
  for (auto const& trace : traces)
    for (auto const& span : trace.spans)
      if (is_finite(trace, span)) first = std::min(first, trace.offset_seconds + span.begin);
  auto const ticks = [&](double seconds) {
    return static_cast<std::uint64_t>(
        std::llround((seconds - first) * static_cast<double>(ticks_per_second)));
  };
  lane_spans all;
  for (auto const& trace : traces)
    for (auto const& span : trace.spans) {
      if (!is_finite(trace, span)) continue;
      if (is_moment(span.what)) {
        moments.push_back({ticks(trace.offset_seconds + span.begin), 0, &span, &trace});
        continue;
      }
      auto const begin = ticks(trace.offset_seconds + span.begin);
      auto const end = std::max(begin, ticks(trace.offset_seconds + span.end));
      all[{trace.rank, span.thread}].push_back({begin, end, &span, &trace});
    }
  return all;
}

// Messages of one rank to another arrive in the order of sending, so the n-th span of sending belongs to
// the n-th of receiving. The last ones may have only one end in the trace. Where older spans were dropped, it
// is unknown which belong together.
void find_partners(lane_spans& lanes, std::span<rank_trace const> traces) {
  using call_and_ranks = std::tuple<std::string, int, int>;
  std::map<std::pair<std::string, int>, bool> dropped;
  for (auto const& trace : traces) dropped[{trace.label, trace.rank}] = trace.dropped > 0;
  std::map<call_and_ranks, std::vector<lane_span*>> sent, received;
  for (auto& [key, spans] : lanes)
    for (auto& s : spans) {
      auto const peer = static_cast<int>(s.span->first_task);
      if (s.span->what == activity::send) sent[{s.of->label, s.of->rank, peer}].push_back(&s);
      if (s.span->what == activity::receive) received[{s.of->label, peer, s.of->rank}].push_back(&s);
    }
  for (auto& [key, to] : received) {
    auto const& [label, a, b] = key;
    auto& from = sent[key];
    if (dropped[{label, a}] || dropped[{label, b}]) continue;
    for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i)
      from[i]->has_partner = to[i]->has_partner = true;
  }
}

OTF2_FlushType always_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }

// The library would print its errors.
OTF2_ErrorCode say_nothing(void*, char const*, uint64_t, char const*, OTF2_ErrorCode code, char const*,
                           va_list) {
  return code;
}

class otf2_writer {
 public:
  otf2_writer(fs::path const& folder, std::string const& name, std::string const& shown)
      : shown_(shown), earlier_(OTF2_Error_RegisterCallback(say_nothing, nullptr)) {
    constexpr std::uint64_t event_chunk = 1 << 20, definition_chunk = 4 << 20;
    archive_ = OTF2_Archive_Open(folder.c_str(), name.c_str(), OTF2_FILEMODE_WRITE, event_chunk,
                                 definition_chunk, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive_ == nullptr) fail(shown_, "the OTF2 library cannot write an archive there");
    static OTF2_FlushCallbacks const callbacks = {always_flush, nullptr};
    check(OTF2_Archive_SetFlushCallbacks(archive_, &callbacks, nullptr));
    check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_));
    check(OTF2_Archive_SetCreator(archive_, "skel"));
  }
  otf2_writer(otf2_writer const&) = delete;
  otf2_writer& operator=(otf2_writer const&) = delete;
  ~otf2_writer() {
    if (archive_ != nullptr) OTF2_Archive_Close(archive_);
    OTF2_Error_RegisterCallback(earlier_, nullptr);
  }

  void write(std::map<int, process_row> const& rows, lane_spans const& lanes,
             std::vector<lane_span> const& moments) {
    std::uint64_t length = 0;
    std::map<int, std::uint32_t> position;  // of a rank among the ranks that have traces
    for (auto const& [rank, row] : rows) {
      position.emplace(rank, static_cast<std::uint32_t>(position.size()));
      for (auto const& [lane, what] : row.lanes)
        locations_.emplace(lane_key{rank, lane}, location{locations_.size(), 0});
    }
    check(OTF2_Archive_OpenEvtFiles(archive_));
    for (auto& [key, at] : locations_)
      if (auto const found = lanes.find(key); found != lanes.end())
        length = std::max(length, write_events(at, found->second, position));
    check(OTF2_Archive_CloseEvtFiles(archive_));
    check(OTF2_Archive_OpenDefFiles(archive_));
    for (auto const& [key, at] : locations_)
      check(OTF2_Archive_CloseDefWriter(archive_, OTF2_Archive_GetDefWriter(archive_, at.id)));
    check(OTF2_Archive_CloseDefFiles(archive_));
    write_definitions(rows, length);
    write_markers(moments);
    check(OTF2_Archive_Close(std::exchange(archive_, nullptr)));
  }

 private:
  struct location {
    OTF2_LocationRef id;
    std::uint64_t events;
  };
  // Attributes of a span, by their positions, and one that names the run.
  static constexpr char const* numbers[] = {"first_task", "tasks", "peer", "bytes"};
  static constexpr OTF2_AttributeRef run = std::size(numbers);
  static constexpr OTF2_CommRef all_ranks = 0;
  static constexpr activity activities[] = {activity::compute, activity::idle, activity::send,
                                            activity::receive, activity::sink};

  void check(OTF2_ErrorCode code) const {
    if (code != OTF2_SUCCESS) fail(shown_, detail::format("OTF2: {}", OTF2_Error_GetDescription(code)));
  }

  OTF2_StringRef text(std::string const& t) {
    return texts_.emplace(t, static_cast<OTF2_StringRef>(texts_.size())).first->second;
  }

  void describe(OTF2_AttributeList* list, lane_span const& s) {
    auto const number = [&](char const* label, std::uint64_t value) {
      for (std::size_t which = 0; label != nullptr && which < run; ++which)
        if (std::string_view(label) == numbers[which])
          check(OTF2_AttributeList_AddUint64(list, static_cast<OTF2_AttributeRef>(which), value));
    };
    number(text_of(s.span->what).first, s.span->first_task);
    number(text_of(s.span->what).count, s.span->count);
    check(OTF2_AttributeList_AddStringRef(list, run, text(s.of->label)));
  }

  // Regions must be nested: a span inside another one ends with it at the latest. Returns the last time.
  std::uint64_t write_events(location& at, std::vector<lane_span> spans,
                             std::map<int, std::uint32_t> const& position) {
    std::stable_sort(spans.begin(), spans.end(), [](lane_span const& a, lane_span const& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    auto* const events = OTF2_Archive_GetEvtWriter(archive_, at.id);
    if (events == nullptr) fail(shown_, "OTF2: no writer of events");
    std::unique_ptr<OTF2_AttributeList, void (*)(OTF2_AttributeList*)> const list(
        OTF2_AttributeList_New(), [](OTF2_AttributeList* l) { OTF2_AttributeList_Delete(l); });
    auto const region = [](lane_span const& s) { return static_cast<OTF2_RegionRef>(s.span->what); };
    auto const partner = [&](lane_span const& s) {
      return position.at(static_cast<int>(s.span->first_task));
    };
    std::vector<lane_span> inside;
    std::uint64_t last = 0;
    auto const leave = [&] {
      auto const& s = inside.back();
      if (s.has_partner && s.span->what == activity::receive)
        check(OTF2_EvtWriter_MpiRecv(events, nullptr, s.end, partner(s), all_ranks, 0, s.span->count));
      check(OTF2_EvtWriter_Leave(events, nullptr, s.end, region(s)));
      last = s.end;
      inside.pop_back();
    };
    for (auto& s : spans) {
      while (!inside.empty() && inside.back().end <= s.begin) leave();
      if (!inside.empty()) s.end = std::min(s.end, inside.back().end);
      describe(list.get(), s);
      check(OTF2_EvtWriter_Enter(events, list.get(), s.begin, region(s)));
      if (s.has_partner && s.span->what == activity::send)
        check(OTF2_EvtWriter_MpiSend(events, nullptr, s.begin, partner(s), all_ranks, 0, s.span->count));
      inside.push_back(s);
    }
    while (!inside.empty()) leave();
    check(OTF2_EvtWriter_GetNumberOfEvents(events, &at.events));
    check(OTF2_Archive_CloseEvtWriter(archive_, events));
    return last;
  }

  void write_markers(std::vector<lane_span> const& moments) {
    if (moments.empty()) return;
    auto* const to = OTF2_Archive_GetMarkerWriter(archive_);
    if (to == nullptr) fail(shown_, "OTF2: no writer of markers");
    for (auto const what : {activity::steal, activity::loss})
      check(
          OTF2_MarkerWriter_WriteDefMarker(to, static_cast<OTF2_MarkerRef>(what), "skel", text_of(what).name,
                                           what == activity::loss ? OTF2_SEVERITY_HIGH : OTF2_SEVERITY_NONE));
    for (auto const& m : moments) {
      auto const& s = *m.span;
      auto const words = s.what == activity::loss
                             ? detail::format("rank {} lost in {}", s.first_task, m.of->label)
                             : detail::format("from rank {}, {} bytes", s.first_task, s.count);
      check(OTF2_MarkerWriter_WriteMarker(to, m.begin, 0, static_cast<OTF2_MarkerRef>(s.what),
                                          OTF2_MARKER_SCOPE_LOCATION,
                                          locations_.at({m.of->rank, s.thread}).id, words.c_str()));
    }
    check(OTF2_Archive_CloseMarkerWriter(archive_, to));
  }

  void write_definitions(std::map<int, process_row> const& rows, std::uint64_t length) {
    auto* const to = OTF2_Archive_GetGlobalDefWriter(archive_);
    if (to == nullptr) fail(shown_, "OTF2: no writer of definitions");
    // Every text is defined before it is referred to.
    text("");
    auto const machine = text("machine"), node = text("node");
    text("ranks");
    for (auto const what : activities) text(text_of(what).name);
    for (auto const* const label : numbers) text(label);
    text("run");
    std::vector<std::string> hosts;
    for (auto const& [rank, row] : rows) {
      if (std::ranges::find(hosts, row.host) == hosts.end()) hosts.push_back(row.host);
      text(row.host);
      text(process_name(rank, row));
      for (auto const& [lane, what] : row.lanes) text(lane_name(lane, what));
    }
    check(
        OTF2_GlobalDefWriter_WriteClockProperties(to, ticks_per_second, 0, length, OTF2_UNDEFINED_TIMESTAMP));
    for (auto const& [t, ref] : texts_) check(OTF2_GlobalDefWriter_WriteString(to, ref, t.c_str()));
    define_regions(to);
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(to, 0, machine, machine, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    OTF2_SystemTreeNodeRef of_host = 0;
    for (auto const& host : hosts)
      check(OTF2_GlobalDefWriter_WriteSystemTreeNode(to, ++of_host, text(host), node, 0));
    define_communicator(to, define_locations(to, rows, hosts));
  }

  void define_regions(OTF2_GlobalDefWriter* to) {
    auto const empty = text("");
    for (auto const what : activities) {
      auto const name = text(text_of(what).name);
      bool const message = what == activity::send || what == activity::receive;
      check(OTF2_GlobalDefWriter_WriteRegion(
          to, static_cast<OTF2_RegionRef>(what), name, name, empty,
          message ? OTF2_REGION_ROLE_POINT2POINT : OTF2_REGION_ROLE_FUNCTION,
          message ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, empty, 0, 0));
    }
    for (OTF2_AttributeRef ref = 0; ref < run; ++ref)
      check(OTF2_GlobalDefWriter_WriteAttribute(to, ref, text(numbers[ref]), empty, OTF2_TYPE_UINT64));
    check(OTF2_GlobalDefWriter_WriteAttribute(to, run, text("run"), empty, OTF2_TYPE_STRING));
  }

  // Returns, of each rank, the location of its messages.
  std::vector<std::uint64_t> define_locations(OTF2_GlobalDefWriter* to,
                                              std::map<int, process_row> const& rows,
                                              std::vector<std::string> const& hosts) {
    std::vector<std::uint64_t> for_messages;
    OTF2_LocationGroupRef group = 0;
    for (auto const& [rank, row] : rows) {
      auto const node = 1 + (std::ranges::find(hosts, row.host) - hosts.begin());
      check(OTF2_GlobalDefWriter_WriteLocationGroup(
          to, group, text(process_name(rank, row)), OTF2_LOCATION_GROUP_TYPE_PROCESS,
          static_cast<OTF2_SystemTreeNodeRef>(node), OTF2_UNDEFINED_LOCATION_GROUP));
      for_messages.push_back(locations_.at({rank, row.lanes.begin()->first}).id);
      for (auto const& [lane, what] : row.lanes) {
        auto const& at = locations_.at({rank, lane});
        check(OTF2_GlobalDefWriter_WriteLocation(to, at.id, text(lane_name(lane, what)),
                                                 OTF2_LOCATION_TYPE_CPU_THREAD, at.events, group));
        if (what == activity::send || what == activity::receive || is_moment(what))
          for_messages.back() = at.id;
      }
      ++group;
    }
    return for_messages;
  }

  void define_communicator(OTF2_GlobalDefWriter* to, std::vector<std::uint64_t> const& locations) {
    auto const empty = text("");
    auto const ranks = static_cast<std::uint32_t>(locations.size());
    std::vector<std::uint64_t> members(ranks);
    std::iota(members.begin(), members.end(), 0);
    check(OTF2_GlobalDefWriter_WriteGroup(to, 0, empty, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, ranks, locations.data()));
    check(OTF2_GlobalDefWriter_WriteGroup(to, 1, empty, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, ranks, members.data()));
    check(OTF2_GlobalDefWriter_WriteComm(to, all_ranks, text("ranks"), 1, OTF2_UNDEFINED_COMM,
                                         OTF2_COMM_FLAG_NONE));
  }

  std::string shown_;
  OTF2_ErrorCallback earlier_;
  OTF2_Archive* archive_ = nullptr;
  std::map<lane_key, location> locations_;
  std::map<std::string, OTF2_StringRef> texts_;
};

// A folder beside the archive, removed in the end.
class temporary_folder_beside {
 public:
  explicit temporary_folder_beside(fs::path const& file) {
    auto pattern = (file.parent_path() / ".skel-otf2-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) fail(file, std::generic_category().message(errno));
    path_ = pattern;
  }
  temporary_folder_beside(temporary_folder_beside const&) = delete;
  temporary_folder_beside& operator=(temporary_folder_beside const&) = delete;
  ~temporary_folder_beside() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] fs::path const& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

void check_otf2_path(std::string const& path) {
  archive_files const files{fs::path(path)};
  if (files.events == files.anchor) fail(path, "an OTF2 archive needs a name before .otf2");
  std::error_code ignored;
  if (fs::exists(files.events, ignored) && !fs::exists(files.anchor, ignored))
    fail(files.events, detail::format("is in the way of the OTF2 archive {}", path));
}

void write_otf2_trace(std::string const& path, std::span<rank_trace const> traces) {
  check_otf2_path(path);
  archive_files const target{fs::path(path)};
  temporary_folder_beside const folder(target.anchor);
  auto const name = target.events.filename().string();
  auto rows = processes(traces);
  for (auto& [rank, row] : rows)
    if (row.lanes.empty()) row.lanes.emplace(0, activity::compute);  // a rank has a location
  std::vector<lane_span> moments;
  auto lanes = spans_by_lane(traces, moments);
  find_partners(lanes, traces);
  otf2_writer(folder.path(), name, path).write(rows, lanes, moments);
  remove_archive(target);
  archive_files const made{folder.path() / (name + ".otf2")};  // also of T.OTF2
  try {                                                        // the file that a program opens comes last
    fs::rename(made.events, target.events);
    fs::rename(made.definitions, target.definitions);
    if (!moments.empty()) fs::rename(made.markers, target.markers);
    fs::rename(made.anchor, target.anchor);
  } catch (fs::filesystem_error const& bad) {
    fail(path, bad.code().message());
  }
}

#else

void check_otf2_path(std::string const& path) {
  throw usage_error(path + ": this build of skel has no OTF2 (SKEL_OTF2)");
}

void write_otf2_trace(std::string const& path, std::span<rank_trace const> /*traces*/) {
  check_otf2_path(path);
}

#endif

}  // namespace skel::observe
