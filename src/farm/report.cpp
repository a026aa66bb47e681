// What a farm says of itself.
#include "base/format.hpp"
#include "run.hpp"

namespace skel::detail {

void farm_run::describe(report& r) const {
  r.skeleton = "farm";
  r.schedule = to_string(policy_);
  r.results = to_string(options_.results);
  if (ledger_) r.lost_ranks = ledger_->lost_ranks();
}

void farm_run::describe(observe::progress_state& s, bool /*last*/) const {
  s.done = sunk_;
  s.total = traits_.tasks;
  s.lost_ranks = lost_ranks_;
}

std::string farm_run::state() const {
  std::string text = detail::format(
      "rank {}: farm {} (context {}, {}): {} queued, {} running, {} finished and not sent{}", rank_,
      key_.number, key_.context, to_string(policy_), worker_.queued(), worker_.running(), worker_.unsent(),
      worker_.waiting() ? ", waiting for an answer of the root" : "");
  if (!ledger_) {
    if (!heard_[static_cast<std::size_t>(root_)]) text += "; nothing heard from the root in this call";
    return text;
  }
  text += detail::format("; root: {} given, {} recorded, {} in the sink, {} in the pool", ledger_->given(),
                         ledger_->recorded(), sunk_.load(), ledger_->pooled());
  if (ledger_->stopping())
    text += detail::format(", stopping, waiting for ranks [{}]", detail::join(ledger_->not_stopped(), " "));
  std::vector<int> absent;
  for (std::size_t r = 0; r < heard_.size(); ++r)
    if (!heard_[r] && static_cast<int>(r) != rank_) absent.push_back(static_cast<int>(r));
  if (!absent.empty()) text += detail::format("; not in this call: ranks [{}]", detail::join(absent, " "));
  return text;
}

report run_farm(context& ctx, farm_work& work, farm_policy const& policy, farm_options const& options) {
  farm_run run(ctx, work, policy, options);
  report r;
  try {
    r = run.execute();
  } catch (...) {
    run.save_last();
    throw;
  }
  run.save_last();
  r.checkpoint = run.checkpoint_costs();
  return r;
}

}  // namespace skel::detail
