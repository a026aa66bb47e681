#include "run.hpp"

#include <algorithm>
#include <utility>

#include "base/format.hpp"
#include "call/user_code.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

using role::call_message;
using role::group_message;
namespace group_act = role::group_act;
namespace msg = role::group_msg;

namespace {

template <class M>
bool is(group_message const& m) {
  return std::holds_alternative<M>(m);
}
template <class M>
bool is_call(group_message const& m) {
  auto const* const call = std::get_if<call_message>(&m);
  return call != nullptr && std::holds_alternative<M>(*call);
}

// A hello is repeated by a rank that has processed something.
bool moves_the_groups(group_message const& m) {
  return is<msg::packet>(m) || is<msg::returned>(m) || is<msg::unit_done>(m) || is<msg::left>(m) ||
         is<msg::lead>(m) || is_call<role::hello>(m) || is_call<role::stopped>(m) || is_call<role::finish>(m);
}

}  // namespace

// --- actions

void group_run::perform(role::group_actions& list, cargo* with, thread_state* thread) {
  for (auto& action : std::exchange(list, {})) perform_one(action, with, thread);
  deliver_own();
}

void group_run::perform_one(role::group_action& action, cargo* with, thread_state* thread) {
  if (auto* const s = std::get_if<group_act::send>(&action)) {
    send(s->to, std::move(s->what));
  } else if (auto const* a = std::get_if<group_act::accept>(&action)) {
    auto p = std::make_shared<worker_packet>();
    p->term = a->term;
    p->first = a->pieces.first;
    p->unfinished = a->pieces.count;
    p->own = with->object != nullptr;
    p->stays = p->own && (is_root() || sink_on_hosts_);
    p->object = std::move(with->object);
    p->packed = std::move(with->packed);
    packets_[a->id] = std::move(p);
    if (threads_ > 1) engine_.work_arrived().notify_all();
  } else if (auto const* x = std::get_if<group_act::execute>(&action)) {
    thread->todo = process_job{x->id, packets_.at(x->id), x->pieces, arbiter_ && arbiter_->on_trial()};
  } else if (auto const* f = std::get_if<group_act::forget>(&action)) {
    std::erase_if(packets_, [&](auto const& p) { return p.second->term == f->term; });
    std::erase_if(finished_, [&](auto const& p) { return p.first[0] == f->term; });
  } else if (std::holds_alternative<role::drain>(action)) {
    drain();
  } else if (auto const* r = std::get_if<group_act::record>(&action)) {
    auto& results = for_sink_[r->unit];
    for (auto& p : with->pieces) results.push_back(std::move(p.held));
    last_moved_ = now();
  } else if (std::holds_alternative<group_act::started>(action)) {
    started_at_ = now();
  } else if (auto const* failure = std::get_if<role::fail>(&action);
             failure != nullptr && roll_ && !roll_->finished()) {
    abort(failure->text);
  } else if (!perform_common(action)) {
    perform_for_host(action, with);
  }
}

void group_run::perform_for_host(role::group_action const& action, cargo* with) {
  if (draining_) {  // perhaps since the last action of the same list
    duty_.reset();
    return;
  }
  if (auto const* r = std::get_if<group_act::read>(&action)) {
    if (!duty_) {
      duty_ = std::make_shared<duty>();
      duty_->term = r->term;
      duty_->carried = work_.make_state();
    }
    duty_->units[r->unit] = work_.make_unit();
    reads_.push_back({duty_, r->unit, r->fresh, r->alone});
    engine_.work_arrived().notify_all();
  } else if (auto const* k = std::get_if<group_act::keep>(&action)) {
    keep(k->pieces, *with);
  } else if (auto const* d = std::get_if<group_act::deliver>(&action)) {
    if (sink_on_hosts_) {
      deliveries_.push_back({duty_, d->unit});
      engine_.work_arrived().notify_all();
      return;
    }
    role::group_actions more;
    host_.delivered(d->term, d->unit, more);
    perform(more);
  } else if (std::holds_alternative<group_act::close>(action)) {
    std::erase_if(reads_, [&](auto const& j) { return j.of == duty_; });
    std::erase_if(deliveries_, [&](auto const& j) { return j.of == duty_; });
    duty_.reset();
  }
}

// The results of one message come one after the other; what another rank was first with is left out.
void group_run::keep(piece_run const& fresh, cargo& with) {
  auto& all = duty_->kept[fresh.unit];
  if (all.size() < fresh.first + fresh.count) all.resize(fresh.first + fresh.count);
  for (auto p = fresh.first; p < fresh.first + fresh.count; ++p) {
    while (with.pieces.at(with.used).unit != fresh.unit || with.pieces[with.used].piece != p) ++with.used;
    all[p] = std::move(with.pieces[with.used++].held);
  }
}

void group_run::drain() {
  draining_ = true;
  reads_.clear();
  deliveries_.clear();
  packets_.clear();
  finished_.clear();
  role::group_actions list;
  host_.stop(list);
  perform(list);
}

// Code of the user's threw.
void group_run::fail(std::uint64_t unit, std::string text) {
  role::group_actions list;
  worker_.failed(unit, std::move(text), list);
  perform(list);
}

// --- messages

void group_run::deliver_own() {
  to_self_.deliver([&](own_message& own) { deliver(rank_, own.what, own.with); });
}

void group_run::deliver(int from, group_message const& m, cargo& with) {
  if (moves_the_groups(m)) last_moved_ = now();
  auto const* const call = std::get_if<call_message>(&m);
  if (roll_ && call != nullptr) call_roll(&role::roll_call::on, from, *call);
  if (call != nullptr && !over_) {
    auto const* const a = std::get_if<role::abort>(call);
    if (a != nullptr && a->text.starts_with(watchdog_text)) say_state(a->text);
  }
  if (auto const* s = std::get_if<msg::serve>(&m); s != nullptr && s->term != paced_for_) {
    paced_for_ = s->term;
    set_pace(1);  // other units cost otherwise
    for (auto& t : state_) t.cost = 0;
  }
  role::group_actions list;
  role::route(from, m, {runs_on_root() ? &*arbiter_ : nullptr, host_, worker_}, list);
  perform(list, &with);
  if (roll_) maybe_complete();
}

void group_run::receive(int from, std::span<std::byte const> body, transport::packet& whole) {
  if (over_) return;
  auto m = role::decode<group_message>(body);
  if (another_call(from, m)) return;
  if (is_root() && is_call<role::stopped>(m)) {
    taken_back_ += bytes::get_varint(body);
    clock_.add(group_clock::unpack(body));
    add_stats(unpack_stats(from, body));
  }
  cargo with;
  unload(m, body, whole, with);
  bool const asks = is<msg::request>(m) || is<msg::returned>(m);
  if (!options_.paper.host_listens && asks && inside_ > 0)
    deferred_.push_back({from, std::move(m), std::move(with)});
  else
    deliver(from, m, with);
}

void group_run::deliver_deferred() {
  while (!deferred_.empty() && inside_ == 0) {
    auto d = std::move(deferred_.front());
    deferred_.pop_front();
    deliver(d.from, d.what, d.with);
  }
}

void group_run::on_lost(int rank) {
  if (over_) return;
  role::group_actions list;
  if (roll_) {
    call_roll(&role::roll_call::lost, rank);
    if (runs_on_root()) arbiter_->lost(rank, list);
    perform(list);
  }
  host_.lost(rank, list);
  perform(list);
  worker_.lost(rank, list);
  perform(list);
}

void group_run::on_tick(double t) {
  if (over_) return;
  role::group_actions list;
  worker_.tick(list);
  host_.tick(list);
  if (runs_on_root()) arbiter_->tick(list);
  perform(list);
  // The root hears that this rank moves: for its watchdog.
  if (auto const n = tasks_run(); n != pieces_told_) {
    pieces_told_ = n;
    last_moved_ = t;
    if (!is_root()) send(root_, role::hello{worker_.call_hash()});
  }
  after_tick(t);
}

void group_run::please_stop() {
  role::group_actions list;
  worker_.please_stop(list);
  perform(list);
}

}  // namespace skel::detail
