// How many tasks a window of bytes holds, from the sizes of the results that have come.
#pragma once

#include <algorithm>
#include <cstdint>

namespace skel::detail {

class window_size {
 public:
  /// No limit in bytes.
  window_size() = default;
  /// `known`: bytes of each result; 0: unknown, and until the first one has come the window is as small as it
  /// may be.
  window_size(std::uint64_t bytes, std::uint64_t known) : bytes_(bytes), mean_(static_cast<double>(known)) {}

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
    if (mean_ == 0) return 0;
    return static_cast<std::uint64_t>(std::min(1e18, static_cast<double>(bytes_) / (mean_ + more)));
  }

 private:
  static constexpr double remembered = 64;
  std::uint64_t bytes_ = 0;
  double mean_ = 0;
  double weight_ = 0;  // number of results that mean_ stands for
};

}  // namespace skel::detail
