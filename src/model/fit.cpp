#include "skel/model/fit.hpp"

#include <algorithm>
#include <cmath>

#include "base/format.hpp"
#include "least_squares.hpp"
#include "skel/error.hpp"
#include "statistics.hpp"

namespace skel::model {

namespace {

constexpr double dependent = 1e10;  // condition number beyond which rounding errors dominate
constexpr double nearly_dependent = 1e4;

Eigen::VectorXd weights_of(weighting how, Eigen::VectorXd const& t) {
  if (how == weighting::equal) return Eigen::VectorXd::Ones(t.size());
  return t.cwiseInverse();  // weights of residuals; squares are weighted by 1/t²
}

struct system {
  Eigen::MatrixXd a;
  Eigen::VectorXd y;
};

system system_of(std::string const& name, std::span<observation const> samples,
                 std::span<basis_function const> basis, weighting weights) {
  auto const rows = static_cast<Eigen::Index>(samples.size());
  system s{Eigen::MatrixXd(rows, static_cast<Eigen::Index>(basis.size())), Eigen::VectorXd(rows)};
  for (Eigen::Index i = 0; i < rows; ++i) {
    auto const& o = samples[static_cast<std::size_t>(i)];
    auto const bad = [&](std::string const& what) {
      throw usage_error(detail::format("{}: {}: {}", o.where.empty() ? "samples" : o.where, name, what));
    };
    if (!std::isfinite(o.value)) bad(detail::format("found the value {}, expected a number", o.value));
    if (weights == weighting::relative && o.value <= 0)
      bad(detail::format(
          "found the value {}, expected a positive one for relative weights (--weights equal accepts any)",
          o.value));
    s.y[i] = o.value;
    try {
      for (std::size_t j = 0; j < basis.size(); ++j) s.a(i, static_cast<Eigen::Index>(j)) = basis[j](o.at);
    } catch (usage_error const& e) {
      bad(e.what());
    }
  }
  return s;
}

std::map<std::string, std::pair<double, double>> range_of(std::span<observation const> samples) {
  std::map<std::string, std::pair<double, double>> range;
  for (auto const& o : samples) {
    for (auto const& [variable, value] : o.at) {
      auto const at = range.try_emplace(variable, value, value).first;
      at->second.first = std::min(at->second.first, value);
      at->second.second = std::max(at->second.second, value);
    }
  }
  return range;
}

// Names the columns that depend on each other, and the reason if it is simple.
std::string dependence(std::span<basis_function const> basis, Eigen::VectorXd const& weakest,
                       std::map<std::string, std::pair<double, double>> const& range) {
  std::string names;
  std::string constants;
  for (std::size_t j = 0; j < basis.size(); ++j) {
    if (std::abs(weakest[static_cast<Eigen::Index>(j)]) < 0.05) continue;
    names += (names.empty() ? "" : ", ") + to_string(basis[j]);
    for (auto const& f : basis[j].factors)
      if (auto const& r = range.at(f.variable); r.first == r.second)
        constants += detail::format("; {} is {} in all samples", f.variable, r.first);
  }
  return names + constants;
}

void check_columns_of(fitted& f, std::string const& name, Eigen::MatrixXd const& weighted) {
  auto const check = check_columns(weighted);
  f.condition = check.condition;
  if (check.condition < nearly_dependent) return;
  auto const who = dependence(f.basis, check.weakest, f.range);
  if (check.condition > dependent)
    throw usage_error(
        detail::format("{}: the columns of {} are collinear: expected samples in which they vary "
                       "independently, or a smaller basis",
                       name, who));
  f.warnings.push_back(
      detail::format("{}: the columns of {} are nearly collinear (condition number {:.2g}): the contribution "
                     "of each is uncertain",
                     name, who, check.condition));
}

// Iglewicz and Hoaglin, "How to Detect and Handle Outliers" (1993), on residuals over sqrt(1 - leverage).
void name_outliers(fitted& f, std::span<observation const> samples, Eigen::MatrixXd const& weighted,
                   Eigen::VectorXd const& residuals, Eigen::MatrixXd const& inverse) {
  constexpr double most = 3.5;
  constexpr double to_deviation = 0.6745;
  std::vector<double> size;
  size.reserve(samples.size());
  std::vector<double> signed_size;
  for (Eigen::Index i = 0; i < residuals.size(); ++i) {
    double const leverage = (weighted.row(i) * inverse * weighted.row(i).transpose())(0);
    signed_size.push_back(residuals[i] / std::sqrt(std::max(0.2, 1 - leverage)));
  }
  double const middle = median(signed_size);
  for (double const r : signed_size) size.push_back(std::abs(r - middle));
  // With few samples the median deviation is often far too small, so 0.65 standard deviations are a
  // lower bound. A larger share would hide a single outlier, which raises the standard deviation
  // itself. Deviations below rounding errors are no outliers.
  constexpr double share = 0.65;
  double const rounding = f.weights == weighting::relative ? 1e-9 : 1e-9 * std::abs(samples.front().value);
  double const scale = std::max({median(size) / to_deviation, share * f.deviation, rounding});
  for (std::size_t i = 0; i < size.size(); ++i) {
    if (size[i] <= most * scale) continue;
    f.outliers.push_back({samples[i].where, samples[i].value, f(samples[i].at)});
  }
}

// The weighted system, and its solution.
struct solution {
  Eigen::VectorXd weights;
  Eigen::MatrixXd a;
  Eigen::VectorXd y, x;
};

solution solve(system const& s, weighting how) {
  solution found;
  auto const weigh = [&](Eigen::VectorXd const& w) {
    found.weights = w;
    found.a = w.asDiagonal() * s.a;
    found.y = w.cwiseProduct(s.y);
  };
  weigh(weights_of(how, s.y));
  constexpr int most_rounds = 30;
  for (int round = 0; round < most_rounds; ++round) {
    Eigen::VectorXd const next = solve_nonnegative(found.a, found.y);
    bool const settled = round > 0 && (next - found.x).norm() <= 1e-10 * next.norm();
    found.x = next;
    if (settled || how == weighting::equal) break;
    // A curve that passes near 0 must not give all the weight to one sample.
    weigh(weights_of(how, (s.a * found.x).cwiseMax(0.01 * s.y)));
  }
  return found;
}

void add_quality(fitted& f, std::string const& name, system const& s, solution const& found) {
  double const squares = (found.y - found.a * found.x).squaredNorm();
  auto const& w = found.weights;
  double const mean = w.cwiseAbs2().dot(s.y) / w.squaredNorm();
  double const total = w.cwiseProduct(s.y - Eigen::VectorXd::Constant(s.y.size(), mean)).squaredNorm();
  if (total > 1e-24 * found.y.squaredNorm())
    f.r2 = 1 - squares / total;
  else
    f.warnings.push_back(name + ": all values are equal (zero variance): R² is meaningless");
  f.deviation = std::sqrt(squares / f.degrees_of_freedom());
}

// `inverse`: that of the weighted columns' normal matrix.
void add_intervals(fitted& f, solution const& found, Eigen::MatrixXd const& inverse) {
  Eigen::VectorXd const free = solve_qr(found.a, found.y);
  double const variance = (found.y - found.a * free).squaredNorm() / f.degrees_of_freedom();
  Eigen::MatrixXd const covariance = variance * inverse;
  double const t = student_quantile(0.5 + f.confidence / 2, f.degrees_of_freedom());
  for (Eigen::Index j = 0; j < found.x.size(); ++j) {
    double const half = t * std::sqrt(covariance(j, j));
    f.low.push_back(std::min(found.x[j], std::max(0.0, free[j] - half)));
    f.high.push_back(std::max(found.x[j], free[j] + half));
    for (Eigen::Index k = 0; k < found.x.size(); ++k) f.covariance.push_back(covariance(j, k));
  }
}

}  // namespace

std::vector<double> formula::functions(point const& at) const {
  std::vector<double> values;
  values.reserve(basis.size());
  for (auto const& b : basis) values.push_back(b(at));
  return values;
}

double fitted::operator()(point const& at) const {
  double const sum = trend(at);
  return residuals ? sum * std::exp((*residuals)(at)) : sum;
}

double formula::trend(point const& at) const {
  double sum = 0;
  for (std::size_t j = 0; j < basis.size(); ++j) sum += coefficients[j] * basis[j](at);
  return sum;
}

double formula::variance(std::span<double const> functions) const {
  auto const n = functions.size();
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) sum += functions[i] * covariance[i * n + j] * functions[j];
  return std::max(sum, 0.0);
}

double fitted::scatter(double value) const {
  return weights == weighting::relative ? deviation * std::abs(value) : deviation;
}

fitted fit(std::string const& name, std::span<observation const> samples,
           std::span<basis_function const> basis, fit_options const& options) {
  if (basis.empty()) throw usage_error(name + ": the basis is empty, expected at least one function");
  auto const n = static_cast<int>(samples.size());
  auto const p = static_cast<int>(basis.size());
  if (n < p + 1)
    throw usage_error(
        detail::format("{}: {} samples for {} coefficients, expected at least {}", name, n, p, p + 1));
  fitted f;
  f.basis.assign(basis.begin(), basis.end());
  f.weights = options.weights;
  f.confidence = options.confidence;
  f.samples = n;
  f.range = range_of(samples);
  auto const s = system_of(name, samples, basis, options.weights);
  check_columns_of(f, name, weights_of(options.weights, s.y).asDiagonal() * s.a);
  auto const found = solve(s, options.weights);
  f.coefficients.assign(found.x.data(), found.x.data() + p);
  add_quality(f, name, s, found);
  auto const inverse = inverse_normal(found.a);
  add_intervals(f, found, inverse);
  name_outliers(f, samples, found.a, found.y - found.a * found.x, inverse);
  return f;
}

void add_residuals(fitted& f, std::span<observation const> samples) {
  if (f.weights != weighting::relative) return;
  std::map<point, std::vector<double>> by_point;
  for (auto const& o : samples) {
    double const expected = f.trend(o.at);
    if (!(expected > 0)) return;
    by_point[o.at].push_back(std::log(o.value / expected));
  }
  std::vector<residual> medians;
  medians.reserve(by_point.size());
  for (auto& [at, values] : by_point) {
    auto const repetitions = static_cast<int>(values.size());
    medians.push_back({at, median(std::move(values)), repetitions});
  }
  f.residuals = kriging::fit(medians);
  if (f.residuals) f.deviation = std::sqrt(f.residuals->noise);
}

}  // namespace skel::model
