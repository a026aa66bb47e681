#include "program/option_rows.hpp"

#include <tuple>
#include <vector>

#include "base/duration.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"

namespace skel::program {

namespace {

constexpr char parallel[] = "Parallel run", observing[] = "Observing";

// An option of a farm that is kept as text, once `parse` has accepted it.
template <class Parse>
auto text(std::string run_options::farm_values::*member, Parse parse) {
  return [=](run_options& o, std::string const& value) {
    std::ignore = parse(value);
    o.of_farm.*member = value;
  };
}
auto path(std::string run_options::output_files::*member) {
  return [=](run_options& o, std::string const& value) { o.files.*member = value; };
}
template <class Number>
Number number_of(std::string const& value) {
  if (auto const number = detail::to_number<Number>(value)) return *number;
  throw usage_error(detail::format("expected a number, found \"{}\"", value));
}
auto number(std::optional<int> run_options::*member) {
  return [=](run_options& o, std::string const& value) { o.*member = number_of<int>(value); };
}

std::vector<option_row> farm_rows() {
  return {
      {.name = "--schedule",
       .type = "SPEC",
       .help = "how tasks are assigned to ranks: " + known_schedules(),
       .group = parallel,
       .of_farm = true,
       .fallback = "auto",
       .set = text(&run_options::farm_values::schedule,
                   [](std::string const& spec) {
                     any_schedule(spec).policy().check();
                     return 0;
                   })},
      {.name = "--results",
       .type = "SPEC",
       .help = "when results are sent: streamed[:batch=N] or concentrated",
       .group = parallel,
       .rare = true,
       .of_farm = true,
       .fallback = "streamed",
       .set = text(&run_options::farm_values::results, parse_results)},
      {.name = "--root",
       .type = "works|serves",
       .help = "whether rank 0 also runs tasks, or only serves the other ranks",
       .group = parallel,
       .rare = true,
       .of_farm = true,
       .fallback = "works",
       .set =
           [](run_options& o, std::string const& role) {
             if (role != "works" && role != "serves")
               throw usage_error("unknown role \"" + role + "\"; known: works, serves");
             o.of_farm.root_works = role == "works";
           }},
      {.name = "--on-error",
       .type = "stop|retry[:times=N,elsewhere=yes|no]|collect[:...]",
       .help = "a task that fails ends the run (stop), runs again (retry), or is left out when it has failed "
               "`times` times (collect); the exit code is 3 if tasks were left out",
       .group = parallel,
       .of_farm = true,
       .fallback = "stop",
       .set = text(&run_options::farm_values::on_error, parse_on_error)},
      {.name = "--task-time-limit",
       .type = "90s|15m|2h",
       .help =
           "a task that runs for longer has failed, and its rank ends; start the program with skel-mpiexec",
       .group = parallel,
       .rare = true,
       .of_farm = true,
       .set = [](run_options& o,
                 std::string const& time) { o.of_farm.task_time_limit = detail::parse_duration(time); }},
      {.name = "--audit",
       .type = "SHARE",
       .help =
           "repeat this share of the tasks, such as 0.01, on another rank and compare the results; a third "
           "rank settles which is right, and the results of the rank at fault are computed again",
       .group = parallel,
       .rare = true,
       .of_farm = true,
       .range = std::pair(0.0, 1.0),
       .set = [](run_options& o, std::string const& share) { o.of_farm.audit = number_of<double>(share); }},
  };
}

std::vector<option_row> other_rows() {
  return {
      {.name = "--threads",
       .type = "N",
       .help = "compute threads per rank [this rank's share of the cores]",
       .group = parallel,
       .per_rank = true,
       .range = std::pair(1, 4096),
       .set = number(&run_options::threads)},
      {.name = "--time-limit",
       .type = "90s|15m|2h",
       .help = "stop handing out tasks after this time; Ctrl-C, SIGTERM and SIGUSR1 do the same",
       .group = parallel,
       .set = [](run_options& o, std::string const& time) { o.time_limit = detail::parse_duration(time); }},
      {.name = "--report",
       .type = "FILE.json",
       .help = "write the run report",
       .group = observing,
       .per_rank = true,
       .set = path(&run_options::output_files::report)},
      {.name = "--trace",
       .type = "FILE.json|.otf2",
       .help = "write a timeline of all ranks, for https://ui.perfetto.dev (.json) or Vampir (.otf2)",
       .group = observing,
       .per_rank = true,
       .set = path(&run_options::output_files::trace)},
      {.name = "--page",
       .type = "FILE.html",
       .help = "make a page of the run, by skel-view: times, timeline, slowest tasks",
       .group = observing,
       .per_rank = true,
       .set = path(&run_options::output_files::page)},
      {.name = "--samples",
       .type = "FILE.csv",
       .help = "append this run's cost sample",
       .group = observing,
       .per_rank = true,
       .set = path(&run_options::output_files::samples)},
      {.name = "--quiet",
       .type = "",
       .help = "no summary, no progress",
       .group = observing,
       .per_rank = true,
       .set = [](run_options& o, std::string const&) { o.quiet = true; }},
      {.name = "--watch",
       .type = "PORT",
       .help = "serve a page of the running job at http://127.0.0.1:PORT/ on the root's host; 0: any port",
       .group = observing,
       .per_rank = true,
       .range = std::pair(0, 65535),
       .set = number(&run_options::watch)},
      {.name = "--live-report",
       .type = "FILE.json",
       .help = "rewrite this report every second, for skel-view --follow",
       .group = observing,
       .per_rank = true,
       .set = path(&run_options::output_files::live_report)},
      {.name = "--progress",
       .type = "auto|always|never",
       .help = "a bar on a terminal, otherwise a line per 10 %; auto prints no lines during the first second",
       .group = observing,
       .per_rank = true,
       .fallback = "auto",
       .variable = "SKEL_PROGRESS",
       .set =
           [](run_options& o, std::string const& mode) {
             std::ignore = observe::parse_progress_mode(mode);
             o.progress_text = mode;
           }},
  };
}

}  // namespace

std::span<option_row const> option_rows() {
  static std::vector<option_row> const all = [] {
    auto rows = farm_rows();
    for (auto& row : other_rows()) rows.push_back(std::move(row));
    return rows;
  }();
  return all;
}

}  // namespace skel::program
