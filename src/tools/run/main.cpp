// skel-run: runs the commands of a list on all ranks; see docs/reference/run.md.
#include <CLI/CLI.hpp>
#include <string_view>

#include "base/text.hpp"
#include "program/run_program.hpp"
#include "tools/run/run.hpp"

namespace {

using namespace skel::program;
using skel::commands::run_settings;

void add_options(CLI::App& app, run_settings& s) {
  option(app, "LIST", s.list, "file of commands, one a line; -: standard input", shown_default);
  option(app, "--sweep NAME=VALUES ...", s.sweep,
         "run the command behind -- with all combinations of these values, such as \"alpha=0.1,0.2 n=1:10\"; "
         "{alpha} stands for one");
  app.add_flag("-0,--null", s.null, "entries of the list end with a zero byte, not with their line");
  auto* const folders =
      option(app, "--folders DIR", s.where.folders,
             "run command N in a new folder DIR/N, which also gets its output: stdout and stderr");
  option(app, "--files DIR", s.where.files, "write its output to DIR/N.out and DIR/N.err")->excludes(folders);
  app.add_flag("--plain", s.where.plain, "print lines of output without \"N: \" in front");
  app.add_flag("--keep-going", s.keep_going,
               "run the other commands when one fails; the exit code is then 3");
  option(app, "--retries N", s.retries,
         "run a command that fails again, up to N times, on other ranks if there are any",
         CLI::Range(0U, 1000U));
  option(app, "--cores N", s.where.cores,
         "each command uses N cores, which is also its OMP_NUM_THREADS: a rank runs only as many together as "
         "its share of the host has cores for",
         CLI::Range(1U, 4096U));
  option(app, "--memory BYTES", s.memory,
         "each command needs this much memory, such as 4G: a rank runs only as many together as fit its "
         "share of the host, or of the job's control group")
      ->transform(CLI::AsSizeValue(false).description(""));
  option(
      app, "--ranks-per-task N", s.ranks,
      "each command is an MPI program, which is started as N processes, without mpiexec, on the cores of N "
      "ranks of one host",
      CLI::Range(1, 4096));
  auto const duration = [&app](char const* name, double& seconds, char const* help) {
    app.add_option_function<std::string>(
           name,
           [&seconds](std::string const& text) { seconds = skel::detail::parse_duration(text).count(); },
           help)
        ->type_name("90s|15m|2h");
  };
  duration("--task-time", s.seconds,
           "each command takes about this long: it is not started if the time limit, or the end of a Slurm "
           "job, is nearer; --resume goes on with it");
  duration("--task-time-limit", s.where.limit_seconds,
           "a command that runs for longer is ended with all of its processes, and has failed");
}

}  // namespace

int main(int argc, char** argv) {
  // The words behind -- are the command, whatever they look like.
  int words = 1;
  while (words < argc && std::string_view(argv[words]) != "--") ++words;
  std::vector<std::string> const how(argv + std::min(words + 1, argc), argv + argc);
  skel::commands::supervisor commands;
  skel::commands::kept_data kept;
  run_settings settings;
  return run_program(
      words, argv,
      {.name = "skel-run",
       .description =
           "Runs commands on all ranks: the lines of a list, or a command behind -- with items or a sweep.",
       .options = option_set::schedule,
       .checkpoints = true,
       .verifies = false,  // commands run once, so there is nothing to compare
       .formats = ".csv or .jsonl",
       .summary_to_errors = true},
      [&](CLI::App& app) {
        settings = run_settings{};
        settings.how = how;
        add_options(app, settings);
      },
      [&](skel::context& ctx, common_options const& common) {
        return skel::commands::run_commands(ctx, common, settings, commands, kept);
      });
}
