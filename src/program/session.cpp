#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/format.hpp"
#include "base/text.hpp"
#include "engine/context_access.hpp"
#include "engine/engine.hpp"
#include "program/option_rows.hpp"
#include "program/paths.hpp"
#include "program/run_files.hpp"
#include "program/signals.hpp"
#include "program/sister.hpp"
#include "skel/atomic_file.hpp"
#include "skel/context.hpp"
#include "skel/error.hpp"
#include "skel/farm.hpp"

namespace skel::program {

farm_options run_options::farm() const {
  farm_options o;
  o.results = results();
  o.root_works = of_farm.root_works;
  o.on_error = on_error();
  o.audit = of_farm.audit;
  if (of_farm.task_time_limit) o.task.time_limit_seconds = of_farm.task_time_limit->count();
  return o;
}

std::optional<checkpoint_options> run_options::checkpoint(checkpoint_options::program_version const& program,
                                                          std::string const& problem) const {
  if (!saves()) return std::nullopt;
  auto c = of_checkpoints.how;
  using enum checkpoint_options::resume_mode;
  c.resume = of_checkpoints.resume == "yes" ? yes : of_checkpoints.resume == "auto" ? if_there : no;
  c.program = program;
  c.problem = problem;
  return c;
}

observe::progress_mode run_options::progress() const {
  auto const mode = observe::parse_progress_mode(progress_text);
  return quiet && mode == observe::progress_mode::automatic ? observe::progress_mode::never : mode;
}

std::string help_of_options() {
  constexpr std::size_t column = 26;
  std::string text, group;
  for (auto const& row : option_rows()) {
    if (row.group() != group) text += (group.empty() ? "" : "\n") + row.group() + ":\n";
    group = row.group();
    auto line = "  " + row.name + (row.type.empty() ? "" : " " + row.type);
    line +=
        line.size() + 2 > column ? "\n" + std::string(column, ' ') : std::string(column - line.size(), ' ');
    text += line + row.help + (row.fallback.empty() ? "" : " [" + row.fallback + "]") + "\n";
  }
  return text;
}

void require_same_values(context& ctx, std::vector<named_value> const& values) {
  if (ctx.size() == 1) return;
  std::string everything;
  for (auto const& [name, value] : values) everything.append(name).append("=").append(value).append("\n");
  try {
    ctx.require_same("the options", everything);
  } catch (usage_error const&) {  // thrown on every rank, so all ranks look for the option together
    for (auto const& [name, value] : values) ctx.require_same(name, value);
    throw;
  }
}

// --- the command line

namespace {

void check_range(option_row const& row, std::string const& value) {
  auto const check = [&](auto const& range) {
    auto const x = detail::to_number<std::remove_cvref_t<decltype(range.first)>>(value);
    if (!x || !(*x >= range.first && *x <= range.second))
      throw usage_error(detail::format("expected {} to {}, found \"{}\"", range.first, range.second, value));
  };
  if (auto const* const whole = std::get_if<std::pair<int, int>>(&row.range)) check(*whole);
  if (auto const* const any = std::get_if<std::pair<double, double>>(&row.range)) check(*any);
}

void set(run_options& options, option_row const& row, std::string const& value) {
  try {
    check_range(row, value);
    row.set(options, value);
  } catch (usage_error const& bad) {
    throw usage_error(row.name + ": " + bad.what());
  }
}

// The values that all ranks must share are appended to `shared`.
run_options taken_from(int& argc, char** argv, std::vector<named_value>& shared) {
  run_options options;
  std::vector<std::optional<std::string>> values(option_rows().size());
  int left = std::min(argc, 1);
  int at = left;
  for (; at < argc && std::string_view(argv[at]) != "--"; ++at) {
    std::string_view const word = argv[at];
    auto const name = word.substr(0, word.find('='));
    auto const row = std::ranges::find(option_rows(), name, &option_row::name);
    bool const joined = name.size() < word.size();
    if (row == option_rows().end() || (joined && row->type.empty())) {
      argv[left++] = argv[at];
      continue;
    }
    auto& value = values[static_cast<std::size_t>(row - option_rows().begin())];
    bool const optional = row->is(option_row::optional_value);
    if (joined || row->type.empty())
      value = joined ? word.substr(name.size() + 1) : std::string_view();
    else if (optional)
      value = at + 1 < argc && row->type == detail::format("[{}]", argv[at + 1]) ? argv[++at] : "yes";
    else if (at + 1 < argc)
      value = argv[++at];
    else
      throw usage_error(detail::format("{}: expected {}", row->name, row->type));
  }
  while (at < argc) argv[left++] = argv[at++];
  argc = left;
  argv[argc] = nullptr;
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto const& row = option_rows()[i];
    auto const* const variable = row.variable.empty() ? nullptr : std::getenv(row.variable.c_str());
    if (!values[i] && variable != nullptr) values[i] = variable;
    if (values[i]) set(options, row, *values[i]);
    if (!row.is(option_row::per_rank)) shared.push_back({row.name, values[i].value_or(row.fallback)});
  }
  require_companions(options, [&](std::string_view option) {
    auto const row = std::ranges::find(option_rows(), option, &option_row::name);
    return values[static_cast<std::size_t>(row - option_rows().begin())].has_value();
  });
  return options;
}

}  // namespace

// --- the run

namespace {

void apply(run_options const& options, context& ctx) {
  if (options.threads) ctx.set_threads(*options.threads);
  ctx.set_progress(options.progress());
  ctx.set_quiet(options.quiet);
  if (options.traces()) ctx.set_trace(true);
}

}  // namespace

// On the root: rewrites a report every second with the progress of the run (--live-report), and serves it
// as a page (--watch). Does nothing if neither option is given.
class live_view {
 public:
  live_view(context& ctx, run_options const& options, std::string program)
      : ctx_(ctx), program_(std::move(program)) {
    if (!ctx.is_root()) return;
    report_ = options.files.live_report;
    if (options.watch) {
      if (report_.empty()) report_ = folder_.emplace().file("report.json");
      auto const view = find_sister("skel-view");
      if (!view) throw error("--watch: skel-view not found");
      viewer_.emplace(*view, std::vector<std::string>{"--follow", report_, "--port",
                                                      std::to_string(*options.watch), "--until-eof"});
    }
    if (!report_.empty())
      ctx.set_observer([this](auto const& label, auto const& state) { write(label, state); });
  }
  ~live_view() {
    if (!report_.empty()) ctx_.set_observer({});
  }
  live_view(live_view const&) = delete;
  live_view& operator=(live_view const&) = delete;
  void finish(run_outcome const& outcome) {
    if (!report_.empty())
      skel::write_file_atomically(
          report_, observe::report_to_json(outcome.run, {program_, outcome.result_xxh3, outcome.fields}));
  }

 private:
  void write(std::string const& label, observe::progress_state const& state) const {
    nlohmann::ordered_json progress{{"label", label}, {"unit", state.unit}, {"done", state.done}};
    if (state.total) progress["total"] = *state.total;
    progress["failed"] = state.failed;
    progress["lost_ranks"] = state.lost_ranks;
    nlohmann::ordered_json const report{{"schema", observe::report_schema},
                                        {"program", program_},
                                        {"ranks", state.ranks},
                                        {"seconds", state.seconds},
                                        {"progress", progress},
                                        {"per_rank", nlohmann::ordered_json::array()}};
    try {
      skel::write_file_atomically(report_,
                                  report.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
    } catch (error const&) {  // the run matters more; finish() reports a full disk
    }
  }

  context& ctx_;
  std::string program_;
  std::optional<temporary_folder> folder_;  // of the report, if the user wants only the page
  std::string report_;                      // empty: nothing to do
  std::optional<running_sister> viewer_;
};

struct session::impl {
  impl(context& in, std::string program, run_options with)
      : ctx(in),
        options(std::move(with)),
        name(std::move(program)),
        signals(options.time_limit, ctx.attempt()),
        stop_context(signals->token(), [this] { ctx.request_stop(); }),
        retire_rank(signals->retirement(), [this] { ctx.retire(); }),
        live(ctx, options, name) {
    if (auto const end = signals->end()) {
      auto& engine = detail::context_access::engine_of(ctx);
      engine.job.ends =
          engine.now() + std::chrono::duration<double>(*end - stop_signals::clock::now()).count();
    }
  }

  context& ctx;
  run_options options;
  std::string name;
  std::vector<std::string> left{};  // of the command line
  std::FILE* summary = stderr;      // standard output may be the user's result
  signals_of_process signals;
  std::stop_callback<std::function<void()>> stop_context, retire_rank;
  live_view live;
};

session::session(context& ctx, std::string name, int& argc, char** argv) {
  thread_local std::pair<char**, std::vector<char*>> before;
  if (ctx.attempt() > 1 && before.first == argv && argc < std::ssize(before.second))
    argc = static_cast<int>(std::ranges::copy(before.second, argv).out - argv);  // the last attempt took some
  else
    before = {argv, {argv, argv + argc}};
  std::vector<named_value> shared;
  auto options = taken_from(argc, argv, shared);
  require_same_values(ctx, shared);
  if (ctx.is_root()) check_outputs(options);
  apply(options, ctx);
  impl_ = std::make_unique<impl>(ctx, std::move(name), std::move(options));
  if (argc > 1) impl_->left.assign(argv + 1, argv + argc);
}

session::session(context& ctx, std::string name, run_options options, std::FILE* summary) {
  apply(options, ctx);
  impl_ = std::make_unique<impl>(ctx, std::move(name), std::move(options));
  impl_->summary = summary;
}

session::~session() {
  auto& engine = detail::context_access::engine_of(impl_->ctx);
  std::unique_lock lock(engine.mutex());
  bool const again = engine.farewell().view_ended();
  lock.unlock();
  if (again) impl_->signals.keep();
}

bool session::answers_help(std::string_view usage) const {
  auto const& left = impl_->left;
  if (left.empty()) return false;
  if (left.front() == "--help" || left.front() == "-h") {
    if (impl_->ctx.is_root()) std::printf("%s\n\n%s", std::string(usage).c_str(), help_of_options().c_str());
    return true;
  }
  std::vector<std::string> names{"help"};
  for (auto const& row : option_rows()) names.push_back(row.name.substr(2));
  auto const& word = left.front();
  auto const meant = word.starts_with("--") ? detail::nearest(word.substr(2, word.find('=') - 2), names) : "";
  throw usage_error(detail::format("unexpected argument \"{}\"; {}--help lists the options",
                                   detail::printable(word),
                                   meant.empty() ? "" : "did you mean --" + meant + "? "));
}

run_options const& session::options() const { return impl_->options; }

farm_options session::farm() const {
  auto o = options().farm();
  o.checkpoint = checkpoint();
  return o;
}

std::optional<checkpoint_options> session::checkpoint() const {
  auto problem = impl_->name + '\n';
  for (auto const& word : impl_->left) problem.append(word).push_back('\n');
  return options().checkpoint({impl_->name, {}}, problem);
}

int session::finish(run_outcome outcome) {
  auto& [ctx, options, name, left, summary, signals, stop_context, retire_rank, live] = *impl_;
  auto const& run = outcome.run;
  if (!outcome.verified.empty()) outcome.fields.emplace_back("verified", true);
  if (ctx.is_root()) {
    std::vector<observe::rank_trace> traces;
    if (options.traces()) traces = ctx.traces();
    write_run_files(options, name, outcome, traces);
    bool const has_run = !run.skeleton.empty();  // or the program has only answered a question
    if (!options.quiet && !outcome.verified.empty())
      std::fprintf(summary, "verified: %s\n", outcome.verified.c_str());
    if (!options.quiet && has_run) std::fprintf(summary, "%s\n", summary_line(run).c_str());
    std::fflush(stdout);
    live.finish(outcome);
  }
  if (run.stopped_early && !signals->reason().empty())
    throw error(detail::format(
        "stopped by {} after {} tasks; the result is incomplete{}", signals->reason(), run.tasks,
        run.checkpoint && run.checkpoint->saved > 0 ? "; continue with --resume" : ""));
  if (run.needs && run.needs->not_started > 0) {
    if (ctx.is_root())
      std::fprintf(stderr,
                   "%s: %s not started, since they could not end before the time limit; the result is "
                   "incomplete%s\n",
                   name.c_str(), counted(run.needs->not_started, "task").c_str(),
                   run.checkpoint && run.checkpoint->saved > 0 ? "; continue with --resume" : "");
    return exit_not_started;
  }
  for (auto const& line : lines_of_failures(run))
    std::fprintf(stderr, "%s: %s\n", name.c_str(), detail::one_line(line).c_str());
  if (!outcome.failure.empty()) throw error(outcome.failure);
  bool const complete = run.failed_tasks.empty() && in_doubt(run) == 0;
  return complete ? 0 : exit_incomplete;  // on the root, whose code all ranks return
}

}  // namespace skel::program
