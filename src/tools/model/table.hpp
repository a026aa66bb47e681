// Plain tables on a terminal.
#pragma once

#include <string>
#include <vector>

namespace skel::model {

/// Columns as wide as their widest entry, two blanks between; numbers (all but the first column) to the right
/// where `right` says so.
class table {
 public:
  explicit table(std::vector<std::string> heads);
  void add(std::vector<std::string> row);
  /// `plain` columns stand to the left, all others to the right.
  [[nodiscard]] std::string text(std::vector<std::size_t> const& plain = {0}) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// "1.5 %"
[[nodiscard]] std::string percent(double share);
/// 0.001234 as "1.234 ms", 1.5 as "1.5 s".
[[nodiscard]] std::string seconds(double value);

}  // namespace skel::model
