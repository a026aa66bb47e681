#include "live.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "skel/atomic_file.hpp"
#include "skel/error.hpp"

namespace skel::program {

live_view::live_view(context& ctx, run_options const& options, std::string program)
    : ctx_(ctx), program_(std::move(program)) {
  if (!ctx.is_root()) return;
  report_ = options.files.live_report;
  if (options.watch) {
    if (report_.empty()) report_ = folder_.emplace().file("report.json");
    auto const view = find_sister("skel-view");
    if (!view) throw error("--watch: skel-view not found");
    viewer_.emplace(*view, std::vector<std::string>{"--follow", report_, "--port",
                                                    std::to_string(*options.watch), "--until-eof"});
  }
  if (!report_.empty())
    ctx.set_observer([this](auto const& label, auto const& state) { write(label, state); });
}

live_view::~live_view() {
  if (!report_.empty()) ctx_.set_observer({});
}

void live_view::write(std::string const& label, observe::progress_state const& state) const {
  nlohmann::ordered_json progress{{"label", label}, {"unit", state.unit}, {"done", state.done}};
  if (state.total) progress["total"] = *state.total;
  progress["failed"] = state.failed;
  progress["lost_ranks"] = state.lost_ranks;
  nlohmann::ordered_json const report{{"schema", observe::report_schema},
                                      {"program", program_},
                                      {"ranks", state.ranks},
                                      {"seconds", state.seconds},
                                      {"progress", progress},
                                      {"per_rank", nlohmann::ordered_json::array()}};
  try {
    skel::write_file_atomically(report_,
                                report.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
  } catch (error const&) {  // the run matters more; finish() reports a full disk
  }
}

void live_view::finish(run_outcome const& outcome) {
  if (!report_.empty())
    skel::write_file_atomically(
        report_, observe::report_to_json(outcome.run, {program_, outcome.result_xxh3, outcome.fields}));
}

}  // namespace skel::program
