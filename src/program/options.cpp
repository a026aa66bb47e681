#include "program/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <tuple>

#include "base/duration.hpp"
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
    auto* const added = row.type.empty() ? app.add_flag_callback(
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

// Adds these rows.
void add_rows(CLI::App& app, run_options& options, std::initializer_list<std::string_view> names) {
  add_rows(app, options,
           [&](option_row const& row) { return std::ranges::find(names, row.name) != names.end(); });
}

}  // namespace

void add_schedule_options(CLI::App& app, common_options& options) {
  add_rows(app, options, {"--schedule", "--results", "--root"});
}

CLI::Option* add_key_option(CLI::App& app, std::string& file, std::string const& what) {
  return option(app, "--key-file FILE", file, what + ": 32 bytes or 64 hexadecimal digits",
                parsed_by([](std::string const& path) { std::ignore = storage::key::read(path); }));
}

namespace {

// Empty: the interval is chosen.
std::optional<std::chrono::duration<double>> interval_of(std::string const& text) {
  if (text == "auto") return {};
  return detail::parse_duration(text);
}

}  // namespace

void add_checkpoint_options(CLI::App& app, common_options& options) {
  auto* const code = option(app, "--checkpoint CODE", options.checkpoint_code,
                            "save completed work so that a later run can resume: replicate:COPIES, "
                            "parity:SLICES, ida:DATA,PARITY, central (one copy) or none",
                            parsed_by([](std::string const& text) {
                              if (text != "none") std::ignore = storage::code(text);
                            }));
  auto* const store =
      option(app, "--store DIR,...", options.store,
             "directories for its shards; ranks:DIR stores one shard on each rank's host, "
             "ranks:DIR@CLUSTER on hosts of this SKEL_CLUSTER (others: --remote-every), "
             "rank:N:DIR on the host of rank N, memory in the memory of each rank, until the job ends",
             comma_list);
  auto* const remote =
      option(app, "--remote DIR,...", options.remote.store,
             "remote directories, used for every N-th checkpoint (--remote-every)", comma_list);
  auto* const remote_every = option(app, "--remote-every N", options.remote.every,
                                    "interval of checkpoints in remote directories and other clusters",
                                    shown_default, CLI::Range(1, 1000000));
  auto* const every =
      app.add_option_function<std::string>(
             "--every", [&options](std::string const& text) { options.every = interval_of(text); },
             "time between checkpoints; auto: from their cost and the rate of failures")
          ->type_name("auto|10s|5m")
          ->default_str("auto")
          ->check(parsed_by([](std::string const& text) { std::ignore = interval_of(text); }));
  auto* const between_failures =
      app.add_option_function<std::string>(
             "--mtbf",
             [&options](std::string const& text) { options.between_failures = detail::parse_duration(text); },
             "expected time between failures of the job, for --every auto")
          ->type_name("24h|30m")
          ->default_str("24h")
          ->check(parsed_by([](std::string const& text) { std::ignore = detail::parse_duration(text); }));
  auto* const resume =
      app.add_flag("--resume{yes}", options.resume,
                   "resume from the newest readable checkpoint; with auto, start if there is none")
          ->type_name("[auto]")
          ->check(CLI::IsMember({"yes", "auto"}))
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  auto* const object =
      option(app, "--resume-object ID", options.resume_object,
             "resume from this object if two have the newest number; see skel-checkpoint list");
  auto* const key = add_key_option(app, options.key_file, "key that encrypts checkpoints");
  rarely_used(app, {"--remote", "--remote-every", "--mtbf", "--resume-object", "--key-file"});
  code->needs(store);
  object->needs(resume);
  for (auto* const o : {store, remote, remote_every, every, between_failures, resume, key}) o->needs(code);
  for (auto* const o : {code, store, remote, remote_every, every, between_failures, resume, object, key})
    o->group("Checkpoints");
}

std::optional<checkpoint_options> common_options::checkpoint(std::string const& program,
                                                             std::string const& problem) const {
  if (checkpoint_code.empty() || checkpoint_code == "none") return {};
  checkpoint_options c;
  c.code = checkpoint_code;
  c.store = store;
  c.remote = remote;
  if (every) c.every_seconds = every->count();
  c.mean_seconds_between_failures = between_failures.count();
  using enum checkpoint_options::resume_mode;
  c.resume = resume == "yes" ? yes : resume == "auto" ? if_there : no;
  c.resume_object = resume_object;
  c.key_file = key_file;
  c.program = {program, SKEL_VERSION};
  c.problem = problem;
  return c;
}

void add_report_options(CLI::App& app, common_options& options) {
  add_rows(app, options, {"--report", "--trace", "--page", "--samples", "--quiet"});
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
  add_rows(app, options,
           [&](option_row const& row) { return which == option_set::farm || !row.is(option_row::of_farm); });
}

}  // namespace skel::program
