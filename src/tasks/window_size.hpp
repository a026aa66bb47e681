// How many tasks a window of bytes holds, from the sizes of the results that have come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace skel::detail {

class window_size {
 public:
  /// No limit in bytes.
  window_size() = default;
  /// `known`: bytes of each result; 0: unknown. Until the first one has come, the window of an ordered sink
  /// is then as small as it may be, since results wait there for those of lower tasks. A larger first deal
  /// saves other farms a third of their time with few tasks per rank.
  window_size(std::uint64_t bytes, std::uint64_t known, bool ordered)
      : bytes_(bytes), mean_(static_cast<double>(known)), begins_small_(ordered) {}

  [[nodiscard]] bool limited() const { return bytes_ > 0; }
  /// Results of this many bytes have come. The mean is that of about the latest `remembered` ones.
  void came(std::uint64_t tasks, std::uint64_t bytes) {
    if (tasks == 0) return;
    auto const n = static_cast<double>(tasks);
    weight_ = std::min(weight_ + n, std::max(n, remembered));
    mean_ += (static_cast<double>(bytes) / n - mean_) * n / weight_;
  }
  /// `more`: bytes that each open task takes beside its result.
  [[nodiscard]] std::uint64_t tasks(double more) const {
    if (mean_ == 0) return begins_small_ ? 0 : std::numeric_limits<std::uint64_t>::max();
    return static_cast<std::uint64_t>(std::min(1e18, static_cast<double>(bytes_) / (mean_ + more)));
  }

 private:
  static constexpr double remembered = 64;
  std::uint64_t bytes_ = 0;
  double mean_ = 0;
  double weight_ = 0;  // number of results that mean_ stands for
  bool begins_small_ = false;
};

}  // namespace skel::detail
