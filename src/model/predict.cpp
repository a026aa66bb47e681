#include "skel/model/predict.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "base/format.hpp"
#include "skel/error.hpp"
#include "statistics.hpp"
#include "text.hpp"

namespace skel::model {

namespace {

// A position in the tree of divisions: the level, and the number of halvings on the way, which is
// log2(1 / share) for unequal halves.
struct place {
  int level = 0;
  double halvings = 0;
};

// Predicts divide-and-conquer for one set of sizes, level by level.
class composer {
 public:
  composer(skeleton_model const& model, machine const* where, point const& sizes, int ranks,
           predict_options const& options)
      : model_(model), where_(where), sizes_(sizes), ranks_(ranks), options_(options) {
    if (where_ != nullptr) {
      std::string warning;
      here_ = where_->for_ranks(ranks, options.kind, warning);
      if (!warning.empty()) warnings_.push_back(warning);
    }
  }

  // [Hyper, §5]: both halves run side by side, so the slower one counts.
  estimate compose(int ranks, place const& at) {
    if (ranks == 1) return one("sequential", at);
    auto whole = one("divide", at);
    int const larger = (ranks + 1) / 2;
    auto half = compose(larger, below(at, larger, ranks));
    if (ranks % 2 == 1)
      half = slower_of(std::move(half), compose(ranks - larger, below(at, ranks - larger, ranks)));
    whole = std::move(whole) + half;
    auto exchanged = exchange(at);
    if (ranks % 2 == 1 && in_proportion()) serve_another(exchanged);
    whole = std::move(whole) + exchanged;
    return std::move(whole) + one("combine", at);
  }

  std::vector<std::string> take_warnings() { return std::move(warnings_); }
  void warn(std::string text) {
    // The first level reports it; the sizes of later levels are smaller.
    auto const about = text.substr(0, text.find(" = "));
    auto const said = [&](std::string const& w) { return w.starts_with(about); };
    if (std::ranges::none_of(warnings_, said)) warnings_.push_back(std::move(text));
  }

 private:
  // A group of a hypercube gets work in proportion to its ranks (divide(problem, share)).
  [[nodiscard]] bool in_proportion() const { return model_.schedule.starts_with("hypercube"); }
  [[nodiscard]] place below(place const& at, int part, int ranks) const {
    return {at.level + 1, at.halvings + (in_proportion() ? std::log2(static_cast<double>(ranks) / part) : 1)};
  }

  // Sizes of the problem at this position; a variable without a known factor is unchanged.
  [[nodiscard]] point sizes_at(place const& where) const {
    point at = sizes_;
    for (auto const& [name, factor] : model_.per_level)
      if (auto const v = at.find(name); v != at.end()) v->second *= std::pow(factor, where.halvings);
    at["P"] = ranks_;
    return at;
  }

  // Checks whether the sizes are outside of the samples and warns. Includes variables that no
  // function uses, because their irrelevance is known for the samples only.
  bool check_range(fitted const& f, std::string const& what, point const& at) {
    auto const outside = extrapolations(f, what, at);
    for (auto const& text : outside) warn(text);
    return !outside.empty();
  }
  // With unequal halves, one rank of the smaller half serves two of the larger half over one link.
  // The added share of the second message's time is unknown and lies between 0 and 1. The mean and
  // deviation of a uniform distribution are used.
  static void serve_another(estimate& e) {
    constexpr double share = 0.5;
    constexpr double uniform = 0.2887;  // 1 / sqrt(12)
    for (auto& p : e.parts) {
      p.deviation = std::hypot((1 + share) * p.deviation, uniform * p.seconds);
      p.seconds *= 1 + share;
      p.extrapolation *= 1 + share;
      for (double& f : p.functions) f *= 1 + share;
      for (auto& one : p.alternatives)
        for (double& f : one) f *= 1 + share;
      p.how = "1.5 times " + p.how;
    }
  }

  estimate one(std::string const& phase, place const& where) {
    auto const* const t = model_.find(phase);
    if (t == nullptr) {
      if (phase == "sequential") throw usage_error("missing phase sequential in the model");
      warn(phase + " = 0: not contained in the samples");
      return {};
    }
    return from_term(*t, phase, where);
  }

  estimate from_term(term const& t, std::string const& name, place const& where) {
    auto const at = sizes_at(where);
    part p;
    p.name = name;
    p.level = where.level;
    double trend = 0;
    try {
      p.functions = t.curve.functions(at);
      trend = t.curve.trend(at);
      p.seconds = t.curve(at);
    } catch (usage_error const& bad) {
      throw usage_error(detail::format("{}: {} (give sizes with --set NAME=VALUE)", name, bad.what()));
    }
    bool const outside = check_range(t.curve, name, at);
    p.source = &t;
    if (t.curve.residuals) {
      // The errors of the functions scale with the factor; the error of the factor is shared by all
      // levels.
      if (trend > 0)
        for (double& f : p.functions) f *= p.seconds / trend;
      p.extrapolation = t.curve.residuals->deviation(at) * p.seconds;
    }
    p.deviation = t.curve.scatter(p.seconds);
    constexpr double deviations_of_90_percent = 1.645;
    if (outside && t.error) {
      double const error = t.error->percentile_90 / deviations_of_90_percent * p.seconds;
      double const beyond = error * error - p.deviation * p.deviation;
      p.extrapolation = std::max(p.extrapolation, std::sqrt(std::max(0.0, beyond)));
    }
    add_alternatives(p, t.curve, at);
    for (std::size_t j = 0; j < t.curve.basis.size(); ++j)
      if (t.curve.coefficients[j] != 0)
        p.how += detail::format("{}{:.4g}{}", p.how.empty() ? "" : " + ", t.curve.coefficients[j],
                                t.curve.basis[j].factors.empty() ? "" : " " + to_string(t.curve.basis[j]));
    if (p.how.empty()) p.how = "0";
    if (trend > 0 && t.curve.residuals) p.how = detail::format("{:.4g} ({})", p.seconds / trend, p.how);
    std::string values;
    for (auto const& b : t.curve.basis)
      for (auto const& f : b.factors) {
        auto const text = detail::format("{} = {:.10g}", f.variable, at.at(f.variable));
        if (values.find(text) == std::string::npos) values += (values.empty() ? " at " : ", ") + text;
      }
    p.how += values;
    return {{std::move(p)}, {}};
  }

  // Evaluates the alternatives. Warns if it is likely enough that the cost is another one by more than a
  // factor.
  void add_alternatives(part& p, fitted const& f, point const& at) {
    constexpr double likely = 0.05;
    constexpr double much = 1.5;
    double weight = 0;
    formula const* other = nullptr;  // the most likely one of those
    for (auto const& one : f.alternatives) {
      p.alternatives.emplace_back();
      try {
        p.alternatives.back() = one.functions(at);
      } catch (usage_error const&) {
        continue;  // needs a size that is unknown
      }
      if (difference(f, one, at) < std::log(much)) continue;
      weight += one.weight;
      if (other == nullptr) other = &one;
    }
    if (weight < likely) return;
    warn(detail::format(
        "{}: the samples do not decide between {} ({:.3g}) and {} ({:.3g}) at {}: measure {} to decide",
        p.name, to_string(f.basis), p.seconds, to_string(other->basis), other->trend(at),
        sizes_in_words(f, at), sizes_in_words(f, deciding(f, *other, at))));
  }

  // The absolute logarithm of the ratio of two curves.
  static double difference(formula const& a, formula const& b, point const& at) {
    constexpr double least = 1e-300;
    return std::abs(std::log(std::max(a.trend(at), least) / std::max(b.trend(at), least)));
  }

  // The smallest problem on the way from the samples to this point that shows which curve is right, by
  // doubling.
  static point deciding(fitted const& f, formula const& other, point const& at) {
    constexpr double least_difference = 0.1;
    constexpr double clear = 4;  // standard deviations of a measurement
    for (double factor = 2;; factor *= 2) {
      point next = at;
      bool whole = true;
      for (auto const& [name, r] : f.range) {
        auto const v = next.find(name);
        if (v == next.end() || r.second == 0 || v->second <= r.second * factor) continue;
        v->second = r.second * factor;
        whole = false;
      }
      double const scatter = f.scatter(f.trend(next)) / f.trend(next);
      if (whole || difference(f, other, next) > std::max(least_difference, clear * scatter)) return next;
    }
  }

  // "N = 1000, P = 8": the variables of the samples.
  static std::string sizes_in_words(fitted const& f, point const& at) {
    std::string text;
    for (auto const& [name, value] : at)
      if (f.range.contains(name))
        text += detail::format("{}{} = {:.10g}", text.empty() ? "" : ", ", name, value);
    return text;
  }

  // Bytes of one exchange at this level, if known.
  void assume_machine() {
    std::string warning;
    here_ = machine::assumed().for_ranks(ranks_, "raw", warning);
    warn(
        detail::format("exchange = assumed latency of {:.3g} s and {:.3g} s per byte; measure them with "
                       "skel-model calibrate",
                       here_->latency_seconds, here_->gap_seconds_per_byte));
  }
  std::optional<double> bytes(place const& where) {
    if (options_.exchange_bytes) return (*options_.exchange_bytes)(sizes_at(where));
    auto const* const t = model_.find("exchange", "bytes");
    if (t == nullptr) return std::nullopt;
    auto const at = sizes_at(where);
    check_range(t->curve, "exchange bytes", at);
    return t->curve(at);
  }

  estimate exchange(place const& where) {
    auto const* const t = model_.find("exchange");
    auto how = options_.exchange;
    bool const measured = here_ && !here_->exchange.empty();
    auto const size = here_ || options_.exchange_bytes ? bytes(where) : std::nullopt;
    if (how == exchange_cost::automatic)
      how =
          here_ && size ? (measured ? exchange_cost::measured : exchange_cost::paper) : exchange_cost::fitted;
    if (how == exchange_cost::fitted) {
      if (t != nullptr) return from_term(*t, "exchange", where);
      if (options_.exchange_bytes || model_.find("exchange", "bytes") != nullptr) {
        if (options_.exchange == exchange_cost::fitted)
          throw usage_error("exchange: missing machine, expected --machine FILE.json");
        assume_machine();
        return exchange(where);
      }
      warn("exchange = 0: no exchanges in the samples and no bytes given; communication counts 0");
      return {};
    }
    if (!here_) throw usage_error("exchange: missing machine, expected --machine FILE.json");
    if (!size) throw usage_error("exchange: bytes unknown to the model, expected for example --bytes 4*N");
    part p;
    p.name = "exchange";
    p.level = where.level;
    if (how == exchange_cost::paper) {
      p.seconds = 2 * (here_->latency_seconds + *size * here_->gap_seconds_per_byte);
      p.how = detail::format("2 (l + {:.10g} B g), l = {:.4g} s, g = {:.4g} s/B", *size,
                             here_->latency_seconds, here_->gap_seconds_per_byte);
      p.deviation = here_->all_to_all.deviation * p.seconds;
    } else {
      if (!measured) throw usage_error("exchange: the machine file contains no measured exchanges");
      p.seconds = here_->exchange(*size);
      p.how = detail::format("{:.10g} B between pairs, as measured", *size);
      p.deviation = here_->exchange.deviation * p.seconds;
    }
    return {{std::move(p)}, {}};
  }

  friend estimate skel::model::predict(skeleton_model const&, machine const*, point const&, int,
                                       predict_options const&);

  skeleton_model const& model_;
  machine const* where_;
  std::optional<machine_at> here_;
  point sizes_;
  int ranks_;
  predict_options const& options_;
  std::vector<std::string> warnings_;
};

}  // namespace

double estimate::seconds() const {
  double sum = 0;
  for (auto const& p : parts) sum += p.seconds;
  return sum;
}

namespace {

// One of the ways in which the terms of an estimate may combine.
struct component {
  double weight = 1, seconds = 0, variance = 0;
};

// The sums of a formula's functions over all parts of its term; empty if a part has none.
std::vector<double> sum_over_parts(estimate const& e, term const& t, std::size_t which) {
  std::vector<double> sum;
  for (auto const& p : e.parts) {
    if (p.source != &t) continue;
    auto const& values = which == 0 ? p.functions : p.alternatives.at(which - 1);
    if (values.empty()) return {};
    sum.resize(values.size());
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += values[j];
  }
  return sum;
}

// The curve of this term and its alternatives, with seconds relative to the curve.
std::vector<component> components_of(estimate const& e, term const& t) {
  std::vector<component> all;
  double curve = 0;
  auto const& others = t.curve.alternatives;
  for (std::size_t i = 0; i <= others.size(); ++i) {
    formula const& f = i == 0 ? t.curve : others[i - 1];
    auto const functions = sum_over_parts(e, t, i);
    if (functions.empty()) continue;
    double const seconds =
        std::inner_product(functions.begin(), functions.end(), f.coefficients.begin(), 0.0);
    if (i == 0) curve = seconds;
    all.push_back({f.weight, seconds - curve, f.variance(functions)});
  }
  return all;
}

// All combinations, without the most improbable ones. Weights add up to 1.
std::vector<component> components_of(estimate const& e) {
  std::vector<component> all{{1, e.seconds(), 0}};
  std::map<term const*, double> extrapolation;
  for (auto const& p : e.parts) {
    all.front().variance += p.deviation * p.deviation;
    if (p.source != nullptr) extrapolation[p.source] += p.extrapolation;
  }
  for (auto const& [t, seconds] : extrapolation) all.front().variance += seconds * seconds;
  for (auto const& [t, seconds] : extrapolation) {
    std::vector<component> next;
    for (auto const& a : all)
      for (auto const& b : components_of(e, *t))
        next.push_back({a.weight * b.weight, a.seconds + b.seconds, a.variance + b.variance});
    constexpr std::size_t most = 100;
    std::ranges::stable_sort(next, std::greater(), &component::weight);
    if (next.size() > most) next.resize(most);
    all = std::move(next);
  }
  double sum = 0;
  for (auto const& c : all) sum += c.weight;
  for (auto& c : all) c.weight /= sum;
  return all;
}

}  // namespace

double estimate::deviation() const {
  double variance = 0;
  for (auto const& c : components_of(*this))
    variance += c.weight * (c.variance + (c.seconds - seconds()) * (c.seconds - seconds()));
  return std::sqrt(variance);
}

std::pair<double, double> estimate::interval(double confidence) const {
  int freedom = std::numeric_limits<int>::max();
  for (auto const& p : parts)
    if (p.source != nullptr && p.source->curve.samples > 0)
      freedom = std::min(freedom, std::max(1, p.source->curve.degrees_of_freedom()));
  auto const all = components_of(*this);
  double const t = student_quantile(0.5 + confidence / 2, freedom);
  double low = seconds();
  double high = seconds();
  for (auto const& c : all) {
    low = std::min(low, c.seconds - t * std::sqrt(c.variance));
    high = std::max(high, c.seconds + t * std::sqrt(c.variance));
  }
  if (all.size() == 1) return {std::max(0.0, low), high};
  auto const below = [&](double x) {
    double sum = 0;
    for (auto const& c : all)
      sum +=
          c.weight * (c.variance > 0   ? student_probability((x - c.seconds) / std::sqrt(c.variance), freedom)
                      : x >= c.seconds ? 1.0
                                       : 0.0);
    return sum;
  };
  // Both ends lie between those of the components.
  auto const quantile = [&](double probability) {
    double from = low;
    double to = high;
    for (int i = 0; i < 60 && from < to; ++i) {
      double const middle = from + (to - from) / 2;
      (below(middle) < probability ? from : to) = middle;
    }
    return to;
  };
  return {std::max(0.0, std::min(seconds(), quantile((1 - confidence) / 2))),
          std::max(seconds(), quantile((1 + confidence) / 2))};
}

estimate operator+(estimate a, estimate const& b) {
  a.parts.insert(a.parts.end(), b.parts.begin(), b.parts.end());
  a.warnings.insert(a.warnings.end(), b.warnings.begin(), b.warnings.end());
  return a;
}

estimate slower_of(estimate a, estimate b) { return b.seconds() > a.seconds() ? std::move(b) : std::move(a); }

namespace {

// "1 + n/P" for 1 + n
std::string words_divided_by_ranks(std::vector<basis_function> const& basis) {
  std::string text = "1";
  for (auto const& f : basis)
    if (!f.factors.empty()) text += " + " + to_string(f) + "/P";
  return text == "1" ? "1 + 1/P" : text;
}

}  // namespace

bool has_phases(skeleton_model const& m) { return m.find("sequential") != nullptr; }

estimate predict(skeleton_model const& m, machine const* where, point const& sizes, int ranks,
                 predict_options const& options) {
  if (ranks < 1 || ranks > 1 << 24)
    throw usage_error(detail::format("{} ranks, expected 1 to 16777216", ranks));
  for (auto const& [name, value] : sizes)
    if (!std::isfinite(value) || value < 0)
      throw usage_error(detail::format("{} = {}, expected a number of at least 0", name, value));
  composer c(m, where, sizes, ranks, options);
  estimate e;
  if (has_phases(m)) {
    e = c.compose(ranks, {});
    if (ranks > 1 && std::ranges::none_of(m.per_level, [](auto const& v) { return v.second < 1; }))
      c.warn(
          "no variable is known to shrink with each division, because samples of one rank do not show it; "
          "fit with --halved");
  } else if (auto const* const t = m.find("run"); t != nullptr) {
    e = c.from_term(*t, "run", {});
    if (auto const& basis = t->curve.basis;
        ranks > 1 && std::ranges::none_of(basis, [](auto const& f) { return f.depends_on("P"); }))
      c.warn(detail::format(
          "run: the model does not depend on P, so this is the time of any number of ranks: fit "
          "samples of more ranks, or with --basis \"run={}\"",
          words_divided_by_ranks(basis)));
  } else {
    throw usage_error(m.name() + ": the model must have the phase sequential or run");
  }
  e.warnings = c.take_warnings();
  return e;
}

}  // namespace skel::model
