// skel-model: the cost model; see docs/how-to/predict.md.
#include <CLI/CLI.hpp>
#include <string_view>
#include <tuple>
#include <vector>

#include "program/run_tool.hpp"
#include "program/same_options.hpp"
#include "skel/run_main.hpp"
#include "tools/model/commands.hpp"

namespace {

constexpr char const* program_name = "skel-model";
constexpr char const* what_it_is =
    "Models the cost of skeletons: measures the machine, fits samples of runs, predicts, compares.";

// Collective; the root prints errors of the options.
int calibrate(int argc, char** argv) {
  auto const body = [&](skel::context& ctx) {
    CLI::App app(what_it_is, program_name);
    skel::program::add_help(app);
    app.require_subcommand(1);
    auto const verb = skel::model::add_calibrate(app);
    if (!skel::program::parse(app, argc, argv, ctx.is_root())) return;
    skel::program::require_same_options(ctx, *verb.options, {{}, verb.may_differ});
    verb.run(ctx);
  };
  return skel::run_main(argc, argv, skel::restartable(body));
}

int run(int argc, char** argv) {
  std::vector<skel::model::command> verbs;
  return skel::program::run_tool(
      argc, argv, {program_name, what_it_is},
      [&](CLI::App& app) {
        app.require_subcommand(1);
        std::ignore = skel::model::add_calibrate(app);  // lists the subcommand in --help; see calibrate()
        verbs = {skel::model::add_fit(app), skel::model::add_predict(app), skel::model::add_compare(app),
                 skel::model::add_plot(app)};
      },
      [&] {
        for (auto const& verb : verbs)
          if (verb.options->parsed()) verb.run();
        return 0;
      });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "calibrate") return calibrate(argc, argv);
  return run(argc, argv);
}
