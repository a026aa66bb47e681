// Basis functions: the terms of a cost formula, such as N log(N).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skel/model/sample.hpp"

namespace skel::model {

/// variable^exponent * log2(variable)^logs
struct factor {
  std::string variable;  ///< e.g. "N"
  double exponent = 1;   ///< of the variable
  int logs = 0;          ///< exponent of its binary logarithm
  friend bool operator==(factor const&, factor const&) = default;
};

/// A product of factors.
struct basis_function {
  std::vector<factor> factors;  ///< empty: the constant 1
  /// The value at this point. Throws usage_error for an unknown variable, and for a value that is
  /// not finite, such as the logarithm of 0.
  [[nodiscard]] double operator()(point const& at) const;
  /// Whether the variable is in one of the factors.
  [[nodiscard]] bool depends_on(std::string_view variable) const;
  friend bool operator==(basis_function const&, basis_function const&) = default;
};

/// The text that parse_basis() reads: "1", "N", "N*log(N)", "N^1.5", "N/P".
[[nodiscard]] std::string to_string(basis_function const& f);
/// The text that parse_basis() reads: "1 + N".
[[nodiscard]] std::string to_string(std::span<basis_function const> basis);

/// Reads functions to be fitted: "1 + N + M", "1 + N*log(N)^2", "N/P", "sqrt(N)". They have no
/// coefficients, each appears once, and log is to base 2. Throws a usage_error that quotes the text
/// and names what was expected.
[[nodiscard]] std::vector<basis_function> parse_basis(std::string_view text);

/// Basis functions with given coefficients.
struct expression {
  std::vector<basis_function> functions;  ///< the summands
  std::vector<double> coefficients;       ///< one per function
  /// The sum at this point. Throws usage_error as basis_function does.
  [[nodiscard]] double operator()(point const& at) const;
};

/// Reads functions with coefficients: "4*N", "16 + 8*N*log(N)". Errors as for parse_basis().
[[nodiscard]] expression parse_expression(std::string_view text);

}  // namespace skel::model
