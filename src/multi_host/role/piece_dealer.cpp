#include "multi_host/role/piece_dealer.hpp"

#include <algorithm>

#include "protocol/deal.hpp"
#include "skel/schedule.hpp"

namespace skel::role {

namespace msg = group_msg;

// --- requests

void piece_dealer::begin(term_id term, bool holds) {
  holds_ = holds;
  last_resort_ = false;
  for (auto const& [of, r] : std::exchange(early_, {}))
    if (of == term) {
      clients_[r.from] = r.threads;
      waiting_.push_back(r);
    }
}

void piece_dealer::add(request const& r) {
  clients_[r.from] = r.threads;
  if (std::none_of(waiting_.begin(), waiting_.end(), [&](request const& x) { return x.from == r.from; }))
    waiting_.push_back(r);
}

void piece_dealer::add_early(term_id term, request const& r) {
  std::erase_if(early_, [&](auto const& e) { return e.second.from == r.from; });
  early_.emplace_back(term, r);
}

void piece_dealer::withdraw_early(term_id term, rank_id from) {
  std::erase_if(early_, [&](auto const& e) { return e.first == term && e.second.from == from; });
}

void piece_dealer::lost(rank_id rank) {
  withdraw(rank);
  clients_.erase(rank);
}

void piece_dealer::clear() {
  waiting_.clear();
  clients_.clear();
}

// --- handing out

std::uint64_t piece_dealer::grant_for(request const& r, std::uint64_t pooled) const {
  // Pieces for the host itself wait while it reads, so it takes just enough to keep its threads busy.
  if (r.from == self_) return r.threads;
  std::uint64_t threads = 0;
  for (auto const& [rank, n] : clients_) threads += n;
  auto const all = static_cast<int>(std::max(ranks_, threads));
  static farm_policy const shrinking = schedule::guided{}.policy();
  auto const n = next_grant(shrinking, pooled, 1, static_cast<int>(r.threads), all);
  return r.most > 0 ? std::min(n, r.most) : n;
}

// A rank with a suspect gets nothing else. The root gets no pieces of units that were open on lost hosts.
void piece_dealer::give(term_id term, open_units& units, group_actions& out) {
  if (holds_) return;
  auto left = units.pooled();
  for (auto it = waiting_.begin(); it != waiting_.end() && left > 0;) {
    auto const to = it->from;
    if ((alone_ && to == root_ && to != self_) || units.holds_suspect(to)) {
      ++it;
      continue;
    }
    auto const run = units.take(std::max<std::uint64_t>(1, grant_for(*it, left)), to);
    left -= run.count;
    out.push_back(group_act::send{to, msg::packet{term, run}});
    it = waiting_.erase(it);
  }
  if (!units.has_suspects()) return;
  give_suspects(term, false, units, out);
  if (last_resort_) give_suspects(term, true, units, out);
}

// Hands suspects to this rank itself, or to other ranks except the root.
void piece_dealer::give_suspects(term_id term, bool to_itself, open_units& units, group_actions& out) {
  for (auto it = waiting_.begin(); it != waiting_.end() && units.suspect_waits();) {
    bool const may = (it->from == self_) == to_itself && (to_itself || it->from != root_);
    if (!may || units.holds_any(it->from)) {
      ++it;
      continue;
    }
    out.push_back(group_act::send{it->from, msg::packet{term, units.take_suspect(it->from), true}});
    it = waiting_.erase(it);
  }
}

}  // namespace skel::role
