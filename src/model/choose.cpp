#include "model/choose.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "base/format.hpp"
#include "least_squares.hpp"
#include "skel/error.hpp"
#include "statistics.hpp"

namespace skel::model {

namespace {

constexpr std::size_t most_variables = 4;
constexpr std::size_t most_functions = 3;  // of a sum
constexpr double highest_degree = 3;       // total degree of a product

// Groups the samples by configuration: samples of one configuration have the same point.
std::vector<std::vector<std::size_t>> configurations(std::span<observation const> samples) {
  std::map<point, std::vector<std::size_t>> by_point;
  for (std::size_t i = 0; i < samples.size(); ++i) by_point[samples[i].at].push_back(i);
  std::vector<std::vector<std::size_t>> all;
  all.reserve(by_point.size());
  for (auto& [at, indices] : by_point) all.push_back(std::move(indices));
  return all;
}

// Whether the variable describes the run and not the problem. Variables of both kinds are often
// proportional.
bool is_of_run(std::string const& variable) {
  return variable == "P" || variable == "threads" || variable == "tasks";
}

struct chosen_variables {
  std::vector<std::string> names;
  std::vector<std::string> left_out;  // reasons, as text
};

// The variables that all samples have, that are positive, and that vary. From two proportional
// variables only one is used: they give the same functions.
chosen_variables variables_of(std::span<observation const> samples) {
  chosen_variables found;
  std::set<std::string> all;
  for (auto const& o : samples)
    for (auto const& [variable, value] : o.at) all.insert(variable);
  for (auto const& variable : all) {
    auto const value = [&](observation const& o) {
      auto const at = o.at.find(variable);
      return at == o.at.end() ? -1 : at->second;
    };
    double const first = value(samples.front());
    if (std::ranges::all_of(samples, [&](auto const& o) { return value(o) == first; })) continue;
    auto const bad = std::ranges::find_if(samples, [&](auto const& o) { return value(o) <= 0; });
    if (bad != samples.end()) {
      found.left_out.push_back(detail::format("{} is not used: {} has {}", variable, bad->where,
                                              value(*bad) < 0 ? "no value of at least 0" : "value 0"));
      continue;
    }
    auto const same = std::ranges::find_if(found.names, [&](std::string const& other) {
      double const ratio = first / samples.front().at.at(other);
      return std::ranges::all_of(
          samples, [&](auto const& o) { return std::abs(value(o) / o.at.at(other) / ratio - 1) < 1e-9; });
    });
    if (same == found.names.end())
      found.names.push_back(variable);
    else if (!is_of_run(variable) && !is_of_run(*same))
      found.left_out.push_back(detail::format(
          "{} is not used: it is proportional to {} in all samples, so their costs cannot be distinguished",
          variable, *same));
  }
  return found;
}

void check_number(std::string const& name, std::vector<std::string> const& variables) {
  if (variables.size() <= most_variables) return;
  std::string all;
  for (auto const& variable : variables) all += " " + variable;
  throw usage_error(
      detail::format("{}: {} variables differ ({} ), expected at most {}; give a basis, or select variables "
                     "with --variables",
                     name, variables.size(), all, most_variables));
}

std::set<double> values_of(std::string const& variable, std::span<observation const> samples) {
  std::set<double> values;
  for (auto const& o : samples) values.insert(o.at.at(variable));
  return values;
}

constexpr std::size_t enough_values = 3;

// Two values of a variable show one function only, because two would give every cost: a share of the work for
// P, otherwise a line.
std::vector<factor> factors_of(std::string const& variable, std::span<observation const> samples,
                               bool shared_work) {
  if (values_of(variable, samples).size() < enough_values)
    return {{variable, shared_work && variable == "P" ? -1.0 : 1.0, 0}};
  std::vector<factor> all;
  constexpr std::array exponents{0.0, 0.5, 1.0, 1.5, 2.0, 3.0};
  for (double const i : exponents)
    for (int j = 0; j <= 2; ++j)
      if (i != 0 || j != 0) all.push_back({variable, i, j});
  if (variable == "P") all.push_back({variable, -1, 0});
  return all;
}

std::vector<basis_function> candidates_of(std::vector<std::string> const& variables,
                                          std::span<observation const> samples, bool shared_work) {
  std::vector<basis_function> all{basis_function{}};
  for (std::size_t v = 0; v < variables.size(); ++v) {
    for (auto const& f : factors_of(variables[v], samples, shared_work)) {
      all.push_back({{f}});
      for (std::size_t w = v + 1; w < variables.size(); ++w)
        for (auto const& g : factors_of(variables[w], samples, shared_work))
          if (f.exponent + g.exponent <= highest_degree) all.push_back({{f, g}});
    }
  }
  return all;
}

double size_of(point const& at) {
  double size = 0;
  for (auto const& [name, value] : at)
    if (name != "P" && name != "threads") size += std::log(std::max(value, 1e-300));
  return size;
}

// The configurations sorted by size, and the number of those in the smaller two thirds.
std::vector<std::vector<std::size_t>> by_size(std::span<observation const> samples) {
  auto groups = configurations(samples);
  std::ranges::stable_sort(groups, {}, [&](auto const& g) { return size_of(samples[g.front()].at); });
  return groups;
}
std::size_t smaller_part(std::size_t groups) { return (groups * 2 + 2) / 3; }

std::optional<Eigen::VectorXd> column_of(basis_function const& f, std::span<observation const> samples) {
  Eigen::VectorXd column(static_cast<Eigen::Index>(samples.size()));
  try {
    for (std::size_t i = 0; i < samples.size(); ++i) column[static_cast<Eigen::Index>(i)] = f(samples[i].at);
  } catch (usage_error const&) {
    return std::nullopt;  // not finite at a sample
  }
  return column;
}

// Measures how far a function is from 1, N or N M: a tie goes to the simpler one. A share of the work, 1/P,
// adds nothing.
double complexity(basis_function const& b) {
  double sum = 0;
  int factors = 0;
  for (auto const& f : b.factors) {
    if (f == factor{"P", -1, 0}) continue;
    ++factors;
    sum += (f.exponent == 0 ? 0.5 : std::abs(std::abs(f.exponent) - 1)) + f.logs;
  }
  return sum + std::max(0, factors - 1);
}

// Up to three candidates by their indices, ascending.
struct subset {
  std::array<Eigen::Index, most_functions> at{};
  std::size_t size = 0;
  double likelihood = 0;  // -2 ln, of all samples
  double score = 0;       // -2 ln of the weight
  [[nodiscard]] std::span<Eigen::Index const> indices() const { return std::span(at).first(size); }
};

// The subsets of least score.
class shortlist {
 public:
  explicit shortlist(std::size_t most) : most_(most) {}
  [[nodiscard]] double limit() const { return limit_; }
  void add(subset const& s) {
    if (!(s.score < limit_)) return;
    kept_.push_back(s);
    std::ranges::push_heap(kept_, {}, &subset::score);
    if (kept_.size() <= most_) return;
    std::ranges::pop_heap(kept_, {}, &subset::score);
    kept_.pop_back();
    limit_ = kept_.front().score;
  }
  [[nodiscard]] std::vector<subset> const& kept() const { return kept_; }

 private:
  std::size_t most_;
  double limit_ = std::numeric_limits<double>::infinity();
  std::vector<subset> kept_;
};

// Scores all subsets of the candidates. A score is -2 ln of a weight: half from the likelihood of all
// samples, half from that of the larger ones when they are predicted from smaller ones, and the price of the
// functions.
class search {
 public:
  search(std::span<observation const> samples, std::vector<basis_function> const& candidates, weighting how,
         bool shared_work)
      : n_(static_cast<Eigen::Index>(samples.size())), groups_(by_size(samples)) {
    weigh(samples, how);
    a_.resize(n_, static_cast<Eigen::Index>(candidates.size()));
    for (auto const& f : candidates) {
      auto const column = column_of(f, samples);
      if (!column) continue;
      Eigen::VectorXd const weighted = weights_.cwiseProduct(*column);
      double const length = weighted.norm();
      if (!(length > 0)) continue;
      a_.col(static_cast<Eigen::Index>(functions_.size())) = weighted / length;
      functions_.push_back(&f);
      complexity_.push_back(complexity(f));
      unshared_.push_back(shared_work && !f.depends_on("P"));
    }
    a_.conservativeResize(n_, static_cast<Eigen::Index>(functions_.size()));
    // Needs one sample, and one configuration, more than functions.
    auto const most = std::min(samples.size(), groups_.size());
    most_ = std::min(most_functions, most > 1 ? most - 1 : 1);
    for (std::size_t size = 1; size <= most_functions; ++size) price_of_size_.push_back(price(size));
  }

  // The subsets, best first, with their final scores.
  [[nodiscard]] std::vector<subset> ranked() const {
    std::vector<subset> all;
    for (auto const& list : screened())
      for (auto s : list.kept()) {
        s.score += (predictive_score(s) - s.likelihood) / 2;
        if (std::isfinite(s.score)) all.push_back(s);
      }
    std::ranges::stable_sort(all, {}, &subset::score);
    return all;
  }

  [[nodiscard]] std::vector<basis_function> functions(subset const& s) const {
    std::vector<basis_function> all;
    for (auto const j : s.indices()) all.push_back(*functions_[static_cast<std::size_t>(j)]);
    return all;
  }

 private:
  static constexpr double price_of_unshared = 6;  // odds of e^3
  // Variance of the relative errors below which samples are exact; timers have six digits.
  static constexpr double exact = 1e-12;
  // What remains of a column of length one beside others: below, rounding errors would dominate.
  static constexpr double dependent = 1e-10;

  // Relative to the mean of a configuration: weights by each sample would prefer the low ones.
  void weigh(std::span<observation const> samples, weighting how) {
    Eigen::VectorXd y(n_);
    for (Eigen::Index i = 0; i < n_; ++i) y[i] = samples[static_cast<std::size_t>(i)].value;
    weights_ = Eigen::VectorXd::Constant(n_, std::sqrt(static_cast<double>(n_)) / y.norm());
    if (how == weighting::relative)
      for (auto const& group : groups_) {
        double sum = 0;
        for (auto const i : group) sum += samples[i].value;
        for (auto const i : group)
          weights_[static_cast<Eigen::Index>(i)] = static_cast<double>(group.size()) / sum;
      }
    y_ = weights_.cwiseProduct(y);
  }

  // Laplace's approximation of -2 ln of the marginal likelihood, for coefficients whose contributions are of
  // the order of the measured times.
  [[nodiscard]] double likelihood_score(double squares, std::size_t size) const {
    auto const n = static_cast<double>(n_);
    auto const k = static_cast<double>(size);
    return (n - k) * std::log(std::max(squares, 0.0) / n + exact) + k * std::log(n);
  }

  // The number of subsets of this size: a search finds the luckiest of them [Chen08].
  [[nodiscard]] double price(std::size_t size) const {
    auto const m = static_cast<double>(functions_.size());
    auto const k = static_cast<double>(size);
    return 2 * (std::lgamma(m + 1) - std::lgamma(k + 1) - std::lgamma(m - k + 1));
  }
  // Also complexity, and each function whose work the ranks do not share, except a constant beside others.
  [[nodiscard]] double price(subset const& s) const {
    double sum = price_of_size_[s.size - 1];
    for (auto const j : s.indices()) {
      auto const at = static_cast<std::size_t>(j);
      sum += complexity_[at];
      if (unshared_[at] && (s.size == 1 || !functions_[at]->factors.empty())) sum += price_of_unshared;
    }
    return sum;
  }

  // The sum of squares beyond which no subset of this size has a lower score.
  [[nodiscard]] double most_squares(std::size_t size, double score) const {
    auto const n = static_cast<double>(n_);
    auto const k = static_cast<double>(size);
    double const log = (score - price_of_size_[size - 1] - k * std::log(n)) / (n - k);
    return n * (std::exp(log) - exact);
  }

  // The best subsets of each size by the likelihood of all samples and the price. Where a subset has a
  // negative coefficient, the nonnegative fit is that of a smaller subset.
  [[nodiscard]] std::vector<shortlist> screened() const {
    constexpr std::size_t most = 300;
    std::vector<shortlist> lists(most_functions, shortlist(most));
    auto const m = a_.cols();
    Eigen::MatrixXd const gram = a_.transpose() * a_;
    Eigen::VectorXd const with = a_.transpose() * y_;
    double const all = y_.squaredNorm();
    auto const add = [&](subset s, double squares) {
      s.likelihood = likelihood_score(squares, s.size);
      s.score = s.likelihood + price(s);
      lists[s.size - 1].add(s);
    };
    Eigen::MatrixXd rest(m, m);  // the Gram matrix beside the first function
    Eigen::VectorXd rest_with(m);
    Eigen::VectorXd squares(m);
    for (Eigen::Index i = 0; i < m; ++i) {
      if (with[i] > 0) add({{i}, 1}, all - with[i] * with[i]);
      if (most_ < 2) continue;
      auto const later = m - i - 1;
      auto const row = gram.col(i).tail(later);
      rest_with.tail(later) = with.tail(later) - with[i] * row;
      for (Eigen::Index j = i + 1; j < m; ++j)
        rest.col(j).tail(m - j) = gram.col(j).tail(m - j) - gram(j, i) * gram.col(i).tail(m - j);
      for (Eigen::Index j = i + 1; j < m; ++j) {
        double const left = rest(j, j);
        if (left < dependent) continue;
        double const x = rest_with[j] / left;
        double const pair = all - with[i] * with[i] - rest_with[j] * x;
        if (x > 0 && with[i] - gram(j, i) * x > 0) add({{i, j}, 2}, pair);
        if (most_ < 3) continue;
        // As arrays, so that the compiler uses vector instructions: this loop takes nearly all of the time.
        auto const n = m - j - 1;
        auto const beside = rest.col(j).tail(n).array();
        auto const diagonal = rest.diagonal().tail(n).array() - beside.square() / left;
        auto const right = rest_with.tail(n).array() - beside * x;
        squares.tail(n) =
            (diagonal > dependent)
                .select(pair - right.square() / diagonal, std::numeric_limits<double>::infinity());
        double const limit = most_squares(3, lists[2].limit());
        for (Eigen::Index k = j + 1; k < m; ++k) {
          if (!(squares[k] < limit)) continue;
          double const z = (rest_with[k] - rest(k, j) * x) / (rest(k, k) - rest(k, j) * rest(k, j) / left);
          double const y = x - rest(k, j) * z / left;
          if (z > 0 && y > 0 && with[i] - gram(j, i) * y - gram(k, i) * z > 0)
            add({{i, j, k}, 3}, squares[k]);
        }
      }
    }
    return lists;
  }

  // -2 ln of the density of the larger configurations, in four steps: each step is predicted from all smaller
  // configurations (Student's distribution). This is pseudo-BMA of [Yao18], with larger samples held out as
  // in [Bürkner20].
  [[nodiscard]] double predictive_score(subset const& s) const {
    constexpr std::size_t steps = 4;
    Eigen::MatrixXd a(n_, static_cast<Eigen::Index>(s.size));
    for (std::size_t j = 0; j < s.size; ++j) a.col(static_cast<Eigen::Index>(j)) = a_.col(s.at[j]);
    auto const first = groups_.size() / 2;
    auto const larger = groups_.size() - first;
    double sum = 0;
    for (std::size_t step = 0; step < steps; ++step) {
      auto const begin = first + step * larger / steps;
      auto const end = first + (step + 1) * larger / steps;
      if (begin == end) continue;
      sum += step_score(a, rows(0, begin), rows(begin, end));
    }
    return sum;
  }

  [[nodiscard]] std::vector<Eigen::Index> rows(std::size_t from, std::size_t to) const {
    std::vector<Eigen::Index> all;
    for (auto g = from; g < to; ++g)
      for (auto const i : groups_[g]) all.push_back(static_cast<Eigen::Index>(i));
    return all;
  }

  [[nodiscard]] double step_score(Eigen::MatrixXd const& columns, std::vector<Eigen::Index> const& in,
                                  std::vector<Eigen::Index> const& out) const {
    auto const freedom = static_cast<double>(in.size()) - static_cast<double>(columns.cols());
    double const unknown = std::log(2 * std::numbers::pi);  // as with a relative deviation of 1
    if (freedom < 1) return unknown * static_cast<double>(out.size());
    Eigen::MatrixXd const a = columns(in, Eigen::all);
    Eigen::VectorXd const y = y_(in);
    Eigen::VectorXd const x = solve_nonnegative(a, y);
    Eigen::MatrixXd const inverse = inverse_normal(a);
    double const variance = (y - a * x).squaredNorm() / freedom + exact;
    double sum = 0;
    for (auto const i : out) {
      double const leverage = columns.row(i) * inverse * columns.row(i).transpose();
      double const spread = std::isfinite(leverage) ? std::min(1.0, variance * (1 + leverage)) : 1.0;
      double const off = y_[i] - columns.row(i).dot(x);
      sum += std::log(freedom * std::numbers::pi * spread) +
             (freedom + 1) * std::log1p(off * off / spread / freedom) -
             2 * (std::lgamma((freedom + 1) / 2) - std::lgamma(freedom / 2));
    }
    return sum;
  }

  Eigen::Index n_;
  std::vector<std::vector<std::size_t>> groups_;  // configurations, ascending in size
  std::size_t most_ = most_functions;
  Eigen::VectorXd weights_, y_;  // y_: the weighted values
  Eigen::MatrixXd a_;            // the weighted columns, of length one
  std::vector<basis_function const*> functions_;
  std::vector<double> complexity_, price_of_size_;
  std::vector<bool> unshared_;
};

}  // namespace

std::vector<weighted_functions> choose_functions(std::string const& name,
                                                 std::span<observation const> samples,
                                                 fit_options const& options, bool shared_work) {
  constexpr std::size_t fewest = 5;
  if (samples.size() < fewest)
    throw usage_error(
        detail::format("{}: {} samples, expected at least {} to choose a basis; or give one with --basis",
                       name, samples.size(), fewest));
  for (auto const& o : samples)
    if (!(o.value > 0 && std::isfinite(o.value)))
      throw usage_error(
          detail::format("{}: {}: found the value {}, expected a positive number to choose a basis", o.where,
                         name, o.value));
  auto const variables = variables_of(samples).names;
  check_number(name, variables);
  auto const candidates = candidates_of(variables, samples, shared_work);
  search const all(samples, candidates, options.weights,
                   shared_work && std::ranges::find(variables, "P") != variables.end());
  constexpr std::size_t most = 20;
  constexpr double least_weight = 0.005;  // relative to the best
  std::vector<weighted_functions> found;
  double sum = 0;
  auto const ranked = all.ranked();
  for (auto const& s : ranked) {
    double const weight = std::exp((ranked.front().score - s.score) / 2);
    if (weight < least_weight || found.size() == most) break;
    found.push_back({all.functions(s), weight});
    sum += weight;
  }
  for (auto& f : found) f.weight /= sum;
  return found;
}

std::vector<std::string> variables_left_out(std::span<observation const> samples) {
  return variables_of(samples).left_out;
}

std::vector<std::string> variables_in_doubt(std::span<observation const> samples,
                                            std::span<basis_function const> basis) {
  std::vector<std::string> found;
  for (auto const& variable : variables_of(samples).names) {
    auto const values = values_of(variable, samples);
    if (values.size() < enough_values)
      found.push_back(detail::format("{} has only {} values in the samples ({} and {}), expected at least {}",
                                     variable, values.size(), *values.begin(), *values.rbegin(),
                                     enough_values));
    if (std::ranges::none_of(basis, [&](auto const& f) { return f.depends_on(variable); }))
      found.push_back(detail::format("no function depends on {}, which the samples vary from {} to {}",
                                     variable, *values.begin(), *values.rbegin()));
  }
  return found;
}

std::optional<held_out> hold_out(std::span<observation const> samples, fitting const& fit_them) {
  auto const groups = by_size(samples);
  constexpr std::size_t fewest = 4;
  if (groups.size() < fewest) return std::nullopt;
  std::vector<observation> small;
  std::vector<observation> large;
  auto const kept = smaller_part(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (auto const i : groups[g]) (g < kept ? small : large).push_back(samples[i]);
  std::vector<double> errors;
  try {
    auto const f = fit_them(small);
    for (auto const& o : large)
      if (o.value != 0) errors.push_back(std::abs(f(o.at) - o.value) / std::abs(o.value));
  } catch (usage_error const&) {
    return std::nullopt;  // too few samples, or collinear without the large ones
  }
  if (errors.empty()) return std::nullopt;
  return held_out{static_cast<int>(small.size()), static_cast<int>(errors.size()), median(errors),
                  quantile(errors, 0.9)};
}

std::optional<repetition_noise> noise_of(std::span<observation const> samples) {
  repetition_noise found;
  std::vector<double> off;
  for (auto const& group : configurations(samples)) {
    if (group.size() < 2) continue;
    std::vector<double> values;
    values.reserve(group.size());
    for (auto const i : group) values.push_back(samples[i].value);
    double const middle = median(values);
    if (middle <= 0) continue;
    ++found.configurations;
    found.samples += static_cast<int>(values.size());
    for (double const v : values) off.push_back(std::abs(v - middle) / middle);
  }
  if (off.empty()) return std::nullopt;
  found.median = median(off);
  found.percentile_90 = quantile(off, 0.9);
  return found;
}

}  // namespace skel::model
