// The reports of a farm's member to the root: requests, results, and which tasks it runs and holds.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "farm/role/action.hpp"
#include "farm/role/config.hpp"
#include "farm/role/held_tasks.hpp"

namespace skel::role {

/// The running tasks of which the root does not know. A regular value, part of farm_reports.
class untold_tasks {
 public:
  untold_tasks() = default;
  /// Not `kept`: the root knows all of them.
  explicit untold_tasks(bool kept) : kept_(kept) {}

  void begun(task_range const& tasks) {
    if (kept_) tasks_.push_back(tasks);
  }
  void not_begun(task_id id) { std::erase(tasks_, task_range{id, 1, 1}); }
  void ended(task_range const& tasks) {
    std::erase_if(tasks_, [&](auto const& r) { return r.last() == tasks.last(); });
  }
  /// A rank was lost, so the root must know of every task begun, ...
  void tell_always() { always_ = true; }
  /// ... or it does not know what this rank begins next.
  void tell_once() { once_ = true; }
  /// Whether the root must know of them now, although no results are due.
  [[nodiscard]] bool due(bool concentrated) const {
    return !tasks_.empty() && (always_ || (once_ && !concentrated));
  }
  /// The root hears of them.
  range_list take() {
    once_ = false;
    return std::exchange(tasks_, {});
  }
  void clear() { tasks_.clear(); }
  friend bool operator==(untold_tasks const&, untold_tasks const&) = default;
  auto fields() const { return std::tie(tasks_, always_, once_); }

 private:
  bool kept_ = true;
  range_list tasks_;
  bool always_ = false;
  bool once_ = false;
};

/// A regular value, part of farm_member; events append the messages to `out`.
class farm_reports {
 public:
  farm_reports() = default;
  explicit farm_reports(farm_member_config config);

  void hello(farm_actions& out) const;
  /// The root has sent something, or this rank searches elsewhere: patience begins again.
  void heard() { ticks_ = 0; }
  /// Counts a tick: sends results that have waited for long. Returns true if messages that were not answered
  /// should be repeated.
  [[nodiscard]] bool tick(held_tasks& held, farm_actions& out);

  // --- requests
  void ask(held_tasks const& held, farm_actions& out);
  void maybe_ask(held_tasks const& held, farm_actions& out);
  void ask_again(held_tasks const& held, farm_actions& out) const;
  void answered() { asked_ = false; }
  /// This rank is to leave, or not after all: it asks for nothing more.
  void retire(bool does);
  [[nodiscard]] bool retires() const { return retires_; }
  void tell_retired(bool vacant, farm_actions& out) const { say(farm::retires{retires_, vacant}, out); }
  [[nodiscard]] bool asked() const { return asked_; }
  /// The root has no more tasks.
  void close() { closed_ = true; }
  [[nodiscard]] bool closed() const { return closed_; }
  /// The victim that the root named had no tasks.
  void refused_by(rank_id victim) { refused_by_ = victim; }
  /// A compute thread is free and takes at most this many tasks.
  void takes(std::uint64_t limit) {
    reach_ = std::max<std::uint64_t>(1, limit) * static_cast<std::uint64_t>(config_.threads);
  }
  /// Number of tasks that cover a round trip.
  [[nodiscard]] std::uint64_t reach() const { return reach_; }

  // --- tasks
  void ended(task_range const& tasks);
  /// A task has no result. The message says which failure of this rank that is.
  template <class Message>
  void failed(Message what, farm_actions& out) {
    what.nth = ++failures_;
    say(std::move(what), out);
  }
  void measured(double tasks, double seconds);
  [[nodiscard]] untold_tasks& untold() { return untold_; }
  /// Tells the root what runs, if it must know now.
  void tell_begun(held_tasks const& held, farm_actions& out);
  void tell_stock(farm::take_stock const& m, held_tasks const& held, farm_actions& out) const;

  // --- results
  /// Results may wait for others for this time.
  void space(farm::spacing const& m) { config_.wait.seconds = static_cast<double>(m.microseconds) * 1e-6; }
  void flush(held_tasks& held, farm_actions& out);
  /// Sends results if they are due; concentrated ones at the end, when the rank is `resting`.
  void maybe_flush(bool resting, held_tasks& held, farm_actions& out);

  friend bool operator==(farm_reports const&, farm_reports const&) = default;
  auto fields() const {
    return std::tie(refused_by_, untold_, finished_, failures_, reach_, ticks_, unsent_ticks_, asked_,
                    closed_, retires_);
  }

 private:
  [[nodiscard]] std::uint64_t wanted(held_tasks const& held) const;
  [[nodiscard]] bool may_ask(held_tasks const& held) const;
  [[nodiscard]] std::optional<farm::load> here(held_tasks const& held) const;
  void say(farm_message m, farm_actions& out) const { out.push_back(farm::send{config_.root, std::move(m)}); }

  farm_member_config config_;
  untold_tasks untold_;
  std::uint64_t finished_ = 0;  // tasks finished since begin()
  std::uint64_t failures_ = 0;  // tasks that threw or were refused since begin()
  std::uint64_t reach_ = 1;
  struct mean {
    double value = 0;   // seconds per task of one thread; 0: unknown
    double weight = 0;  // number of tasks that it stands for
  };
  mean cost_;
  std::optional<rank_id> refused_by_;
  bool asked_ = false;
  bool closed_ = false;
  bool retires_ = false;
  unsigned ticks_ = 0;         // since the last message to or from the root, except for stock-taking
  unsigned unsent_ticks_ = 0;  // since results were last sent
  double unsent_seconds_ = 0;  // of work since the latest results message
};

}  // namespace skel::role
