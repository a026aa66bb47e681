#include "bsp/role/member.hpp"

#include <algorithm>

#include "role/digest.hpp"

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
  std::erase_if(arrivals_, [&](auto const& a) { return a.first.first < epoch_; });
  out.emplace_back(bsp::forget{epoch_});
  auto const place = place_of(config_.self);
  if (!place) return;
  place_ = *place;
  if (config_.self != config_.root) send_root(bsp::joined{epoch_}, out);
  out.emplace_back(bsp::restore{epoch_, r.generation, place_, static_cast<std::uint32_t>(members_.size())});
}

void bsp_member::restored(std::uint64_t epoch, std::uint64_t step, bsp_actions& out) {
  if (epoch != epoch_ || !attendance_.active()) return;
  step_ = step;
  out.emplace_back(bsp::compute{epoch_, step_});
}

void bsp_member::unreadable(std::uint64_t epoch, std::string text, bsp_actions& out) {
  if (epoch != epoch_ || !attendance_.active()) return;
  send_root(bsp::unreadable{epoch, std::move(text)}, out);
}

// --- supersteps

void bsp_member::computed(std::uint64_t epoch, bool more, bsp_actions& out) {
  if (epoch != epoch_ || !attendance_.active()) return;
  bsp::bundle const b{epoch_, step_, more, std::exchange(announced_, 0)};
  out.reserve(out.size() + members_.size() + 2);  // everything except a save
  for (rank_id const r : members_)
    if (r != config_.self) out.emplace_back(bsp::send{r, b});
  out.emplace_back(bsp::keep{epoch_, step_, config_.self});
  auto const at = arrived(config_.self, b);
  waits_ = true;
  maybe_next(at, out);
}

void bsp_member::on(rank_id from, bsp::bundle const& b, bsp_actions& out) {
  if (!attendance_.active() || b.epoch < epoch_)
    return;  // one of a later epoch may arrive before the root announces that epoch
  out.emplace_back(bsp::keep{b.epoch, b.step, from});
  maybe_next(arrived(from, b), out);
}

bsp_member::arrivals::iterator bsp_member::arrived(rank_id from, bsp::bundle const& b) {
  auto const found = arrivals_.try_emplace({b.epoch, b.step}).first;
  auto& a = found->second;
  auto const at = std::lower_bound(a.from.begin(), a.from.end(), from);
  if (at == a.from.end() || *at != from) a.from.insert(at, from);
  a.more = a.more || b.more;
  if (from == config_.root) a.save = b.save;
  return found;
}

void bsp_member::maybe_next(arrivals::iterator at, bsp_actions& out) {
  if (!waits_ || at->second.from.size() < members_.size() || at->first != std::pair(epoch_, step_)) return;
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
  attendance_.hash(d);
  return d.add(complete_).value();
}

}  // namespace skel::role
