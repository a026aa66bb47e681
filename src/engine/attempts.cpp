#include "attempts.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/format.hpp"
#include "base/memory.hpp"
#include "context_access.hpp"
#include "exit_status.hpp"
#include "remembered_results.hpp"

namespace skel::detail {

namespace {

// Those known at the end of an attempt, without ranks that go on, and those that only others have noticed.
std::vector<rank_loss> losses_between(std::vector<int> const& before, std::vector<int> const& after,
                                      std::vector<rank_loss> losses, int attempt) {
  std::erase_if(losses, [&](auto const& l) { return std::ranges::binary_search(after, l.rank); });
  for (int const r : before)
    if (!std::ranges::binary_search(after, r) &&
        std::ranges::find(losses, r, &rank_loss::rank) == losses.end())
      losses.push_back({r, attempt, r == before.front(), loss_notice::agreed, 0});
  return losses;
}

std::shared_ptr<remembered_results> memory_of(engine& of) {
  auto const here = static_cast<std::uint64_t>(of.place.on_host.size);
  return std::make_shared<remembered_results>(
      of.options().remember_bytes.value_or(available_memory() / 20 / std::max<std::uint64_t>(1, here)));
}

}  // namespace

attempts_end run_attempts(
    std::shared_ptr<job_wires> const& job,
    std::function<std::shared_ptr<engine>(std::unique_ptr<transport::transport>)> const& make,
    std::string const& program, function_reference<int(context&)> body, bool may_leave) {
  std::vector<rank_loss> losses;
  std::shared_ptr<remembered_results> memory;
  bool retires = false;
  for (;;) {
    auto const attempt = static_cast<int>(job->now().number);
    auto engine = make(std::make_unique<view_transport>(job));
    note_attempt(attempt);
    if (!memory && job->restarts()) memory = memory_of(*engine);
    engine->job.attempt = attempt;
    engine->job.earlier_losses = losses;
    engine->job.memory = memory;
    auto& leaving = engine->retirement();
    leaving.kept_by =
        may_leave ? "" : "mpiexec would end the job with it; start the program with skel-mpiexec";
    leaving.memory = memory.get();
    if (retires) leaving.want();
    auto& farewell = engine->farewell();
    farewell.program = program;
    auto const end = [&] {
      context ctx = context_access::make(engine);
      return run_body(ctx, body);
    }();
    retires = leaving.wanted();
    if (std::unique_lock const lock(engine->mutex()); leaving.done()) {
      if (!engine->options().quiet)
        std::fprintf(stderr, "%s: rank %d has retired\n", program.c_str(), job->carrier().rank());
      return {.retired = true};
    }
    auto const code = engine->say_farewell(end, program);
    farewell.program.clear();
    if (code) return {*code, std::move(engine)};
    bool const quiet = engine->options().quiet;
    auto const before = job->now().members;
    std::unique_lock lock(engine->mutex());  // the helper still hears of losses
    auto const known = engine->losses();
    if (memory) memory->root_lost(before.front(), engine->peers().is_lost_from_outside(0));
    lock.unlock();
    if (engine.use_count() > 1)  // the body has kept a context, whose helper would go on receiving
      engine->close_wires("a context of an earlier attempt: make it anew from that of the body");
    engine.reset();
    if (!job->enter_next()) {
      std::fprintf(stderr, "%s: rank %d was silent for too long: the other ranks have gone on without it\n",
                   program.c_str(), job->carrier().rank());
      return {.code = 1, .left_out = true};
    }
    auto const& members = job->now().members;
    losses = losses_between(before, members, known, attempt);
    if (members.front() == job->carrier().rank() && !quiet)
      std::fprintf(stderr, "%s: lost the root (rank %d): %zu of %d ranks begin again, with rank %d as root\n",
                   program.c_str(), before.front(), members.size(), job->carrier().size(), members.front());
  }
}

}  // namespace skel::detail
