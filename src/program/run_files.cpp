#include "program/run_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "skel/atomic_file.hpp"

namespace skel::program {

namespace {

std::string counted(std::uint64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

}  // namespace

void write_run_files(common_options const& options, std::string const& program, run_outcome const& outcome,
                     std::span<observe::rank_trace const> traces) {
  if (!options.report.empty()) {
    observe::report_extra const extra{program, outcome.result_xxh3, outcome.fields};
    skel::write_file_atomically(options.report, observe::report_to_json(outcome.run, extra));
  }
  if (!options.trace.empty()) observe::write_chrome_trace(options.trace, traces);
  if (!options.samples.empty() && !outcome.run.stopped_early) {
    observe::append_sample(options.samples, program, outcome.run, outcome.problem);
  }
}

void write_costs(std::string const& path, std::span<double const> seconds) {
  skel::atomic_file file(path);
  for (double const s : seconds) file.write(fmt::format("{:.9f}\n", s));
  file.commit();
}

std::string summary_line(report const& run) {
  auto text = fmt::format("{} {} {}: {} on {}", run.skeleton, run.schedule, run.results,
                          counted(run.tasks, "task"), counted(static_cast<std::uint64_t>(run.ranks), "rank"));
  if (run.threads_per_rank > 0) {
    text += fmt::format(" x {}", counted(static_cast<std::uint64_t>(run.threads_per_rank), "thread"));
  }
  text += fmt::format(" in {:.3g} s, {:.0f} % busy", run.seconds, 100 * run.busy_share);
  if (!run.lost_ranks.empty()) {
    text += fmt::format("; lost: rank {}, {} handed out again", fmt::join(run.lost_ranks, ", "),
                        counted(run.tasks_handed_out_again, "task"));
  }
  if (!run.failed_tasks.empty()) {
    auto const& first = run.failed_tasks.front();
    text += fmt::format("; {} failed, the first is {}: {}", counted(run.failed_tasks.size(), "task"),
                        first.task, first.text);
  }
  if (auto const& c = run.checkpoint) {
    text += fmt::format("; {} restored, {}, {:.2g} % of the time", counted(c->restored_tasks, "task"),
                        counted(c->saved, "checkpoint"),
                        run.seconds > 0 ? 100 * c->blocked_seconds / run.seconds : 0.0);
    if (c->failed > 0) text += fmt::format(" ({} failed)", c->failed);
  }
  return text;
}

}  // namespace skel::program
