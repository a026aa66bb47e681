#include "program/command_line.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "base/one_line.hpp"
#include "skel/error.hpp"

namespace skel::program {

void add_version(CLI::App& app) { app.set_version_flag("--version", app.get_name() + " " + SKEL_VERSION); }

bool parse(CLI::App& app, int argc, char** argv, bool prints) {
  bool const has_verbs = app.get_require_subcommand_min() > 0;
  try {
    app.parse(argc, argv);
    return true;
  } catch (CLI::Success const& request) {
    if (prints) app.exit(request, std::cout, std::cerr);
    return false;
  } catch (CLI::ParseError const& bad) {
    // CLI11 checks for missing options first: a mistyped --iso would be reported as a missing
    // --iso.
    auto const* const missing = dynamic_cast<CLI::RequiredError const*>(&bad);
    bool const unknown = dynamic_cast<CLI::ExtrasError const*>(&bad) != nullptr ||
                         (missing != nullptr && app.remaining_size(true) > 0);
    auto const text =
        unknown ? CLI::ExtrasError(app.get_name(), app.remaining(true)).what() : std::string(bad.what());
    throw usage_error(detail::one_line(text) + (has_verbs ? "; --help lists the subcommands"
                                                : unknown ? "; --help lists the options"
                                                          : ""));
  }
}

}  // namespace skel::program
