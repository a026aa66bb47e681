// Plain text tables for a terminal.
#pragma once

#include <string>
#include <vector>

namespace skel::model {

/// A table whose columns are as wide as their widest entry, separated by two blanks.
class table {
 public:
  explicit table(std::vector<std::string> heads);
  void add(std::vector<std::string> row);
  /// Returns the table as text. `plain` columns are aligned to the left, all others to the right.
  [[nodiscard]] std::string text(std::vector<std::size_t> const& plain = {0}) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// Formats 0.015 as "1.5 %".
[[nodiscard]] std::string percent(double share);
/// Formats 0.001234 as "1.234 ms" and 1.5 as "1.5 s".
[[nodiscard]] std::string seconds(double value);

}  // namespace skel::model
