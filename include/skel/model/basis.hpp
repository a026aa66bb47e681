// Basis functions: what a cost may be proportional to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "skel/model/sample.hpp"

namespace skel::model {

/// variable^exponent log2(variable)^logs
struct factor {
  std::string variable;
  double exponent = 1;
  int logs = 0;
  friend bool operator==(factor const&, factor const&) = default;
};

/// A product of factors; none: the constant 1.
struct basis_function {
  std::vector<factor> factors;
  /// usage_error if a variable is not known, or the value is not finite (the logarithm of 0, say).
  [[nodiscard]] double operator()(point const& at) const;
  friend bool operator==(basis_function const&, basis_function const&) = default;
};

/// "1", "N", "N*log(N)", "N^1.5", "N/P": what parse_basis reads.
[[nodiscard]] std::string to_string(basis_function const& f);

/// "1 + N + M", "1 + N*log(N)^2", "N/P", "sqrt(N)": functions to be fitted, so without coefficients, each
/// once. log is to base 2. Errors are a usage_error that quotes the text and says what was expected.
[[nodiscard]] std::vector<basis_function> parse_basis(std::string_view text);

/// Basis functions with given coefficients.
struct expression {
  std::vector<basis_function> functions;
  std::vector<double> coefficients;
  [[nodiscard]] double operator()(point const& at) const;
};

/// "4*N", "16 + 8*N*log(N)": the same with numbers in front of the functions.
[[nodiscard]] expression parse_expression(std::string_view text);

}  // namespace skel::model
