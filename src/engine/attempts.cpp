#include "attempts.hpp"

#include <cstdio>
#include <utility>

#include "base/format.hpp"
#include "context_access.hpp"

namespace skel::detail {

attempts_end run_attempts(
    std::shared_ptr<job_wires> const& job,
    std::function<std::shared_ptr<engine>(std::unique_ptr<transport::transport>)> const& make,
    std::string const& program, function_reference<int(context&)> body) {
  for (int attempt = 1;; ++attempt) {
    auto engine = make(std::make_unique<view_transport>(job));
    engine->attempt = attempt;
    auto& farewell = engine->farewell();
    farewell.program = program;
    auto const end = [&] {
      context ctx = context_access::make(engine);
      return run_body(ctx, body);
    }();
    int const code = engine->say_farewell(end, program);
    farewell.program.clear();
    if (!farewell.view_ended() || farewell.has_verdict()) return {code, std::move(engine)};
    bool const quiet = engine->options().quiet;
    int const root = job->now().members.front();
    engine.reset();
    if (!job->enter_next()) {
      std::fprintf(stderr, "%s: rank %d was silent for too long: the other ranks have gone on without it\n",
                   program.c_str(), job->carrier().rank());
      return {.code = 1, .left_out = true};
    }
    auto const& members = job->now().members;
    if (members.front() == job->carrier().rank() && !quiet)
      std::fprintf(stderr, "%s: lost the root (rank %d): %zu of %d ranks begin again, with rank %d as root\n",
                   program.c_str(), root, members.size(), job->carrier().size(), members.front());
  }
}

}  // namespace skel::detail
