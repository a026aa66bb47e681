#include "run.hpp"

#include <utility>

#include "call/user_code.hpp"

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

group_run::group_run(context& ctx, std::uint64_t units, group_work& work, multi_host_options const& options)
    : peer_run(ctx, call_options_of(options, "multi_host"), "multi_host"),
      setup_(ctx, units, options, root_),
      share_(work),
      packets_(is_root() || setup_.sink_on_hosts()),
      codec_(engine_, work, share_, packets_, clock_, setup_.sink_on_hosts()),
      trial_(engine_, work, setup_, clock_, threads_),
      pieces_(engine_, work, setup_, trial_, threads_),
      pace_(threads_),
      sink_(engine_, work, options.results == multi_host_options::unit_results::in_order),
      state_(threads_) {
  setup_.describe(call_, work);
  auto const hash = call_.hash();
  member_ = role::group_member(setup_.member_config(engine_, hash, threads_));
  host_ = role::group_host(setup_.host());
  if (!is_root()) return;
  root_role_.emplace(setup_.root_config(work));
  roll_.emplace(all_ranks(), hash);
}

void group_run::begin(std::unique_lock<std::mutex>& /*lock*/) {
  tell(member_, &role::group_member::begin);
  if (!root_role_) return;
  tell(*root_role_, &role::group_root::begin);
  maybe_complete();
}

// --- actions

void group_run::perform(role::group_actions& list, group_cargo* with, thread_state* thread) {
  for (auto& action : std::exchange(list, {})) perform(action, with, thread);
  deliver_own();
}

void group_run::perform(role::group_action& action, group_cargo* with, thread_state* thread) {
  if (auto* const s = std::get_if<group_act::send>(&action)) {
    send(s->to, std::move(s->what));
  } else if (auto const* a = std::get_if<group_act::accept>(&action)) {
    packets_.accept(*a, *with);
    if (threads_ > 1) engine_.calls().work_arrived().notify_all();
  } else if (auto const* x = std::get_if<group_act::execute>(&action)) {
    thread->todo = packets_.job(*x, root_role_ && root_role_->on_trial());
  } else if (auto const* f = std::get_if<group_act::forget>(&action)) {
    packets_.forget(f->term);
  } else if (std::holds_alternative<role::drain>(action)) {
    draining_ = true;
    share_.close();
    packets_.clear();
    tell(host_, &role::group_host::stop);
  } else if (auto const* r = std::get_if<group_act::record>(&action)) {
    sink_.push(r->unit, with->pieces);
    last_moved_ = now();
  } else if (std::holds_alternative<group_act::started>(action)) {
    clock_.started_at = now();
  } else if (auto const* failure = std::get_if<role::fail>(&action);
             failure != nullptr && roll_ && !roll_->finished()) {
    abort(failure->text);
  } else if (!perform_common(action)) {
    perform_for_host(action, with);
  }
}

void group_run::perform_for_host(role::group_action const& action, group_cargo* with) {
  if (draining_) return;  // perhaps since the last action of the same list
  if (auto const* r = std::get_if<group_act::read>(&action)) {
    share_.add(*r);
    engine_.calls().work_arrived().notify_all();
  } else if (auto const* k = std::get_if<group_act::keep>(&action)) {
    share_.keep(k->pieces, *with);
  } else if (auto const* d = std::get_if<group_act::deliver>(&action)) {
    if (setup_.sink_on_hosts()) {
      share_.add(*d);
      engine_.calls().work_arrived().notify_all();
    } else {
      tell(host_, &role::group_host::delivered, d->term, d->unit);
    }
  } else if (std::holds_alternative<group_act::close>(action)) {
    share_.close();
  }
}

// --- messages

void group_run::send(int to, group_message m) {
  if (draining_ && cargo_codec::carries(m)) return;  // its cargo is dropped
  double const begin = span_begin();
  std::optional<group_cargo> own;  // constructing one allocates
  std::optional<transport::packet> body;
  auto const bad = thrown_by([&] {
    if (to == rank_) {
      codec_.load(m, own.emplace());
    } else if (is_call<role::stopped>(m)) {
      clock_.taken_back = host_.units().taken_back();
      clock_.pack(body.emplace().body());
      pack_stats(own_stats(), body->body());
    } else {
      body = codec_.pack(m);
    }
  });
  if (bad)
    tell(member_, &role::group_member::failed, cargo_codec::unit_of(m), *bad);
  else if (own)
    to_self_.push({std::move(m), std::move(*own)});
  else
    post(to, m, std::move(*body), begin);
}

void group_run::deliver_own() {
  to_self_.deliver([&](own_message& own) { deliver(rank_, own.what, own.with); });
}

void group_run::deliver(int from, group_message const& m, group_cargo& with) {
  if (moves_the_groups(m)) last_moved_ = now();
  auto const* const call = std::get_if<call_message>(&m);
  if (roll_ && call != nullptr) call_roll(&role::roll_call::on, from, *call);
  if (auto const* s = std::get_if<msg::serve>(&m); s != nullptr && pace_.restart(s->term))
    member_.pace(pace_.per_packet());
  role::group_actions list;
  role::route(from, m, {runs_on_root() ? &*root_role_ : nullptr, host_, member_}, list);
  perform(list, &with);
  if (roll_) maybe_complete();
}

void group_run::receive(int from, std::span<std::byte const> body, transport::packet& whole) {
  if (over_) return;
  auto m = role::decode<group_message>(body);
  if (another_call(from, m)) return;
  if (is_root() && is_call<role::stopped>(m)) {
    clock_.add(group_clock::unpack(body));
    add_stats(unpack_stats(from, body));
  }
  auto with = codec_.unload(m, body, whole);
  deliver(from, m, with);
}

void group_run::on_outside_loss(int rank) {
  if (root_role_) root_role_->from_outside(rank);
  host_.from_outside(rank);
}

void group_run::on_lost(int rank) {
  if (over_) return;
  if (roll_) {
    call_roll(&role::roll_call::lost, rank);
    if (runs_on_root()) tell(*root_role_, &role::group_root::lost, rank);
  }
  tell(host_, &role::group_host::lost, rank);
  tell(member_, &role::group_member::lost, rank);
}

void group_run::on_tick(double t) {
  if (over_) return;
  role::group_actions list;
  member_.tick(list);
  host_.tick(list);
  if (runs_on_root()) root_role_->tick(list);
  perform(list);
  // The root's watchdog learns that this rank makes progress.
  if (auto const n = tasks_run(); n != pieces_told_) {
    pieces_told_ = n;
    last_moved_ = t;
    if (!is_root()) send(root_, role::hello{member_.call_hash()});
  }
  after_tick(t);
}

void group_run::please_stop() { tell(member_, &role::group_member::please_stop); }

void group_run::maybe_complete() {
  if (sink_.sunk() < setup_.units || !root_role_->complete() || roll_->stopping() || roll_->finished())
    return;
  call_roll(&role::roll_call::done, setup_.units);
}

report run_multi_host(context& ctx, std::uint64_t units, group_work& work,
                      multi_host_options const& options) {
  group_run run(ctx, units, work, options);
  return run.execute();
}

}  // namespace skel::detail
