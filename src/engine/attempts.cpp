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

// The attempts of one rank.
class attempts {
 public:
  using make_engine = std::function<std::shared_ptr<engine>(std::unique_ptr<transport::transport>)>;
  attempts(std::shared_ptr<job_wires> const& job, make_engine const& make, std::string const& program,
           bool may_leave)
      : job_(job), make_(make), program_(program), may_leave_(may_leave) {}

  attempts_end run(function_reference<int(context&)> body) {
    for (;;) {
      auto engine = begin();
      auto const end = [&] {
        context ctx = context_access::make(engine);
        return run_body(ctx, body);
      }();
      retires_ = engine->retirement().wanted();
      if (auto last = end_of_job(engine, end)) return std::move(*last);
      if (!go_on(std::move(engine))) {
        std::fprintf(stderr, "%s: rank %d was silent for too long: the other ranks have gone on without it\n",
                     program_.c_str(), self());
        return {.code = 1, .left_out = true};
      }
    }
  }

 private:
  [[nodiscard]] int self() const { return job_->carrier().rank(); }

  std::shared_ptr<engine> begin() {
    attempt_ = static_cast<int>(job_->now().number);
    auto made = make_(std::make_unique<view_transport>(job_));
    note_attempt(attempt_);
    if (!memory_ && job_->restarts()) memory_ = memory_of(*made);
    made->job.attempt = attempt_;
    made->job.earlier_losses = losses_;
    made->job.memory = memory_;
    auto& leaving = made->retirement();
    leaving.kept_by =
        may_leave_ ? "" : "mpiexec would end the job with it; start the program with skel-mpiexec";
    leaving.memory = memory_.get();
    if (retires_) leaving.want();
    made->farewell().program = program_;
    return made;
  }

  // Returns nothing if the body must run again.
  std::optional<attempts_end> end_of_job(std::shared_ptr<engine> const& engine, departure const& end) {
    if (std::unique_lock const lock(engine->mutex()); engine->retirement().done()) {
      if (!engine->options().quiet)
        std::fprintf(stderr, "%s: rank %d has retired\n", program_.c_str(), self());
      return attempts_end{.retired = true};
    }
    auto const code = engine->say_farewell(end, program_);
    engine->farewell().program.clear();
    if (!code) return std::nullopt;
    std::lock_guard const lock(engine->mutex());
    job_->release_spares({*code, job_->now().number > 1 || engine->farewell().leaves_abruptly()});
    return attempts_end{*code, engine};
  }

  // Enters the next view. Returns false if it leaves this rank out.
  bool go_on(std::shared_ptr<engine> engine) {
    bool const quiet = engine->options().quiet;
    auto const before = job_->now().members;
    std::unique_lock lock(engine->mutex());  // the helper still hears of losses
    auto const known = engine->losses();
    bool const root_from_outside = engine->peers().is_lost_from_outside(0);
    lock.unlock();
    if (engine.use_count() > 1)  // the body has kept a context, whose helper would go on receiving
      engine->close_wires("a context of an earlier attempt: make it anew from that of the body");
    engine.reset();
    if (!job_->enter_next()) return false;
    auto const& members = job_->now().members;
    losses_ = losses_between(before, members, known, attempt_);
    if (memory_) {
      memory_->attempt_begins(job_->carrier().now());
      if (!std::ranges::binary_search(members, before.front()))
        memory_->root_lost(before.front(), root_from_outside);
    }
    if (members.front() == self() && !quiet)
      std::fprintf(stderr, "%s: %s\n", program_.c_str(),
                   line_of_attempt(before, members, job_->carrier().size()).c_str());
    return true;
  }

  std::shared_ptr<job_wires> job_;
  make_engine const& make_;
  std::string program_;
  bool may_leave_;
  int attempt_ = 0;
  std::vector<rank_loss> losses_;
  std::shared_ptr<remembered_results> memory_;
  bool retires_ = false;
};

}  // namespace

attempts_end run_attempts(
    std::shared_ptr<job_wires> const& job,
    std::function<std::shared_ptr<engine>(std::unique_ptr<transport::transport>)> const& make,
    std::string const& program, function_reference<int(context&)> body, bool may_leave) {
  if (!std::ranges::binary_search(job->now().members, job->carrier().rank()))
    if (auto const end = job->wait_until_needed()) {
      if (end->silent)
        std::fprintf(stderr, "%s: rank %d has waited in vain: the ranks that worked have ended\n",
                     program.c_str(), job->carrier().rank());
      return {.code = end->code, .abrupt = end->abrupt};
    }
  return attempts(job, make, program, may_leave).run(body);
}

}  // namespace skel::detail
