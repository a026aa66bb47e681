#include "program/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "skel/error.hpp"

namespace skel::program {

namespace {

using detail::nearest;

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

// CLI11 takes an empty word, such as that of a shell variable without a value, for the number 0.
void refuse_empty_numbers(CLI::App const& app) {
  for (auto const* const option : app.get_options()) {
    auto const type = option->get_type_name();
    bool const number = std::ranges::any_of(std::array{"FLOAT", "INT", "UINT"},
                                            [&](std::string_view name) { return type.starts_with(name); });
    if (number && std::ranges::any_of(option->results(), &std::string::empty))
      throw usage_error(option->get_name() + ": expected a number, found nothing");
  }
  for (auto const* const verb : app.get_subcommands()) refuse_empty_numbers(*verb);
}

// Returns the option, or the subcommand if none was given, that an unknown word may mean.
std::string meant_by(CLI::App const& app, std::string const& word) {
  std::vector<std::string> names;
  auto const verbs = app.get_subcommands();
  if (!word.starts_with("--")) {
    if (verbs.empty())
      for (auto const* const verb : app.get_subcommands({})) names.push_back(verb->get_name());
    return nearest(word, names);
  }
  std::vector<CLI::App const*> groups(verbs.begin(), verbs.end());
  groups.push_back(&app);
  for (auto const* const group : groups)
    for (auto const* const option : group->get_options())
      for (auto const& name : option->get_lnames()) names.push_back(name);
  auto const name = nearest(word.substr(2, word.find('=') - 2), names);
  return name.empty() ? name : "--" + name;
}

// Adds to `unknown schedule "rnig"; known: auto, ring[:take=…]` the word of the list that is nearest.
std::string with_suggestion(std::string text) {
  constexpr std::string_view known = "\"; known: ", letters = "abcdefghijklmnopqrstuvwxyz-";
  auto const end = text.find(known);
  if (end == std::string::npos) return text;
  auto const begin = text.rfind('"', end - 1) + 1;
  auto const word = text.substr(begin, text.find_first_not_of(letters, begin) - begin);
  std::vector<std::string> names;
  for (auto at = text.find_first_of(letters, end + known.size()); at != std::string::npos;) {
    auto const stop = text.find_first_not_of(letters, at);
    names.push_back(text.substr(at, stop - at));
    at = text.find_first_of(letters, stop);
  }
  auto const name = nearest(word, names);
  if (!name.empty()) text.insert(end + 3, "did you mean " + name + "? ");
  return text;
}

}  // namespace

void flush_output() {
  std::cout.flush();
  if (!std::cout || std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw error("standard output cannot be written");
}

bool parse(CLI::App& app, int argc, char** argv, bool prints) {
  bool const has_verbs = app.get_require_subcommand_min() > 0;
  try {
    app.parse(arguments_of(app, argc, argv));
    refuse_empty_numbers(app);
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
    auto const first = unknown ? app.remaining(true).front() : std::string();
    auto const text =
        unknown ? "The following argument was not expected: " + first : with_suggestion(bad.what());
    auto const meant = unknown ? meant_by(app, first) : std::string();
    auto const question = meant.empty() ? std::string("; ") : "; did you mean " + meant + "? ";
    auto const help = has_verbs ? "--help lists the subcommands"
                      : unknown ? "--help-all lists the options"
                                : "";
    throw usage_error(detail::one_line(text) + (*help != '\0' ? question + help : std::string()));
  }
}

}  // namespace skel::program
