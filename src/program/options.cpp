#include "program/options.hpp"

#include <CLI/CLI.hpp>
#include <tuple>

#include "base/duration.hpp"
#include "program/help.hpp"
#include "skel/error.hpp"
#include "skel/farm.hpp"
#include "skel/storage/code.hpp"
#include "skel/storage/key.hpp"

namespace skel::program {

namespace {

// CLI11 validators return the error message; the library's parsers throw it.
template <class Parse>
CLI::Validator parsed_by(Parse parse) {
  return {[parse](std::string& text) -> std::string {
            try {
              parse(text);
              return {};
            } catch (usage_error const& bad) {
              return bad.what();
            }
          },
          ""};
}

// "central" means one copy in one directory, as in the paper's central repository.
std::string code_named(std::string const& text) {
  if (text == "none") return text;
  std::string spec = text == "central" ? "replicate:1" : text;
  std::ignore = storage::code(spec);
  return spec;
}

void add_parallel_options(CLI::App& app, common_options& options) {
  app.add_option("--threads", options.threads, "compute threads per rank [this rank's share of the cores]")
      ->type_name("N")
      ->check(CLI::Range(1, 4096))
      ->group("Parallel run");
  app.add_option_function<std::string>(
         "--time-limit",
         [&options](std::string const& text) { options.time_limit = detail::parse_duration(text); },
         "stop handing out tasks after this time; Ctrl-C, SIGTERM and SIGUSR1 do the same")
      ->type_name("90s|15m|2h")
      ->check(parsed_by([](std::string const& text) { std::ignore = detail::parse_duration(text); }))
      ->group("Parallel run");
}

void add_failure_options(CLI::App& app, common_options& options) {
  app.add_option(
         "--on-error", options.on_error_text,
         "a task that fails ends the run (stop), runs again (retry), or is left out when it has failed "
         "`times` times (collect); the exit code is 3 if tasks were left out")
      ->type_name("stop|retry[:times=N,elsewhere=yes|no]|collect[:...]")
      ->capture_default_str()
      ->check(parsed_by([](std::string const& text) { std::ignore = parse_on_error(text); }))
      ->group("Parallel run");
  app.add_option_function<std::string>(
         "--task-time-limit",
         [&options](std::string const& text) { options.task_time_limit = detail::parse_duration(text); },
         "a task that runs for longer has failed, and its rank ends; start the program with skel-mpiexec")
      ->type_name("90s|15m|2h")
      ->check(parsed_by([](std::string const& text) { std::ignore = detail::parse_duration(text); }))
      ->group("Parallel run");
  app.add_option("--audit", options.audit,
                 "repeat this share of the tasks, such as 0.01, on another rank and compare the results; a "
                 "third rank settles which is right, and the results of the rank at fault are computed again")
      ->type_name("SHARE")
      ->check(CLI::Range(0.0, 1.0))
      ->group("Parallel run");
  rarely_used(app, {"--task-time-limit", "--audit"});
}

void add_observing_options(CLI::App& app, common_options& options) {
  add_report_options(app, options);
  app.add_option("--watch", options.watch,
                 "serve a page of the running job at http://127.0.0.1:PORT/ on the root's host; 0: any port")
      ->type_name("PORT")
      ->check(CLI::Range(0, 65535))
      ->group("Observing");
  app.add_option("--live-report", options.live_report,
                 "rewrite this report every second, for skel-view --follow")
      ->type_name("FILE.json")
      ->group("Observing");
  app.add_option(
         "--progress", options.progress_text,
         "a bar on a terminal, otherwise a line per 10 %; auto prints no lines during the first second")
      ->type_name("auto|always|never")
      ->capture_default_str()
      ->envname("SKEL_PROGRESS")
      ->check(parsed_by([](std::string const& text) { observe::parse_progress_mode(text); }))
      ->group("Observing");
}

}  // namespace

void add_schedule_options(CLI::App& app, common_options& options) {
  app.add_option("--schedule", options.schedule_text, "how tasks are assigned to ranks: " + known_schedules())
      ->type_name("SPEC")
      ->capture_default_str()
      ->check(parsed_by([](std::string const& text) { any_schedule(text).policy().check(); }))
      ->group("Parallel run");
  app.add_option("--results", options.results_text,
                 "when results are sent: streamed[:batch=N] or concentrated")
      ->type_name("SPEC")
      ->capture_default_str()
      ->check(parsed_by([](std::string const& text) { std::ignore = parse_results(text); }))
      ->group("Parallel run");
  app.add_option_function<std::string>(
         "--root", [&options](std::string const& text) { options.root_works = text == "works"; },
         "whether rank 0 also runs tasks, or only serves the other ranks")
      ->type_name("works|serves")
      ->default_str("works")
      ->check(parsed_by([](std::string const& text) {
        if (text != "works" && text != "serves") {
          throw usage_error("unknown role \"" + text + "\"; known: works, serves");
        }
      }))
      ->group("Parallel run");
  rarely_used(app, {"--results", "--root"});
}

CLI::Option* add_key_option(CLI::App& app, std::string& file, std::string const& what) {
  return app.add_option("--key-file", file, what + ": 32 bytes or 64 hexadecimal digits")
      ->type_name("FILE")
      ->check(parsed_by([](std::string const& path) { std::ignore = storage::key::read(path); }));
}

namespace {

// Empty: the interval is chosen.
std::optional<std::chrono::duration<double>> interval_of(std::string const& text) {
  if (text == "auto") return {};
  return detail::parse_duration(text);
}

}  // namespace

void add_checkpoint_options(CLI::App& app, common_options& options) {
  auto* const code = app.add_option("--checkpoint", options.checkpoint_code,
                                    "save completed work so that a later run can resume: replicate:COPIES, "
                                    "parity:SLICES, ida:DATA,PARITY, central (one copy) or none")
                         ->type_name("CODE")
                         ->check(parsed_by([](std::string const& text) { std::ignore = code_named(text); }));
  auto* const store =
      app.add_option("--store", options.store,
                     "directories for its shards; ranks:DIR stores one shard on each rank's host, "
                     "ranks:DIR@CLUSTER on hosts of this SKEL_CLUSTER (others: --remote-every), "
                     "rank:N:DIR on the host of rank N")
          ->type_name("DIR,...")
          ->delimiter(',');
  auto* const remote = app.add_option("--remote", options.remote,
                                      "remote directories, used for every N-th checkpoint (--remote-every)")
                           ->type_name("DIR,...")
                           ->delimiter(',');
  auto* const remote_every =
      app.add_option("--remote-every", options.remote_every,
                     "interval of checkpoints in remote directories and other clusters")
          ->type_name("N")
          ->capture_default_str()
          ->check(CLI::Range(1, 1000000));
  auto* const every =
      app.add_option_function<std::string>(
             "--every", [&options](std::string const& text) { options.every = interval_of(text); },
             "time between checkpoints; auto: from their cost and the rate of failures")
          ->type_name("auto|10s|5m")
          ->default_str("auto")
          ->check(parsed_by([](std::string const& text) { std::ignore = interval_of(text); }));
  auto* const between_failures =
      app.add_option_function<std::string>(
             "--mtbf",
             [&options](std::string const& text) { options.between_failures = detail::parse_duration(text); },
             "expected time between failures of the job, for --every auto")
          ->type_name("24h|30m")
          ->default_str("24h")
          ->check(parsed_by([](std::string const& text) { std::ignore = detail::parse_duration(text); }));
  auto* const resume =
      app.add_flag("--resume{yes}", options.resume,
                   "resume from the newest readable checkpoint; with auto, start if there is none")
          ->type_name("[auto]")
          ->check(CLI::IsMember({"yes", "auto"}))
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  auto* const object =
      app.add_option("--resume-object", options.resume_object,
                     "resume from this object if two have the newest number; see skel-checkpoint list")
          ->type_name("ID");
  auto* const key = add_key_option(app, options.key_file, "key that encrypts checkpoints");
  rarely_used(app, {"--remote", "--remote-every", "--mtbf", "--resume-object", "--key-file"});
  code->needs(store);
  store->needs(code);
  resume->needs(code);
  object->needs(resume);
  every->needs(code);
  between_failures->needs(code);
  remote->needs(code);
  remote_every->needs(code);
  key->needs(code);
  for (auto* const o : {code, store, remote, remote_every, every, between_failures, resume, object, key})
    o->group("Checkpoints");
}

std::optional<checkpoint_options> common_options::checkpoint(std::string const& program,
                                                             std::string const& problem) const {
  if (checkpoint_code.empty() || checkpoint_code == "none") return {};
  checkpoint_options c;
  c.code = code_named(checkpoint_code);
  c.store = store;
  c.remote_store = remote;
  c.remote_every = remote_every;
  if (every) c.every_seconds = every->count();
  c.mean_seconds_between_failures = between_failures.count();
  c.resume = resume == "yes";
  c.resume_or_start = resume == "auto";
  c.resume_object = resume_object;
  c.key_file = key_file;
  c.program = program;
  c.version = SKEL_VERSION;
  c.problem = problem;
  return c;
}

void add_report_options(CLI::App& app, common_options& options) {
  app.add_option("--report", options.report, "write the run report")
      ->type_name("FILE.json")
      ->group("Observing");
  app.add_option("--trace", options.trace,
                 "write a timeline of all ranks, for https://ui.perfetto.dev (.json) or Vampir (.otf2)")
      ->type_name("FILE.json|.otf2")
      ->group("Observing");
  app.add_option("--page", options.page,
                 "make a page of the run, by skel-view: times, timeline, slowest tasks")
      ->type_name("FILE.html")
      ->group("Observing");
  app.add_option("--samples", options.samples, "append this run's cost sample")
      ->type_name("FILE.csv")
      ->group("Observing");
  app.add_flag("--quiet", options.quiet, "no summary, no progress")->group("Observing");
}

farm_options common_options::farm() const {
  farm_options o;
  o.results = results();
  o.root = root_works ? root_role::works : root_role::serves;
  o.on_error = on_error();
  o.audit = audit;
  if (task_time_limit) o.task_time_limit_seconds = task_time_limit->count();
  return o;
}

observe::progress_mode common_options::progress() const {
  auto const mode = observe::parse_progress_mode(progress_text);
  return quiet && mode == observe::progress_mode::automatic ? observe::progress_mode::never : mode;
}

std::vector<std::string> const& per_rank_options() {
  static std::vector<std::string> const names = {"--output",  "--threads",    "--report",   "--trace",
                                                 "--samples", "--page",       "--progress", "--quiet",
                                                 "--watch",   "--live-report"};
  return names;
}

void add_common_options(CLI::App& app, common_options& options, option_set which) {
  app.add_option("-o,--output", options.output, "result file")->type_name("FILE");
  app.add_flag("--verify", options.verify, "check the result with an independent, slower method");
  if (which == option_set::farm) {
    add_schedule_options(app, options);
    add_failure_options(app, options);
  }
  add_parallel_options(app, options);
  add_observing_options(app, options);
}

}  // namespace skel::program
