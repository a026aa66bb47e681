#include "skel/model/kriging.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/format.hpp"
#include "skel/error.hpp"

namespace skel::model {

namespace {

constexpr std::size_t most_points = 300;
constexpr std::size_t points_per_variable = 5;
constexpr double clearly_better = 0.7;
// A factor of two in a size is a step of 0.7. A length beyond the whole grid acts as a constant.
constexpr std::array length_choices{0.0, 0.35, 0.7, 1.4, 2.8, 5.6, 11.2};
// Noise of a single measurement, relative to the sill.
constexpr std::array noise_choices{1e-3, 1e-2, 0.1, 1.0};

std::size_t axes_of(std::size_t variables) { return variables + variables * (variables - 1) / 2; }

// ln(variable) and ln(ratio), divided by their lengths.
std::vector<double> place_of(std::vector<std::string> const& variables, std::vector<double> const& lengths,
                             point const& at) {
  std::vector<double> logs;
  for (auto const& name : variables) {
    auto const v = at.find(name);
    if (v == at.end()) throw usage_error(detail::format("missing variable {}", name));
    if (!(v->second > 0 && std::isfinite(v->second)))
      throw usage_error(detail::format("{} = {}, expected a positive number", name, v->second));
    logs.push_back(std::log(v->second));
  }
  std::vector<double> place = logs;
  for (std::size_t i = 0; i < logs.size(); ++i)
    for (std::size_t j = i + 1; j < logs.size(); ++j) place.push_back(logs[i] - logs[j]);
  for (std::size_t i = 0; i < place.size(); ++i) place[i] = lengths[i] > 0 ? place[i] / lengths[i] : 0;
  return place;
}

// The Matérn covariance with smoothness 3/2 (Rasmussen and Williams, equation 4.17).
double correlation(std::vector<double> const& a, std::vector<double> const& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  double const d = std::sqrt(3 * squares);
  return (1 + d) * std::exp(-d);
}

// The variance of a median of n is about π/2 times that of a mean, from n = 3 on.
double noise_share(int repetitions) {
  constexpr double median_over_mean = 1.57;
  return repetitions < 3 ? 1.0 / repetitions : median_over_mean / repetitions;
}

Eigen::MatrixXd correlations(std::vector<std::vector<double>> const& places, std::span<residual const> points,
                             double noise) {
  auto const n = static_cast<Eigen::Index>(places.size());
  Eigen::MatrixXd k(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    auto const& a = places[static_cast<std::size_t>(i)];
    for (Eigen::Index j = 0; j < i; ++j)
      k(i, j) = k(j, i) = correlation(a, places[static_cast<std::size_t>(j)]);
    k(i, i) = 1 + noise * noise_share(points[static_cast<std::size_t>(i)].repetitions);
  }
  return k;
}

// Lengths and noise, and the likelihood of the residuals under them.
struct guess {
  std::vector<double> lengths;
  double noise = 0;
  double likelihood = -std::numeric_limits<double>::infinity();
  double sill = 0;
};

class likeliest {
 public:
  likeliest(std::vector<std::string> const& variables, std::span<residual const> points)
      : variables_(variables), points_(points), values_(static_cast<Eigen::Index>(points.size())) {
    for (Eigen::Index i = 0; i < values_.size(); ++i) values_[i] = points[static_cast<std::size_t>(i)].value;
  }

  // Improves one hyperparameter after the other until none improves.
  [[nodiscard]] guess best() const {
    constexpr double middle = 1.4;
    guess t{std::vector<double>(axes_of(variables_.size()), middle), noise_choices[1]};
    judge(t);
    for (bool better = true; better;) {
      better = false;
      for (std::size_t axis = 0; axis < t.lengths.size(); ++axis)
        for (double const length : length_choices) {
          guess next = t;
          next.lengths[axis] = length;
          better = take(t, next) || better;
        }
      for (double const noise : noise_choices) {
        guess next = t;
        next.noise = noise;
        better = take(t, next) || better;
      }
    }
    return t;
  }

 private:
  // Equation 2.30 of Rasmussen and Williams, with the sill at its maximum.
  void judge(guess& t) const {
    std::vector<std::vector<double>> places;
    for (auto const& p : points_) places.push_back(place_of(variables_, t.lengths, p.at));
    Eigen::LLT<Eigen::MatrixXd> const root(correlations(places, points_, t.noise));
    if (root.info() != Eigen::Success) return;
    double const n = static_cast<double>(points_.size());
    t.sill = values_.dot(root.solve(values_)) / n;
    Eigen::MatrixXd const lower = root.matrixL();
    t.likelihood = -0.5 * n * std::log(std::max(t.sill, 1e-300)) - lower.diagonal().array().log().sum();
  }
  bool take(guess& best, guess& next) const {
    constexpr double more = 1e-6;
    judge(next);
    if (!(next.likelihood > best.likelihood + more)) return false;
    best = next;
    return true;
  }

  std::vector<std::string> const& variables_;
  std::span<residual const> points_;
  Eigen::VectorXd values_;
};

// The variables that vary. Empty if one is not positive everywhere.
std::vector<std::string> varying(std::span<residual const> points) {
  std::vector<std::string> names;
  for (auto const& [name, first] : points.front().at) {
    bool differs = false;
    for (auto const& p : points) {
      auto const v = p.at.find(name);
      if (v == p.at.end() || !(v->second > 0)) return {};
      differs = differs || v->second != first;
    }
    if (differs) names.push_back(name);
  }
  return names;
}

double root_mean_square(std::vector<double> const& values) {
  double sum = 0;
  for (double const v : values) sum += v * v;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

}  // namespace

std::optional<kriging> kriging::fit(std::span<residual const> residuals) {
  if (residuals.empty() || residuals.size() > most_points) return std::nullopt;
  kriging k;
  k.variables = varying(residuals);
  if (k.variables.empty() || residuals.size() < points_per_variable * k.variables.size()) return std::nullopt;
  k.points.assign(residuals.begin(), residuals.end());
  std::vector<double> values;
  for (auto const& r : residuals) values.push_back(r.value);
  k.without = root_mean_square(values);
  constexpr double least_error = 1e-3;  // the accuracy of a measurement
  if (k.without < least_error) return std::nullopt;

  auto const t = likeliest(k.variables, residuals).best();
  k.lengths = t.lengths;
  k.sill = t.sill;
  k.noise = t.noise * t.sill;
  k.prepare();
  // Leave-one-out: equation 5.12 of Rasmussen and Williams.
  auto const n = values.size();
  std::vector<double> off;
  for (std::size_t i = 0; i < n; ++i) off.push_back(k.weights_[i] / k.inverse_[i * n + i]);
  k.error = root_mean_square(off);
  if (!(k.error < clearly_better * k.without)) return std::nullopt;
  return k;
}

void kriging::prepare() {
  if (variables.empty() || lengths.size() != axes_of(variables.size()))
    throw usage_error(detail::format("{} lengths for {} variables, expected {}", lengths.size(),
                                     variables.size(), axes_of(variables.size())));
  if (points.empty() || points.size() > most_points)
    throw usage_error(detail::format("{} points, expected 1 to {}", points.size(), most_points));
  if (!(sill > 0 && noise >= 0)) throw usage_error("sill must be positive, noise must not be negative");
  auto const n = static_cast<Eigen::Index>(points.size());
  places_.clear();
  Eigen::VectorXd values(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    auto const& p = points[static_cast<std::size_t>(i)];
    if (p.repetitions < 1) throw usage_error("found a point without measurements, expected at least 1");
    places_.push_back(place_of(variables, lengths, p.at));
    values[i] = p.value;
  }
  Eigen::LLT<Eigen::MatrixXd> const root(correlations(places_, points, noise / sill));
  if (root.info() != Eigen::Success) throw usage_error("covariance of the points must be positive definite");
  Eigen::VectorXd const weights = root.solve(values);
  Eigen::MatrixXd const inverse = root.solve(Eigen::MatrixXd::Identity(n, n));
  weights_.assign(weights.data(), weights.data() + n);
  inverse_.assign(inverse.data(), inverse.data() + n * n);
}

std::vector<double> kriging::covariances(point const& at) const {
  auto const here = place_of(variables, lengths, at);
  std::vector<double> with;
  with.reserve(places_.size());
  for (auto const& there : places_) with.push_back(correlation(here, there));
  return with;
}

double kriging::operator()(point const& at) const {
  auto const with = covariances(at);
  double sum = 0;
  for (std::size_t i = 0; i < with.size(); ++i) sum += with[i] * weights_[i];
  return sum;
}

double kriging::deviation(point const& at) const {
  auto const with = covariances(at);
  auto const n = with.size();
  double known = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) known += with[i] * inverse_[i * n + j] * with[j];
  return std::sqrt(sill * std::max(0.0, 1 - known));
}

}  // namespace skel::model
