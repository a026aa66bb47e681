// Loads a sequence of objects; the next one is loaded while the current one is used.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "skel/context.hpp"
#include "stopwatch.hpp"

namespace volume {

/// Every rank owns one and makes the same calls of next(). With several volumes, a separate thread
/// loads the next one; its collective calls use a context beside the given one (context::beside()).
/// A single volume is loaded by next() itself, and so are several if the context has no beside().
template <class T>
class prefetch {
 public:
  /// Collective on the given context. Returns nullptr if the job was stopped early.
  using loader = std::function<std::unique_ptr<T>(skel::context&, std::size_t)>;

  prefetch(skel::context& ctx, std::size_t count, loader load)
      : beside_(count > 1 && ctx.has_beside() ? std::optional(ctx.beside()) : std::nullopt),
        calls_(beside_ ? *beside_ : ctx),
        count_(count),
        load_(std::move(load)) {
    begin_next();
  }

  /// Collective. Returns the next object, or nullptr if the job was stopped early. Rethrows errors
  /// of the loader.
  [[nodiscard]] std::unique_ptr<T> next() {
    auto const start = std::chrono::steady_clock::now();
    auto got = coming_.get();
    waited_ += seconds_since(start);
    loading_ += got.seconds;
    if (got.what) begin_next();
    return std::move(got.what);
  }

  /// Seconds that next() waited, and that loading took.
  [[nodiscard]] double waited_seconds() const noexcept { return waited_; }
  [[nodiscard]] double loading_seconds() const noexcept { return loading_; }

 private:
  struct delivery {
    std::unique_ptr<T> what;
    double seconds = 0;
  };

  void begin_next() {
    if (begun_ == count_) return;
    coming_ = std::async(beside_ ? std::launch::async : std::launch::deferred, [this, i = begun_] {
      auto const start = std::chrono::steady_clock::now();
      auto what = load_(calls_, i);
      return delivery{std::move(what), seconds_since(start)};
    });
    ++begun_;
  }

  std::optional<skel::context> beside_;
  skel::context& calls_;
  std::size_t count_, begun_ = 0;
  loader load_;
  double waited_ = 0, loading_ = 0;
  std::future<delivery> coming_;  // last member: its destructor waits before the others are destroyed
};

}  // namespace volume
