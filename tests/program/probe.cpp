// A program for the tests of run_program; its argument selects its behaviour.
#include <CLI/CLI.hpp>
#include <chrono>
#include <new>
#include <stdexcept>
#include <thread>

#include "program/failure.hpp"
#include "program/paths.hpp"
#include "program/run_program.hpp"
#include "skel/atomic_file.hpp"
#include "skel/farm.hpp"

using namespace skel::program;

namespace {

skel::report whole_run(skel::context const& ctx) {
  skel::report run;
  run.skeleton = "farm";
  run.schedule = "guided";
  run.results = "streamed";
  run.ranks = ctx.size();
  run.threads_per_rank = ctx.threads();
  run.tasks = 8;
  run.seconds = 0.5;
  run.busy_share = 0.25;
  return run;
}

// A real farm of 20 tasks. "fails": tasks 3 and 12 throw wherever they run; "elsewhere": all tasks of rank 1
// do.
skel::report farm(skel::context& ctx, std::string const& act, common_options const& options) {
  auto const task = [&](std::uint64_t id, skel::worker_info const& where) {
    if (act == "fails" ? id == 3 || id == 12 : where.rank == 1) throw std::runtime_error("no\nluck");
  };
  return skel::farm(
             ctx, skel::indices(20), task, options.schedule(), [](skel::task_id) {}, options.farm())
      .report;
}

run_outcome act(skel::context& ctx, std::string const& act, common_options const& options) {
  run_outcome outcome{whole_run(ctx), "0123456789abcdef", {{"acted", act}}, {{"act", act}}};
  if (!options.output.empty()) require_ending(options.output, {".png", ".ppm"});
  if (act == "bad-input")
    throw skel::usage_error("scene.nff:12: polygon needs 3 vertices, found \"2\n\x1b[31m\"");
  if (act == "fails" || act == "elsewhere") outcome.run = farm(ctx, act, options);
  if (act == "task") throw skel::task_error(17, 0, "bad thing", 3);
  if (act == "differs") throw verification_error("the result differs from the brute-force one in row 3");
  if (act == "memory") throw std::bad_alloc();
  if (act == "wait" || act == "sleep") {
    if (!options.output.empty()) skel::write_file_atomically(options.output, "ready");
    if (act == "sleep") std::this_thread::sleep_for(std::chrono::seconds(60));
    while (!ctx.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    outcome.run.stopped_early = true;
    outcome.run.tasks = 3;
  }
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  std::string what;
  return run_program(
      argc, argv, {"skel-probe", "Behaves as its argument says."},
      [&](CLI::App& app) { app.add_option("ACT", what, "behaviour")->required(); },
      [&](skel::context& ctx, common_options const& options) { return act(ctx, what, options); });
}
