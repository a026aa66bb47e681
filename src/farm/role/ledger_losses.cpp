// What the ledger does when ranks are lost, or nothing moves: it takes stock.
#include <algorithm>
#include <utility>

#include "farm/role/ledger.hpp"

namespace skel::role {

namespace {
// Ticks without movement after which stock is taken although nobody is known to be lost (a lossy wire), and
// after which `stop` is said again.
constexpr unsigned patience = 8;
// After a loss stock is taken again and again: after one tick, then two, four, and so on up to this.
constexpr unsigned longest_pause = 64;
}  // namespace

void ledger::lost(rank_id rank, actions& out) {
  auto* const p = find(rank);
  if (p == nullptr || !p->alive || finished_ || rank == config_.root) return;
  p->alive = false;
  p->waiting = false;
  p->judged = std::exchange(p->stock_due, false);  // it has claimed nothing in this round
  last_lost_ = static_cast<std::size_t>(p - peers_.data());
  stock_pause_ = 1;
  enlist_root(out);
  deal_shares(out);
  if (stopping_)
    maybe_finish(out);
  else if (stock_round_)
    stock_complete(out);  // the next tick counts again without it
  else
    take_stock(out);
}

// A root that only serves works when nobody else is left who could.
void ledger::enlist_root(actions& out) {
  if (stopping_ ||
      std::any_of(peers_.begin(), peers_.end(), [](auto const& p) { return p.computes && p.alive; }))
    return;
  auto* const root = find(config_.root);
  root->computes = true;
  root->closed = true;
  out.push_back(send{config_.root, {.kind = message_kind::nothing}});
}

void ledger::tick(actions& out) {
  if (finished_) return;
  if (!stopping_ && !suspects_.empty()) {
    blame(out);
    give_suspects(out);
  }
  if (stopping_) {
    if (++stop_ticks_ % patience != 0) return;
    for (rank_id r : not_stopped()) out.push_back(send{r, {.kind = message_kind::stop}});
    return;
  }
  bool const somebody_lost =
      std::any_of(peers_.begin(), peers_.end(), [](auto const& p) { return !p.alive; });
  if (stock_round_ || somebody_lost) ++stock_ticks_;
  // A round that is under way is given time: answers may take longer than a tick.
  if (stock_round_ && stock_ticks_ < patience) return;
  // Level-triggered: reacting once to each loss would leave tasks behind that were on their way to the dead.
  // They are few and soon there, so the pauses grow; what shows up late is found when nothing else moves.
  bool const again = somebody_lost && (stock_round_ || stock_ticks_ >= stock_pause_);
  if (++quiet_ticks_ >= patience || again) {
    quiet_ticks_ = 0;
    stock_pause_ = std::min(stock_pause_ * 2, longest_pause);
    take_stock(out);
  }
}

void ledger::take_stock(actions& out) {
  if (stopping_ || finished_) return;
  stock_round_ = true;
  stock_ticks_ = 0;
  ++round_;
  claimed_ = {};
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    auto& p = peers_[i];
    p.stock_due = p.computes && p.alive;
    p.judged = !p.alive;
    if (p.stock_due)
      out.push_back(send{config_.ranks[i],
                         {.kind = message_kind::take_stock, .number = round_, .extra = p.hello ? 0U : 1U}});
  }
  stock_complete(out);
}

void ledger::on_stock(std::size_t index, message const& m, actions& out) {
  auto& p = peers_[index];
  if (!stock_round_ || m.number != round_ || !p.stock_due || !tasks_exist(index, m.ranges, out)) return;
  p.stock_due = false;
  for (auto const& r : m.ranges) claimed_.insert(r);
  stock_complete(out);
}

void ledger::stock_complete(actions& out) {
  if (!stock_round_ || std::any_of(peers_.begin(), peers_.end(), [](auto const& p) { return p.stock_due; }))
    return;
  if (!dealt_) {
    stock_round_ = false;
    return;
  }
  for (auto const& r : pool_) claimed_.insert(r);
  find_suspects();
  auto const missing = recorded_.missing(recorded_.low_water(), available_, claimed_);
  stock_round_ = false;
  claimed_ = {};
  if (!missing.empty()) stock_pause_ = 1;  // there may be more where these were
  put_back(missing);
  give_suspects(out);
  serve_waiting(out);
  push_to_closed(out);
}

}  // namespace skel::role
