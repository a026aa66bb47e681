// What both kinds of a farm call share, on one rank: the way from the source to the sink, the events of the
// roles, progress and report.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "base/format.hpp"
#include "call/collective_run.hpp"
#include "call/loopback.hpp"
#include "setup.hpp"
#include "sink.hpp"
#include "stream.hpp"

namespace skel::detail {

/// `Roles` names the types of the roles: `root_role`, `member`, and their `message`, `action` and `actions`.
template <class Roles>
class farm_call : public collective_run {
 public:
  void on_lost(int rank) override {
    if (root_role_) {
      tell_root_role(&root_role::lost, rank);
      lost_ranks_ = static_cast<int>(root_role_->lost_ranks().size());
    }
    actions list;
    member_.lost(rank, list);
    perform(list);
  }
  void on_outside_loss(int rank) override {
    if (root_role_) root_role_->from_outside(rank);
  }
  void on_tick(double t) override {
    if (root_role_) tell_root_role(&root_role::tick);
    actions list;
    member_.tick(list);
    perform(list);
    check_stop();
    watch_tasks(t);
    watch_source(t);
    watch(t);
  }
  [[nodiscard]] std::string state() const override;
  [[nodiscard]] farm_sink& sink() { return sink_; }

 protected:
  using root_role = typename Roles::root_role;
  using member = typename Roles::member;
  using message = typename Roles::message;
  using actions = typename Roles::actions;

  farm_call(context& ctx, farm_work& work, farm_policy policy, farm_options const& options)
      : collective_run(ctx, call_options_of(options, "farm"), "farm"),
        work_(work),
        setup_(ctx, work, std::move(policy), options, root_),
        sink_(engine_, work, setup_.traits, ctx.is_root() ? setup_.options.checkpoint : std::nullopt,
              setup_.options.label, setup_.bytes_of_window()),
        stream_(work, setup_.traits.payload, ctx.is_root(), setup_.options.results.window,
                setup_.window_bytes) {
    setup_.describe(call_, work, engine_.options().check_inputs);
    computes_ = setup_.computes();
  }

  // --- what differs
  /// Called without the engine's lock, before results go to the sink; the others with it.
  virtual void before_sink() {}
  /// Performs the actions and delivers what they say to this rank itself. Empties the list.
  virtual void perform(actions& list) = 0;
  virtual void deliver(int from, message const& m, result_batch batch) = 0;
  virtual void send_to(int to, message m) = 0;
  /// On the root: the source has produced more tasks.
  virtual void add_tasks(farm_stream::supply const& got) = 0;
  /// The sink has received results.
  virtual void after_sink() {}
  /// Ends this process if a task has run for longer than its time limit.
  virtual void watch_tasks(double t) = 0;
  /// For state(): what this rank does, and what its root role does.
  [[nodiscard]] virtual std::string member_state() const = 0;
  [[nodiscard]] virtual std::string root_state() const = 0;

  // --- shared
  /// Delivers an event to the root role, e.g. `tell_root_role(&root_role::lost, rank)`, and performs its
  /// actions.
  template <class... Parameters, class... Arguments>
  void tell_root_role(void (root_role::*event)(Parameters...), Arguments&&... arguments) {
    actions list;
    set_time();
    ((*root_role_).*event)(std::forward<Arguments>(arguments)..., list);
    perform(list);
  }
  /// Before an event of a root role that knows the time.
  void set_time() {
    if constexpr (requires(root_role& r) { r.at(0.0); }) root_role_->at(now());
  }
  /// Performs an action that both kinds of a call have; false if it is another one.
  [[nodiscard]] bool perform_shared(typename Roles::action& a);
  void deliver_own() {
    to_self_.deliver([&](own_message& own) { deliver(rank_, own.what, std::move(own.batch)); });
  }
  /// The call message of this type within `m`, or null.
  template <class Call>
  [[nodiscard]] static Call const* as_call(message const& m) {
    auto const* const call = std::get_if<role::call_message>(&m);
    return call == nullptr ? nullptr : std::get_if<Call>(call);
  }
  /// On the arrival of a message of another rank: handles what follows its head. `rest`: the bytes behind
  /// the head. False: the rank makes another call, so nothing must be delivered.
  [[nodiscard]] bool accept_message(int from, message const& m, std::span<std::byte const> rest,
                                    transport::packet& whole);
  /// Packs what follows the head of `m` and sends both to another rank.
  void post_message(int to, message const& m, transport::packet body, double begin);
  void supply();
  void watch_source(double t);
  void drain_sink();
  /// Before the root gives out tasks: what it may give follows the sizes of tasks and results.
  void resize_window() {
    if (sink_.window().limited()) root_role_->resize_window(sink_.window().tasks(stream_.task_bytes()));
  }
  void abort(std::string const& text) override { tell_root_role(&root_role::abort, text); }
  /// An idle thread's duties between two quanta, without the lock.
  void after_work() {
    drain_sink();
    supply();
    if (!stop_wanted()) return;
    std::lock_guard const lock(engine_.mutex());
    check_stop();
  }
  void describe(report& r) const override;
  void describe(observe::progress_state& s, bool /*last*/) const override {
    s.done = sink_.sunk() + failed_tasks_;
    s.total = setup_.traits.tasks;
    s.failed = failed_tasks_;
    s.lost_ranks = lost_ranks_;
  }

  struct own_message {
    message what;
    result_batch batch;
  };
  farm_work& work_;
  farm_setup setup_;
  member member_;
  std::optional<root_role> root_role_;  // on the root
  farm_sink sink_;                      // used on the root
  farm_stream stream_;
  loopback<own_message> to_self_;

 private:
  void please_stop() override {
    if (root_role_) {
      tell_root_role(&root_role::stop_early);
      return;
    }
    actions list;
    member_.please_stop(list);
    perform(list);
  }

  std::atomic<double> source_since_{0};         // a thread is inside the source since then; 0: none is
  bool source_blamed_ = false;                  // it has been said that it blocks
  std::unordered_set<int> heard_;               // ranks that have taken part in this run so far
  std::vector<task_failure> left_out_;          // on the root
  std::atomic<int> lost_ranks_{0};              // for the progress line
  std::atomic<std::uint64_t> failed_tasks_{0};  // likewise
};

template <class Roles>
bool farm_call<Roles>::perform_shared(typename Roles::action& a) {
  if (auto* const s = std::get_if<typename Roles::send>(&a)) {
    send_to(s->to, std::move(s->what));
  } else if (auto* const t = std::get_if<role::tell_root>(&a)) {
    send_to(root_, std::move(t->what));
  } else if (auto* const l = std::get_if<typename Roles::leave_out>(&a)) {
    if (setup_.traits.ordered) sink_.push_left_out(l->task);
    ++failed_tasks_;
    left_out_.push_back({work_.task_at(l->task), l->rank, l->times, std::move(l->text), l->ended_ranks});
  } else if (std::holds_alternative<role::drain>(a)) {
    draining_ = true;
  } else if (auto const* const end = std::get_if<role::end>(&a)) {
    auto how = end->how;
    how.task = work_.task_at(how.task);
    end_with(how);
  } else if (auto const* const failure = std::get_if<role::fail>(&a)) {
    fail_with(*failure);
  } else {
    return false;
  }
  return true;
}

template <class Roles>
bool farm_call<Roles>::accept_message(int from, message const& m, std::span<std::byte const> rest,
                                      transport::packet& whole) {
  if (heard_.insert(from).second) last_moved_ = now();
  if (is_root()) {
    if (auto const* const h = as_call<role::hello>(m); h != nullptr && of_another_call(from, h->call_hash))
      return false;
    if (as_call<role::stopped>(m) != nullptr) add_stats(unpack_stats(from, rest));
  } else if (stream_.carries_tasks() && !given_tasks(m).empty()) {  // the root has all payloads
    stream_.store(given_tasks(m), rest, whole);
  }
  return true;
}

template <class Roles>
void farm_call<Roles>::post_message(int to, message const& m, transport::packet body, double begin) {
  if (stream_.carries_tasks() && !given_tasks(m).empty())
    stream_.pack(given_tasks(m), body.body());
  else if (as_call<role::stopped>(m) != nullptr)
    pack_stats(own_stats(), body.body());
  post(to, m, std::move(body), begin);
}

template <class Roles>
void farm_call<Roles>::supply() {
  auto const turn = stream_.turn();
  if (!turn) return;
  std::unique_lock lock(engine_.mutex());
  if (over_ || draining_) return;
  auto const pooled = root_role_->pooled();
  lock.unlock();
  if (!stream_.due(pooled)) return;
  engine_.helper().rest(false);  // the source may take its time
  source_since_ = now();
  auto const got = stream_.pull(pooled, lock);
  source_since_ = 0;
  if (got.error)
    tell_root_role(&root_role::source_failed, *got.error);
  else
    add_tasks(got);
}

// A source that waits for results of its own farm may wait for ever: the tasks that it has produced in this
// pull are not given yet, and on one thread no other ones run either.
template <class Roles>
void farm_call<Roles>::watch_source(double t) {
  constexpr double patience = 10;
  double const since = source_since_;
  if (since == 0 || over_ || source_blamed_ || t - std::max(since, last_moved_) < patience) return;
  auto const made = stream_.supplied(), done = std::min(made, root_role_->recorded());
  auto const stuck = setup_.size == 1 && threads_ == 1 ? made - done : 0;
  auto const waiting = work_.pulled_now() + stuck;
  if (waiting == 0) return;  // perhaps for input
  source_blamed_ = true;
  std::fprintf(
      stderr,
      "skel: the source of a farm has not returned for %.0f s, and %llu of its tasks wait for that: it must "
      "not wait for results of its own farm\n",
      t - since, static_cast<unsigned long long>(waiting));
}

template <class Roles>
void farm_call<Roles>::drain_sink() {
  if (!is_root()) return;
  before_sink();
  auto const mine = sink_.turn();
  if (!mine) return;
  if (display_) show_progress(false);
  sink_.save_if_due();
  sink_.pass_on(
      [this] {
        return over_                    ? farm_sink::verdict::leave
               : root_role_->stopping() ? farm_sink::verdict::drop
                                        : farm_sink::verdict::pass;
      },
      [this] { engine_.helper().rest(false); },  // it may take its time
      [this, before = sink_.sunk()](auto const& progress, double begin, task_id first) mutable {
        span(threads_ + 1, observe::activity::sink, begin, now(), work_.task_at(first),
             progress.sunk - before);
        before = progress.sunk;
        actions list;
        set_time();
        if (progress.error) root_role_->sink_failed(progress.error->first, progress.error->second, list);
        resize_window();
        root_role_->sunk(progress.sunk, progress.next, list);
        if (progress.stop) root_role_->stop_early(list);
        perform(list);
        after_sink();
      });
}

template <class Roles>
void farm_call<Roles>::describe(report& r) const {
  r.skeleton = "farm";
  if (root_role_) r.lost_ranks = root_role_->lost_ranks();
  r.failed_tasks = left_out_;
  std::sort(r.failed_tasks.begin(), r.failed_tasks.end(),
            [](auto const& a, auto const& b) { return a.task < b.task; });
}

template <class Roles>
std::string farm_call<Roles>::state() const {
  auto text = detail::format("rank {}: farm {} (context {}, {}): {}", rank_, key_.number, key_.context,
                             Roles::name(setup_), member_state());
  if (!root_role_) {
    if (!heard_.contains(root_)) text += "; nothing heard from the root in this call";
    return text;
  }
  text += detail::format("; root: {}, {} recorded, {} in the sink, {} in the pool", root_state(),
                         root_role_->recorded(), sink_.sunk(), root_role_->pooled());
  if (double const since = source_since_; since > 0)
    text += detail::format(", inside its source for {:.0f} s", now() - since);
  if (root_role_->stopping())
    text +=
        detail::format(", stopping, waiting for ranks [{}]", detail::join(root_role_->not_stopped(), " "));
  std::vector<int> absent;
  for (int r = 0; r < setup_.size; ++r)
    if (r != rank_ && !heard_.contains(r)) absent.push_back(r);
  if (!absent.empty()) text += detail::format("; not in this call: ranks [{}]", detail::join(absent, " "));
  return text;
}

}  // namespace skel::detail
