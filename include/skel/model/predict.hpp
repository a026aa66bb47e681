// Costs of skeletons, composed of the costs of their parts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "skel/model/machine.hpp"
#include "skel/model/model.hpp"

namespace skel::model {

/// One summand of a cost.
struct part {
  std::string name;  ///< "divide"
  int level = 0;
  double seconds = 0;
  std::string how;                ///< where it comes from: "1.94e-08 M at M = 1024000"
  term const* source = nullptr;   ///< parts of one term share its coefficients' errors
  std::vector<double> functions;  ///< of the source
  double deviation = 0;           ///< standard deviation of its own, seconds
  /// Of the curve's form: what kriging does not know, and outside of the samples what the held-out samples
  /// showed; shared by all parts of the term.
  double extrapolation = 0;
};

/// A sum of parts. Costs that follow one another are added; of ranks that work side by side the slower one
/// counts.
struct estimate {
  std::vector<part> parts;
  std::vector<std::string> warnings;
  [[nodiscard]] double seconds() const;
  /// Standard deviation: errors of the coefficients, which all parts of a term share, and of measurements,
  /// which they do not.
  [[nodiscard]] double deviation() const;
  [[nodiscard]] std::pair<double, double> interval(double confidence = 0.95) const;
};
[[nodiscard]] estimate operator+(estimate a, estimate const& b);
[[nodiscard]] estimate slower_of(estimate a, estimate b);

/// How an exchange between two ranks is priced.
enum class exchange_cost : std::uint8_t {
  automatic,  ///< as measured if the machine has it, otherwise as in the paper; without a machine, as fitted
  paper,      ///< 2 (l(P) + bytes g(P)): sending and receiving
  measured,   ///< the machine's curve of pairs that exchange
  fitted      ///< the samples' exchange seconds
};

struct predict_options {
  exchange_cost exchange = exchange_cost::automatic;
  std::string kind = "raw";                    ///< how values become bytes, see machine_at
  std::optional<expression> exchange_bytes{};  ///< instead of the fitted bytes, e.g. 4*N
};

/// The cost of the whole problem at `sizes` on so many ranks. Skeletons with divide-and-conquer's phases are
/// composed as section 5 of "Hypercube Divide and Conquer" has it,
///     T(P, size) = divide(size) + max(T(⌈P/2⌉, size/2), T(⌊P/2⌋, size/2)) + exchange + combine(size),
///     T(1, size) = sequential(size),
/// in a hypercube of an odd number of ranks with shares of size in proportion to the ranks, and 1.5 exchanges
/// (the smaller half has a rank that serves two); others are the fitted seconds of the phase `run`.
/// usage_error where a term, a variable or the machine is missing; warnings where the sizes are outside of
/// the samples.
[[nodiscard]] estimate predict(skeleton_model const& model, machine const* where, point const& sizes,
                               int ranks, predict_options const& options = {});

/// Whether predict() composes it of phases.
[[nodiscard]] bool has_phases(skeleton_model const& model);

}  // namespace skel::model
