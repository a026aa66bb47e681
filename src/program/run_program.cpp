#include "program/run_program.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <new>
#include <stop_token>

#include "base/one_line.hpp"
#include "live.hpp"
#include "program/paths.hpp"
#include "program/same_options.hpp"
#include "program/signals.hpp"
#include "skel/error.hpp"
#include "skel/run_main.hpp"

namespace skel::program {

namespace {

// Messages quote user input, so every error that leaves the body is reduced to one printable line.
template <class F>
auto in_one_line(F&& call) {
  try {
    return call();
  } catch (usage_error const& bad) {
    throw usage_error(detail::one_line(bad.what()));
  } catch (std::bad_alloc const&) {
    throw error("out of memory");
  }
}

void apply(common_options const& options, context& ctx) {
  if (options.threads) ctx.set_threads(*options.threads);
  ctx.set_progress(options.progress());
  ctx.set_quiet(options.quiet);
  if (options.traces()) ctx.set_trace(true);
}

void finish(common_options const& options, std::string const& program, run_outcome const& outcome,
            context& ctx) {
  std::vector<observe::rank_trace> traces;
  if (options.traces()) traces = ctx.traces();
  write_run_files(options, program, outcome, traces);
  bool const has_run = !outcome.run.skeleton.empty();  // or the program has only answered a question
  if (!options.quiet && has_run) fmt::print("{}\n", summary_line(outcome.run));
  std::fflush(stdout);
}

special_options special(program_info const& info) {
  special_options s{info.inputs, info.may_differ};
  if (info.checkpoints) s.inputs.emplace_back("--key-file");
  for (auto const* const names : {&info.outputs, &per_rank_options()})
    s.may_differ.insert(s.may_differ.end(), names->begin(), names->end());
  return s;
}

void check_own_outputs(CLI::App const& app, std::vector<std::string> const& names) {
  for (auto const& name : names)
    for (auto const& path : app.get_option(name)->results()) check_writable(path);
}

int run(context& ctx, common_options const& options, std::string const& program, body_function const& body) {
  stop_signals const signals(options.time_limit);
  std::stop_callback const stop_context(signals.token(), [&] { ctx.request_stop(); });
  live_view live(ctx, options, program);
  auto const outcome = in_one_line([&] { return body(ctx, options); });
  if (ctx.is_root()) {
    finish(options, program, outcome, ctx);
    live.finish(outcome);
  }
  if (outcome.run.stopped_early && !signals.reason().empty()) {
    throw error(fmt::format(
        "stopped by {} after {} tasks; the result is incomplete{}", signals.reason(), outcome.run.tasks,
        outcome.run.checkpoint && outcome.run.checkpoint->saved > 0 ? "; continue with --resume" : ""));
  }
  for (auto const& line : lines_of_failures(outcome.run)) complain(program, line);
  if (!outcome.failure.empty()) throw error(outcome.failure);
  bool const complete = outcome.run.failed_tasks.empty() && in_doubt(outcome.run) == 0;
  return complete ? 0 : exit_incomplete;  // on the root, whose code all ranks return
}

}  // namespace

void complain(std::string const& program, std::string const& text) {
  fmt::print(stderr, "{}: {}\n", program, detail::one_line(text));
}

int run_program(int argc, char** argv, program_info const& info, add_options_function const& add_options,
                body_function const& body) {
  return run_main(argc, argv, [&](context& ctx) {
    common_options options;
    CLI::App app(info.description, info.name);
    add_help(app);
    if (add_options) add_options(app);
    add_common_options(app, options, info.options);
    if (!info.formats.empty()) app.get_option("--output")->description("result file: " + info.formats);
    if (info.checkpoints) add_checkpoint_options(app, options);
    int code = 0;
    if (parse(app, argc, argv, ctx.is_root())) {
      in_one_line([&] {
        require_same_options(ctx, app, special(info));
        if (options.verify && options.on_error().collects)
          throw usage_error("--verify: requires the whole result, expected no --on-error collect");
        if (!ctx.is_root()) return;
        check_outputs(options);
        check_own_outputs(app, info.outputs);
      });
      apply(options, ctx);
      code = run(ctx, options, info.name, body);
    }
    if (ctx.is_root()) flush_output();
    return code;
  });
}

}  // namespace skel::program
