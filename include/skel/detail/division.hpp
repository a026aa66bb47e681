// Kinds of divide-and-conquer by the names that the literature has for them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace skel {

// Source of all: the paper on the DC_Call skeleton ("hypercube divide and conquer"), section 3.

/// Groups of ranks halve; ranks of equal place in two groups exchange their solutions: every rank ends with
/// the solution.
struct hypercube {};
/// Classical: subproblems travel to other ranks, solutions return; the root ends with the solution.
struct tree {};
/// The data is distributed already, or on every rank: dividing needs no communication. The root ends with the
/// solution.
struct embarrassing {};
/// Combining is trivial: each rank keeps its part of the solution.
struct distributed {};

/// Any of them, chosen when the program runs.
class any_division {
 public:
  enum class kind : std::uint8_t { hypercube, tree, embarrassing, distributed };
  any_division(hypercube) : kind_(kind::hypercube) {}
  any_division(tree) : kind_(kind::tree) {}
  any_division(embarrassing) : kind_(kind::embarrassing) {}
  any_division(distributed) : kind_(kind::distributed) {}
  /// "hypercube", "tree", "embarrassing", "distributed"; anything else throws usage_error that lists them.
  explicit any_division(std::string_view name);

  [[nodiscard]] kind which() const { return kind_; }
  friend bool operator==(any_division const&, any_division const&) = default;

 private:
  kind kind_;
};

[[nodiscard]] std::string to_string(any_division const& division);

}  // namespace skel
