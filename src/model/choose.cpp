#include "model/choose.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/format.hpp"
#include "least_squares.hpp"
#include "skel/error.hpp"
#include "statistics.hpp"

namespace skel::model {

namespace {

constexpr std::size_t most_variables = 4;
constexpr std::size_t most_terms = 3;  // in addition to the constant
constexpr double highest_degree = 3;   // total degree of a term
constexpr double exact = 1e-3;         // mean relative error, the accuracy of a measurement
constexpr int most_folds = 10;
constexpr double most_dependent = 1e6;  // condition number of the columns

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

std::vector<factor> factors_of(std::string const& variable) {
  std::vector<factor> all;
  constexpr std::array exponents{0.0, 0.5, 1.0, 1.5, 2.0, 3.0};
  for (double const i : exponents)
    for (int j = 0; j <= 2; ++j)
      if (i != 0 || j != 0) all.push_back({variable, i, j});
  if (variable == "P") all.push_back({variable, -1, 0});
  return all;
}

std::vector<basis_function> candidates_of(std::vector<std::string> const& variables) {
  std::vector<basis_function> all;
  for (std::size_t v = 0; v < variables.size(); ++v) {
    for (auto const& f : factors_of(variables[v])) {
      all.push_back({{f}});
      for (std::size_t w = v + 1; w < variables.size(); ++w)
        for (auto const& g : factors_of(variables[w]))
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

// Cross-validation with all columns computed once. The folds test interpolation. In addition the
// largest third is predicted from the others, because a function must also extrapolate.
class validation {
 public:
  validation(std::span<observation const> samples, fit_options const& options) : options_(options) {
    auto const n = static_cast<Eigen::Index>(samples.size());
    y_.resize(n);
    for (Eigen::Index i = 0; i < n; ++i) y_[i] = samples[static_cast<std::size_t>(i)].value;
    fold_.resize(samples.size());
    auto const groups = configurations(samples);
    folds_ = std::min(most_folds, static_cast<int>(groups.size()));
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (auto const i : groups[g]) fold_[i] = static_cast<int>(g) % folds_;
    large_.resize(samples.size());
    auto const ordered = by_size(samples);
    for (std::size_t g = smaller_part(ordered.size()); g < ordered.size(); ++g)
      for (auto const i : ordered[g]) large_[i] = true;
    weights_ = options.weights == weighting::relative ? Eigen::VectorXd(y_.cwiseInverse())
                                                      : Eigen::VectorXd::Ones(n);
  }

  // Relative errors of held-out samples, predicted by fits to the others. Empty if there are too
  // few samples.
  [[nodiscard]] std::vector<double> errors(Eigen::MatrixXd const& columns) const {
    std::vector<double> found;
    for (int k = 0; k < folds_; ++k)
      if (!predict(
              columns, [&](std::size_t i) { return fold_[i] == k; }, found))
        return {};
    if (!predict(
            columns, [&](std::size_t i) { return large_[i]; }, found))
      return {};
    return found;
  }

 private:
  template <class Out>
  bool predict(Eigen::MatrixXd const& columns, Out const& is_out, std::vector<double>& found) const {
    std::vector<Eigen::Index> in;
    std::vector<Eigen::Index> out;
    for (std::size_t i = 0; i < fold_.size(); ++i)
      (is_out(i) ? out : in).push_back(static_cast<Eigen::Index>(i));
    if (static_cast<Eigen::Index>(in.size()) <= columns.cols()) return false;
    Eigen::MatrixXd const a = weights_(in).asDiagonal() * columns(in, Eigen::all);
    Eigen::VectorXd const b = weights_(in).cwiseProduct(y_(in));
    Eigen::VectorXd const x = options_.nonnegative ? solve_nonnegative(a, b) : solve_qr(a, b);
    for (auto const i : out) found.push_back(std::abs(columns.row(i).dot(x) - y_[i]) / std::abs(y_[i]));
    return true;
  }

  fit_options options_;
  Eigen::VectorXd y_, weights_;
  std::vector<int> fold_;
  int folds_ = 0;
  std::vector<bool> large_;
};

double mean(std::vector<double> const& values) { return moments_of(values).mean; }

// The mean reduction of the error by `better`, and its standard error.
struct gain {
  double mean = 0, error = 0;
};
gain gain_of(std::vector<double> const& better, std::vector<double> const& worse) {
  std::vector<double> by(better.size());
  for (std::size_t i = 0; i < by.size(); ++i) by[i] = worse[i] - better[i];
  auto const m = moments_of(by);
  return {m.mean, std::sqrt(m.variance / static_cast<double>(by.size()))};
}

bool clearly_lower(std::vector<double> const& better, std::vector<double> const& worse) {
  auto const g = gain_of(better, worse);
  return g.mean > 2 * g.error && g.mean > 0.01 * mean(worse);
}

// Prefers simple functions: a linear one has 1, each logarithm and each further variable adds.
double complexity(basis_function const& b) {
  double sum = 0;
  for (auto const& f : b.factors)
    sum += 1 + (f.exponent == 0 ? 0.5 : std::abs(std::abs(f.exponent) - 1)) + f.logs;
  return sum;
}

std::optional<Eigen::VectorXd> column_of(basis_function const& f, std::span<observation const> samples) {
  Eigen::VectorXd column(static_cast<Eigen::Index>(samples.size()));
  try {
    for (std::size_t i = 0; i < samples.size(); ++i) column[static_cast<Eigen::Index>(i)] = f(samples[i].at);
  } catch (usage_error const&) {
    return std::nullopt;  // not finite at a sample
  }
  return column;
}

struct trial {
  basis_function const* function = nullptr;
  Eigen::MatrixXd columns;
  std::vector<double> errors;
};

// Tries each candidate in addition to the functions chosen so far.
std::vector<trial> try_all(std::vector<basis_function> const& candidates,
                           std::vector<basis_function> const& chosen, Eigen::MatrixXd const& columns,
                           std::span<observation const> samples, validation const& test) {
  std::vector<trial> tried;
  for (auto const& candidate : candidates) {
    if (std::ranges::find(chosen, candidate) != chosen.end()) continue;
    auto const column = column_of(candidate, samples);
    if (!column) continue;
    Eigen::MatrixXd wider(columns.rows(), columns.cols() + 1);
    wider << columns, *column;
    if (check_columns(wider).condition > most_dependent) continue;
    auto found = test.errors(wider);
    if (!found.empty()) tried.push_back({&candidate, std::move(wider), std::move(found)});
  }
  return tried;
}

// Returns the simplest of the candidates that are within one standard error of the best (Breiman
// and others, "Classification and Regression Trees", 1984, section 3.4.3).
trial const* simplest_of_the_best(std::vector<trial> const& tried) {
  if (tried.empty()) return nullptr;
  auto const& best = *std::ranges::min_element(tried, {}, [](trial const& t) { return mean(t.errors); });
  trial const* simplest = &best;
  for (auto const& t : tried) {
    auto const by = gain_of(best.errors, t.errors);
    if (by.mean > by.error) continue;
    double const a = complexity(*t.function);
    double const b = complexity(*simplest->function);
    if (a < b || (a == b && mean(t.errors) < mean(simplest->errors))) simplest = &t;
  }
  return simplest;
}

// Divides all functions but the constant by the number of ranks; of the constant alone, there is a part that
// can be divided.
std::vector<basis_function> divided_by_ranks(std::vector<basis_function> functions) {
  if (functions.size() == 1) functions.emplace_back();
  for (std::size_t i = 1; i < functions.size(); ++i) functions[i].factors.push_back({"P", -1, 0});
  return functions;
}

// The errors of these functions; empty if they cannot be fitted.
std::vector<double> errors_of(std::vector<basis_function> const& functions,
                              std::span<observation const> samples, validation const& test) {
  Eigen::MatrixXd columns(static_cast<Eigen::Index>(samples.size()),
                          static_cast<Eigen::Index>(functions.size()));
  for (std::size_t j = 0; j < functions.size(); ++j) {
    auto const column = column_of(functions[j], samples);
    if (!column) return {};
    columns.col(static_cast<Eigen::Index>(j)) = *column;
  }
  if (check_columns(columns).condition > most_dependent) return {};
  return test.errors(columns);
}

}  // namespace

std::vector<basis_function> choose_basis(std::string const& name, std::span<observation const> samples,
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
  std::vector<basis_function> chosen{basis_function{}};
  auto const variables = variables_of(samples).names;
  check_number(name, variables);
  auto const candidates = candidates_of(variables);
  validation const test(samples, options);
  Eigen::MatrixXd columns = Eigen::VectorXd::Ones(static_cast<Eigen::Index>(samples.size()));
  auto errors = test.errors(columns);
  while (chosen.size() <= most_terms && mean(errors) > exact) {
    auto const tried = try_all(candidates, chosen, columns, samples, test);
    auto const* const best = simplest_of_the_best(tried);
    if (best == nullptr || !clearly_lower(best->errors, errors)) break;
    chosen.push_back(*best->function);
    columns = best->columns;
    errors = best->errors;
  }
  if (!shared_work || std::ranges::find(variables, "P") == variables.end() ||
      std::ranges::any_of(chosen, [](auto const& f) { return f.depends_on("P"); }))
    return chosen;
  auto divided = divided_by_ranks(chosen);
  auto const errors_of_divided = errors_of(divided, samples, test);
  return errors_of_divided.empty() || clearly_lower(errors, errors_of_divided) ? chosen : divided;
}

std::vector<std::string> variables_left_out(std::span<observation const> samples) {
  return variables_of(samples).left_out;
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
    for (auto const& o : large) errors.push_back(std::abs(f(o.at) - o.value) / std::abs(o.value));
  } catch (usage_error const&) {
    return std::nullopt;  // too few samples, or collinear without the large ones
  }
  return held_out{static_cast<int>(small.size()), static_cast<int>(large.size()), median(errors),
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
