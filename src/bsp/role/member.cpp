#include "bsp/role/member.hpp"

#include <algorithm>

#include "role/digest.hpp"

namespace skel::role {

using kind = peer_message_kind;
namespace bsp = bsp_action;

void bsp_member::tell_root(peer_message what, bsp_actions& out) const {
  out.emplace_back(bsp::send{config_.root, std::move(what)});
}

std::optional<std::uint32_t> bsp_member::place_of(rank_id rank) const {
  auto const at = std::find(members_.begin(), members_.end(), rank);
  if (at == members_.end()) return {};
  return static_cast<std::uint32_t>(at - members_.begin());
}

// --- epochs

void bsp_member::begin(bsp_actions& out) {
  tell_root({.kind = kind::hello, .number = config_.call_hash}, out);
}

void bsp_member::on_restart(bsp_message::restart r, bsp_actions& out) {
  if (r.epoch <= epoch_ || complete_) return;  // said again, or too late
  epoch_ = r.epoch;
  stamp_ = r.stamp;
  members_ = std::move(r.members);
  waits_ = false;
  announced_ = 0;
  std::erase_if(arrivals_, [&](auto const& a) { return a.first.first < epoch_; });
  out.emplace_back(bsp::forget{epoch_});
  auto const place = place_of(config_.self);
  if (!place) return;
  place_ = *place;
  out.emplace_back(bsp::restore{epoch_, r.generation, place_, static_cast<std::uint32_t>(members_.size())});
}

void bsp_member::restored(std::uint64_t epoch, std::uint64_t step, bsp_actions& out) {
  if (epoch != epoch_ || draining_) return;
  step_ = step;
  out.emplace_back(bsp::compute{epoch_, step_});
}

void bsp_member::unreadable(std::uint64_t epoch, std::string text, bsp_actions& out) {
  if (epoch != epoch_ || draining_) return;
  tell_root(bsp_message::unreadable{epoch, std::move(text)}.encoded(), out);
}

// --- supersteps

void bsp_member::computed(std::uint64_t epoch, bool more, bsp_actions& out) {
  if (epoch != epoch_ || draining_) return;
  bsp_message::bundle const b{epoch_, step_, more, std::exchange(announced_, 0)};
  out.reserve(out.size() + members_.size() + 2);  // all that it adds but for a save
  for (rank_id const r : members_)
    if (r != config_.self) out.emplace_back(bsp::send{r, b.encoded()});
  out.emplace_back(bsp::keep{epoch_, step_, config_.self});
  arrived(config_.self, b);
  waits_ = true;
  maybe_next(out);
}

void bsp_member::on_bundle(rank_id from, bsp_message::bundle const& b, bsp_actions& out) {
  if (b.epoch < epoch_) return;  // one of a later epoch may come before the root's word of it
  out.emplace_back(bsp::keep{b.epoch, b.step, from});
  arrived(from, b);
  maybe_next(out);
}

void bsp_member::arrived(rank_id from, bsp_message::bundle const& b) {
  auto& a = arrivals_[{b.epoch, b.step}];
  a.from.insert(from);
  a.more = a.more || b.more;
  if (from == config_.root) a.save = b.save;
}

void bsp_member::maybe_next(bsp_actions& out) {
  if (!waits_) return;
  auto const at = arrivals_.find({epoch_, step_});
  if (at == arrivals_.end() || at->second.from.size() < members_.size()) return;
  bool const more = at->second.more;
  auto const generation = at->second.save;
  arrivals_.erase(at);
  waits_ = false;
  ++step_;
  if (!more) {
    if (config_.self != config_.root) return;
    complete_ = true;
    out.emplace_back(bsp::complete{step_});
    return;
  }
  if (generation != 0) save(generation, out);
  out.emplace_back(bsp::compute{epoch_, step_});
}

// --- checkpoints

// A part of an epoch that has ended may still be written: one at a time.
void bsp_member::save(std::uint64_t generation, bsp_actions& out) {
  if (writing_) {
    tell_root(bsp_message::saved{epoch_, generation, false}.encoded(), out);
    return;
  }
  writing_ = written{epoch_, generation};
  out.emplace_back(
      bsp::save{epoch_, step_, generation, stamp_, place_, static_cast<std::uint32_t>(members_.size())});
}

void bsp_member::saved(std::uint64_t generation, bool well, bsp_actions& out) {
  if (!writing_ || writing_->generation != generation) return;
  auto const w = *std::exchange(writing_, std::nullopt);
  if (!ended_) tell_root(bsp_message::saved{w.epoch, generation, well}.encoded(), out);
}

// --- the end

void bsp_member::on(rank_id from, peer_message const& m, bsp_actions& out) {
  if (ended_) return;
  switch (m.kind) {
    case kind::restart:
      if (!draining_) on_restart(bsp_message::restart::decoded(m), out);
      break;
    case kind::bundle:
      if (!draining_) on_bundle(from, bsp_message::bundle::decoded(m), out);
      break;
    case kind::stop:
      stop_heard_ = true;
      start_draining(out);
      break;
    case kind::finish:
      ended_ = true;
      out.emplace_back(end{m.result.value_or(outcome{})});
      break;
    case kind::abort:
      ended_ = true;
      out.emplace_back(fail{fail::reason::protocol, m.text});
      break;
    default:
      break;  // for the root's roll call and its conductor
  }
}

void bsp_member::start_draining(bsp_actions& out) {
  if (!std::exchange(draining_, true)) out.emplace_back(bsp::drain{});
}

void bsp_member::failed(std::string text, bsp_actions& out) {
  if (ended_) return;
  tell_root({.kind = kind::failed, .number = step_, .text = std::move(text)}, out);
  start_draining(out);
}

void bsp_member::please_stop(bsp_actions& out) {
  if (!ended_ && !draining_) tell_root({.kind = kind::please_stop}, out);
}

void bsp_member::quiet(bsp_actions& out) {
  if (!stop_heard_ || told_stopped_ || ended_) return;
  told_stopped_ = true;
  tell_root({.kind = kind::stopped}, out);
}

void bsp_member::lost(rank_id rank, bsp_actions& out) {
  if (ended_ || rank != config_.root || rank == config_.self) return;
  ended_ = true;
  out.emplace_back(fail{fail::reason::lost_root, {}});
}

std::uint64_t bsp_member::hash() const {
  digest d;
  d.add(epoch_).add(step_).add(stamp_).add(place_).add(waits_).add(announced_);
  for (rank_id const r : members_) d.add(static_cast<std::uint64_t>(r));
  d.add(members_.size());
  for (auto const& [at, a] : arrivals_) {
    d.add(at.first).add(at.second).add(a.more).add(a.save);
    for (rank_id const r : a.from) d.add(static_cast<std::uint64_t>(r));
    d.add(a.from.size());
  }
  d.add(arrivals_.size());
  d.add(writing_.has_value());
  if (writing_) d.add(writing_->epoch).add(writing_->generation);
  return d.add(complete_).add(draining_).add(stop_heard_).add(told_stopped_).add(ended_).value();
}

}  // namespace skel::role
