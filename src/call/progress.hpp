// The progress of a call as the user sees it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/engine.hpp"
#include "skel/observe/progress.hpp"

namespace skel::detail {

/// On the root: shows the progress on standard error, and passes it to the context's observer. Off on the
/// other ranks, and unless the user wants either.
class call_progress {
 public:
  call_progress(engine& of, std::string label, bool on);

  explicit operator bool() const { return display_ != nullptr; }
  [[nodiscard]] std::string const& label() const { return label_; }
  /// `last`: the call is over. At most one thread at a time.
  void show(observe::progress_state s, bool last);

 private:
  engine& engine_;
  std::string label_;
  double start_;
  std::unique_ptr<observe::progress_display> display_;
  std::optional<double> observer_called_;  // time of its latest call
};

}  // namespace skel::detail
