// The driver of all skeletons: passes messages to the roles of a call, and carries out what they answer.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/format.hpp"
#include "collective_run.hpp"
#include "loopback.hpp"
#include "protocol/codec.hpp"
#include "protocol/roll_call.hpp"
#include "skel/error.hpp"
#include "user_code.hpp"

namespace skel::detail {

/// For a skeleton whose root has no more to do than the other ranks, apart from the roll call.
struct no_root_role {
  void from_outside(int /*rank*/) {}
  template <class Actions>
  void lost(int /*rank*/, Actions& /*out*/) {}
};

/// One call on one rank: a member on every rank, a root role and the roll call on the root. A skeleton is a
/// protocol P and a class derived from this one. P names
/// - `run`: the derived class, `message`, `action`, `send` (the action that sends a message);
/// - `member`, `root_role`;
/// - `cargo`: what travels with a message beside its head, as an object (payloads, results).
///
/// The derived class has `act(A&, cargo*)` for each action A of its own; the cargo is that of the message
/// that the roles answer, or null. It may replace the other functions under "a skeleton may replace". All run
/// with the engine's lock.
template <class P>
class protocol_run : public collective_run {
 public:
  void on_lost(int rank, bool killed) override {
    if (killed) from_outside(rank);
    if (over_) return;
    if (roll_) call_roll(&role::roll_call::lost, rank);
    auto list = empty_list();
    set_time();
    self().lost(rank, list);
    perform(list);
  }
  void on_tick(double t) final {
    self().watch_tasks(t);
    if (over_) return;
    auto list = empty_list();
    set_time();
    self().tick(list);
    perform(list);
    self().ticked(t);
    check_stop();
    self().show();
    if (self().sees_progress()) watch(t);
  }

 protected:
  using collective_run::collective_run;
  using message = typename P::message;
  using action = typename P::action;
  using actions = std::vector<action>;
  using cargo = typename P::cargo;
  using member = typename P::member;
  using root_role = typename P::root_role;

  // --- a skeleton may replace
  /// Packs the part of `m` that follows its head, for another rank. May change `m`.
  [[nodiscard]] transport::packet pack(int /*to*/, message& /*m*/) { return {}; }
  /// The reverse: `body` is the part of `whole` behind the head.
  [[nodiscard]] cargo unpack(int /*from*/, message& /*m*/, std::span<std::byte const> /*body*/,
                             transport::packet& /*whole*/) {
    return {};
  }
  /// A message to this rank itself. Moves from `m`, unless it throws.
  void send_to_self(message& m) { push_to_self(std::move(m), cargo{}); }
  /// False: the message is dropped.
  [[nodiscard]] bool sends(int /*to*/, message const& /*m*/) const { return true; }
  /// Packing `m` failed with this text. A skeleton that packs by code of the user's has `fail(text)`.
  void not_packed(message const& /*m*/, std::string text) {
    if constexpr (requires { self().fail(text); })
      self().fail(std::move(text));
    else
      throw error(text);
  }
  /// Totals of this rank for the report of the root, and what the root reads of those of another rank.
  void pack_totals(std::vector<std::byte>& /*out*/) {}
  void add_totals(int /*from*/, std::span<std::byte const>& /*in*/) {}
  /// Passes a message to the roles. `on` of a root role returns whether the message was for it alone.
  void route(int from, message const& m, cargo& /*with*/, actions& out) {
    auto const* const call = std::get_if<role::call_message>(&m);
    if (call != nullptr && role::for_roll_call(*call)) return;
    if constexpr (requires { root_role_->on(from, m, out); })
      if (root_role_ && root_role_->on(from, m, out)) return;
    member_.on(from, m, out);
  }
  /// On the root, and on other ranks: a message is about to be passed to the roles.
  void arrived(int /*from*/, message const& /*m*/) {}
  /// The actions of the roles that answer it have been performed.
  void answered(int /*from*/, message const& /*m*/, cargo& /*with*/) {}
  /// A message of another rank and this rank's own ones that followed from it have been answered.
  void received(int /*from*/) {}
  void lost(int rank, actions& out) {
    if (root_role_) root_role_->lost(rank, out);
    member_.lost(rank, out);
  }
  void tick(actions& out) {
    if constexpr (requires { root_role_->tick(out); })
      if (root_role_) root_role_->tick(out);
    if constexpr (requires { member_.tick(out); }) member_.tick(out);
  }
  void ticked(double /*t*/) {}
  /// Likewise at each tick, also when the call is over here: a task may hang.
  void watch_tasks(double /*t*/) {}
  /// Whether the roles still answer messages when the call is over here, e.g. of a rank that seemed lost.
  [[nodiscard]] bool hears_after_end() const { return false; }
  void show() {
    if (progress_) show_progress(false);
  }
  /// All actions of an event have been performed.
  void performed() {}
  /// Nothing more is started. `early`: the results so far are needed.
  void drained(bool /*early*/) {}
  /// An outcome for the user, in whose numbers its task is.
  [[nodiscard]] role::outcome outcome_of(role::outcome how) const { return how; }
  /// Whether last_moved_ covers all that the watchdog must know: progress is reported to the root.
  [[nodiscard]] bool sees_progress() const { return is_root(); }

  // --- for a skeleton
  [[nodiscard]] typename P::run& self() { return static_cast<typename P::run&>(*this); }
  [[nodiscard]] typename P::run const& self() const { return static_cast<typename P::run const&>(*this); }
  /// Passes an event to a role and performs its answer: `tell(member_, &member::lost, rank)`.
  template <class Role, class Event, class... Arguments>
  void tell(Role& who, Event event, Arguments&&... arguments) {
    auto list = empty_list();
    set_time();
    std::invoke(event, who, std::forward<Arguments>(arguments)..., list);
    perform(list);
  }
  /// Performs the actions and then delivers what this rank has sent to itself. Empties the list.
  void perform(actions& list, cargo* with = nullptr) {
    carry_out(list, with);
    deliver_own();
  }
  void send(int to, message m);
  void push_to_self(message m, cargo with) { to_self_.push({std::move(m), std::move(with)}); }
  /// On the root: a step of the roll call, e.g. `call_roll(&role::roll_call::lost, rank)`. Its messages to
  /// this rank are delivered with those of the roles. A root role with stop() hears of the end at once.
  template <class Step, class... Arguments>
  void call_roll(Step step, Arguments&&... arguments) {
    role::call_messages answers;
    if constexpr (requires { self().count(); }) self().count();
    std::invoke(step, *roll_, std::forward<Arguments>(arguments)..., answers);
    if constexpr (requires { root_role_->stop(); })
      if (roll_->stopping() || roll_->finished()) root_role_->stop();
    for (auto& m : answers) send(m.to, std::move(m.what));
  }
  /// The same where no action is being performed.
  template <class Step, class... Arguments>
  void call_roll_now(Step step, Arguments&&... arguments) {
    call_roll(step, std::forward<Arguments>(arguments)...);
    deliver_own();
  }
  void abort(std::string const& text) override { call_roll_now(&role::roll_call::abort, text); }
  /// Before an event of a root role that knows the time.
  void set_time() {
    if constexpr (requires { root_role_->at(0.0); })
      if (root_role_) root_role_->at(now());
  }
  /// An empty list with memory of an earlier one: allocations would cost as much as MPI's calls.
  [[nodiscard]] actions empty_list() { return std::move(spare_list_); }
  /// The call message of this type within `m`, or null.
  template <class Call>
  [[nodiscard]] static Call const* as_call(message const& m) {
    auto const* const call = std::get_if<role::call_message>(&m);
    return call == nullptr ? nullptr : std::get_if<Call>(call);
  }
  /// For the report, the progress and state().
  [[nodiscard]] std::vector<int> lost_ranks() const {
    return roll_ ? roll_->lost_ranks() : std::vector<int>{};
  }
  [[nodiscard]] std::string waits_to_stop() const {
    if (!roll_ || !roll_->stopping()) return {};
    return detail::format("; root: stopping, waiting for ranks [{}]",
                          detail::join(roll_->not_stopped(), " "));
  }

  member member_;
  std::optional<root_role> root_role_;   // on the root
  std::optional<role::roll_call> roll_;  // likewise

 private:
  struct own_message {
    message what;
    cargo with;
  };

  /// A root role with please_stop() decides when the call ends that a rank wants to end.
  [[nodiscard]] bool root_decides(role::call_message const& m, actions& out) {
    bool asked = false;
    if constexpr (requires { root_role_->please_stop(out); }) {
      asked = std::holds_alternative<role::please_stop>(m);
      if (asked) root_role_->please_stop(out);
    }
    return asked;
  }
  void from_outside(int rank) {
    if (root_role_) root_role_->from_outside(rank);
    if constexpr (requires { member_.from_outside(rank); }) member_.from_outside(rank);
  }
  /// Sends `m` followed by `body`. `begin` (from span_begin()) is when packing started.
  void post(int to, message const& m, transport::packet body, double begin) {
    head_.clear();
    encode(m, head_);
    body.prepend(head_);
    auto const size = body.size();
    engine_.calls().send(entry_.ranks.to_wire(to), entry_.key, std::move(body));
    span(threads_, observe::activity::send, begin, measures_.span_begin(), static_cast<std::uint64_t>(to),
         size);
  }
  void receive(int from, std::span<std::byte const> body, transport::packet& whole) final;
  void deliver(int from, message& m, cargo& with);
  void deliver_own() {
    to_self_.deliver([&](own_message& own) { deliver(rank_, own.what, own.with); });
  }
  void carry_out(actions& list, cargo* with) {
    auto todo = std::move(list);
    list.clear();
    for (auto& one : todo) std::visit([&](auto& a) { carry_out_one(a, with); }, one);
    todo.clear();
    spare_list_ = std::move(todo);
    self().performed();
  }
  template <class A>
  void carry_out_one(A& a, cargo* with);
  void please_stop() override { tell(member_, &member::please_stop); }

  loopback<own_message> to_self_;
  actions spare_list_;
  std::vector<std::byte> head_;  // of the message that is being sent
};

template <class P>
template <class A>
void protocol_run<P>::carry_out_one(A& a, cargo* with) {
  if constexpr (requires { self().act(a, with); })
    self().act(a, with);
  else if constexpr (std::same_as<A, typename P::send>)
    send(a.to, std::move(a.what));
  else if constexpr (std::same_as<A, role::tell_root>)
    send(root_, std::move(a.what));
  else if constexpr (std::same_as<A, role::close>)
    call_roll(&role::roll_call::close, std::move(a.how));
  else if constexpr (std::same_as<A, role::abort>)
    call_roll(&role::roll_call::abort, std::move(a.text));
  else if constexpr (std::same_as<A, role::end>)
    end_with(self().outcome_of(std::move(a.how)));
  else if constexpr (std::same_as<A, role::fail>)
    fail_with(a);
  else if constexpr (std::same_as<A, role::drain>)
    draining_ = true, self().drained(a.early);
  else
    static_assert(!std::same_as<A, A>, "the skeleton has no act() for this action");
}

template <class P>
void protocol_run<P>::send(int to, message m) {
  if (!self().sends(to, m)) return;
  double const begin = measures_.span_begin();
  transport::packet body;
  auto const bad = thrown_by([&] {
    if (to == rank_) {
      self().send_to_self(m);
    } else if (as_call<role::stopped>(m) != nullptr) {
      self().pack_totals(body.body());
      measures_.pack(threads_, compute_threads_, body.body());
    } else {
      body = self().pack(to, m);
    }
  });
  if (bad)
    self().not_packed(m, *bad);
  else if (to != rank_)
    post(to, m, std::move(body), begin);
}

template <class P>
void protocol_run<P>::receive(int from, std::span<std::byte const> body, transport::packet& whole) {
  if (over_ && !self().hears_after_end()) return;
  auto m = role::decode<message>(body);
  if (is_root()) {
    if (auto const* const h = as_call<role::hello>(m);
        h != nullptr && doubts_.of_another_call(from, h->call_hash))
      return;
    if (as_call<role::stopped>(m) != nullptr) {
      self().add_totals(from, body);
      measures_.unpack(from, body);
    }
  }
  auto with = self().unpack(from, m, body, whole);
  deliver(from, m, with);
  deliver_own();
  self().received(from);
}

// The roll call and the roles each take their part.
template <class P>
void protocol_run<P>::deliver(int from, message& m, cargo& with) {
  self().arrived(from, m);
  auto list = empty_list();
  set_time();
  if (auto const* const call = std::get_if<role::call_message>(&m);
      call != nullptr && roll_ && !root_decides(*call, list))
    call_roll(&role::roll_call::on, from, *call);
  self().route(from, m, with, list);
  carry_out(list, &with);
  self().answered(from, m, with);
}

}  // namespace skel::detail
