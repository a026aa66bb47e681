#include "progress.hpp"

#include <ctime>
#include <utility>

namespace skel::detail {

call_progress::call_progress(engine& of, std::string label, bool on)
    : engine_(of), label_(std::move(label)), start_(of.now()) {
  auto const mode = engine_.options().progress;
  if (on && (mode != observe::progress_mode::never || engine_.observer))
    display_ = std::make_unique<observe::progress_display>(label_, mode);
}

void call_progress::show(observe::progress_state s, bool last) {
  double const t = engine_.now();
  s.seconds = t - start_;
  if (!engine_.owns_time()) s.now = std::time(nullptr);
  constexpr double seconds_between_calls = 1;
  if (engine_.observer && (last || !observer_called_ || t - *observer_called_ >= seconds_between_calls)) {
    observer_called_ = t;
    engine_.observer(label_, s);
  }
  if (last)
    display_->finish(s);
  else
    display_->update(s);
}

}  // namespace skel::detail
