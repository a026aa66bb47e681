// Chooses by measuring how a product of one shape passes over memory: which kernel, how many outputs
// at a time, how far ahead sources are fetched, whether outputs bypass the caches. What is best
// differs from one kind of processor to the next [Whaley01].
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <vector>

#include "storage/product.hpp"

namespace skel::storage {

/// A kernel and how it passes over memory.
struct strategy {
  kernel with;
  pass_options how;
};

/// What a strategy is chosen for.
struct product_shape {
  std::size_t rows, columns;
  bool add, plain;
  unsigned magnitude;  // of all bytes, sources and outputs: the binary logarithm
  auto operator<=>(product_shape const&) const = default;
};

/// The choice for one shape. The work itself is cut into trials of one strategy each, so nothing is
/// computed twice. One property of the strategy is varied at a time, and the best value kept, until
/// all have been or 50 ms have passed in trials. Thread-safe.
class autotuner {
 public:
  /// Varies among these kernels, the slowest first, and not empty.
  autotuner(product_shape const& shape, std::vector<kernel> const& kernels);

  struct trial {
    strategy how;
    std::size_t bytes;  // of sources and outputs that it should process, or fewer if there are no more
  };

  /// The best strategy so far.
  [[nodiscard]] strategy best() const;
  /// The next trial, or nothing if the choice is made or another thread's trial runs. Every trial
  /// must be ended.
  [[nodiscard]] std::optional<trial> start_trial();
  /// Ends the trial, which took `time` for `bytes`.
  void end_trial(std::chrono::duration<double> time, std::size_t bytes);

 private:
  enum class property : std::uint8_t { kernel, most_rows, ahead, streamed, kernel_again, none };
  struct candidate {
    strategy how;
    double least = std::numeric_limits<double>::infinity();  // seconds per byte
  };

  [[nodiscard]] std::vector<candidate> candidates() const;
  void vary();  // starts to vary the next property, or none

  mutable std::mutex mutex_;
  product_shape shape_;
  std::vector<kernel> kernels_;
  strategy best_;
  property varied_ = property::none;
  std::vector<candidate> candidates_;       // strategies that differ in that property
  std::size_t next_ = 0;                    // a candidate
  unsigned turns_ = 0;                      // of all of them
  bool warm_ = false;                       // the caches are as this candidate leaves them
  bool running_ = false;                    // a trial
  std::chrono::duration<double> spent_{0};  // in trials
};

/// Executes the job with this kernel or, if `automatic`, by the strategy that measuring has found, or
/// is finding, for its shape.
void run_product(product_job job, kernel with);

/// The best strategy so far for jobs of this shape.
[[nodiscard]] strategy tuned_strategy(product_shape const& shape);

}  // namespace skel::storage
