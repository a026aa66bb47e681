#include "program/run_files.hpp"

#include <algorithm>
#include <exception>

#include "base/format.hpp"
#include "program/sister.hpp"
#include "skel/atomic_file.hpp"
#include "skel/error.hpp"

namespace skel::program {

namespace {

// Lost ranks, by their numbers in the present attempt, without those that are known to have retired.
std::vector<int> without_retired(std::vector<int> ranks, report const& run, std::vector<int> const& retired) {
  if (run.attempt == 1) std::erase_if(ranks, [&](int r) { return std::ranges::count(retired, r) > 0; });
  return ranks;
}

std::string attempt_in_words(report const& run) {
  std::vector<int> roots, others;
  for (auto const& l : run.losses)
    if (l.was_root)
      roots.push_back(l.rank);
    else if (l.attempt < run.attempt && l.noticed != loss_notice::retired)
      others.push_back(l.rank);
  auto text = detail::format("; attempt {}", run.attempt);
  if (!roots.empty())
    return text +
           detail::format(", after the loss of the root: rank {} of the job", detail::join(roots, ", "));
  if (others.empty()) return text;
  return text + detail::format(", after the loss of rank {} of the job", detail::join(others, ", "));
}

std::string checkpoints_in_words(checkpoint_report const& c, double run_seconds) {
  auto text = detail::format("; {} restored", counted(c.restored_tasks, "task"));
  if (c.restore_seconds > 0) text += detail::format(" in {:.2g} s", c.restore_seconds);
  if (c.saved + c.failed > 0)  // otherwise other ranks remembered them
    text += detail::format(", {}, {:.2g} % of the time", counted(c.saved, "checkpoint"),
                           run_seconds > 0 ? 100 * c.blocked_seconds / run_seconds : 0.0);
  if (c.failed > 0) text += detail::format(" ({} failed)", c.failed);
  return text;
}

}  // namespace

std::string counted(std::uint64_t n, std::string_view noun) {
  return detail::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

bool is_whole(report const& run) {
  return !run.stopped_early && run.failed_tasks.empty() && in_doubt(run) == 0;
}

std::uint64_t in_doubt(report const& run) {
  std::uint64_t tasks = 0;
  if (run.audit)
    for (auto const& f : run.audit->at_fault)
      for (auto const& [first, last] : f.in_sink) tasks += last - first + 1;
  return tasks;
}

void write_run_files(run_options const& options, std::string const& program, run_outcome const& outcome,
                     std::span<observe::rank_trace const> traces) {
  observe::report_extra const extra{program, outcome.result_xxh3, outcome.fields};
  auto const write_report = [&](std::string const& path) {
    skel::write_file_atomically(path, observe::report_to_json(outcome.run, extra));
  };
  auto const write_page = [&](std::string const& page) {
    temporary_folder inputs;
    auto const report = inputs.file("report.json"), trace = inputs.file("trace.json");
    write_report(report);
    observe::write_chrome_trace(trace, traces);
    auto const view = find_sister("skel-view");
    if (!view) throw error("--page: skel-view not found; report and trace are in " + inputs.keep());
    if (auto const failure = run_sister(*view, {report, trace, "-o", page}))
      throw error(detail::format("--page: {}; report and trace are in {}", *failure, inputs.keep()));
  };
  // A file that cannot be written leaves the others.
  std::exception_ptr first;
  auto const attempt = [&](std::string const& path, auto const& write) {
    if (path.empty()) return;
    try {
      write(path);
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  };
  attempt(options.files.report, write_report);
  attempt(options.files.trace, [&](auto const& path) { observe::write_trace(path, traces); });
  if (is_whole(outcome.run))
    attempt(options.files.samples,
            [&](auto const& path) { observe::append_sample(path, program, outcome.run, outcome.problem); });
  attempt(options.files.page, write_page);
  if (first) std::rethrow_exception(first);
}

void write_costs(std::string const& path, std::span<double const> seconds) {
  skel::atomic_file file(path);
  for (double const s : seconds) file.write(detail::format("{:.9f}\n", s));
  file.commit();
}

std::string summary_line(report const& run) {
  auto text =
      detail::format("{} {} {}: {} on {}", run.skeleton, run.schedule, run.results,
                     counted(run.tasks, "task"), counted(static_cast<std::uint64_t>(run.ranks), "rank"));
  if (run.threads_per_rank > 0) {
    text += detail::format(" x {}", counted(static_cast<std::uint64_t>(run.threads_per_rank), "thread"));
  }
  text += detail::format(" in {:.3g} s, {:.0f} % busy", run.seconds, 100 * run.busy_share);
  std::vector<int> retired;
  for (auto const& l : run.losses)
    if (l.noticed == loss_notice::retired) retired.push_back(l.rank);
  if (!retired.empty()) text += detail::format("; retired: rank {}", detail::join(retired, ", "));
  if (auto const lost = without_retired(run.lost_ranks, run, retired); !lost.empty())
    text += detail::format("; lost: rank {}, {} handed out again", detail::join(lost, ", "),
                           counted(run.tasks_handed_out_again, "task"));
  if (auto const lost = without_retired(run.lost_before, run, retired); !lost.empty())
    text += detail::format("; lost before: rank {}", detail::join(lost, ", "));
  if (run.attempt > 1) text += attempt_in_words(run);
  if (!run.failed_tasks.empty()) {
    auto const& first = run.failed_tasks.front();
    text += detail::format("; {} failed, the first is {}: {}", counted(run.failed_tasks.size(), "task"),
                           first.task, first.text);
  }
  if (run.needs && run.needs->not_started > 0)
    text += detail::format("; {} not started", counted(run.needs->not_started, "task"));
  if (auto const& a = run.audit) {
    text += detail::format("; {} audited", counted(a->checked, "task"));
    if (a->unchecked > 0) text += detail::format(", {} not checked", a->unchecked);
    for (auto const& f : a->at_fault) text += detail::format(", rank {} at fault in task {}", f.rank, f.task);
  }
  if (run.checkpoint) text += checkpoints_in_words(*run.checkpoint, run.seconds);
  return text;
}

std::vector<std::string> lines_of_failures(report const& run) {
  constexpr std::size_t most = 10;
  std::vector<std::string> lines;
  for (auto const& f : run.failed_tasks) {
    if (lines.size() == most) break;
    auto const where = f.times > 1 ? detail::format("{} times, last on rank {},", f.times, f.rank)
                                   : detail::format("on rank {}", f.rank);
    lines.push_back(detail::format("task {} failed {} and is left out: {}", f.task, where, f.text));
  }
  if (run.audit)
    for (auto const& f : run.audit->at_fault)
      lines.push_back(detail::format("the audits found rank {} at fault in task {}: {} computed again",
                                     f.rank, f.task, counted(f.computed_again, "task")));
  if (auto const tasks = in_doubt(run); tasks > 0)
    lines.push_back(detail::format("the result may be wrong in {} of ranks at fault; the report names them",
                                   counted(tasks, "task")));
  if (!run.failed_tasks.empty())
    lines.push_back(
        detail::format("the result is incomplete: {} of {} left out{}", run.failed_tasks.size(),
                       counted(run.tasks + run.failed_tasks.size(), "task"),
                       run.checkpoint && run.checkpoint->saved > 0 ? "; --resume tries them again" : ""));
  return lines;
}

}  // namespace skel::program
