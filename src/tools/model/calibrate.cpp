// skel-model calibrate: measures the machine; runs under mpiexec.
#include "tools/calibration/calibrate.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "base/text.hpp"
#include "program/help.hpp"
#include "program/paths.hpp"
#include "skel/atomic_file.hpp"
#include "skel/error.hpp"
#include "tools/model/commands.hpp"
#include "tools/model/figures.hpp"
#include "tools/model/table.hpp"

namespace skel::model {

using namespace program;

namespace {

struct calibrate_arguments {
  calibrate_options how;
  std::string output, plot, name;
  bool json = false;
};

// Ranks that share a core wait for each other's time slices, which distorts the measurements.
void warn_of_crowding(context const& ctx) {
  auto const* const here =
      std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");  // NOLINT: the environment is not modified
  auto const local = here == nullptr ? 0 : detail::to_number<long>(here).value_or(0);
  long const cores = ::sysconf(_SC_NPROCESSORS_ONLN);  // not only those that this rank is bound to
  if (local > cores)
    fmt::print(stderr,
               "skel-model: warning: {} ranks on the {} cores of {}: latencies include the scheduler's\n",
               local, cores, ctx.host());
}

std::string pieces_in_words(curve const& c) {
  std::string text;
  for (auto const& p : c.pieces)
    text +=
        fmt::format("{}{} + {:.3g} ns/B", text.empty() ? "" : fmt::format(", from {:.3g} B ", p.from_bytes),
                    seconds(p.latency_seconds), p.gap_seconds_per_byte * 1e9);
  return text;
}

// Nonnegative least squares returns 0 if the noise exceeds the sought quantity.
std::string found(double value) { return value > 0 ? seconds(value) : "not found"; }

// Reports noise instead of averaging it away.
void warn_of_noise(machine const& m) {
  constexpr double most = 0.2;
  for (auto const& a : m.at)
    for (auto const& [name, c] : {std::pair("all-to-all", &a.all_to_all),
                                  std::pair("ping-pong", &a.ping_pong), std::pair("exchange", &a.exchange)})
      if (c->deviation > most)
        fmt::print(stderr,
                   "skel-model: warning: {} ranks, {}, {}: measurements deviate by {} from the curve: repeat "
                   "on an idle machine, or with --least\n",
                   a.ranks, a.kind, name, percent(c->deviation));
}

void print(machine const& m) {
  fmt::print("{}\n", m.name);
  table rows({"ranks", "kind", "l", "by size", "by number", "g per 4 B", "by size", "by number"});
  constexpr double word = 4;
  for (auto const& a : m.at)
    rows.add({std::to_string(a.ranks), a.kind, found(a.latency_seconds), found(a.latency_by_size),
              found(a.latency_by_number), found(word * a.gap_seconds_per_byte), found(word * a.gap_by_size),
              found(word * a.gap_by_number)});
  fmt::print("{}", rows.text({1}));
  for (auto const& a : m.at) {
    fmt::print("\n{} ranks, {}\n", a.ranks, a.kind);
    for (auto const& [name, c] : {std::pair("all-to-all", &a.all_to_all),
                                  std::pair("ping-pong", &a.ping_pong), std::pair("exchange", &a.exchange)})
      fmt::print("  {:<11}{} (deviation {})\n", name, pieces_in_words(*c), percent(c->deviation));
  }
}

void run(context& ctx, calibrate_arguments const& o) {
  if (ctx.is_root()) {
    if (!o.plot.empty()) program::require_ending(o.plot, {".svg"});
    for (auto const* path : {&o.output, &o.plot})
      if (!path->empty()) program::check_writable(*path);
    warn_of_crowding(ctx);
  }
  auto m = calibrate(ctx, o.how);
  if (!ctx.is_root()) return;
  if (!o.name.empty()) m.name = o.name;
  if (!o.output.empty()) skel::write_file_atomically(o.output, m.to_json());
  if (!o.plot.empty()) skel::write_file_atomically(o.plot, to_svg(machine_figures(m)));
  if (o.json)
    fmt::print("{}", m.to_json());
  else
    print(m);
  std::fflush(stdout);
  warn_of_noise(m);
}

}  // namespace

collective_command add_calibrate(CLI::App& program) {
  auto const o = std::make_shared<calibrate_arguments>();
  auto* const app =
      program.add_subcommand("calibrate", "measure l(P), g(P) and message costs; run under mpiexec");
  option(*app, "-o,--output FILE.json", o->output, "machine file to write");
  option(*app, "--plot FILE.svg", o->plot, "plot of the measurements");
  app->add_option("--name", o->name, "name of the machine [its host name]");
  option(*app, "--ranks N,…", o->how.ranks, "numbers of ranks to measure with [2, 4, 8, … and all]",
         comma_list);
  option(*app, "--repetitions", o->how.repetitions, "repetitions of each measurement; the median is used",
         shown_default, CLI::Range(5, 1000));
  app->add_flag("--least", o->how.least,
                "use the shortest repetition instead of the median, for a shared machine");
  option(*app, "--largest", o->how.largest_bytes, "largest message in bytes", CLI::Range(1024.0, 1e9))
      ->default_str(fmt::format("{:.0f}, {:g} MiB", o->how.largest_bytes, o->how.largest_bytes / 1048576));
  option(*app, "--seconds", o->how.seconds_per_pattern,
         "approximate time per pattern, number of ranks and kind", shown_default, CLI::Range(0.01, 1e6));
  app->add_flag("--json", o->json, "print JSON instead of tables");
  return {app, {"--output", "--plot", "--name", "--json"}, [o](context& ctx) { run(ctx, *o); }};
}

}  // namespace skel::model
