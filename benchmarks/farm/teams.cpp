// What teams cost: a farm whose tasks take a team of one rank against the plain farm, and the time that a
// team of all ranks needs to run an empty task together, as the same team and as a new one each time.
//     mpiexec -n 2 build/release/bin/skel-bench-teams --us 100
//     mpiexec -n 4 --oversubscribe build/release/bin/skel-bench-teams --form
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ranges>
#include <vector>

#include "skel/mpi.hpp"
#include "skel/skel.hpp"
#include "work.hpp"

namespace {

void print(char const* what, std::vector<double> all, double scale, char const* unit) {
  std::sort(all.begin(), all.end());
  std::printf("%s: median %.3f %s, from %.3f to %.3f\n", what, scale * all[all.size() / 2], unit,
              scale * all.front(), scale * all.back());
}

constexpr std::uint64_t jobs = 200;  // of a run with --form

std::uint64_t add(std::uint64_t a, std::uint64_t b) { return a + b; }

// Seconds of one run, on the root.
template <class F>
double farmed(skel::context& ctx, std::uint64_t tasks, F const& f) {
  std::uint64_t total = 0;
  return skel::farm(ctx, skel::indices(tasks), f, skel::reduced(total, add)).report.seconds;
}

// Seconds per task if tasks come one at a time: teams of different sizes then follow one another.
template <class F>
double one_by_one(skel::context& ctx, F const& f, skel::team_size size) {
  std::uint64_t total = 0;
  skel::farm_options options{.task = {.team_size = std::move(size)}};
  options.results.window = 1;
  auto const open = [] { return std::views::iota(std::uint64_t{0}, jobs); };
  return skel::farm(ctx, skel::on_root(open), f, skel::reduced(total, add), options).report.seconds / jobs;
}

}  // namespace

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    CLI::App program{"What teams of a farm cost."};
    double us = 100;
    std::uint64_t tasks = 4000;
    int repetitions = 15;
    bool form = false;
    program.add_option("--us", us, "length of a task in microseconds")->capture_default_str();
    program.add_option("--tasks", tasks, "tasks per run")->capture_default_str();
    program.add_option("--repetitions", repetitions, "runs of each kind, interleaved")->capture_default_str();
    program.add_flag("--form", form, "measure how long teams of all ranks take to form");
    try {
      program.parse(argc, argv);
    } catch (CLI::ParseError const& e) {
      if (ctx.is_root()) return program.exit(e);
      return e.get_exit_code();
    }
    ctx.set_threads(1);
    if (form) {
      auto const meet = [](skel::context& team, std::uint64_t i) {
        MPI_Barrier(skel::communicator_of(team));
        return i;
      };
      auto const nothing = [](skel::context&, std::uint64_t i) { return i; };
      int const n = ctx.size();
      auto const changing = [n](skel::task_id i) { return i % 2 == 0 ? n : n - 1; };
      std::vector<double> same, fresh, same_mpi, fresh_mpi;
      for (int k = 0; k < repetitions; ++k) {
        same.push_back(one_by_one(ctx, nothing, n));
        fresh.push_back(one_by_one(ctx, nothing, changing));
        same_mpi.push_back(one_by_one(ctx, meet, n));
        fresh_mpi.push_back(one_by_one(ctx, meet, changing));
      }
      if (!ctx.is_root()) return 0;
      print("an empty task on the same team", same, 1e6, "us");
      print("an empty task on a new team", fresh, 1e6, "us");
      print("an MPI barrier on the same team", same_mpi, 1e6, "us");
      print("an MPI barrier on a new team", fresh_mpi, 1e6, "us");
      return 0;
    }
    auto const iterations = static_cast<std::uint64_t>(us * farm_bench::iterations_per_microsecond());
    auto const plain = [&](std::uint64_t i) { return farm_bench::spin(i + 1, iterations); };
    auto const teamed = [&](skel::context&, std::uint64_t i) { return plain(i); };
    std::vector<double> ratios;
    for (int k = 0; k < repetitions; ++k) {
      double const a = farmed(ctx, tasks, plain);
      ratios.push_back(farmed(ctx, tasks, teamed) / a);
    }
    if (ctx.is_root()) print("time with teams of one rank, of the plain farm's", ratios, 1, "");
    return 0;
  });
}
