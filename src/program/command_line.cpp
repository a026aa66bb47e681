#include "program/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "base/one_line.hpp"
#include "skel/error.hpp"

namespace skel::program {

void add_version(CLI::App& app) { app.set_version_flag("--version", app.get_name() + " " + SKEL_VERSION); }

namespace {

// CLI11 takes no value of a flag from the next word, and an option with an optional value would take
// a file's name.
std::vector<std::string> arguments_of(CLI::App const& app, int argc, char** argv) {
  std::vector<std::string> all(argv + std::min(argc, 1), argv + argc);
  if (app.get_option_no_throw("--resume") != nullptr)
    for (std::size_t i = 0; i + 1 < all.size(); ++i)
      if (all[i] == "--resume" && all[i + 1] == "auto") {
        all[i] += "=auto";
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
  std::ranges::reverse(all);  // as CLI11 expects
  return all;
}

}  // namespace

bool parse(CLI::App& app, int argc, char** argv, bool prints) {
  bool const has_verbs = app.get_require_subcommand_min() > 0;
  try {
    app.parse(arguments_of(app, argc, argv));
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
