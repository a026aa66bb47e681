#include "divide_and_conquer/role/root.hpp"

#include <algorithm>

#include "base/overloaded.hpp"

namespace skel::role {

namespace {
constexpr rank_id root_rank = 0;
}

bool divide_root::on(rank_id from, divide_message const& m, divide_actions& out) {
  if (lost_.heard(from)) {
    heard(from);
    serve_all(out);
  }
  return std::visit(overloaded{[&](divide::ask_takeover const& ask) {
                                 if (!is_group(groups_.everybody(), ask.work.group)) return true;
                                 auto& t = all_[ask.work];
                                 t.waiting.insert(from);
                                 serve(ask.work, t, out);
                                 return true;
                               },
                               [&](divide::end_takeover const& end) {
                                 ended(from, end);
                                 serve_all(out);
                                 return true;
                               },
                               [](auto const& /*other*/) { return false; }},
                    m);
}

void divide_root::ended(rank_id from, divide::end_takeover const& m) {
  auto const at = all_.find(m.work);
  if (at == all_.end()) return;
  auto& t = at->second;
  bool const was_lost = t.waiting.erase(from) + t.running.erase(from) == 0;
  bool const was_first = t.first == from;
  if (was_first) t.first.reset();
  t.survived = t.survived || m.done;
  for (auto& s : suspects_) {
    if (was_first) s.take_back(from);  // another rank may hold it
    if (m.done)
      s.acquit(m.work);
    else if (was_lost && s.contains(m.work))  // reported after the loss: no longer running
      s.add(m.work, from, false);
    if (t.first && s.contains(m.work)) s.given(m.work, *t.first);
    s.heard(from);
  }
}

void divide_root::lost(rank_id rank, divide_actions& out) {
  if (!lost_.lost(rank)) return;
  for (auto& [work, t] : all_) lose_runner(rank, work, t);
  for (auto& s : suspects_) s.take_back(rank);
  serve_all(out);
}

void divide_root::tick(divide_actions& out) {
  for (auto const r : lost_.tick()) heard(r);
  auto const now = book();
  for (std::size_t i = 0; i < suspects_.size(); ++i)
    if (auto const guilty = suspects_.at(i).tick(); guilty && i == now)
      out.push_back(divide::blame{guilty->work, guilty->ranks});
  serve_all(out);
}

void divide_root::heard(rank_id rank) {
  for (auto& s : suspects_) s.heard(rank);
  for (auto& [work, t] : all_) t.counted.erase(rank);
}

void divide_root::add_loss(rank_id rank, group_work work, takeover& t, bool alone) {
  t.survived = false;
  for (auto& s : suspects_) {
    if (t.first == rank && !s.contains(work)) {  // it ran this work before any loss was counted
      s.add(work, rank, alone);
      s.given(work, rank);
    }
    s.add(work, rank, alone);
    if (t.first && t.first != rank) s.given(work, *t.first);
  }
}

void divide_root::lose_runner(rank_id rank, group_work work, takeover& t) {
  if (t.running.erase(rank) == 0) return;
  add_loss(rank, work, t, true);
  if (t.first == rank) t.first.reset();
}

// It is unknown what these ranks ran when they were lost, so such a loss only raises suspicion.
void divide_root::count_losses(group_work work, takeover& t) {
  for (rank_id r = work.group.first; r < work.group.last; ++r)
    if (lost_.is_lost(r) && groups_.works_on(r, work) && t.counted.insert(r).second)
      add_loss(r, work, t, false);
}

void divide_root::serve(group_work work, takeover& t, divide_actions& out) {
  if (t.waiting.empty() && t.running.empty()) return;
  count_losses(work, t);
  if (!t.survived && most_losses_ > 0) return allow_first(work, t, out);
  auto const waiting = t.waiting;
  for (auto const r : waiting)
    if (!lost_.is_lost(r)) allow(r, work, t, out);
}

void divide_root::allow_first(group_work work, takeover& t, divide_actions& out) {
  if (t.first || t.waiting.empty() || suspects_.at(book()).blames(work)) return;
  auto const taker = std::find_if(t.waiting.begin(), t.waiting.end(),
                                  [&](rank_id r) { return r != root_rank && !lost_.is_lost(r); });
  if (taker != t.waiting.end()) {
    t.first = *taker;
  } else if (!t.waiting.contains(root_rank)) {
    return;
  } else if (auto const other = other_than_root(work.group)) {
    t.waiting.erase(root_rank);
    out.push_back(divide::send{root_rank, divide::leave_takeover{work, *other}});
    return;
  } else {
    t.first = root_rank;
  }
  for (auto& s : suspects_)
    if (s.contains(work)) s.given(work, *t.first);
  allow(*t.first, work, t, out);
}

void divide_root::serve_all(divide_actions& out) {
  for (auto& [work, t] : all_) serve(work, t, out);
}

void divide_root::allow(rank_id rank, group_work work, takeover& t, divide_actions& out) {
  t.waiting.erase(rank);
  t.running.insert(rank);
  out.push_back(divide::send{rank, divide::allow_takeover{work}});
}

// The next living rank after the group, preferably one that runs no suspect work.
std::optional<rank_id> divide_root::other_than_root(rank_span group) const {
  auto const ranks = groups_.config().ranks;
  std::optional<rank_id> busy;
  for (int i = 0; i < ranks; ++i) {
    rank_id const r = (group.last + i) % ranks;
    if (r == root_rank || lost_.is_lost(r)) continue;
    if (!suspects_.front().holds_one(r)) return r;
    if (!busy) busy = r;
  }
  return busy;
}

}  // namespace skel::role
