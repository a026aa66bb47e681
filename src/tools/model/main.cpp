// skel-model: the cost model; docs/model.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <new>
#include <string_view>

#include "skel/error.hpp"
#include "skel/run_main.hpp"
#include "tools/model/commands.hpp"
#include "values/one_line.hpp"

namespace {

constexpr char const* program_name = "skel-model";
constexpr char const* what_it_is =
    "What skeletons cost: measures the machine, fits a model to samples of runs, predicts, compares.";

void prepare(CLI::App& app) {
  app.set_version_flag("--version", std::string(program_name) + " " + SKEL_VERSION);
  app.require_subcommand(1);
}

std::string text_of(CLI::ParseError const& bad) {
  return skel::detail::one_line(bad.what()) + "; --help lists what there is";
}

// Collective: errors of the options are the root's to print.
int calibrate(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    CLI::App app(what_it_is, program_name);
    prepare(app);
    auto const verb = skel::model::add_calibrate(app);
    try {
      app.parse(argc, argv);
    } catch (CLI::Success const& request) {
      if (ctx.is_root()) app.exit(request);
      return;
    } catch (CLI::ParseError const& bad) {
      throw skel::usage_error(text_of(bad));
    }
    verb.run(ctx);
  });
}

int run(int argc, char** argv) {
  CLI::App app(what_it_is, program_name);
  prepare(app);
  std::ignore = skel::model::add_calibrate(app);  // for --help; see calibrate()
  std::array const verbs{skel::model::add_fit(app), skel::model::add_predict(app),
                         skel::model::add_compare(app), skel::model::add_plot(app)};
  try {
    app.parse(argc, argv);
    for (auto const& verb : verbs)
      if (verb.options->parsed()) verb.run();
    return 0;
  } catch (CLI::Success const& request) {
    return app.exit(request);
  } catch (CLI::ParseError const& bad) {
    fmt::print(stderr, "{}: {}\n", program_name, text_of(bad));
    return 2;
  } catch (skel::usage_error const& bad) {
    fmt::print(stderr, "{}: {}\n", program_name, skel::detail::one_line(bad.what()));
    return 2;
  } catch (std::bad_alloc const&) {
    fmt::print(stderr, "{}: out of memory\n", program_name);
    return 1;
  } catch (std::exception const& bad) {
    fmt::print(stderr, "{}: {}\n", program_name, skel::detail::one_line(bad.what()));
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "calibrate") return calibrate(argc, argv);
  return run(argc, argv);
}
