#include "bsp/role/member.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/format.hpp"

namespace skel::role {

void bsp_member::send_root(bsp_message what, bsp_actions& out) const {
  out.emplace_back(bsp::send{config_.root, std::move(what)});
}

std::optional<std::uint32_t> bsp_member::place_of(rank_id rank) const {
  auto const at = std::find(members_.begin(), members_.end(), rank);
  if (at == members_.end()) return {};
  return static_cast<std::uint32_t>(at - members_.begin());
}

// --- epochs

void bsp_member::begin(bsp_actions& out) { out.emplace_back(tell_root{hello{config_.call_hash}}); }

void bsp_member::on(bsp::restart const& r, bsp_actions& out) {
  if (!attendance_.active() || complete_ || r.epoch <= epoch_) return;  // too late, or repeated
  epoch_ = r.epoch;
  stamp_ = r.stamp;
  members_ = r.members;
  waits_ = false;
  announced_ = 0;
  neighbours_.clear();
  first_.reset();
  told_idle_ = held_ = false;
  asked_.reset();
  goes_on_until_ = 0;
  save_before_ = {};
  std::erase_if(ends_, [&](auto const& a) { return a.first.first < epoch_; });
  out.emplace_back(bsp::forget{epoch_});
  auto const place = place_of(config_.self);
  if (!place) return;
  place_ = *place;
  if (config_.self != config_.root) send_root(bsp::joined{epoch_}, out);
  out.emplace_back(bsp::restore{epoch_, r.generation, place_, static_cast<std::uint32_t>(members_.size())});
}

void bsp_member::restored(std::uint64_t epoch, std::uint64_t step, std::vector<int> const& neighbours,
                          bsp_actions& out) {
  if (epoch != epoch_ || !attendance_.active()) return;
  step_ = step;
  first_ = step;
  for (int const place : neighbours) neighbours_.push_back(members_.at(static_cast<std::size_t>(place)));
  std::sort(neighbours_.begin(), neighbours_.end());
  for (auto at = ends_.begin(); at != ends_.end(); ++at) check_senders(at, out);
  if (attendance_.active()) out.emplace_back(bsp::compute{epoch_, step_});
}

void bsp_member::unreadable(std::uint64_t epoch, std::string text, bsp_actions& out) {
  if (epoch != epoch_ || !attendance_.active()) return;
  send_root(bsp::unreadable{epoch, std::move(text)}, out);
}

// --- supersteps

void bsp_member::computed(std::uint64_t epoch, bool more, std::vector<std::uint32_t> const& messages_for,
                          bsp_actions& out) {
  if (epoch != epoch_ || !attendance_.active()) return;
  std::vector<std::uint32_t> bundles_to;
  auto const save = std::exchange(announced_, 0);
  auto const at = ends_.try_emplace({epoch_, step_}).first;
  if (ends_with_neighbours(step_)) {
    out.reserve(out.size() + neighbours_.size() + 3);
    for (rank_id const r : neighbours_) out.emplace_back(bsp::send{r, bsp::bundle{epoch_, step_, more}});
  } else {
    out.reserve(out.size() + messages_for.size() + superstep_end::rounds(members_.size()) + 2);
    auto const next = superstep_end::partner(place_, 0, members_.size());  // its messages go with the tally
    for (auto const to : messages_for)
      if (to != place_ && to != next) bundles_to.push_back(to);
    for (auto const to : bundles_to)
      out.emplace_back(bsp::send{members_[to], bsp::bundle{epoch_, step_, more}});
  }
  out.emplace_back(bsp::keep{epoch_, step_, config_.self});
  at->second.computed(more, save, bundles_to);
  waits_ = true;
  maybe_next(at, out);
}

template <class Message>
void bsp_member::arrived(rank_id from, Message const& m, bool has_messages, bsp_actions& out) {
  if (!attendance_.active() || m.epoch < epoch_)
    return;  // one of a later epoch may arrive before the root announces that epoch
  if (has_messages) out.emplace_back(bsp::keep{m.epoch, m.step, from});
  auto const at = ends_.try_emplace({m.epoch, m.step}).first;
  at->second.received(from, m);
  check_senders(at, out);
  maybe_next(at, out);
}
template void bsp_member::arrived(rank_id, bsp::bundle const&, bool, bsp_actions&);
template void bsp_member::arrived(rank_id, bsp::tally const&, bool, bsp_actions&);

void bsp_member::maybe_next(supersteps::iterator at, bsp_actions& out) {
  if (!waits_ || !attendance_.active() || at == ends_.end() || at->first != std::pair(epoch_, step_)) return;
  if (ends_with_neighbours(step_))
    end_with_neighbours(at, out);
  else
    end_with_barrier(at, out);
}

void bsp_member::end_with_barrier(supersteps::iterator at, bsp_actions& out) {
  auto& end = at->second;
  while (auto t = end.next(place_, members_.size())) {
    t->epoch = epoch_;
    t->step = step_;
    auto const to = members_[superstep_end::partner(place_, t->round, members_.size())];
    out.emplace_back(bsp::send{to, *std::move(t)});
  }
  if (!end.over(place_, members_.size())) return;
  if (end.more()) return begin_next(at, end.save(), out);
  ends_.erase(at);
  complete(out);
}

void bsp_member::complete(bsp_actions& out) {
  waits_ = false;
  ++step_;
  if (config_.self != config_.root) return;
  complete_ = true;
  out.emplace_back(close{{.how = outcome::status::done, .tasks = step_}});
}

void bsp_member::begin_next(supersteps::iterator at, std::uint64_t generation, bsp_actions& out) {
  if (held_) return;
  ends_.erase(at);
  waits_ = told_idle_ = false;
  maybe_answer(true, out);
  ++step_;
  if (generation != 0) save(generation, out);
  out.emplace_back(bsp::compute{epoch_, step_});
}

// --- supersteps that end with the neighbours

void bsp_member::end_with_neighbours(supersteps::iterator at, bsp_actions& out) {
  auto const& end = at->second;
  maybe_answer(end.more(), out);
  if (!end.came_from(neighbours_)) return;
  if (end.more() || step_ < goes_on_until_)
    begin_next(at, save_before_.step == step_ + 1 ? save_before_.generation : 0, out);
  else if (!std::exchange(told_idle_, true))
    send_root(bsp::idle{epoch_, step_}, out);
}

void bsp_member::on(bsp::goes_on const& g, bsp_actions& out) {
  if (g.epoch != epoch_) return;
  goes_on_until_ = std::max(goes_on_until_, g.until);
  maybe_next(ends_.find({epoch_, step_}), out);
}

void bsp_member::on(bsp::ask const& a, bsp_actions& out) {
  if (a.epoch != epoch_ || !attendance_.active()) return;
  asked_ = a.step;
  auto const at = ends_.find({epoch_, step_});
  maybe_answer(waits_ && at != ends_.end() && at->second.more(), out);
}

// `more`: a member continues after step_. One continues after all earlier supersteps.
void bsp_member::maybe_answer(bool more, bsp_actions& out) {
  auto const until = step_ + (more ? 1 : 0);
  if (!asked_ || *asked_ >= until) return;
  asked_.reset();
  send_root(bsp::goes_on{epoch_, until}, out);
}

void bsp_member::no_more(std::uint64_t epoch, bsp_actions& out) {
  if (epoch == epoch_ && attendance_.active()) complete(out);
}

// A rank whose neighbours do not name it would never be waited for, and would itself wait forever.
void bsp_member::check_senders(supersteps::iterator at, bsp_actions& out) {
  auto const [epoch, step] = at->first;
  if (epoch != epoch_ || !ends_with_neighbours(step) || !attendance_.active()) return;
  for (rank_id const r : at->second.came())
    if (!std::binary_search(neighbours_.begin(), neighbours_.end(), r)) {
      auto const from = place_of(r).value_or(0);
      attendance_.failed(
          step,
          detail::format("neighbours must be mutual: rank {} names rank {}, expected rank {} to name rank {}",
                         from, place_, place_, from),
          out);
      return;
    }
}

void bsp_member::on(bsp::where const& w, bsp_actions& out) {
  if (w.epoch != epoch_ || !attendance_.active()) return;
  held_ = held_ || w.generation != 0;
  bsp::reached r{epoch_, w.generation, 0, {}};
  if (first_) {
    r.next = step_ + 1;
    auto const computed = step_ + (waits_ ? 1 : 0);
    if (computed > *first_) r.finished.push_back({config_.self, computed});
    for (rank_id const n : neighbours_) {
      auto next = step_;
      for (auto const& [of, end] : ends_)
        if (of.first == epoch_ && std::binary_search(end.came().begin(), end.came().end(), n))
          next = std::max(next, of.second + 1);
      if (next > *first_) r.finished.push_back({n, next});
    }
  }
  send_root(std::move(r), out);
}

void bsp_member::on(bsp::save_before const& s, bsp_actions& out) {
  if (s.epoch != epoch_) return;
  held_ = false;
  save_before_ = s;
  maybe_next(ends_.find({epoch_, step_}), out);
}

// --- checkpoints

// A part of an epoch that has ended may still be in progress: only one is written at a time.
void bsp_member::save(std::uint64_t generation, bsp_actions& out) {
  if (writing_) {
    send_root(bsp::saved{epoch_, generation, false}, out);
    return;
  }
  writing_ = written{epoch_, generation};
  out.emplace_back(
      bsp::save{epoch_, step_, generation, stamp_, place_, static_cast<std::uint32_t>(members_.size())});
}

void bsp_member::saved(std::uint64_t generation, bool well, bsp_actions& out) {
  if (!writing_ || writing_->generation != generation) return;
  auto const w = *std::exchange(writing_, std::nullopt);
  if (!attendance_.ended()) send_root(bsp::saved{w.epoch, generation, well}, out);
}

}  // namespace skel::role
