#include "member.hpp"

#include <algorithm>
#include <utility>

#include "base/overloaded.hpp"

namespace skel::role {

namespace {
// Ticks after which a rank says hello again, so that the root drops a false suspicion.
constexpr unsigned hello_again = 8;
}  // namespace

void team_member::say_hello(team_actions& out) const {
  out.push_back(tell_root{hello{config_.call_hash, config_.computes ? 1U : 0U, 0}});
}

void team_member::on(rank_id /*from*/, team_message const& m, team_actions& out) {
  if (attendance_.ended()) return;
  std::visit(overloaded{
                 [&](team::run const& r) {
                   job_ = r;
                   cancelled_ = false;
                   lost_.reset();
                   out.push_back(team::begin{r});
                 },
                 [&](team::cancel const& c) {
                   if (job_ && job_->job == c.job) cancel(c.because_of, c.text, out);
                 },
                 [&](team::released const& l) { leave_.grant(l.number); },
                 [&](call_message const& call) {
                   attendance_.on(call, out);
                   if (!job_)
                     attendance_.quiet(out);
                   else if (attendance_.ended())  // the others have gone on without this rank
                     cancel(config_.root, "the farm has ended without this rank", out);
                 },
                 [](auto const& /*to the root*/) {},
             },
             m);
}

void team_member::cancel(rank_id because_of, std::string text, team_actions& out) {
  if (std::exchange(cancelled_, true)) return;
  out.push_back(team::abandon{because_of, std::move(text)});
}

void team_member::ended(std::optional<std::string> failure, team_actions& out) {
  if (!job_) return;
  auto const job = std::exchange(job_, std::nullopt)->job;
  if (attendance_.ended()) return;
  if (cancelled_) failure.reset();  // its calls failed because of another rank
  say(team::ended{job, cancelled_, std::move(failure), lost_}, out);
  attendance_.quiet(out);
}

void team_member::overran(std::string text, team_actions& out) {
  if (job_ && !attendance_.ended()) say(team::overran{job_->job, std::move(text)}, out);
}

void team_member::retire(bool does, team_actions& out) {
  if (!attendance_.active()) return;
  if (auto const number = leave_.make(does)) say(team::retires{*number}, out);
}

void team_member::lost(rank_id rank, team_actions& out) {
  if (attendance_.ended()) return;
  bool const root = attendance_.lost(rank, out);
  if (!job_) return;
  if (root) return cancel(rank, "lost the root (rank " + std::to_string(rank) + ")", out);
  auto const number = static_cast<std::uint64_t>(rank);
  if (std::none_of(job_->ranks.begin(), job_->ranks.end(), [&](auto const& r) { return r.contains(number); }))
    return;
  if (!cancelled_) lost_ = rank;
  cancel(rank, "lost rank " + std::to_string(rank) + " of the team", out);
}

void team_member::tick(team_actions& out) {
  if (attendance_.ended() || ++ticks_ % hello_again != 0) return;
  if (!attendance_.told_stopped()) say_hello(out);
  if (auto const number = leave_.unanswered()) say(team::retires{*number}, out);
  attendance_.say_again(out);
}

}  // namespace skel::role
