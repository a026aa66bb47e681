#include "program/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <tuple>

#include "base/text.hpp"
#include "program/help.hpp"
#include "program/option_rows.hpp"
#include "program/paths.hpp"
#include "skel/error.hpp"
#include "skel/storage/code.hpp"
#include "skel/storage/key.hpp"

namespace skel::program {

namespace {

// CLI11 validators return the error message; the library's parsers throw it.
template <class Parse>
CLI::Validator parsed_by(Parse parse) {
  return {[parse](std::string& text) -> std::string {
            try {
              parse(text);
              return {};
            } catch (usage_error const& bad) {
              return bad.what();
            }
          },
          ""};
}

// Adds the rows that `wanted` accepts.
template <class Wanted>
void add_rows(CLI::App& app, run_options& options, Wanted const& wanted) {
  for (auto const& row : option_rows()) {
    if (!wanted(row)) continue;
    auto const set = [&options, &row](std::string const& value) { row.set(options, value); };
    auto* const added = row.is(option_row::optional_value)
                            ? app.add_flag(row.name + "{yes}", options.of_checkpoints.resume, row.help)
                                  ->type_name(row.type)
                                  ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
                        : row.type.empty() ? app.add_flag_callback(
                                                 row.name, [set] { set({}); }, row.help)
                                           : app.add_option_function<std::string>(row.name, set, row.help)
                                                 ->type_name(row.type)
                                                 ->default_str(row.fallback);
    if (auto const* const whole = std::get_if<std::pair<int, int>>(&row.range))
      added->check(CLI::Range(whole->first, whole->second));
    else if (auto const* const any = std::get_if<std::pair<double, double>>(&row.range))
      added->check(CLI::Range(any->first, any->second));
    else if (!row.type.empty())
      added->check(parsed_by([&row](std::string const& value) {
        run_options scratch;
        row.set(scratch, value);
      }));
    if (!row.variable.empty()) added->envname(row.variable);
    added->group(row.group());
    if (row.is(option_row::rare)) rarely_used(app, {row.name.c_str()});
  }
}

bool is_one_of(option_row const& row, std::span<std::string_view const> names) {
  return std::ranges::find(names, row.name) != names.end();
}

// Adds these rows.
void add_named(CLI::App& app, run_options& options, std::span<std::string_view const> names) {
  add_rows(app, options, [&](option_row const& row) { return is_one_of(row, names); });
}

constexpr std::array<std::string_view, 3> rows_of_schedule = {"--schedule", "--results", "--root"};

}  // namespace

void add_schedule_options(CLI::App& app, common_options& options) {
  add_named(app, options, rows_of_schedule);
}

CLI::Option* add_key_option(CLI::App& app, std::string& file, std::string const& what) {
  return option(app, "--key-file FILE", file, what + ": 32 bytes or 64 hexadecimal digits",
                parsed_by([](std::string const& path) { std::ignore = storage::key::read(path); }));
}

void add_checkpoint_options(CLI::App& app, common_options& options) {
  add_rows(app, options, [](option_row const& row) { return row.is(option_row::of_checkpoint); });
  app.parse_complete_callback([&app, &options] {
    require_companions(options, [&](std::string_view option) { return app.count(std::string(option)) > 0; });
  });
}

std::optional<checkpoint_options> common_options::checkpoint(std::string const& program,
                                                             std::string const& problem) const {
  return run_options::checkpoint({program, SKEL_VERSION}, problem);
}

void add_report_options(CLI::App& app, common_options& options) {
  add_named(app, options,
            std::array<std::string_view, 5>{"--report", "--trace", "--page", "--samples", "--quiet"});
}

std::vector<std::string> const& per_rank_options() {
  static std::vector<std::string> const names = [] {
    std::vector<std::string> all{"--output"};
    for (auto const& row : option_rows())
      if (row.is(option_row::per_rank)) all.push_back(row.name);
    return all;
  }();
  return names;
}

void check_outputs(common_options const& options) {
  if (!options.output.empty()) check_writable(options.output);
  check_outputs(static_cast<run_options const&>(options));
}

void add_common_options(CLI::App& app, common_options& options, option_set which) {
  option(app, "-o,--output FILE", options.output, "result file");
  app.add_flag("--verify", options.verify, "check the result with an independent, slower method");
  add_rows(app, options, [&](option_row const& row) {
    return !row.is(option_row::of_checkpoint) &&
           (which == option_set::farm || !row.is(option_row::of_farm) ||
            (which == option_set::schedule && is_one_of(row, rows_of_schedule)));
  });
}

}  // namespace skel::program
