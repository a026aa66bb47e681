#include "compute_pool.hpp"

#include <algorithm>

#include "run.hpp"

namespace skel::detail {

compute_pool::~compute_pool() {
  {
    std::lock_guard const lock(mutex_);
    ending_ = true;
  }
  wakes_.notify_all();
  for (auto& t : threads_) t.join();
}

void compute_pool::loop(unsigned thread, std::function<void()> const& at_start) {
  at_start();
  std::unique_lock lock(mutex_);
  while (true) {
    wakes_.wait(lock, [&] { return ending_ || work_[thread] != nullptr; });
    if (ending_) return;
    run* const r = work_[thread];
    lock.unlock();
    r->work(thread + 1);
    lock.lock();
    work_[thread] = nullptr;
    done_.notify_all();
  }
}

void compute_pool::work_on(run& r, unsigned threads, std::function<void()> const& own,
                           std::function<void()> const& at_start) {
  if (threads <= 1) {
    own();
    return;
  }
  std::vector<std::size_t> lent;
  {
    std::lock_guard const lock(mutex_);
    if (work_.size() < threads - 1) work_.resize(threads - 1, nullptr);
    while (threads_.size() < threads - 1)
      threads_.emplace_back(
          [this, at_start, t = static_cast<unsigned>(threads_.size())] { loop(t, at_start); });
    for (std::size_t t = 0; t < threads - 1; ++t)
      if (work_[t] == nullptr) {
        work_[t] = &r;
        lent.push_back(t);
      }
  }
  wakes_.notify_all();
  auto const wait = [&] {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] {
      return std::none_of(lent.begin(), lent.end(), [&](std::size_t t) { return work_[t] == &r; });
    });
  };
  try {
    own();
  } catch (...) {
    wait();
    throw;
  }
  wait();
}

}  // namespace skel::detail
