#include "tools/model/race.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "model/statistics.hpp"

namespace skel::model {

namespace {

// The differences of the logarithms of a and b for their common seeds.
std::vector<double> differences(simulated_times const& a, simulated_times const& b) {
  std::vector<double> d(std::min(a.logarithms.size(), b.logarithms.size()));
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = a.logarithms[i] - b.logarithms[i];
  return d;
}

double mean_seconds(std::span<double const> logarithms) {
  double sum = 0;
  for (double const x : logarithms) sum += std::exp(x);
  return sum / static_cast<double>(logarithms.size());
}

class field {
 public:
  field(simulator const& cluster, std::vector<simulated_run> const& runs, race_options const& options)
      : cluster_(cluster), runs_(runs), options_(options), times_(runs.size()), most_(runs.size()) {
    for (std::size_t i = 0; i < runs.size(); ++i) most_[i] = cluster.varies(runs[i]) ? options.seeds : 1;
  }

  std::vector<simulated_times> take() {
    std::vector<std::size_t> running(runs_.size());
    std::iota(running.begin(), running.end(), std::size_t{0});
    for (int const round : {3, 6, 12, options_.seeds}) {
      int const seeds = std::min(round, options_.seeds);
      simulate(running, seeds);
      best_ =
          *std::ranges::min_element(running, {}, [&](auto i) { return mean_seconds(times_[i].logarithms); });
      std::erase_if(running, [&](auto i) { return is_slower(i); });
      for (auto const i : running)
        if (is_constant(i)) most_[i] = static_cast<int>(times_[i].logarithms.size());
    }
    for (std::size_t i = 0; i < runs_.size(); ++i) conclude(times_[i]);
    return std::move(times_);
  }

 private:
  // Lets these candidates have `seeds` runs each. Seeds count from 1.
  void simulate(std::vector<std::size_t> const& running, int seeds) {
    struct job {
      std::size_t candidate;
      std::size_t run;
    };
    std::vector<job> jobs;
    for (auto const i : running) {
      auto& all = times_[i].logarithms;
      auto const had = all.size();
      all.resize(std::max(had, static_cast<std::size_t>(std::min(seeds, most_[i]))));
      for (auto r = had; r < all.size(); ++r) jobs.push_back({i, r});
    }
    if (jobs.empty()) return;
    std::vector<seeded_run> runs;
    runs.reserve(jobs.size());
    for (auto const& j : jobs) runs.push_back({runs_[j.candidate], j.run + 1});
    auto const seconds = cluster_.seconds(runs);
    constexpr double least = 1e-12;  // a run without work
    for (std::size_t k = 0; k < jobs.size(); ++k)
      times_[jobs[k].candidate].logarithms[jobs[k].run] = std::log(std::max(seconds[k], least));
  }

  // Whether the seeds make no difference beyond the clock's resolution.
  [[nodiscard]] bool is_constant(std::size_t i) const {
    constexpr double resolution = 1e-5;
    return moments_of(times_[i].logarithms).deviation() < resolution;
  }

  // Whether a candidate lies clearly behind the best one, so that it needs no more runs.
  [[nodiscard]] bool is_slower(std::size_t i) const {
    if (i == best_) return false;
    auto const d = differences(times_[i], times_[best_]);
    double const accepted = runs_[i].ranks < runs_[best_].ranks ? std::log1p(options_.tolerance) : 0;
    auto const m = moments_of(d);
    if (d.size() < 4) {  // too few for a standard error
      constexpr double clearly = 0.5;
      return *std::ranges::min_element(d) > accepted + clearly;
    }
    constexpr double errors = 3;
    return m.mean - errors * m.deviation() / std::sqrt(static_cast<double>(d.size())) > accepted;
  }

  // A candidate that left the race had only the first seeds. If its time varies with that of the best
  // one, the distance for these seeds gives what it would take on all.
  void conclude(simulated_times& t) const {
    auto const& best = times_[best_];
    auto const own = moments_of(t.logarithms);
    double centre = own.mean;
    t.seconds = mean_seconds(t.logarithms);
    auto const apart = moments_of(differences(t, best));
    if (t.logarithms.size() < best.logarithms.size() && apart.variance < own.variance) {
      t.seconds = mean_seconds(best.logarithms) * std::exp(apart.mean);
      centre = moments_of(best.logarithms).mean + apart.mean;
    }
    t.deviation = own.deviation();
    auto const n = static_cast<double>(t.logarithms.size());
    // Draws that hardly differ do not show how far the simulation itself is off.
    constexpr double least_half = 1e-3;
    double const half =
        t.deviation == 0
            ? least_half
            : std::max(least_half, student_quantile(0.5 + options_.confidence / 2, static_cast<int>(n) - 1) *
                                       t.deviation * std::sqrt(1 + 1 / n));
    t.low = std::exp(centre - half);
    t.high = std::exp(centre + half);
  }

  simulator const& cluster_;
  std::vector<simulated_run> const& runs_;
  race_options options_;
  std::vector<simulated_times> times_;
  std::vector<int> most_;  // runs of each candidate
  std::size_t best_ = 0;
};

}  // namespace

std::vector<simulated_times> race(simulator const& cluster, std::vector<simulated_run> const& runs,
                                  race_options const& options) {
  return field(cluster, runs, options).take();
}

double probability_faster(simulated_times const& a, simulated_times const& b) {
  auto const d = differences(b, a);
  auto const m = moments_of(d);
  if (m.variance == 0) return m.mean > 0 ? 1 : m.mean < 0 ? 0 : 0.5;
  return student_probability(m.mean / (m.deviation() * std::sqrt(1 + 1 / static_cast<double>(d.size()))),
                             static_cast<int>(d.size()) - 1);
}

}  // namespace skel::model
