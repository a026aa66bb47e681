// skel-matmul: multiplies two matrices in supersteps and resumes after its ranks were killed.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "product.hpp"
#include "program/failure.hpp"
#include "program/paths.hpp"
#include "program/run_program.hpp"
#include "skel/atomic_file.hpp"
#include "skel/hash.hpp"
#include "skel/skel.hpp"

namespace {

using namespace matmul;

void add_options(CLI::App& app, sizes& o) {
  using namespace skel::program;
  option(app, "--size", o.order, "rows and columns of the matrices", shown_default, CLI::Range(1, 100000));
  option(app, "--panel", o.width, "rows per superstep", shown_default, CLI::Range(1, 100000));
  option(app, "--rounds", o.rounds, "how often to add the product, for longer runs", shown_default,
         CLI::Range(1, 1000000));
  option(app, "--idle-ranks", o.idle, "the last N ranks compute nothing and only store (--store ranks:DIR)",
         shown_default, CLI::Range(0, 100000));
}

skel::program::run_outcome multiply(skel::context& ctx, skel::program::common_options const& common,
                                    sizes const& size) {
  if (!common.output.empty()) skel::program::require_ending(common.output, {".bin"});
  skel::bsp_options options;
  options.label = "multiply";
  auto problem = fmt::format("{} {}", size.order, size.width);
  if (size.rounds > 1) problem += fmt::format(" {}", size.rounds);  // one round: as in older stores
  options.checkpoint = common.checkpoint("skel-matmul", problem);
  auto const [state, run] = skel::bsp(ctx, block_product{size}, options);
  if (!ctx.is_root() || run.stopped_early) return {run, {}, {}, {}};

  auto const bytes = std::as_bytes(std::span(state.whole));
  auto const step = std::max<std::uint64_t>(1, size.order / 16);
  if (common.verify) {
    auto const row = first_wrong_row(size, state.whole, step);
    if (row < size.order)
      throw skel::program::verification_error(
          fmt::format("verification failed: row {} differs from the row computed entry by entry", row));
  }
  if (!common.output.empty())
    skel::write_file_atomically(common.output, {reinterpret_cast<char const*>(bytes.data()), bytes.size()});
  skel::program::run_outcome outcome;
  outcome.run = run;
  outcome.result_xxh3 = skel::xxh3_hex(bytes);
  if (common.verify)
    outcome.verified = fmt::format("{} rows, entry by entry", (size.order + step - 1) / step);
  if (common.output.empty() && !common.quiet) fmt::print("no product written; -o FILE.bin writes one\n");
  outcome.fields = {{"order", size.order},
                    {"panels", size.panels()},
                    {"state_bytes", 3 * sizeof(double) * size.order * size.order}};
  outcome.problem = {{"size", std::to_string(size.order)},
                     {"panel", std::to_string(size.width)},
                     {"rounds", std::to_string(size.rounds)}};
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  return skel::program::run_program(argc, argv,
                                    {.name = "skel-matmul",
                                     .description = "Multiplies two matrices in supersteps on all ranks.",
                                     .options = skel::program::option_set::no_farm,
                                     .checkpoints = true,
                                     .formats = ".bin"},
                                    add_options, multiply);
}
