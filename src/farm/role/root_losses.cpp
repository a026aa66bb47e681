// The root of a farm after losses: it takes stock, and gives tasks that ran on lost ranks to one rank at a
// time.
#include "farm/role/root.hpp"

namespace skel::role {

void farm_root::lost(rank_id rank, farm_actions& out) {
  if (!knows(rank) || !dealer_.alive(rank) || finished() || rank == config_.root) return;
  dealer_.lost(rank);
  suspects_.lost(rank);
  stock_.lost(rank);
  stock_.again_soon();
  enlist_root(out);
  deal(out);
  roll_.count(sunk_, handed_out_again_);
  roll(out, &roll_call::lost, rank);
  if (stopping()) return;
  audits_.lost(rank);
  give_audits(out);
  if (stopping()) return;
  if (stock_.under_way())
    finish_stock(out);  // the next tick counts again without it
  else
    take_stock(out);
}

void farm_root::tick(farm_actions& out) {
  if (finished()) return;
  if (stopping()) {
    roll(out, &roll_call::tick);
    return;
  }
  if (auto const guilty = suspects_.tick()) {
    blamed const why{guilty->work, guilty->ranks, guilty->more};
    if (config_.on_error.collects)
      give_up({why.task, why.ranks.empty() ? 0 : why.ranks.back(), static_cast<unsigned>(why.ranks.size()),
               text_of(why), true},
              out);
    else
      roll(out, &roll_call::on, config_.root, call_message(why));
    return;
  }
  give_suspects(out);
  give_failed(out);
  give_audits(out);
  if (stopping()) return;
  if (directs()) direct_idle(true, out);
  give_early_copies(out);
  if (stock_.tick(!roll_.lost_ranks().empty() || !audits_.faults().empty())) take_stock(out);
}

void farm_root::take_stock(farm_actions& out) {
  stock_.begin();
  for (rank_id r = 0; r < config_.ranks; ++r) {
    if (!dealer_.alive(r)) stock_.gone(r);
    if (!dealer_.computes(r)) continue;
    stock_.asked(r);
    out.push_back(farm::send{r, farm::take_stock{stock_.round(), !dealer_.said_hello(r)}});
  }
  finish_stock(out);
}

void farm_root::on_stock(rank_id rank, farm::stock const& m, farm_actions& out) {
  if (!stock_.awaits(rank, m.round) || !tasks_exist(rank, m.held, out)) return;
  stock_.answered(rank, m.held);
  dealer_.holds(rank, count_tasks(m.held));
  finish_stock(out);
}

void farm_root::finish_stock(farm_actions& out) {
  if (!stock_.complete()) return;
  if (!dealer_.dealt()) {
    stock_.end();
    return;
  }
  for (auto const& r : dealer_.pool().ranges()) stock_.claim(r);
  for (task_id const id : failed_.waiting()) stock_.claim({id, 1, 1});
  for (task_id const id : audits_.take_back_if([&](task_id t) { return !stock_.claimed().contains(t); }))
    stock_.claim({id, 1, 1});
  find_suspects();
  auto const missing = recorded_.missing(recorded_.low_water(), available_, stock_.claimed());
  stock_.end();
  if (!missing.empty()) stock_.again_soon();  // more may be missing
  put_back(missing);
  give_suspects(out);
  give_failed(out);
  give_audits(out);
  serve_all(out);
  push(out);
}

// --- tasks that were running on lost ranks

bool farm_root::may_blame(rank_id rank) const { return config_.most_losses > 0 && rank != config_.root; }

// Whether it matters what this rank runs: it may die of it, or others may copy it.
bool farm_root::watches(rank_id rank) const { return may_blame(rank) || directs(); }

void farm_root::on_begins(rank_id rank, farm::begins const& m, farm_actions& out) {
  if (stopping() || !tasks_exist(rank, m.running, out)) return;
  if (watches(rank) && !m.running.empty()) begun_.all(rank, dealer_.threads(rank), m.running, now_);
  told(rank, m.here);
  direct_idle(false, out);
  give_early_copies(out);
}

// At the end of a round of stock-taking: suspects are the tasks that are neither recorded nor claimed and
// were running on a rank that was lost before the round. They are given one by one, so the round claims them.
void farm_root::find_suspects() {
  auto const missing = [&](task_id id) { return !recorded_.contains(id) && !stock_.claimed().contains(id); };
  auto const before = suspects_.not_held().size();
  for (rank_id rank = 0; rank < config_.ranks; ++rank) {
    if (!may_blame(rank) || !stock_.claims_nothing(rank) || dealer_.alive(rank)) continue;
    auto const running = begun_.take(rank);
    for (auto const& r : running)
      for (std::uint64_t k = 0; k < r.count; ++k)
        if (missing(r[k])) suspects_.add(r[k], rank, running.size() == 1);
  }
  suspects_.take_back_if(missing);
  auto const to_give = suspects_.not_held();
  handed_out_again_ += to_give.size() - before;
  for (task_id const id : to_give) stock_.claim({id, 1, 1});
}

// Gives each rank one suspect at a time, so that a further loss points to one task.
void farm_root::give_suspects(farm_actions& out) {
  if (stopping() || suspects_.empty()) return;
  for (rank_id const to : dealer_.takers_alone()) {
    if (suspects_.holds_one(to)) continue;
    auto const task = suspects_.next();
    if (!task) return;
    suspects_.given(*task, to);
    dealer_.count_given();
    if (stock_.under_way()) stock_.claim({*task, 1, 1});
    out.push_back(farm::send{to, farm::grant_alone{{*task, 1, 1}}});
  }
}

}  // namespace skel::role
