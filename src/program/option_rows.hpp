// The options of run_options, for both command lines: that of skel's own programs and that of users'
// programs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "skel/program.hpp"

namespace skel::program {

struct option_row {
  std::string name;  // "--threads"
  std::string type;  // of the value; empty: a flag
  std::string help;
  enum : std::uint8_t {
    rare = 1,            // left out of the short --help
    of_farm = 2,         // a search has no such option
    per_rank = 4,        // may differ between ranks: threads, terminal, files that the root writes
    observing = 8,       // of that group
    of_checkpoint = 16,  // likewise
    optional_value = 32  // `fallback` without one; `type` is the other value in brackets
  };
  unsigned kind;
  /// Throws usage_error for a bad value. A number is in its range.
  std::function<void(run_options&, std::string const&)> set;
  std::string fallback{};                                                                // for --help
  std::variant<std::monostate, std::pair<int, int>, std::pair<double, double>> range{};  // of a number
  std::string variable{};                                                                // of the environment

  [[nodiscard]] bool is(unsigned what) const { return (kind & what) != 0; }
  [[nodiscard]] std::string group() const {
    return is(observing) ? "Observing" : is(of_checkpoint) ? "Checkpoints" : "Parallel run";
  }
};

/// Throws usage_error if an option was given without one that it needs: those of checkpoints need
/// --checkpoint, which needs --store unless it is none, and --resume-object needs --resume.
void require_companions(run_options const& options,
                        std::function<bool(std::string_view option)> const& given);

/// In the order of --help.
[[nodiscard]] std::span<option_row const> option_rows();

struct named_value {
  std::string name;
  std::string value;
};
/// Throws usage_error on every rank, which names the option, unless the values are the same on all ranks.
void require_same_values(context& ctx, std::vector<named_value> const& values);

}  // namespace skel::program
