// CSV files with a known first line.
#pragma once

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace skel::program {

/// A CSV file, line by line. Throws usage_error `path:line: expected X, found "..."`.
class csv_table {
 public:
  /// Reads the first line, which must be `header`.
  csv_table(std::string const& path, std::string_view header);
  /// Reads the next line. Returns false at the end.
  bool next();
  [[nodiscard]] std::size_t size() const { return fields_.size(); }
  [[nodiscard]] std::string const& text(std::size_t i) const { return fields_.at(i); }
  /// Returns NaN if the field is no number.
  [[nodiscard]] double number(std::size_t i) const;
  void expect(bool good, std::string const& what) const;

 private:
  std::string path_, line_;
  std::ifstream file_;
  std::size_t at_ = 0;
  std::vector<std::string> fields_;
};

}  // namespace skel::program
