// Fits all phases of all skeletons in the samples.
#include "skel/model/model.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>
#include <tuple>

#include "base/format.hpp"
#include "model/choose.hpp"
#include "skel/error.hpp"
#include "skel/model/predict.hpp"
#include "statistics.hpp"

namespace skel::model {

namespace {

bool same_skeleton(sample const& s, skeleton_model const& m) {
  return s.program == m.program && s.skeleton == m.skeleton && s.schedule == m.schedule &&
         s.results == m.results;
}

// The cost of the user's functions depends on their arguments, not on the number of ranks.
bool depends_on_ranks(std::string const& phase) { return phase == "run" || phase == "exchange"; }

std::string key_of(term const& t) { return t.quantity == "seconds" ? t.phase : t.phase + "." + t.quantity; }

std::string const* basis_for(model_options const& options, term const& t) {
  auto at = options.basis.find(key_of(t));
  if (at == options.basis.end() && t.quantity == "seconds") at = options.basis.find("");
  return at == options.basis.end() ? nullptr : &at->second;
}

// Assigns lines of phases to runs: a phase belongs to the preceding run (docs/reference/report.md). Lines
// before the first run belong to run 0.
std::vector<std::size_t> runs_of(std::span<sample const> samples) {
  std::vector<std::size_t> runs;
  std::size_t run = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].phase == "run" || (i > 0 && samples[i].file != samples[i - 1].file)) ++run;
    runs.push_back(run);
  }
  return runs;
}

// Determines from the samples how each variable changes from one level to the next.
std::map<std::string, double> scaling_of(std::span<sample const> samples, model_options const& options) {
  std::map<std::string, std::vector<double>> factors;
  auto const runs = runs_of(samples);
  std::map<std::size_t, point> whole;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (samples[i].level == 0 && samples[i].phase != "run")
      whole[runs[i]].insert(samples[i].variables.begin(), samples[i].variables.end());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    auto const& s = samples[i];
    auto const top = whole.find(runs[i]);
    if (s.level == 0 || top == whole.end()) continue;
    for (auto const& [name, value] : s.variables) {
      auto const at = top->second.find(name);
      if (name == "P" || name == "threads" || at == top->second.end() || at->second <= 0 || value <= 0)
        continue;
      factors[name].push_back(std::pow(value / at->second, 1.0 / s.level));
    }
  }
  std::map<std::string, double> found;
  for (auto& [name, values] : factors) {
    double const m = median(std::move(values));
    constexpr double near = 0.02;  // tolerance, since odd sizes do not halve exactly
    found[name] = std::abs(m - 0.5) < near ? 0.5 : std::abs(m - 1) < near ? 1 : m;
  }
  for (auto const& name : options.halved) found[name] = 0.5;
  return found;
}

// Fits the first functions, and the others as alternatives.
fitted fit_all(std::string const& name, std::span<observation const> samples,
               std::vector<weighted_functions> const& functions, fit_options const& options) {
  auto f = fit(name, samples, functions.front().basis, options);
  f.weight = functions.front().weight;
  for (auto const& other : functions | std::views::drop(1)) {
    try {
      auto const g = fit(name, samples, other.basis, options);
      f.alternatives.push_back({g.basis, g.coefficients, g.covariance, other.weight});
    } catch (usage_error const&) {
      continue;  // nearly collinear in the samples
    }
  }
  return f;
}

fitted fit_term(term& t, std::string const& name, std::span<observation const> samples,
                model_options const& options) {
  auto const* const given = basis_for(options, t);
  t.chosen = given == nullptr;
  auto const functions = given != nullptr ? std::vector<weighted_functions>{{parse_basis(*given)}}
                                          : choose_functions(name, samples, options.how,
                                                             t.phase == "run" && t.quantity == "seconds");
  auto f = fit_all(name, samples, functions, options.how);
  auto const warn = [&](std::string const& text) {
    f.warnings.push_back(detail::format("{}: {}", name, text));
  };
  if (t.chosen) std::ranges::for_each(variables_left_out(samples), warn);
  if (options.residuals) add_residuals(f, samples);
  if (f.residuals) {
    f.alternatives.clear();
    f.weight = 1;
    if (t.chosen) f = with_best_trend(name, std::move(f), samples, options.how);
  }
  std::ranges::for_each(variables_in_doubt(samples, f.basis), warn);
  constexpr double little = 0.9;
  if (f.r2 < little)
    warn(detail::format("R² is {:.2f}: the functions explain only part of the samples", f.r2));
  return f;
}

void add_term(skeleton_model& m, std::span<sample const> samples, term t, model_options const& options) {
  std::set<std::string> named;
  if (auto const* const given = basis_for(options, t))
    for (auto const& b : parse_basis(*given))
      for (auto const& f : b.factors) named.insert(f.variable);
  auto observations = observations_of(samples, m, t);
  // Drops the number of ranks if the phase does not depend on it, unless the basis contains it.
  if (t.quantity == "seconds" && !depends_on_ranks(t.phase))
    for (auto& o : observations)
      for (auto const* name : {"P", "threads", "tasks"})
        if (!named.contains(name)) o.at.erase(name);
  if (observations.empty()) return;
  auto const name = m.name() + ", " + key_of(t);
  t.curve = fit_term(t, name, observations, options);
  // The same functions: the error is that of this curve.
  t.error = hold_out(observations, [&](std::span<observation const> some) {
    auto f = fit(name, some, t.curve.basis, options.how);
    if (t.curve.residuals) add_residuals(f, some);
    return f;
  });
  t.noise = noise_of(observations);
  m.terms.push_back(std::move(t));
}

// Bytes and busy seconds get a term only if they are present and not zero. If a requested basis
// cannot be fitted, the error is reported; otherwise the term is omitted.
void add_optional_term(skeleton_model& m, std::span<sample const> samples, term const& t,
                       model_options const& options) {
  if (m.find(t.phase, t.quantity) != nullptr) return;
  auto const seen = observations_of(samples, m, t);
  bool const useful = !seen.empty() && std::ranges::all_of(seen, [](auto const& o) { return o.value > 0; });
  if (basis_for(options, t) != nullptr) {
    add_term(m, samples, t, options);
    return;
  }
  if (!useful) return;
  try {
    add_term(m, samples, t, options);
  } catch (usage_error const&) {
    return;
  }
}

// A trivial division, such as merge sort's, may be too short to measure.
bool takes_time(std::span<sample const> samples, std::string const& phase) {
  return std::ranges::any_of(samples, [&](sample const& s) {
    auto const t = s.measured.find("seconds");
    return s.phase == phase && t != s.measured.end() && t->second > 0;
  });
}

// What was measured in a phase beside skel's own columns, which only Extra-P's lines have. They have no
// seconds if they are of one metric: then that may have the name of one of skel's columns.
std::set<std::string> metrics_of(std::span<sample const> samples, std::string const& phase) {
  std::set<std::string> metrics;
  for (auto const& s : samples)
    if (s.phase == phase)
      for (auto const& [quantity, value] : s.measured) metrics.insert(quantity);
  if (metrics.contains("seconds"))
    for (auto const* own :
         {"seconds", "busy_seconds", "idle_seconds", "communication_seconds", "messages", "bytes"})
      metrics.erase(own);
  return metrics;
}

skeleton_model fit_skeleton(skeleton_model m, std::span<sample const> samples, model_options const& options) {
  std::vector<std::string> phases;
  for (auto const& s : samples)
    if (std::ranges::find(phases, s.phase) == phases.end()) phases.push_back(s.phase);
  bool const divided = phases.size() > 1 || phases.front() != "run";
  for (auto const& phase : phases) {
    for (auto const& metric : metrics_of(samples, phase)) add_term(m, samples, {phase, metric, {}}, options);
    if (phase == "run" && divided) continue;  // the run is composed of its phases
    if (phase == "exchange") {
      add_optional_term(m, samples, {phase, "bytes", {}}, options);
      add_optional_term(m, samples, {phase, "seconds", {}}, options);
    } else if (phase == "run" || phase == "sequential" || takes_time(samples, phase)) {
      add_term(m, samples, {phase, "seconds", {}}, options);
    }
    if (phase == "run") {
      add_optional_term(m, samples, {phase, "busy_seconds", {}}, options);
      add_optional_term(m, samples, {phase, "bytes", {}}, options);
    }
  }
  m.per_level = scaling_of(samples, options);
  return m;
}

// Sizes of a whole run: its own and those of its phases of level 0.
std::map<std::size_t, point> sizes_of_runs(std::span<sample const> samples,
                                           std::vector<std::size_t> const& runs) {
  std::map<std::size_t, point> sizes;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (samples[i].level == 0)
      sizes[runs[i]].insert(samples[i].variables.begin(), samples[i].variables.end());
  return sizes;
}

double size_of_run(point const& at) {
  double size = 0;
  for (auto const& [name, value] : at)
    if (name != "P" && name != "threads" && name != "tasks") size += std::log(std::max(value, 1e-300));
  return size;
}

struct whole_run {
  sample const& measured;
  point const& at;
};

std::vector<double> errors_of(skeleton_model const& m, std::vector<whole_run> const& all) {
  std::vector<double> errors;
  for (auto const& [run, at] : all) {
    auto const ranks = at.find("P");  // optional in Extra-P's lines
    auto const seconds = run.measured.find("seconds");
    if (seconds == run.measured.end() || seconds->second <= 0 || ranks == at.end()) continue;
    auto const e = predict(m, nullptr, at, static_cast<int>(ranks->second));
    errors.push_back(std::abs(e.seconds() - seconds->second) / seconds->second);
  }
  return errors;
}

// Fits phases to the smaller two thirds of the runs and compares their composition with the seconds
// of the largest third.
std::optional<held_out> hold_out_runs(skeleton_model const& m, std::span<sample const> samples,
                                      model_options const& options) {
  auto const runs = runs_of(samples);
  auto const sizes = sizes_of_runs(samples, runs);
  std::vector<double> by_size;
  for (auto const& s : samples)
    if (s.phase == "run")
      by_size.push_back(size_of_run(sizes.at(runs[static_cast<std::size_t>(&s - samples.data())])));
  constexpr std::size_t fewest = 4;
  if (by_size.size() < fewest) return std::nullopt;
  std::set<double> const distinct(by_size.begin(), by_size.end());
  if (distinct.size() < fewest) return std::nullopt;
  double const limit =
      *std::next(distinct.begin(), static_cast<std::ptrdiff_t>((distinct.size() * 2 + 2) / 3 - 1));
  std::vector<sample> small;
  std::vector<whole_run> large;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    auto const& at = sizes.at(runs[i]);
    if (size_of_run(at) <= limit)
      small.push_back(samples[i]);
    else if (samples[i].phase == "run")
      large.push_back({samples[i], at});
  }
  skeleton_model bare = m;
  bare.terms.clear();
  auto same = options;  // the functions of the model, fitted to the smaller runs
  for (auto const& t : m.terms) same.basis[key_of(t)] = to_string(t.curve.basis);
  std::vector<double> errors;
  try {
    errors = errors_of(fit_skeleton(bare, small, same), large);
  } catch (usage_error const&) {
    return std::nullopt;
  }
  if (errors.empty()) return std::nullopt;
  auto const predicted = static_cast<int>(errors.size());
  return held_out{static_cast<int>(by_size.size()) - predicted, predicted, median(errors),
                  quantile(errors, 0.9)};
}

}  // namespace

term const* skeleton_model::find(std::string_view phase, std::string_view quantity) const {
  for (auto const& t : terms)
    if (t.phase == phase && t.quantity == quantity) return &t;
  return nullptr;
}

std::string skeleton_model::name() const {
  std::string text;
  for (auto const* part : {&skeleton, &schedule, &results})
    if (!part->empty()) text += (text.empty() ? "" : " ") + *part;
  return text.empty() ? "run" : text;
}

std::vector<observation> observations_of(std::span<sample const> samples, skeleton_model const& of,
                                         term const& t) {
  std::vector<observation> all;
  for (auto const& s : samples) {
    if (!same_skeleton(s, of) || s.phase != t.phase) continue;
    auto const value = s.measured.find(t.quantity);  // a line of Extra-P has one metric
    if (value == s.measured.end()) continue;
    if (t.phase == "run" && t.quantity == "bytes" && value->second == 0) continue;  // one rank sends nothing
    all.push_back({s.variables, value->second, detail::format("{}:{}", s.file, s.line)});
  }
  return all;
}

model fit_model(std::span<sample const> samples, model_options const& options) {
  if (samples.empty()) throw usage_error("no samples, expected at least one");
  for (auto const& [key, text] : options.basis) {
    std::ignore = parse_basis(text);
    auto const phase = key.substr(0, key.find('.'));
    if (!key.empty() && std::ranges::none_of(samples, [&](auto const& s) { return s.phase == phase; }))
      throw usage_error(detail::format("--basis {}: the samples have no phase \"{}\"", key, phase));
  }
  model m;
  for (auto const& s : samples) {
    auto const is = [&](skeleton_model const& known) { return same_skeleton(s, known); };
    if (std::ranges::any_of(m.skeletons, is)) continue;
    skeleton_model next;
    next.program = s.program;
    next.skeleton = s.skeleton;
    next.schedule = s.schedule;
    next.results = s.results;
    m.skeletons.push_back(next);
  }
  for (auto& one : m.skeletons) {
    std::vector<sample> own;
    for (auto const& s : samples)
      if (same_skeleton(s, one)) own.push_back(s);
    one = fit_skeleton(one, own, options);
    if (one.terms.empty()) throw usage_error(one.name() + ": found no time above 0, expected one to fit");
    if (has_phases(one)) one.error = hold_out_runs(one, own, options);
  }
  std::set<std::string> terms;
  for (auto const& one : m.skeletons)
    for (auto const& t : one.terms) terms.insert(key_of(t));
  for (auto const& [key, text] : options.basis)
    if (!key.empty() && !terms.contains(key))
      throw usage_error(
          detail::format("--basis {}: no such term, known: {}", key, detail::join(terms, ", ")));
  return m;
}

}  // namespace skel::model
