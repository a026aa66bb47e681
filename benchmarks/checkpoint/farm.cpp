// What a farm's checkpoints cost: bytes written, and the share of the time for which the root stands still.
// Prints a table with a row for each number of tasks.
#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <skel/error.hpp>
#include <skel/farm.hpp>
#include <skel/run_threads.hpp>
#include <string>
#include <vector>

#include "clock.hpp"

namespace {

struct choices {
  std::vector<double> tasks{10e6};
  std::string code = "ida:2,1";
  std::string store;
  double every = 1;
  double microseconds = 5;
  int ranks = 2;
};

using result = std::array<std::uint64_t, 8>;  // 64 bytes

result work(std::uint64_t task, double length) {
  result r;
  r.fill(task);
  for (double const end = bench::seconds() + length; bench::seconds() < end;) r[task % 8] += 3;
  return r;
}

// Bytes that this process has handed to files so far, parity and manifests included.
double bytes_to_files() {
  std::ifstream io("/proc/self/io");
  std::string name;
  for (double value = 0; io >> name >> value;)
    if (name == "wchar:") return value;
  throw skel::error("/proc/self/io: no wchar");
}

void measure(choices const& c, std::uint64_t tasks) {
  skel::checkpoint_options where;
  where.code = c.code;
  where.every_seconds = c.every;
  for (auto const* const name : {"d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9"}) {
    where.store.push_back(c.store + "/" + name);
    std::filesystem::remove_all(where.store.back());
    std::filesystem::create_directories(where.store.back());
  }
  skel::farm_options options;
  options.checkpoint = where;
  skel::context_options alone;
  alone.threads = 1;
  double const before = bytes_to_files();
  std::uint64_t sum = 0;
  skel::run_threads(
      c.ranks,
      [&](skel::context& ctx) {
        auto const r = skel::farm(
                           ctx, skel::indices(tasks),
                           [&](std::uint64_t task) { return work(task, c.microseconds * 1e-6); },
                           [&](skel::task_id, result const& got) { sum += got[0]; }, options)
                           .report;
        if (!ctx.is_root()) return;
        auto const& k = r.checkpoint.value();
        double const results = static_cast<double>(tasks * sizeof(result));
        std::printf(
            "| %.3g | %s | %g | %.1f | %llu | %llu | %.0f | %.2f | %.2f | %.2f | %.2f | %.2f | %.0f |\n",
            static_cast<double>(tasks), c.code.c_str(), c.every, r.seconds,
            static_cast<unsigned long long>(k.saved), static_cast<unsigned long long>(k.failed),
            results / 1e6, (bytes_to_files() - before) / results, k.blocked_seconds, k.serialise_seconds,
            100 * k.blocked_seconds / r.seconds, k.sync_seconds,
            static_cast<double>(r.per_rank.at(0).peak_memory_bytes) / 1e6);
        std::fflush(stdout);
      },
      alone);
  if (sum == 0) throw skel::error("no results");
  for (auto const& d : where.store) std::filesystem::remove_all(d);
}

}  // namespace

int main(int argc, char** argv) {
  choices c;
  CLI::App app("what a farm's checkpoints cost");
  app.add_option("--tasks", c.tasks, "numbers of tasks, each with a result of 64 bytes")->delimiter(',');
  app.add_option("--code", c.code, "as in every skel program");
  app.add_option("--store", c.store, "a directory; ten directories in it are removed and made anew")
      ->required();
  app.add_option("--every", c.every, "seconds between checkpoints");
  app.add_option("--us", c.microseconds, "microseconds per task");
  app.add_option("--ranks", c.ranks, "threads that act as ranks")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  std::printf(
      "| tasks | code | every s | seconds | saved | failed | results MB | written / results | blocked s | "
      "packing s | blocked %% | sync s | peak MB |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (double const tasks : c.tasks) measure(c, static_cast<std::uint64_t>(tasks));
}
