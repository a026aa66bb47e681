// The driver of all skeletons: passes messages to the roles of a call, and carries out what they answer.
#pragma once

#include <concepts>
#include <deque>
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
#include "protocol/codec.hpp"
#include "protocol/roll_call.hpp"
#include "skel/error.hpp"
#include "user_code.hpp"

namespace skel::detail {

/// For a skeleton whose root has no more to do than the other ranks, apart from the roll call.
struct no_root_role {
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
/// that the roles answer, or null. It may replace the driver's way with another action, and has
/// - `fail(text)`: code of the user's has failed; `not_packed(m, text)`: the same while `m` was packed;
/// - `count()`: on the root, before a step of the roll call: sets its counts;
/// - `pack_totals(out)` and, on the root, `add_totals(from, in)`: numbers for the report, if there are any;
/// - the hooks below that it replaces.
/// All run with the engine's lock.
template <class P>
class protocol_run : public collective_run {
 public:
  void on_lost(int rank, bool killed) override;
  /// A skeleton does its own part first.
  void on_tick(double t) override {
    if (over_) return;
    tick_roles();
    check_stop();
    if (progress_) show_progress(false);
    if (is_root()) watch(t);  // progress is reported to the root
  }

 protected:
  using collective_run::collective_run;
  using message = typename P::message;
  using action = typename P::action;
  using actions = std::vector<action>;
  using cargo = typename P::cargo;
  using member = typename P::member;
  using root_role = typename P::root_role;

  // --- hooks: a skeleton may replace them
  /// A message is sent to another rank: packs what follows its head. May change `m`.
  [[nodiscard]] transport::packet pack(int /*to*/, message& /*m*/) { return {}; }
  /// A message of another rank has come: `body` is the part of `whole` behind the head.
  [[nodiscard]] cargo unpack(int /*from*/, message& /*m*/, std::span<std::byte const> /*body*/,
                             transport::packet& /*whole*/) {
    return {};
  }
  /// A message is sent to this rank itself. Moves from `m`, unless it throws.
  void send_to_self(message& m) { push_to_self(std::move(m), cargo{}); }
  /// Passes a message to the roles, after the roll call has seen it. A root role's on() returns whether the
  /// message was for the root only.
  void route(int from, message const& m, cargo& /*with*/, actions& out) {
    auto const* const call = std::get_if<role::call_message>(&m);
    if (call != nullptr && role::for_roll_call(*call)) return;
    if constexpr (requires { root_role_->on(from, m, out); })
      if (root_role_ && root_role_->on(from, m, out)) return;
    member_.on(from, m, out);
  }
  /// All actions of an event have been performed. `with`: the cargo of the message that caused it, or null.
  void performed(cargo* /*with*/) {}
  /// Nothing more is started. `early`: the results so far are needed.
  void drained(bool /*early*/) {}
  /// An event for all roles: calls `each` with every role of this rank that takes part.
  template <class F>
  void each_role(F const& each) {
    if (root_role_) each(*root_role_);
    each(member_);
  }

  void receive(int from, std::span<std::byte const> body, transport::packet& whole) override;

  // --- for a skeleton
  [[nodiscard]] typename P::run& self() { return static_cast<typename P::run&>(*this); }
  [[nodiscard]] typename P::run const& self() const { return static_cast<typename P::run const&>(*this); }
  /// Passes an event to a role and performs its answer: `tell(member_, &member::lost, rank)`.
  template <class Role, class Event, class... Arguments>
  void tell(Role& who, Event event, Arguments&&... arguments) {
    auto list = empty_list();
    std::invoke(event, who, std::forward<Arguments>(arguments)..., list);
    perform(list);
  }
  void tick_roles() {
    auto list = empty_list();
    self().each_role([&](auto& who) {
      if constexpr (requires { who.tick(list); }) who.tick(list);
    });
    perform(list);
  }
  /// Performs the actions and then delivers what this rank has sent to itself. Empties the list.
  void perform(actions& list, cargo* with = nullptr) {
    carry_out(list, with);
    deliver_own();
  }
  void send(int to, message&& m);
  void push_to_self(message m, cargo with) { to_self_.push_back({std::move(m), std::move(with)}); }
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
  /// An empty list for the actions of an event, which begins now. It has the memory of an earlier one:
  /// allocations would cost as much as MPI's calls.
  [[nodiscard]] actions empty_list() {
    if constexpr (requires { root_role_->at(0.0); })
      if (root_role_) root_role_->at(now());
    return std::move(spare_list_);
  }
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
  bool hears_after_end_ = false;  // the roles still answer messages then, e.g. of a rank that seemed lost

 private:
  struct own_message {
    message what;
    cargo with;
  };
  // Sets a flag while it exists.
  struct within {
    explicit within(bool& f) : flag(f), before(std::exchange(f, true)) {}
    within(within const&) = delete;
    within& operator=(within const&) = delete;
    ~within() { flag = before; }
    bool& flag;
    bool before;
  };

  void deliver(int from, message& m, cargo& with);
  /// Never inside the delivery of another message: roles are not re-entered. Nor between the actions of an
  /// event, where one of them tells a role of another: what is sent in answer would overtake the others.
  void deliver_own() {
    if (delivers_own_ || carries_out_ || to_self_.empty()) return;
    delivers_own_ = true;
    while (!to_self_.empty()) {
      auto own = std::move(to_self_.front());
      to_self_.pop_front();
      deliver(rank_, own.what, own.with);
    }
    delivers_own_ = false;
  }
  void carry_out(actions& list, cargo* with) {
    auto todo = std::move(list);
    list.clear();
    {
      within const all(carries_out_);
      for (auto& one : todo) std::visit([&](auto& a) { carry_out_one(a, with); }, one);
    }
    todo.clear();
    spare_list_ = std::move(todo);
    self().performed(with);
  }
  template <class A>
  void carry_out_one(A& a, cargo* with);
  void please_stop() override { tell(member_, &member::please_stop); }

  std::deque<own_message> to_self_;
  bool delivers_own_ = false;
  bool carries_out_ = false;
  actions spare_list_;
  std::vector<std::byte> head_;  // of the message that is being sent
};

template <class P>
void protocol_run<P>::on_lost(int rank, bool killed) {
  if (killed)
    self().each_role([&](auto& who) {
      if constexpr (requires { who.from_outside(rank); }) who.from_outside(rank);
    });
  if (over_) return;
  if (roll_) call_roll(&role::roll_call::lost, rank);
  auto list = empty_list();
  self().each_role([&](auto& who) { who.lost(rank, list); });
  perform(list);
}

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
    end_with(a.how);
  else if constexpr (std::same_as<A, role::fail>)
    fail_with(a);
  else if constexpr (std::same_as<A, role::drain>)
    draining_ = true, self().drained(a.early);
  else
    static_assert(!std::same_as<A, A>, "the skeleton has no act() for this action");
}

template <class P>
void protocol_run<P>::send(int to, message&& m) {
  double const begin = measures_.span_begin();
  transport::packet body;
  auto const bad = thrown_by([&] {
    if (to == rank_) {
      self().send_to_self(m);
    } else if (as_call<role::stopped>(m) != nullptr) {
      if constexpr (requires { self().pack_totals(body.body()); }) self().pack_totals(body.body());
      measures_.pack(threads_, compute_threads_, body.body());
    } else {
      body = self().pack(to, m);
    }
  });
  if (bad) {
    if constexpr (requires { self().not_packed(m, *bad); })
      return self().not_packed(m, *bad);
    else if constexpr (requires { self().fail(*bad); })
      return self().fail(*bad);
    else
      throw error(*bad);
  }
  if (to == rank_) return;
  head_.clear();
  encode(m, head_);
  body.prepend(head_);
  auto const size = body.size();
  engine_.calls().send(entry_.ranks.to_wire(to), entry_.key, std::move(body));
  measures_.span(threads_, observe::activity::send, begin, measures_.span_begin(),
                 static_cast<std::uint64_t>(to), size);
}

template <class P>
void protocol_run<P>::receive(int from, std::span<std::byte const> body, transport::packet& whole) {
  if (over_ && !hears_after_end_) return;
  auto m = role::decode<message>(body);
  if (is_root()) {
    if (auto const* const h = as_call<role::hello>(m);
        h != nullptr && doubts_.of_another_call(from, h->call_hash))
      return;
    if (as_call<role::stopped>(m) != nullptr) {
      if constexpr (requires { self().add_totals(from, body); }) self().add_totals(from, body);
      measures_.unpack(from, body);
    }
  }
  auto with = self().unpack(from, m, body, whole);
  deliver(from, m, with);
  deliver_own();
}

// The roll call and the roles each take their part.
template <class P>
void protocol_run<P>::deliver(int from, message& m, cargo& with) {
  auto list = empty_list();
  if (auto const* const call = std::get_if<role::call_message>(&m); call != nullptr && roll_) {
    bool decided = false;  // a root role with please_stop() decides when a call ends that a rank wants to end
    if constexpr (requires { root_role_->please_stop(list); })
      if (decided = std::holds_alternative<role::please_stop>(*call); decided) root_role_->please_stop(list);
    if (!decided) call_roll(&role::roll_call::on, from, *call);
  }
  self().route(from, m, with, list);
  carry_out(list, &with);
}

}  // namespace skel::detail
