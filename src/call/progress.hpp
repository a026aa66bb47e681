// The progress of a call as the user sees it.
#pragma once

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/engine.hpp"
#include "skel/observe/progress.hpp"

namespace skel::detail {

/// On the root: shows the progress on standard error, and passes it to the context's observer. Off on the
/// other ranks, and unless the user wants either.
class call_progress {
 public:
  call_progress(engine& of, std::string label, bool on)
      : engine_(of), label_(std::move(label)), start_(of.now()) {
    auto const mode = engine_.options().progress;
    if (on && (mode != observe::progress_mode::never || engine_.observed.observer))
      display_ = std::make_unique<observe::progress_display>(label_, mode);
  }

  explicit operator bool() const { return display_ != nullptr; }
  [[nodiscard]] std::string const& label() const { return label_; }
  /// `last`: the call is over. At most one thread at a time.
  void show(observe::progress_state s, bool last) {
    double const t = engine_.now();
    s.seconds = t - start_;
    if (!engine_.owns_time()) s.now = std::time(nullptr);
    constexpr double seconds_between_calls = 1;
    if (engine_.observed.observer &&
        (last || !observer_called_ || t - *observer_called_ >= seconds_between_calls)) {
      observer_called_ = t;
      engine_.observed.observer(label_, s);
    }
    last ? display_->finish(s) : display_->update(s);
  }

 private:
  engine& engine_;
  std::string label_;
  double start_;
  std::unique_ptr<observe::progress_display> display_;
  std::optional<double> observer_called_;  // time of its latest call
};

}  // namespace skel::detail
