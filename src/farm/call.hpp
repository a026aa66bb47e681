// What both kinds of a farm call share, on one rank: the way from the source to the sink, progress and
// report.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/format.hpp"
#include "call/protocol_run.hpp"
#include "setup.hpp"
#include "skel/detail/steered_book.hpp"
#include "tasks/sink.hpp"
#include "tasks/stream.hpp"

namespace skel::detail {

/// The derived class has in addition, with the engine's lock unless stated otherwise:
/// - `add_tasks(farm_stream::supply const&)`: on the root, the source has produced more tasks;
/// - `watch_tasks(t)`: at each tick, also when the call is over here: a task may hang;
/// - `paused()`: on the root: no more tasks are wanted;
/// - `excuse(seconds)`: the process was stopped, for which no task is to blame;
/// - `before_sink()`, without the lock, and `after_sink()`: around results that go to the sink;
/// - `name()`, `states()`: for state();
/// - `count()`: on the root, sets the counts of the roll call.
template <class P>
class farm_call : public protocol_run<P> {
  using base = protocol_run<P>;

 public:
  void idle_work() override {
    drain_sink();
    if (is_root() && stream_.book() != nullptr) supply();  // there is no supply ahead
  }
  [[nodiscard]] bool idle_work_takes_long() const override { return is_root(); }
  [[nodiscard]] std::string state() const override;
  [[nodiscard]] farm_sink& sink() { return sink_; }

 protected:
  friend base;
  using base::call_, base::draining_, base::end_, base::engine_, base::entry_, base::last_moved_,
      base::measures_, base::memory_, base::over_, base::progress_, base::rank_, base::root_,
      base::root_role_, base::roll_, base::threads_;
  using base::call_roll, base::call_roll_now, base::check_stop, base::is_root, base::now, base::self,
      base::show_progress, base::tell;
  using typename base::actions;
  using typename base::message;
  using typename base::root_role;

  farm_call(context& ctx, farm_work& work, farm_policy policy, farm_options const& options)
      : base(ctx, call_options_of(options, "farm"), "farm"),
        work_(work),
        setup_(ctx, work, std::move(policy), options, root_),
        sink_(engine_, work, setup_.traits, ctx.is_root() ? setup_.options.checkpoint : std::nullopt,
              setup_.options.label, setup_.bytes_of_window()),
        stream_(work.feed(), ctx.is_root(), setup_.options.results.window, setup_.window_bytes) {
    setup_.describe(call_, work, engine_.options().check.inputs);
    if (!setup_.traits.ordered) restored_ = count_tasks(sink_.restored_tasks());
    if (!computes_) measures_.only_serves();
    base::hears_after_end_ = true;
  }

  struct role_states {
    std::string member, root;
  };

  // --- of protocol_run
  /// For unpack(): a message of another rank has come.
  void heard(int from, message const& m) {
    if (heard_.insert(from).second) last_moved_ = now();
    if (roll_ && roll_->runs(from) && base::template as_call<role::stopped>(m)) last_moved_ = now();
    if (!roll_ || !for_root_role(m)) return;
    bool const silent = roll_->finished() || (roll_->stopping() && base::template as_call<role::hello>(m));
    if (silent)  // has not heard of the end
      call_roll(&role::roll_call::say_again, from);
    else
      roll_->heard(from);
  }
  void on_lost(int rank, bool killed) override {
    base::on_lost(rank, killed);
    if (is_root()) lost_ranks_ = static_cast<int>(roll_->lost_ranks().size());
  }
  void on_stopped(double seconds) override {
    base::on_stopped(seconds);
    self().excuse(seconds);
  }
  // drain_sink() shows progress, without the lock. Every rank sees the progress that its watchdog must know.
  void on_tick(double t) override {
    self().watch_tasks(t);
    if (over_) return;
    if (roll_ && roll_->stopping()) call_roll(&role::roll_call::tick);
    base::tick_roles();
    watch_source(t);
    check_stop();
    base::watch(t);
  }
  void act(role::end& a, result_batch* /*with*/) {
    a.how.task = work_.task_at(a.how.task);
    base::end_with(a.how);
  }
  /// Failures that wait for the sink come first: it may throw.
  void act(role::close& a, result_batch* /*with*/) {
    using status = role::outcome::status;
    bool const complete =
        a.how.how == status::done || (a.how.how == status::stopped_early && not_started_ > 0);
    if (complete && setup_.traits.hears_failures)
      complete_ = std::move(a.how);
    else
      call_roll(&role::roll_call::close, std::move(a.how));
  }
  void act(role::farm::leave_out& a, result_batch* /*with*/) {
    ++failed_tasks_;
    task_failure why{work_.task_at(a.task), a.rank, a.times, std::move(a.text), a.ended_ranks};
    if (setup_.traits.ordered || setup_.traits.hears_failures || stream_.book() != nullptr)
      sink_.push_left_out(a.task, why);
    if (a.late)
      ++not_started_;
    else
      left_out_.push_back(std::move(why));
  }
  /// The payloads of the tasks that the message gives to this rank; the root has all payloads.
  void keep_payloads(message const& m, std::span<std::byte const> body, transport::packet& whole) {
    if (!is_root() && stream_.carries_tasks() && !given_tasks(m).empty())
      stream_.store(given_tasks(m), body, whole);
  }
  void pack_payloads(message const& m, std::vector<std::byte>& out) {
    if (stream_.carries_tasks() && !given_tasks(m).empty()) stream_.pack(given_tasks(m), out);
  }

  // --- source and sink
  void supply();
  void cancel();
  /// The number of these results in the sink that were not cancelled.
  [[nodiscard]] std::uint64_t wanted_results(std::uint64_t sunk) const {
    return stream_.book() == nullptr ? sunk : sunk - std::min(sunk, stream_.book()->dropped());
  }
  void watch_source(double t);
  void drain_sink();
  /// Before the root gives out tasks: what it may give follows the sizes of tasks and results.
  void resize_window() {
    if (sink_.window().limited()) root_role_->resize_window(sink_.window().tasks(stream_.task_bytes()));
  }
  void after_quantum(unsigned thread, std::unique_lock<std::mutex>& lock) override {
    if (!is_root() && thread != 0) return;
    lock.unlock();
    after_work();
    lock.lock();
  }
  /// A thread's duties between two quanta, without the lock.
  void after_work() {
    drain_sink();
    supply();
    if (!end_.stop_wanted()) return;
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

  farm_work& work_;
  farm_setup setup_;
  bool computes_ = setup_.computes();  // false: the root only serves
  farm_sink sink_;                     // used on the root
  farm_stream stream_;

 private:
  std::uint64_t restored_ = 0;                  // results that the sink must have before the source is opened
  std::atomic<double> source_since_{0};         // a thread is inside the source since then; 0: none is
  bool source_blamed_ = false;                  // it has been said that it blocks
  std::unordered_set<int> heard_;               // ranks that have taken part in this run so far
  std::vector<task_failure> left_out_;          // on the root
  std::uint64_t not_started_ = 0;               // likewise: tasks that could not end in time
  std::optional<role::outcome> complete_;       // the end, once the sink has heard of all failures
  std::atomic<int> lost_ranks_{0};              // for the progress line
  std::atomic<std::uint64_t> failed_tasks_{0};  // likewise
};

template <class P>
void farm_call<P>::supply() {
  std::unique_lock lock(engine_.mutex(), std::defer_lock);
  if (is_root() && stream_.book() != nullptr) {
    lock.lock();
    if (sink_.undelivered()) return;  // the state must hear of all results first
  }
  auto const turn = stream_.turn();
  if (!turn) return;
  if (!lock) lock.lock();
  if (over_ || draining_ || self().paused() || sink_.sunk() < restored_) return;
  auto const pooled = root_role_->pooled();
  auto idle = stream_.book() == nullptr ? 0 : root_role_->wanted();
  idle -= std::min(idle, pooled);
  lock.unlock();
  if (!stream_.due(pooled, idle)) return;
  engine_.helper().rest(false);  // the source may take its time
  source_since_ = now();
  auto const got = stream_.pull(pooled, idle, lock);
  source_since_ = 0;
  if (!got.error) {
    self().add_tasks(got);
    if (stream_.book() != nullptr) cancel();
  } else {
    call_roll_now(&role::roll_call::close,
                  role::outcome{.how = role::outcome::status::source_failed, .text = *got.error});
  }
}

// Tasks that a steered source does not want any more.
template <class P>
void farm_call<P>::cancel() {
  for (task_id const id : stream_.book()->take_cancelled()) {
    if (root_role_->tasks().recorded().contains(id)) continue;  // the sink drops it
    tell(*root_role_, &root_role::cancel, id);
    if (setup_.traits.ordered) sink_.push_left_out(id, {});
  }
}

// A source that waits for results of its own farm may wait for ever: the tasks that it has produced in this
// pull are not given yet, and on one thread no other ones run either.
template <class P>
void farm_call<P>::watch_source(double t) {
  constexpr double patience = 10;
  double const since = source_since_;
  if (since == 0 || over_ || source_blamed_ || t - std::max(since, last_moved_) < patience) return;
  auto const made = stream_.supplied(), done = std::min(made, root_role_->tasks().recorded().count());
  auto const stuck = setup_.size == 1 && threads_ == 1 ? made - done : 0;
  auto const waiting = work_.feed()->pulled_now() + stuck;
  if (waiting == 0) return;  // perhaps for input
  source_blamed_ = true;
  std::fprintf(
      stderr,
      "skel: the source of a farm has not returned for %.0f s, and %llu of its tasks wait for that: it must "
      "not wait for results of its own farm\n",
      t - since, static_cast<unsigned long long>(waiting));
}

template <class P>
void farm_call<P>::drain_sink() {
  if (!is_root()) return;
  self().before_sink();
  auto const mine = sink_.turn();
  if (!mine) return;
  if (progress_) show_progress(false);
  sink_.save_if_due();
  sink_.pass_on(
      [this] {
        if (complete_ && !sink_.waiting())
          call_roll_now(&role::roll_call::close, *std::exchange(complete_, std::nullopt));
        return over_               ? farm_sink::verdict::leave
               : roll_->stopping() ? farm_sink::verdict::drop
                                   : farm_sink::verdict::pass;
      },
      [this] { engine_.helper().rest(false); },  // it may take its time
      [this, before = sink_.sunk()](auto const& progress, double begin, task_id first) mutable {
        measures_.span(threads_ + 1, observe::activity::sink, begin, now(), work_.task_at(first),
                       progress.sunk - before);
        before = progress.sunk;
        auto list = base::empty_list();
        using status = role::outcome::status;
        if (progress.error)
          call_roll(&role::roll_call::close, role::outcome{.how = status::sink_failed,
                                                           .task = progress.error->first,
                                                           .text = progress.error->second});
        resize_window();
        root_role_->sunk(progress.sunk, progress.next, list);
        if (stream_.book() != nullptr) {
          base::perform(list);
          cancel();
          list = base::empty_list();
        }
        if (progress.stop) list.emplace_back(role::close{{.how = status::stopped_early}});
        base::perform(list);
        self().after_sink();
      });
}

template <class P>
void farm_call<P>::describe(report& r) const {
  r.skeleton = "farm";
  if (is_root()) r.lost_ranks = roll_->lost_ranks();
  if (is_root() && !setup_.rooms.empty()) {
    auto& needs = r.needs.emplace();
    needs.not_started = not_started_;
    for (auto const& room : setup_.rooms) {
      needs.memory = std::max(needs.memory, room.memory);
      needs.threads = std::max(needs.threads, static_cast<unsigned>(room.threads));
    }
  }
  r.failed_tasks = left_out_;
  std::sort(r.failed_tasks.begin(), r.failed_tasks.end(),
            [](auto const& a, auto const& b) { return a.task < b.task; });
}

template <class P>
std::string farm_call<P>::state() const {
  auto const roles = self().states();
  auto text = detail::format("rank {}: farm {} (context {}, {}): {}", rank_, entry_.key.number,
                             entry_.key.context, self().name(), roles.member);
  if (!root_role_) {
    if (!heard_.contains(root_)) text += "; nothing heard from the root in this call";
    return text;
  }
  text += detail::format("; root: {}, {} recorded, {} in the sink, {} in the pool", roles.root,
                         root_role_->tasks().recorded().count(), sink_.sunk(), root_role_->pooled());
  if (double const since = source_since_; since > 0)
    text += detail::format(", inside its source for {:.0f} s", now() - since);
  if (roll_->stopping())
    text += detail::format(", stopping, waiting for ranks [{}]", detail::join(roll_->not_stopped(), " "));
  std::vector<int> absent;
  for (int r = 0; r < setup_.size; ++r)
    if (r != rank_ && !heard_.contains(r)) absent.push_back(r);
  if (!absent.empty()) text += detail::format("; not in this call: ranks [{}]", detail::join(absent, " "));
  return text;
}

}  // namespace skel::detail
