// Threads that do one short phase after the other together.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace skel::components {

/// A phase takes less than a millisecond, and to wake a sleeping core may take a tenth of that: so threads
/// look for the next phase for a while before they sleep. Used by one thread.
class team {
 public:
  /// Of fewer threads where the system does not give as many.
  explicit team(unsigned threads) {
    others_.reserve(threads);
    try {
      while (size() < threads) others_.emplace_back([this, t = size()] { serve(t); });
    } catch (std::system_error const&) {
    }
  }
  team(team const&) = delete;
  team& operator=(team const&) = delete;
  ~team() {
    phase_ = nullptr;
    begin();
  }

  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(others_.size()) + 1; }

  /// phase(t) for t < size(), at the same time; 0 is the calling thread. Returns when all are done. Throws
  /// what one of them has thrown.
  void run(std::function<void(unsigned)> const& phase) {
    phase_ = &phase;
    working_ = size() - 1;
    begin();
    take_part(0);
    for (auto left = working_.load(); left != 0; left = working_.load()) wait_for_change(working_, left);
    if (auto const thrown = std::exchange(thrown_, nullptr)) std::rethrow_exception(thrown);
  }

  /// Where the share of thread t of so many begins.
  [[nodiscard]] std::size_t share(std::size_t all, unsigned t) const { return all * t / size(); }

 private:
  static void wait_for_change(std::atomic<unsigned>& number, unsigned old) {
    constexpr int looks = 4000;
    for (int i = 0; i < looks && number == old; ++i) pause();
    number.wait(old);
  }
  static void pause() {
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
  }

  void begin() {
    ++phases_;
    phases_.notify_all();
  }
  void serve(unsigned t) {
    for (unsigned seen = 0;; ++seen) {
      wait_for_change(phases_, seen);
      if (phase_ == nullptr) return;
      take_part(t);
      --working_;
      working_.notify_one();
    }
  }
  void take_part(unsigned t) noexcept {
    try {
      (*phase_)(t);
    } catch (...) {
      std::lock_guard const lock(mutex_);
      thrown_ = std::current_exception();
    }
  }

  std::function<void(unsigned)> const* phase_ = nullptr;
  std::atomic<unsigned> phases_ = 0, working_ = 0;
  std::mutex mutex_;
  std::exception_ptr thrown_;
  std::vector<std::jthread> others_;
};

}  // namespace skel::components
