#include "skel/protocol/bsp_member.hpp"

#include <algorithm>

#include "skel/error.hpp"

namespace skel::protocol {

using kind = peer_message_kind;

std::optional<std::size_t> bsp_member::place() const {
  auto const at = std::find(members_.begin(), members_.end(), self_);
  if (at == members_.end()) return {};
  return static_cast<std::size_t>(at - members_.begin());
}

void bsp_member::on(rank_id from, peer_message const& m, bsp_actions& out) {
  if (m.kind == kind::restart) {
    restart(m, out);
    return;
  }
  if (m.kind != kind::bundle) return;
  if (m.ids.size() != 3) throw protocol_error("a bundle without its superstep");
  // One of a later epoch may come before the root's word of it.
  if (m.number < epoch_) return;
  out.push_back(bsp_action::keep{m.number, m.ids[0], from});
  arrived(from, m.number, m.ids[0], m.ids[1] != 0, m.ids[2]);
  maybe_next(out);
}

void bsp_member::restart(peer_message const& m, bsp_actions& out) {
  if (m.ids.size() < 3) throw protocol_error("an epoch without members");
  if (m.number <= epoch_) return;  // said again
  epoch_ = m.number;
  stamp_ = m.ids[1];
  members_.clear();
  for (auto r = m.ids.begin() + 2; r != m.ids.end(); ++r) members_.push_back(static_cast<rank_id>(*r));
  waits_ = false;
  std::erase_if(arrivals_, [&](auto const& a) { return a.first.first < epoch_; });
  out.push_back(bsp_action::drop_before{epoch_});
  job_.reset();
  if (place()) job_ = job{job::kind::load, epoch_, 0, m.ids[0]};
}

void bsp_member::loaded(std::uint64_t epoch, std::uint64_t step, bsp_actions& /*out*/) {
  if (epoch != epoch_) return;
  step_ = step;
  job_ = job{job::kind::run, epoch_, step_, 0};
}

void bsp_member::computed(std::uint64_t epoch, bool more, std::uint64_t save, bsp_actions& out) {
  if (epoch != epoch_) return;
  for (rank_id const r : members_)
    if (r != self_)
      out.push_back(bsp_action::send{
          r, {.kind = kind::bundle, .number = epoch_, .ids = {step_, more ? 1U : 0U, save}}});
  out.push_back(bsp_action::keep{epoch_, step_, self_});
  arrived(self_, epoch_, step_, more, save);
  waits_ = true;
  maybe_next(out);
}

void bsp_member::arrived(rank_id from, std::uint64_t epoch, std::uint64_t step, bool more,
                         std::uint64_t save) {
  auto& a = arrivals_[{epoch, step}];
  a.from.insert(from);
  a.more = a.more || more;
  if (from == root_) a.save = save;
}

void bsp_member::maybe_next(bsp_actions& out) {
  if (!waits_) return;
  auto const at = arrivals_.find({epoch_, step_});
  if (at == arrivals_.end() || at->second.from.size() < members_.size()) return;
  auto const a = std::move(at->second);
  arrivals_.erase(at);
  waits_ = false;
  ++step_;
  if (!a.more)
    out.push_back(bsp_action::complete{});
  else
    job_ = job{job::kind::run, epoch_, step_, a.save};
}

// --- the root

void bsp_conductor::restart(std::uint64_t generation, peer_messages& out) {
  ++epoch_;
  generation_ = generation;
  members_ = living_;
  heard_.clear();
  saving_ = 0;
  ticks_ = 0;
  for (rank_id const r : members_) out.push_back({r, word()});
}

peer_message bsp_conductor::word() const {
  peer_message m{.kind = kind::restart, .number = epoch_, .ids = {generation_, stamp_}};
  for (rank_id const r : members_) m.ids.push_back(static_cast<std::uint64_t>(r));
  return m;
}

bool bsp_conductor::lost(rank_id rank) {
  std::erase(living_, rank);
  return std::find(members_.begin(), members_.end(), rank) != members_.end();
}

void bsp_conductor::heard(rank_id from, std::uint64_t epoch) {
  if (epoch == epoch_) heard_.insert(from);
}

void bsp_conductor::tick(peer_messages& out) {
  constexpr unsigned patience = 8;
  if (epoch_ == 0 || ++ticks_ % patience != 0) return;
  for (rank_id const r : members_)
    if (!heard_.contains(r)) out.push_back({r, word()});
}

void bsp_conductor::save(std::uint64_t generation) {
  saving_ = generation;
  saved_.clear();
}

bool bsp_conductor::saved(rank_id from, std::uint64_t epoch, std::uint64_t generation) {
  if (epoch != epoch_ || saving_ == 0 || generation != saving_) return false;
  saved_.insert(from);
  return std::all_of(members_.begin(), members_.end(), [&](rank_id r) { return saved_.contains(r); });
}

}  // namespace skel::protocol
