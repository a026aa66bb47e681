#include "view_agreement.hpp"

#include <algorithm>

namespace skel::role {

namespace {
constexpr unsigned patience_with_spares = 10;  // ticks; one that waits answers at once
}

view_agreement::view_agreement(view of, rank_id self, unsigned patience, spare_ranks spares)
    : view_(std::move(of)), spares_(std::move(spares)), self_(self), patience_(patience) {
  std::erase_if(spares_.ranks, [&](rank_id r) { return is_member(r); });
}

bool view_agreement::is_member(rank_id rank) const {
  return std::binary_search(view_.members.begin(), view_.members.end(), rank);
}

bool view_agreement::is_spare(rank_id rank) const {
  return std::ranges::find(spares_.ranks, rank) != spares_.ranks.end();
}

void view_agreement::lost(rank_id rank, bool ended, view_messages& out) {
  if (rank == self_) return;
  bool const loss_is_new = lost_.insert(rank).second;
  bool const end_is_new = ended && ended_.insert(rank).second;
  if (end_is_new && !loss_is_new) ended_silently_.insert(rank);
  if (loss_is_new || end_is_new) step(out);
}

void view_agreement::heard(rank_id rank) {
  if (!ended_.contains(rank)) lost_.erase(rank);
}

std::optional<view> view_agreement::next() const {
  if (!decided_) return std::nullopt;
  return view{view_.number + 1, *decided_};
}

bool view_agreement::is_quorum(std::set<rank_id> const& ranks) const {
  if (2 * ranks.size() > view_.members.size()) return true;
  return std::all_of(view_.members.begin(), view_.members.end(),
                     [&](rank_id r) { return ranks.contains(r) || ended_.contains(r); });
}

bool view_agreement::is_minority() const {
  std::set<rank_id> left;
  for (rank_id const r : view_.members)
    if (!lost_.contains(r)) left.insert(r);
  return !is_quorum(left);
}

int view_agreement::living() const {
  return static_cast<int>(
      std::ranges::count_if(view_.members, [&](rank_id r) { return !lost_.contains(r); }));
}

// The lowest rank that may live and answers.
rank_id view_agreement::proposer() const {
  for (rank_id const r : view_.members) {
    auto const at = silent_.find(r);
    if (r == self_ || (r != root() && !lost_.contains(r) && (at == silent_.end() || at->second <= patience_)))
      return r;
  }
  return self_;
}

int view_agreement::passed_over() const {
  return static_cast<int>(
      std::count_if(silent_.begin(), silent_.end(), [&](auto const& s) { return s.second > patience_; }));
}

void view_agreement::send(rank_id to, views::message m, view_messages& out) {
  if (to == self_)
    on(self_, m, out);
  else if (!ended_.contains(to))
    out.push_back({to, std::move(m)});
}

void view_agreement::send_all(views::message const& m, view_messages& out) {
  for (rank_id const r : view_.members)
    if (r != self_) send(r, m, out);
  send(self_, m, out);
}

void view_agreement::renew(view_messages& out) {
  if (self_ != root() || seeks() || decided_) return;
  renews_ = true;
  begin_ballot(out);
}

// This rank has lost the root, or has lost another rank since.
void view_agreement::step(view_messages& out) {
  if (!seeks()) return;
  if (proposer() != self_)
    send(proposer(), views::root_lost{root_has_ended()}, out);
  else if (proposal_.at.round == 0)
    begin_ballot(out);
  else
    maybe_propose(out);
}

void view_agreement::begin_ballot(view_messages& out) {
  proposal_ = {{std::max(promised_.round, proposal_.at.round) + 1, self_}, {}};
  votes_.clear();
  ready_.clear();
  best_ = {};
  waited_ = 0;
  views::prepare const m{proposal_.at, root_has_ended()};
  for (rank_id const r : spares_.ranks) send(r, m, out);
  send_all(m, out);
}

void view_agreement::on(rank_id from, views::message const& m, view_messages& out) {
  if (!is_member(from) && !is_spare(from)) return;
  silent_.erase(from);
  if (decided_ && !std::holds_alternative<views::decided>(m))
    return send(from, views::decided{*decided_}, out);
  std::visit([&](auto const& own) { on(from, own, out); }, m);
}

void view_agreement::on(rank_id /*from*/, views::root_lost const& m, view_messages& out) {
  if (m.ended) lost(root(), true, out);
  step(out);
}

void view_agreement::on(rank_id from, views::prepare const& m, view_messages& out) {
  if (!is_member(self_)) return send(from, views::promise{m.at, {}}, out);
  if (m.ended) lost(root(), true, out);
  if ((!lost_.contains(root()) && from != root()) || m.at < promised_) return;
  promised_ = m.at;
  if (proposal_.at < m.at) proposal_ = {}, votes_.clear();  // this rank's own ballot is void
  send(from, views::promise{m.at, latest_}, out);
}

void view_agreement::on(rank_id from, views::promise const& m, view_messages& out) {
  if (m.at != proposal_.at || !proposal_.members.empty()) return;
  if (!m.latest.members.empty() && (best_.members.empty() || best_.at < m.latest.at)) best_ = m.latest;
  (is_member(from) ? votes_ : ready_).insert(from);
  maybe_propose(out);
}

std::size_t view_agreement::missing() const {
  return spares_.members > votes_.size() ? spares_.members - votes_.size() : 0;
}

// The lowest spare ranks stand in. One below all others does not, since it would be the root.
std::vector<rank_id> view_agreement::next_members() const {
  std::vector<rank_id> all(votes_.begin(), votes_.end());
  auto left = missing();
  for (rank_id const r : ready_) {
    if (left == 0) break;
    if (r < *votes_.begin()) continue;
    all.push_back(r);
    --left;
  }
  std::ranges::sort(all);
  return all;
}

// Ranks that live should be among the members, so the proposer waits for those that it has not lost, and a
// little for spare ones.
void view_agreement::maybe_propose(view_messages& out) {
  if (!proposal_.members.empty() || !is_quorum(votes_)) return;
  auto const answers = [&](rank_id r) {
    return votes_.contains(r) || ready_.contains(r) || lost_.contains(r);
  };
  if (waited_ <= patience_ && !std::ranges::all_of(view_.members, answers)) return;
  if (waited_ <= std::min(patience_, patience_with_spares) && ready_.size() < missing() &&
      !std::ranges::all_of(spares_.ranks, answers))
    return;
  proposal_.members = best_.members.empty() ? next_members() : best_.members;
  if (renews_ && best_.members.empty() && proposal_.members.size() == votes_.size()) return call_off();
  votes_.clear();
  waited_ = 0;
  send_all(views::propose{proposal_.at, proposal_.members}, out);
}

void view_agreement::on(rank_id from, views::propose const& m, view_messages& out) {
  if (m.at < promised_ || m.members.empty()) return;
  promised_ = m.at;
  latest_ = {m.at, m.members};
  send(from, views::accept{m.at}, out);
}

void view_agreement::on(rank_id from, views::accept const& m, view_messages& out) {
  if (m.at != proposal_.at || proposal_.members.empty()) return;
  votes_.insert(from);
  if (is_quorum(votes_)) decide(proposal_.members, out);
}

void view_agreement::on(rank_id /*from*/, views::decided const& m, view_messages& /*out*/) {
  if (!decided_) decided_ = m.members;
}

void view_agreement::decide(std::vector<rank_id> members, view_messages& out) {
  if (decided_) return;
  decided_ = std::move(members);
  for (auto const& all : {view_.members, spares_.ranks})
    for (rank_id const r : all)
      if (r != self_) send(r, views::decided{*decided_}, out);
}

// The root goes on in this view.
void view_agreement::call_off() {
  renews_ = false;
  proposal_ = {};
  votes_.clear();
}

// Ranks that have ended since they fell silent may have voted, so that those that are left need fewer votes.
bool view_agreement::silent_majority() const {
  auto const left = lost_.size() - ended_.size();
  return left > 0 && 2 * (left + ended_silently_.size()) > view_.members.size();
}

void view_agreement::tick(view_messages& out) {
  if (renews_ && is_minority()) call_off();
  if (!seeks()) return;
  if (auto const to = proposer(); to != self_) {
    ++silent_[to];
    return step(out);
  }
  if (proposal_.at.round == 0) return begin_ballot(out);
  if (++waited_ > 2 * patience_ + 1) return renews_ ? call_off() : begin_ballot(out);
  maybe_propose(out);
  if (!seeks()) return;
  if (proposal_.members.empty())
    for (rank_id const r : spares_.ranks) send(r, views::prepare{proposal_.at, root_has_ended()}, out);
  for (rank_id const r : view_.members) {  // also to those that have answered: this rank is not silent
    if (r == self_) continue;
    if (proposal_.members.empty())
      send(r, views::prepare{proposal_.at, root_has_ended()}, out);
    else
      send(r, views::propose{proposal_.at, proposal_.members}, out);
  }
}

}  // namespace skel::role
