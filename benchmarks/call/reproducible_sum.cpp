// The time of a reproducible sum over that of a plain loop, for arrays in the first-level cache and
// in memory. Prints a table.
#include "skel/reproducible_sum.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {

double volatile sink;

template <class F>
double best_ns(std::size_t n, F const& f) {
  using clock = std::chrono::steady_clock;
  auto const rounds = std::max<std::size_t>(1, (std::size_t{1} << 22) / n);
  double best = 1e30;
  for (int trial = 0; trial < 9; ++trial) {
    auto const begin = clock::now();
    for (std::size_t r = 0; r < rounds; ++r) sink = f();
    std::chrono::duration<double, std::nano> const took = clock::now() - begin;
    best = std::min(best, took.count() / static_cast<double>(rounds * n));
  }
  return best;
}

template <class T>
void measure(char const* name, std::vector<T> const& x) {
  // Without -ffast-math a plain loop waits for one addition after the other.
  auto const plain = best_ns(x.size(), [&] {
    T sum = 0;
    for (T const v : x) sum += v;
    return sum;
  });
  auto const array = best_ns(x.size(), [&] {
    skel::reproducible_sum<T> sum;
    sum.add(x);
    return sum.value();
  });
  auto const each = best_ns(x.size(), [&] {
    skel::reproducible_sum<T> sum;
    for (T const v : x) sum += v;
    return sum.value();
  });
  std::printf("%-26s %9zu %8.2f %8.2f %6.2f %8.2f %6.2f\n", name, x.size(), plain, array, array / plain, each,
              each / plain);
}

}  // namespace

int main() {
  std::printf("%-26s %9s %8s %8s %6s %8s %6s\n", "terms", "number", "plain ns", "add ns", "ratio", "+= ns",
              "ratio");
  std::mt19937_64 dice(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal;
  for (std::size_t const n : {std::size_t{2048}, std::size_t{1} << 24}) {
    auto const filled = [&](auto const& draw) {
      std::vector<double> x(n);
      for (auto& v : x) v = draw();
      return x;
    };
    measure("uniform in [0, 1)", filled([&] { return uniform(dice); }));
    measure("normal", filled([&] { return normal(dice); }));
    measure("exp(20 normal)", filled([&] { return std::exp(20 * normal(dice)); }));
    std::vector<float> narrow(n);
    for (auto& v : narrow) v = static_cast<float>(uniform(dice));
    measure("float, uniform in [0, 1)", narrow);
  }
}
