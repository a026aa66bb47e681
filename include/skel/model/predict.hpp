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
  std::string name;               ///< e.g. "divide"
  int level = 0;                  ///< of the division
  double seconds = 0;             ///< the expected cost
  std::string how;                ///< its derivation: "1.94e-08 M at M = 1024000"
  term const* source = nullptr;   ///< parts of one term share the errors of its coefficients
  std::vector<double> functions;  ///< values of the source's basis functions
  /// Values of the functions of the source's alternatives; empty where a size that they need is unknown.
  std::vector<std::vector<double>> alternatives;
  double deviation = 0;  ///< standard deviation of this part alone, in seconds
  /// Standard deviation of the curve's form, in seconds: that of the kriging, and outside of the
  /// samples the held-out error beyond the scatter. All parts of a term share it.
  double extrapolation = 0;
};

/// A predicted cost: a sum of parts.
struct estimate {
  std::vector<part> parts;            ///< the summands
  std::vector<std::string> warnings;  ///< one line each
  /// The expected cost.
  [[nodiscard]] double seconds() const;
  /// Standard deviation in seconds: errors of the coefficients and doubt about the functions, which
  /// all parts of a term share, and errors of measurements, which they do not.
  [[nodiscard]] double deviation() const;
  /// Both ends of the interval that holds the cost with this probability (0 to 1), in seconds: of the
  /// mixture of a term's curve and its alternatives by their weights.
  [[nodiscard]] std::pair<double, double> interval(double confidence = 0.95) const;
};
/// The cost of a followed by b.
[[nodiscard]] estimate operator+(estimate a, estimate const& b);
/// The cost of ranks that work side by side: the slower one counts.
[[nodiscard]] estimate slower_of(estimate a, estimate b);

/// How an exchange between two ranks is priced.
enum class exchange_cost : std::uint8_t {
  automatic,  ///< as measured if the machine has it, otherwise as in the paper; without a machine, as fitted
  paper,      ///< 2 (l(P) + bytes g(P)): sending and receiving
  measured,   ///< the machine's curve of pairs that exchange
  fitted      ///< the samples' exchange seconds
};

/// Options of predict().
struct predict_options {
  exchange_cost exchange = exchange_cost::automatic;  ///< how exchanges are priced
  std::string kind = "raw";                           ///< how values become bytes, see machine_at::kind
  std::optional<expression> exchange_bytes{};         ///< instead of the fitted bytes, e.g. 4*N
};

/// The cost in seconds of the whole problem at `sizes` on `ranks` ranks. Skeletons with the phases
/// of divide-and-conquer are composed as in [Hyper, §5],
///
///     T(P, size) = divide(size) + max(T(⌈P/2⌉, size/2), T(⌊P/2⌋, size/2)) + exchange + combine(size),
///     T(1, size) = sequential(size).
///
/// In a hypercube of an odd number of ranks, shares of size are in proportion to the ranks, and
/// there are 1.5 exchanges (one rank of the smaller half serves two). For other skeletons the cost
/// is the fitted seconds of the phase `run`. Throws usage_error if a term, a variable or the
/// machine is missing. Warns of sizes outside of the samples.
[[nodiscard]] estimate predict(skeleton_model const& model, machine const* where, point const& sizes,
                               int ranks, predict_options const& options = {});

/// Whether predict() composes the cost from phases.
[[nodiscard]] bool has_phases(skeleton_model const& model);

}  // namespace skel::model
