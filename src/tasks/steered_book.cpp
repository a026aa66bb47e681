#include "skel/detail/steered_book.hpp"

#include <algorithm>

#include "base/format.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

// --- the calls of ask()

void steered_book::ask_for(std::uint64_t n) {
  bool const again = !journal_.again.empty();
  auto const got = ask_(n, journal_.on);
  call const now{settled_, n, got ? got->hash : 0};
  if (!got) ended_ = true;
  auto const tasks = got ? got->tasks : 0;
  if (tasks > n) throw usage_error(detail::format("steered: ask({}) returned {} tasks", n, tasks));
  for (std::uint64_t i = 0; i < tasks; ++i) open_.insert(open_.end(), asked_++);
  dry_ = tasks < n;
  if (again) {
    if (now.wanted != journal_.again.front().wanted || now.hash != journal_.again.front().hash)
      throw usage_error(
          "steered: after the results of the checkpoint, ask() returns other tasks than in the earlier run: "
          "they must depend on nothing else");
    journal_.again.pop_front();
  } else if (journal_.on) {
    journal_.fresh.push_back(now);
  }
  if (!ended_ && tasks == 0 && open_.empty())
    throw usage_error(
        "steered: ask() returned no tasks, but none is open, so that no result will come: expected a task or "
        "std::nullopt");
}

// As the earlier run did at this point.
void steered_book::ask_again() {
  while (window_ == 0 && !journal_.again.empty() && journal_.again.front().after <= settled_)
    ask_for(journal_.again.front().wanted);
}

void steered_book::fill() {
  if (!ended_ && !failure_ && open_.size() < window_) ask_for(window_ - open_.size());
}

// --- of the feed

bool steered_book::due(std::uint64_t idle) {
  std::unique_lock const lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  if (failure_ || known_ < asked_ || ended_) return true;
  return window_ > 0 ? asked_ == 0 : !dry_ && (journal_.replays() || idle > 0);
}

steered_book::fresh steered_book::pull(std::uint64_t idle) {
  std::lock_guard const lock(mutex_);
  ask_again();
  if (window_ > 0 && asked_ == 0)
    fill();
  else if (window_ == 0 && !ended_ && !dry_ && idle > 0 && !journal_.replays())
    ask_for(idle);
  if (failure_) std::rethrow_exception(failure_);
  return {asked_ - known_, ended_};
}

std::vector<task_id> steered_book::take_cancelled() {
  std::lock_guard const lock(cancel_mutex_);
  auto const later =
      std::partition(to_cancel_.begin(), to_cancel_.end(), [&](task_id t) { return t < known_; });
  std::vector<task_id> now(to_cancel_.begin(), later);
  to_cancel_.erase(to_cancel_.begin(), later);
  return now;
}

// --- results

void steered_book::cancel(task_id task) {
  if (task >= asked_)
    throw usage_error(
        detail::format("steered: task {} was cancelled, but ask() has returned {} tasks", task, asked_));
  if (open_.erase(task) == 0) return;
  std::lock_guard const lock(cancel_mutex_);
  to_cancel_.push_back(task);
}

bool steered_book::settle(task_id task, bool has_result, tell const& t) {
  std::lock_guard const lock(mutex_);
  if (window_ > 0 && asked_ == 0) fill();
  ask_again();
  if (task >= asked_)
    throw usage_error(
        detail::format("steered: the checkpoint holds the result of task {}, but after the results before it "
                       "ask() has returned {} tasks: they must depend on nothing else",
                       task, asked_));
  ++settled_;
  journal_.results_left -= std::min<std::uint64_t>(journal_.results_left, 1);
  if (open_.erase(task) == 0) {
    if (has_result) ++dropped_;
    return false;
  }
  std::vector<task_id> unwanted;
  t(unwanted);
  for (task_id const id : unwanted) cancel(id);
  dry_ = false;
  try {
    fill();
  } catch (...) {  // an error of the source, not of the sink
    failure_ = std::current_exception();
  }
  return true;
}

// --- checkpoints

void steered_book::put_journal(std::vector<std::byte>& out) {
  std::lock_guard const lock(mutex_);
  bytes::put_varint(out, journal_.fresh.size());
  for (auto const& c : std::exchange(journal_.fresh, {})) {
    bytes::put_varint(out, c.after);
    bytes::put_varint(out, c.wanted);
    bytes::put_varint(out, c.hash);
  }
}

void steered_book::restore(std::uint64_t tasks, std::span<std::byte const> journal) {
  std::lock_guard const lock(mutex_);
  journal_.results_left += tasks;
  for (auto n = bytes::get_varint(journal); n > 0; --n) {
    call c;
    c.after = bytes::get_varint(journal);
    c.wanted = bytes::get_varint(journal);
    c.hash = bytes::get_varint(journal);
    journal_.again.push_back(c);
  }
}

}  // namespace skel::detail
