#include "program/option_rows.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <vector>

#include "base/format.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"
#include "skel/storage/code.hpp"
#include "skel/storage/key.hpp"

namespace skel::program {

namespace {

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

// Sets a member of the options of checkpoints.
template <class Member, class Parse>
auto saving(Member checkpoint_options::*member, Parse parse) {
  return [=](run_options& o, std::string const& value) { o.of_checkpoints.how.*member = parse(value); };
}

std::string code_of(std::string const& text) {
  if (text != "none") std::ignore = storage::code(text);
  return text;
}
std::vector<std::string> list_of(std::string const& text) {
  return detail::csv_fields(text).value_or(std::vector{text});
}
double seconds_of(std::string const& text) { return detail::parse_duration(text).count(); }
// Empty: the interval is chosen.
std::optional<double> interval_of(std::string const& text) {
  if (text == "auto") return {};
  return seconds_of(text);
}
std::string key_of(std::string const& path) {
  std::ignore = storage::key::read(path);
  return path;
}

std::vector<option_row> rows_of_checkpoints() {
  constexpr unsigned saves = option_row::of_checkpoint, rare = option_row::rare;
  using options = checkpoint_options;
  return {
      {"--checkpoint", "CODE",
       "save completed work so that a later run can resume: replicate:COPIES, parity:SLICES, "
       "ida:DATA,PARITY, central (one copy) or none",
       saves, saving(&options::code, code_of)},
      {"--store", "DIR,...",
       "directories for its shards; ranks:DIR stores one shard on each rank's host, ranks:DIR@CLUSTER on "
       "hosts of this SKEL_CLUSTER (others: --remote-every), rank:N:DIR on the host of rank N, memory in "
       "the memory of each rank, until the job ends",
       saves, saving(&options::store, list_of)},
      {"--remote", "DIR,...", "remote directories, used for every N-th checkpoint (--remote-every)",
       saves | rare,
       [](run_options& o, std::string const& value) { o.of_checkpoints.how.remote.store = list_of(value); }},
      {"--remote-every", "N", "interval of checkpoints in remote directories and other clusters",
       saves | rare,
       [](run_options& o, std::string const& value) {
         o.of_checkpoints.how.remote.every = number_of<std::uint64_t>(value);
       },
       "5", std::pair(1, 1000000)},
      {"--every", "auto|10s|5m", "time between checkpoints; auto: from their cost and the rate of failures",
       saves, saving(&options::every_seconds, interval_of), "auto"},
      {"--mtbf", "24h|30m", "expected time between failures of the job, for --every auto", saves | rare,
       saving(&options::mean_seconds_between_failures, seconds_of), "24h"},
      {"--resume", "[auto]", "resume from the newest readable checkpoint; with auto, start if there is none",
       saves | option_row::optional_value,
       [](run_options& o, std::string const& value) {
         if (value != "yes" && value != "auto")
           throw usage_error(detail::format("expected auto or nothing, found \"{}\"", value));
         o.of_checkpoints.resume = value;
       }},
      {"--resume-object", "ID",
       "resume from this object if two have the newest number; see skel-checkpoint list", saves | rare,
       saving(&options::resume_object, [](std::string const& id) { return id; })},
      {"--key-file", "FILE", "key that encrypts checkpoints: 32 bytes or 64 hexadecimal digits", saves | rare,
       saving(&options::key_file, key_of)},
  };
}

std::vector<option_row> rows_of_farms() {
  constexpr unsigned farm = option_row::of_farm, rare = option_row::rare;
  return {
      {"--schedule", "SPEC", "how tasks are assigned to ranks: " + known_schedules(), farm,
       text(&run_options::farm_values::schedule,
            [](std::string const& spec) {
              any_schedule(spec).policy().check();
              return 0;
            }),
       "auto"},
      {"--results", "SPEC", "when results are sent: streamed[:batch=N] or concentrated", farm | rare,
       text(&run_options::farm_values::results, parse_results), "streamed"},
      {"--root", "works|serves", "whether rank 0 also runs tasks, or only serves the other ranks",
       farm | rare,
       [](run_options& o, std::string const& role) {
         if (role != "works" && role != "serves")
           throw usage_error("unknown role \"" + role + "\"; known: works, serves");
         o.of_farm.root_works = role == "works";
       },
       "works"},
      {"--on-error", "stop|retry[:times=N,elsewhere=yes|no]|collect[:...]",
       "a task that fails ends the run (stop), runs again (retry), or is left out when it has failed "
       "`times` times (collect); the exit code is 3 if tasks were left out",
       farm, text(&run_options::farm_values::on_error, parse_on_error), "stop"},
      {"--task-time-limit", "90s|15m|2h",
       "a task that runs for longer has failed, and its rank ends; start the program with skel-mpiexec",
       farm | rare,
       [](run_options& o, std::string const& time) {
         o.of_farm.task_time_limit = detail::parse_duration(time);
       }},
      {"--audit", "SHARE",
       "repeat this share of the tasks, such as 0.01, on another rank and compare the results; a third "
       "rank settles which is right, and the results of the rank at fault are computed again",
       farm | rare,
       [](run_options& o, std::string const& share) { o.of_farm.audit = number_of<double>(share); }, "",
       std::pair(0.0, 1.0)},
  };
}

std::vector<option_row> rows_of_all() {
  constexpr unsigned per_rank = option_row::per_rank, observing = option_row::observing | per_rank;
  return {
      {"--threads", "N", "compute threads per rank [this rank's share of the cores]", per_rank,
       number(&run_options::threads), "", std::pair(1, 4096)},
      {"--time-limit", "90s|15m|2h",
       "stop handing out tasks after this time; Ctrl-C, SIGTERM and SIGUSR1 do the same", 0,
       [](run_options& o, std::string const& time) { o.time_limit = detail::parse_duration(time); }},
      {"--report", "FILE.json", "write the run report", observing, path(&run_options::output_files::report)},
      {"--trace", "FILE.json|.otf2",
       "write a timeline of all ranks, for https://ui.perfetto.dev (.json) or Vampir (.otf2)", observing,
       path(&run_options::output_files::trace)},
      {"--page", "FILE.html", "make a page of the run, by skel-view: times, timeline, slowest tasks",
       observing, path(&run_options::output_files::page)},
      {"--samples", "FILE.csv", "append this run's cost sample", observing,
       path(&run_options::output_files::samples)},
      {"--quiet", "", "no summary, no progress", observing,
       [](run_options& o, std::string const&) { o.quiet = true; }},
      {"--watch", "PORT",
       "serve a page of the running job at http://127.0.0.1:PORT/ on the root's host; 0: any port", observing,
       number(&run_options::watch), "", std::pair(0, 65535)},
      {"--live-report", "FILE.json", "rewrite this report every second, for skel-view --follow", observing,
       path(&run_options::output_files::live_report)},
      {"--progress",
       "auto|always|never",
       "a bar on a terminal, otherwise a line per 10 %; auto prints no lines during the first second",
       observing,
       [](run_options& o, std::string const& mode) {
         std::ignore = observe::parse_progress_mode(mode);
         o.progress_text = mode;
       },
       "auto",
       {},
       "SKEL_PROGRESS"},
  };
}

}  // namespace

std::span<option_row const> option_rows() {
  static std::vector<option_row> const all = [] {
    auto rows = rows_of_farms();
    std::ranges::move(rows_of_all(), std::back_inserter(rows));
    std::ranges::move(rows_of_checkpoints(), std::back_inserter(rows));
    return rows;
  }();
  return all;
}

void require_companions(run_options const& options, std::function<bool(std::string_view)> const& given) {
  auto const require = [&](std::string_view option, std::string_view other) {
    if (given(option) && !given(other)) throw usage_error(detail::format("{} requires {}", option, other));
  };
  if (options.saves()) require("--checkpoint", "--store");
  for (auto const& row : option_rows())
    if (row.is(option_row::of_checkpoint)) require(row.name, "--checkpoint");
  require("--resume-object", "--resume");
}

}  // namespace skel::program
