#include "program/run_program.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <new>

#include "base/text.hpp"
#include "program/paths.hpp"
#include "program/same_options.hpp"
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

}  // namespace

void complain(std::string const& program, std::string const& text) {
  fmt::print(stderr, "{}: {}\n", program, detail::one_line(text));
}

int run_program(int argc, char** argv, program_info const& info, add_options_function const& add_options,
                body_function const& body) {
  auto* const summary = info.summary_to_errors ? stderr : stdout;
  auto const run = [&](context& ctx) {
    common_options options;
    CLI::App app(info.description, info.name);
    add_help(app);
    if (add_options) add_options(app);
    add_common_options(app, options, info.options);
    if (!info.verifies) app.remove_option(app.get_option("--verify"));
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
      if (ctx.is_root() && ctx.attempt() > 1 && !options.quiet)  // what the lost root has printed comes again
        fmt::print(summary, "attempt {}\n", ctx.attempt());
      session self(ctx, info.name, static_cast<run_options const&>(options), summary);
      code = self.finish(in_one_line([&] { return body(ctx, options); }));
    }
    if (ctx.is_root()) flush_output();
    return code;
  };
  return run_main(argc, argv, restartable(run));
}

}  // namespace skel::program
