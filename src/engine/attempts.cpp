#include "attempts.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>
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
      of.options().again.remember_bytes.value_or(available_memory() / 20 / std::max<std::uint64_t>(1, here)),
      of.now());
}

// For example "lost the root (rank 0): 3 of 4 ranks begin again, with rank 1 as root".
std::string line_of_attempt(std::vector<int> const& before, std::vector<int> const& now, int all) {
  std::vector<int> gone, new_ones;
  std::ranges::set_difference(before, now, std::back_inserter(gone));
  std::ranges::set_difference(now, before, std::back_inserter(new_ones));
  auto const list = [](std::vector<int> const& ranks) {
    std::string text = ranks.size() == 1 ? "rank" : "ranks";
    for (int const& r : ranks) text += (&r == &ranks.front() ? " " : ", ") + std::to_string(r);
    return text;
  };
  bool const lost_root = before.front() != now.front();
  auto text = lost_root ? detail::format("lost the root (rank {})", before.front())
                        : detail::format("{} {} in for lost ones", list(new_ones),
                                         new_ones.size() == 1 ? "steps" : "step");
  text += detail::format(": {} of {} ranks begin again", now.size(), all);
  if (lost_root && !new_ones.empty()) text += detail::format(", {} in place of lost ones", list(new_ones));
  return lost_root ? text + detail::format(", with rank {} as root", now.front()) : text;
}

}  // namespace

attempts_end run_attempts(
    std::shared_ptr<job_wires> const& job,
    std::function<std::shared_ptr<engine>(std::unique_ptr<transport::transport>)> const& make,
    std::string const& program, function_reference<int(context&)> body, bool may_leave) {
  std::vector<rank_loss> losses;
  std::shared_ptr<remembered_results> memory;
  bool retires = false;
  auto const self = job->carrier().rank();
  if (auto const& all = job->now().members; !std::ranges::binary_search(all, self))
    if (auto const end = job->wait_until_needed()) {
      if (end->silent)
        std::fprintf(stderr, "%s: rank %d has waited in vain: the ranks that worked have ended\n",
                     program.c_str(), self);
      return {.code = end->code, .abrupt = end->abrupt};
    }
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
    if (code) {
      std::lock_guard const lock(engine->mutex());
      job->release_spares({*code, job->now().number > 1 || engine->farewell().leaves_abruptly()});
      return {*code, std::move(engine)};
    }
    bool const quiet = engine->options().quiet;
    auto const before = job->now().members;
    std::unique_lock lock(engine->mutex());  // the helper still hears of losses
    auto const known = engine->losses();
    bool const root_from_outside = engine->peers().is_lost_from_outside(0);
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
    if (memory) {
      memory->attempt_begins(job->carrier().now());
      if (!std::ranges::binary_search(members, before.front()))
        memory->root_lost(before.front(), root_from_outside);
    }
    if (members.front() == self && !quiet)
      std::fprintf(stderr, "%s: %s\n", program.c_str(),
                   line_of_attempt(before, members, job->carrier().size()).c_str());
  }
}

}  // namespace skel::detail
