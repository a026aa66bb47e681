// Small divide-and-conquer problems, one per kind of division: sorting, products of polynomials,
// vectors and matrices.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace divide {

using numbers = std::vector<std::int64_t>;

/// Merge sort: dividing is trivial, combining is the work. For hypercube{} and tree{}.
struct merge_sort {
  using problem = numbers;
  using solution = numbers;

  [[nodiscard]] bool trivial(problem const& p) const { return p.size() <= 1; }
  [[nodiscard]] solution conquer(problem const& p) const { return p; }
  [[nodiscard]] std::array<problem, 2> divide(problem const& p) const { return divide(p, 0.5); }
  [[nodiscard]] std::array<problem, 2> divide(problem const& p, double share) const {
    auto const n = std::clamp<std::size_t>(static_cast<std::size_t>(share * static_cast<double>(p.size())), 1,
                                           p.size() - 1);
    auto const middle = p.begin() + static_cast<std::ptrdiff_t>(n);
    return {problem(p.begin(), middle), problem(middle, p.end())};
  }
  [[nodiscard]] solution combine(solution const& a, solution const& b) const {
    solution all;
    all.reserve(a.size() + b.size());
    std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
    return all;
  }
  /// The library's sort replaces the recursion; it is faster and gives the same result.
  [[nodiscard]] solution solve(problem p) const {
    std::sort(p.begin(), p.end());
    return p;
  }
  [[nodiscard]] std::vector<std::pair<std::string, double>> measure(problem const& p) const {
    return {{"N", static_cast<double>(p.size())}};
  }
};

/// Quicksort: dividing is the work, combining is trivial. For distributed{}: each rank keeps its
/// part, whose elements are not greater than those of the next rank.
struct quicksort {
  using problem = numbers;
  using solution = numbers;

  [[nodiscard]] bool trivial(problem const& p) const {
    return std::adjacent_find(p.begin(), p.end(), std::not_equal_to<>()) ==
           p.end();  // all elements are equal
  }
  [[nodiscard]] solution conquer(problem const& p) const { return p; }
  [[nodiscard]] std::array<problem, 2> divide(problem p) const {
    auto const middle = p.begin() + static_cast<std::ptrdiff_t>(p.size() / 2);
    std::nth_element(p.begin(), middle, p.end());
    auto const pivot = *middle;
    auto cut = std::partition(p.begin(), p.end(), [&](auto x) { return x < pivot; });
    if (cut == p.begin()) cut = std::partition(p.begin(), p.end(), [&](auto x) { return x == pivot; });
    return {problem(p.begin(), cut), problem(cut, p.end())};
  }
  [[nodiscard]] solution combine(solution a, solution const& b) const {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
};

/// Product of two polynomials by Karatsuba's method: three products of half the size. For tree{}.
struct polynomial_product {
  struct problem {
    numbers a, b;  // coefficients, lowest first, equally many in both
  };
  using solution = numbers;  // 2 n - 1 coefficients
  static constexpr std::size_t few = 16;

  [[nodiscard]] bool trivial(problem const& p) const { return p.a.size() <= few || p.a.size() % 2 == 1; }
  [[nodiscard]] solution conquer(problem const& p) const {
    solution c(p.a.size() + p.b.size() - 1);
    for (std::size_t i = 0; i < p.a.size(); ++i)
      for (std::size_t j = 0; j < p.b.size(); ++j) c[i + j] += p.a[i] * p.b[j];
    return c;
  }
  [[nodiscard]] std::vector<problem> divide(problem const& p) const {
    auto const half = static_cast<std::ptrdiff_t>(p.a.size() / 2);
    auto const low = [&](numbers const& x) { return numbers(x.begin(), x.begin() + half); };
    auto const high = [&](numbers const& x) { return numbers(x.begin() + half, x.end()); };
    auto const sum = [&](numbers const& x) {
      auto s = low(x);
      for (std::size_t i = 0; i < s.size(); ++i) s[i] += x[i + s.size()];
      return s;
    };
    return {{low(p.a), low(p.b)}, {sum(p.a), sum(p.b)}, {high(p.a), high(p.b)}};
  }
  [[nodiscard]] solution combine(std::vector<solution> const& products) const {
    auto const& low = products.at(0);
    auto const& mixed = products.at(1);
    auto const& high = products.at(2);
    std::size_t const n = low.size() + 1;  // of the whole product
    solution c(2 * n - 1);
    for (std::size_t i = 0; i < low.size(); ++i) {
      c[i] += low[i];
      c[i + n / 2] += mixed[i] - low[i] - high[i];
      c[i + n] += high[i];
    }
    return c;
  }
};

/// Scalar product of vectors that are distributed over the ranks. For embarrassing{}. The job
/// defines the smallest problem itself, so that floating-point sums do not depend on the number of
/// threads.
struct scalar_product {
  struct problem {
    std::vector<double> x, y;
  };
  using solution = double;
  static constexpr std::size_t few = 1024;

  [[nodiscard]] bool trivial(problem const& p) const { return p.x.size() <= 1; }
  [[nodiscard]] bool small(problem const& p) const { return p.x.size() <= few; }
  [[nodiscard]] solution conquer(problem const& p) const { return solve(p); }
  [[nodiscard]] solution solve(problem const& p) const {
    double sum = 0;
    for (std::size_t i = 0; i < p.x.size(); ++i) sum += p.x[i] * p.y[i];
    return sum;
  }
  [[nodiscard]] std::array<problem, 2> divide(problem const& p) const {
    auto const half = static_cast<std::ptrdiff_t>(p.x.size() / 2);
    return {problem{{p.x.begin(), p.x.begin() + half}, {p.y.begin(), p.y.begin() + half}},
            problem{{p.x.begin() + half, p.x.end()}, {p.y.begin() + half, p.y.end()}}};
  }
  [[nodiscard]] solution combine(solution a, solution b) const { return a + b; }
};

/// Product of two square matrices that every rank has; rows of the result are independent. For
/// embarrassing{}.
struct matrix_product {
  struct matrix {
    std::size_t n = 0;
    std::vector<double> values;  // row by row
  };
  struct rows {
    std::size_t first = 0, last = 0;
  };
  using problem = rows;
  using solution = std::vector<double>;  // rows of the product
  matrix const& a;
  matrix const& b;

  [[nodiscard]] bool trivial(problem const& p) const { return p.last - p.first <= 1; }
  [[nodiscard]] solution conquer(problem const& p) const {
    solution c((p.last - p.first) * b.n);
    for (std::size_t i = p.first; i < p.last; ++i)
      for (std::size_t k = 0; k < a.n; ++k)
        for (std::size_t j = 0; j < b.n; ++j)
          c[(i - p.first) * b.n + j] += a.values[i * a.n + k] * b.values[k * b.n + j];
    return c;
  }
  [[nodiscard]] std::array<problem, 2> divide(problem const& p) const {
    auto const middle = p.first + (p.last - p.first) / 2;
    return {problem{p.first, middle}, problem{middle, p.last}};
  }
  [[nodiscard]] solution combine(solution upper, solution const& lower) const {
    upper.insert(upper.end(), lower.begin(), lower.end());
    return upper;
  }
};

}  // namespace divide
