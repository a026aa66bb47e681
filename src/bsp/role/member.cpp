#include "bsp/role/member.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/format.hpp"

namespace skel::role {

namespace {
void send(rank_id to, bsp_message what, bsp_actions& out) {
  out.emplace_back(bsp::send{to, std::move(what)});
}
}  // namespace

std::optional<std::uint32_t> bsp_epoch::place_of(rank_id rank) const {
  auto const at = std::find(members.begin(), members.end(), rank);
  if (at == members.end()) return {};
  return static_cast<std::uint32_t>(at - members.begin());
}

// --- epochs

void bsp_member::begin(bsp_actions& out) { out.emplace_back(tell_root{hello{config_.call_hash}}); }

void bsp_member::take(rank_id /*from*/, bsp::restart const& r, bsp_actions& out) {
  if (!attendance_.active() || complete_ || r.epoch <= epoch_.number) return;  // too late, or repeated
  epoch_ = {r.epoch, r.stamp, r.members, epoch_.place};
  waits_ = false;
  announced_ = hold_ = passed_ = 0;
  held_ = false;
  leave_.grant(0);
  near_.begin_epoch();
  ends_.forget_before(r.epoch);
  out.emplace_back(bsp::forget{r.epoch});
  auto const place = epoch_.place_of(config_.self);
  if (!place) return;
  epoch_.place = *place;
  if (config_.self != config_.root) send(config_.root, bsp::joined{r.epoch}, out);
  out.emplace_back(bsp::restore{r.epoch, r.generation, *place, static_cast<std::uint32_t>(r.members.size()),
                                r.generation_stamp});
}

void bsp_member::restored(std::uint64_t epoch, std::uint64_t step, std::vector<int> const& neighbours,
                          bsp_actions& out) {
  if (epoch != epoch_.number || !attendance_.active()) return;
  step_ = step;
  std::vector<rank_id> ranks;
  ranks.reserve(neighbours.size());
  for (int const place : neighbours) ranks.push_back(epoch_.members.at(static_cast<std::size_t>(place)));
  near_.restored(step, std::move(ranks));
  for (auto const& e : ends_.all()) check_senders(e.epoch, e.step, e.end, out);
  if (attendance_.active()) out.emplace_back(bsp::compute{epoch, step_});
}

void bsp_member::unreadable(std::uint64_t epoch, std::string text, bsp_actions& out) {
  if (epoch != epoch_.number || !attendance_.active()) return;
  send(config_.root, bsp::unreadable{epoch, std::move(text)}, out);
}

// --- supersteps

void bsp_member::computed(std::uint64_t epoch, bool more, std::vector<std::uint32_t> const& messages_for,
                          bsp_actions& out) {
  if (epoch != epoch_.number || !attendance_.active()) return;
  auto const& members = epoch_.members;
  std::vector<std::uint32_t> bundles_to;
  auto const save = std::exchange(announced_, 0);
  bsp::bundle const bundle{epoch, step_, more};
  if (near_.ends(step_)) {
    out.reserve(out.size() + near_.ranks().size() + 3);
    for (rank_id const r : near_.ranks()) send(r, bundle, out);
  } else {
    out.reserve(out.size() + messages_for.size() + superstep_end::rounds(members.size()) + 2);
    auto const next =
        superstep_end::partner(epoch_.place, 0, members.size());  // its messages go with the tally
    for (auto const to : messages_for)
      if (to != epoch_.place && to != next) bundles_to.push_back(to);
    for (auto const to : bundles_to) send(members[to], bundle, out);
  }
  out.emplace_back(bsp::keep{epoch, step_, config_.self});
  ends_.at(epoch, step_).computed(more, save, bundles_to);
  waits_ = true;
  maybe_next(out);
}

template <class Message>
  requires requires(superstep_end& e, Message const& m) { e.received(0, m); }
void bsp_member::take(rank_id from, Message const& m, bsp_actions& out) {
  if (!attendance_.active() || m.epoch < epoch_.number)
    return;  // one of a later epoch may arrive before the root announces that epoch
  if (carries_messages(m)) out.emplace_back(bsp::keep{m.epoch, m.step, from});
  auto& end = ends_.at(m.epoch, m.step);
  end.received(from, m);
  check_senders(m.epoch, m.step, end, out);
  if (m.epoch == epoch_.number && m.step == step_) maybe_next(out);
}

void bsp_member::maybe_next(bsp_actions& out) {
  if (!waits_ || !attendance_.active()) return;
  auto* const end = ends_.find(epoch_.number, step_);
  if (end == nullptr) return;
  if (near_.ends(step_))
    end_with_neighbours(*end, out);
  else
    end_with_barrier(*end, out);
}

void bsp_member::end_with_barrier(superstep_end& end, bsp_actions& out) {
  auto const& members = epoch_.members;
  while (auto t = end.next(epoch_.place, members.size())) {
    t->epoch = epoch_.number;
    t->step = step_;
    auto const partner = superstep_end::partner(epoch_.place, t->round, members.size());
    send(members[partner], *std::move(t), out);
  }
  if (!end.over(epoch_.place, members.size())) return;
  if (end.more()) return begin_next(end.save(), out);
  ends_.erase(epoch_.number, step_);
  complete(out);
}

void bsp_member::complete(bsp_actions& out) {
  waits_ = false;
  ++step_;
  if (config_.self != config_.root) return;
  complete_ = true;
  out.emplace_back(close{{.how = outcome::status::done, .tasks = step_}});
}

// The next superstep begins, after the state has been saved as `generation` unless that is 0. A part of an
// epoch that has ended may still be in progress: only one is written at a time.
void bsp_member::begin_next(std::uint64_t generation, bsp_actions& out) {
  if (near_.held()) return;
  ends_.erase(epoch_.number, step_);
  waits_ = false;
  maybe_answer(true, out);
  near_.next();
  ++step_;
  if (generation != 0 && writing_) {
    send(config_.root, bsp::saved{epoch_.number, generation, false}, out);
  } else if (generation != 0) {
    writing_ = written{epoch_.number, generation};
    out.emplace_back(bsp::save{epoch_.number, step_, generation, epoch_.stamp, epoch_.place,
                               static_cast<std::uint32_t>(epoch_.members.size())});
  }
  if (generation != 0) passed_ = generation;
  held_ = holds(out);
  if (!held_) out.emplace_back(bsp::compute{epoch_.number, step_});
}

// --- supersteps that end with the neighbours

void bsp_member::end_with_neighbours(superstep_end const& end, bsp_actions& out) {
  maybe_answer(end.more(), out);
  if (!end.came_from(near_.ranks())) return;
  if (end.more() || near_.distant_continues(step_))
    begin_next(near_.save_before(step_ + 1), out);
  else if (near_.becomes_idle())
    send(config_.root, bsp::idle{epoch_.number, step_}, out);
}

void bsp_member::take(rank_id /*from*/, bsp::goes_on const& g, bsp_actions& out) {
  if (g.epoch != epoch_.number) return;
  near_.on(g);
  maybe_next(out);
}

void bsp_member::take(rank_id /*from*/, bsp::ask const& a, bsp_actions& out) {
  if (a.epoch != epoch_.number || !attendance_.active()) return;
  near_.on(a);
  auto const* const end = ends_.find(epoch_.number, step_);
  maybe_answer(waits_ && end != nullptr && end->more(), out);
}

// `more`: a member continues after step_. One continues after all earlier supersteps.
void bsp_member::maybe_answer(bool more, bsp_actions& out) {
  auto const until = step_ + (more ? 1 : 0);
  if (near_.answers(until)) send(config_.root, bsp::goes_on{epoch_.number, until}, out);
}

void bsp_member::no_more(std::uint64_t epoch, bsp_actions& out) {
  if (epoch == epoch_.number && attendance_.active()) complete(out);
}

// A rank whose neighbours do not name it would never be waited for, and would itself wait forever.
void bsp_member::check_senders(std::uint64_t epoch, std::uint64_t step, superstep_end const& end,
                               bsp_actions& out) {
  if (epoch != epoch_.number || !near_.ends(step) || !attendance_.active()) return;
  auto const stranger = near_.stranger(end);
  if (!stranger) return;
  auto const from = epoch_.place_of(*stranger).value_or(0), here = epoch_.place;
  attendance_.failed(
      step,
      detail::format("neighbours must be mutual: rank {} names rank {}, expected rank {} to name rank {}",
                     from, here, here, from),
      out);
}

void bsp_member::take(rank_id /*from*/, bsp::where const& w, bsp_actions& out) {
  if (w.epoch != epoch_.number || !attendance_.active()) return;
  near_.on(w);
  bsp::reached r{w.epoch, w.generation, 0, {}};
  if (auto const first = near_.first()) {
    r.next = step_ + 1;
    auto const computed = step_ + (waits_ ? 1 : 0);
    if (computed > *first) r.finished.push_back({config_.self, computed});
    for (rank_id const n : near_.ranks()) {
      auto next = step_;
      for (auto const& e : ends_.all())
        if (e.epoch == w.epoch && std::binary_search(e.end.came().begin(), e.end.came().end(), n))
          next = std::max(next, e.step + 1);
      if (next > *first) r.finished.push_back({n, next});
    }
  }
  send(config_.root, std::move(r), out);
}

void bsp_member::take(rank_id /*from*/, bsp::save_before const& s, bsp_actions& out) {
  if (s.epoch != epoch_.number) return;
  near_.on(s);
  maybe_next(out);
}

void bsp_member::saved(std::uint64_t generation, bool well, bsp_actions& out) {
  if (!writing_ || writing_->generation != generation) return;
  auto const w = *std::exchange(writing_, std::nullopt);
  if (!attendance_.ended()) send(config_.root, bsp::saved{w.epoch, generation, well}, out);
}

// --- a rank leaves

void bsp_member::retire(bool does, bsp_actions& out) {
  if (!attendance_.active() || complete_) return;
  if (auto const number = leave_.make(does)) send(config_.root, bsp::retires{*number}, out);
}

// Whether no superstep begins here.
bool bsp_member::holds(bsp_actions& out) const {
  bool const does = hold_ != 0 && passed_ == hold_;
  if (does && config_.self == config_.root) send(config_.root, bsp::holds{epoch_.number}, out);
  return does;
}

void bsp_member::take(rank_id /*from*/, bsp::hold const& h, bsp_actions& out) {
  if (h.epoch != epoch_.number || !attendance_.active()) return;
  hold_ = h.generation;
  static_cast<void>(holds(out));  // the checkpoint may have come first
  if (hold_ == 0 && std::exchange(held_, false)) out.emplace_back(bsp::compute{epoch_.number, step_});
}

// --- messages

void bsp_member::on(rank_id from, bsp_message const& m, bsp_actions& out) {
  std::visit(
      [&](auto const& own) {
        if constexpr (requires { take(from, own, out); }) take(from, own, out);
      },
      m);
}

}  // namespace skel::role
