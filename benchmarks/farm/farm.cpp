// Runs skel's farm on the work of master_worker.cpp, with the same options and output line, for
// farm.py.
#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <skel/skel.hpp>
#include <string>
#include <vector>

#include "work.hpp"

namespace {

struct options {
  std::uint64_t tasks = 100'000;
  std::string schedule = "guided";
  std::string results = "streamed";
  std::string root = "works";
  double microseconds = 0;
  int bytes = 16;
  int repetitions = 20;
  double iterations_per_us = 0;  // must be equal on every rank, so it must be given
};

template <std::size_t Bytes>
using result = std::array<std::byte, Bytes>;

template <std::size_t Bytes>
bool all_right(std::vector<result<Bytes>> const& results) {
  for (std::size_t task = 0; task != results.size(); ++task)
    if (!farm_bench::right_result(task, results[task].data(), Bytes)) return false;
  return true;
}

template <std::size_t Bytes>
void measure(skel::context& ctx, options const& o) {
  auto const iterations = static_cast<std::uint64_t>(std::llround(o.microseconds * o.iterations_per_us));
  skel::any_schedule const schedule(o.schedule);
  skel::farm_options farm_options;
  farm_options.results = skel::parse_results(o.results);
  farm_options.root_works = o.root == "works";
  std::vector<result<Bytes>> results(ctx.is_root() ? o.tasks : 0);

  auto const run_once = [&] {
    auto const start = bench::seconds();
    skel::farm(
        ctx, skel::indices(o.tasks),
        [iterations](std::uint64_t task) {
          result<Bytes> r;
          farm_bench::run_task(task, iterations, r.data(), Bytes);
          return r;
        },
        schedule, skel::into(results), farm_options);
    return bench::seconds() - start;
  };
  run_once();  // warm-up: pages, connections
  for (int i = 0; i != o.repetitions; ++i) {
    for (auto& r : results) r.fill(std::byte{0xff});
    auto const seconds = run_once();
    if (!ctx.is_root()) continue;
    if (!all_right(results)) throw skel::error("wrong results");
    std::printf(
        "program=skel ranks=%d schedule=%s root=%s us=%g bytes=%d tasks=%llu repetition=%d seconds=%.9f "
        "tasks_per_second=%.6g\n",
        ctx.size(), schedule.to_string().c_str(), o.root.c_str(), o.microseconds, o.bytes,
        static_cast<unsigned long long>(o.tasks), i, seconds, static_cast<double>(o.tasks) / seconds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app("skel's farm on the work of the hand-written master-worker");
  app.add_option("--tasks", o.tasks, "number of tasks")->check(CLI::PositiveNumber);
  app.add_option("--schedule", o.schedule, "as in every skel program");
  app.add_option("--results", o.results, "streamed[:batch=N] or concentrated");
  app.add_option("--root", o.root, "works or serves")->check(CLI::IsMember({"works", "serves"}));
  app.add_option("--us", o.microseconds, "microseconds per task")->check(CLI::NonNegativeNumber);
  app.add_option("--bytes", o.bytes, "bytes per result")->check(CLI::IsMember({16, 4096}));
  app.add_option("--repetitions", o.repetitions, "measured repetitions")->check(CLI::PositiveNumber);
  app.add_option("--iterations-per-us", o.iterations_per_us, "length of the work loop")->required();
  CLI11_PARSE(app, argc, argv);
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    if (o.bytes == 16)
      measure<16>(ctx, o);
    else
      measure<4096>(ctx, o);
  });
}
