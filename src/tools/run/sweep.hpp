// The combinations of the values of parameters: "alpha=0.1,0.2 beta=1:10".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skel::commands {

/// Parameters are separated by blanks, values by commas. A value FIRST:LAST or FIRST:LAST:STEP of numbers
/// stands for all of them, LAST included if a step meets it. They are computed exactly, with as many decimals
/// as FIRST and STEP have. Quotes work as in the shell: "name='a b',c". The last parameter varies fastest.
/// The values of a combination are computed when they are asked for.
class sweep {
 public:
  /// Throws usage_error.
  explicit sweep(std::string_view text);

  /// The number of combinations.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::size_t parameters() const { return parameters_.size(); }
  [[nodiscard]] std::string const& name(std::size_t parameter) const { return parameters_[parameter].name; }
  /// Value of the parameter in this combination, 0 to size() - 1.
  [[nodiscard]] std::string value(std::size_t parameter, std::uint64_t combination) const;

 private:
  // A text, or `count` numbers: (first + i * step) / 10^decimals.
  struct values {
    std::string text;
    std::int64_t first = 0, step = 0;
    int decimals = 0;
    std::uint64_t count = 1;
    bool numbers = false;
    [[nodiscard]] std::string value(std::uint64_t i) const;
  };
  struct axis {
    std::string name;
    std::vector<values> parts;
    std::uint64_t count = 0;   // of its values
    std::uint64_t period = 1;  // combinations after which it changes
  };
  [[nodiscard]] static values part_of(std::string const& text);
  [[nodiscard]] static axis axis_of(std::string const& word);

  std::vector<axis> parameters_;
  std::uint64_t size_ = 1;
};

}  // namespace skel::commands
