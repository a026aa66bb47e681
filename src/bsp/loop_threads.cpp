#include "loop_threads.hpp"

#include <algorithm>
#include <chrono>

namespace skel::detail {

namespace {
// Parts per thread: enough to even out parts of different cost.
constexpr std::uint64_t parts_per_thread = 8;
thread_local bool in_a_loop = false;
}  // namespace

loop_threads::~loop_threads() {
  {
    std::lock_guard const lock(mutex_);
    ending_ = true;
  }
  wakes_.notify_all();
  for (auto& t : helpers_) t.join();
}

void loop_threads::run(std::uint64_t n, body const& part) {
  if (n == 0) return;
  if (threads_ <= 1 || n == 1 || in_a_loop) {
    part(0, n);
    return;
  }
  while (helpers_.size() + 1 < threads_) helpers_.emplace_back([this] { help(); });
  shared_loop loop(n, std::max<std::uint64_t>(1, n / (parts_per_thread * threads_)), part);
  {
    std::lock_guard const lock(mutex_);
    loop_ = &loop;
    working_ = static_cast<unsigned>(helpers_.size());
    ++loops_;
  }
  wakes_.notify_all();
  loop.take_parts();
  {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return working_ == 0; });
  }
  loop.rethrow();
}

void shared_loop::take_parts() {
  in_a_loop = true;
  while (!failed_) {
    auto const first = next_.fetch_add(size_);
    if (first >= n_) break;
    try {
      part_(first, std::min(n_, first + size_));
    } catch (...) {
      failed_ = true;
      std::lock_guard const lock(mutex_);
      if (first < error_at_) {
        error_at_ = first;
        error_ = std::current_exception();
      }
    }
  }
  in_a_loop = false;
}

void shared_loop::rethrow() const {
  if (error_) std::rethrow_exception(error_);
}

void loop_threads::help() {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    wakes_.wait(lock, [&] { return ending_ || loops_ != seen; });
    if (ending_) return;
    seen = loops_;
    auto& loop = *loop_;
    lock.unlock();
    auto const begin = std::chrono::steady_clock::now();
    loop.take_parts();
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
    lock.lock();
    seconds_ += took.count();
    if (--working_ == 0) done_.notify_one();
  }
}

}  // namespace skel::detail
