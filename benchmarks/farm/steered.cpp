// Differential evolution on 8 simulated ranks, whose tasks take 1 s with a spread (standard deviation) of
// 20 %: a steered farm, or one farm per generation, as map() of mpi4py.futures is used. Prints the idle
// share of all ranks, the seconds that 800 evaluations take, and the least error that they find.
//     skel-bench-steered come | window W | generations P
// benchmarks/farm/steered.py runs all and prints the table.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "skel/sim/run.hpp"
#include "skel/skel.hpp"

namespace sim = skel::sim;

namespace {

constexpr int ranks = 8;
constexpr std::size_t dimensions = 2;
constexpr std::uint64_t evaluations = 800;

struct candidate {
  std::uint64_t place = 0;  // in the population
  double x[dimensions] = {};
};

// Rosenbrock's function.
double error_of(candidate const& c) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < dimensions; ++i)
    sum += 100 * std::pow(c.x[i + 1] - c.x[i] * c.x[i], 2) + std::pow(1 - c.x[i], 2);
  return sum;
}

// Takes from 0.65 to 1.35 s, evenly spread, depending on the candidate alone.
double simulated_error_of(candidate const& c) {
  std::uint64_t bits = c.place;
  for (double const x : c.x) bits = (bits ^ std::bit_cast<std::uint64_t>(x)) * 0x9e3779b97f4a7c15U;
  bits ^= bits >> 31;
  auto const even = static_cast<double>((bits * 0xbf58476d1ce4e5b9U) >> 40) / double(1 << 24);
  sim::spend(1 + 0.2 * std::sqrt(12.0) * (even - 0.5));
  return error_of(c);
}

class evolution {
 public:
  explicit evolution(std::size_t size) : people_(size), errors_(size, 1e300) {
    for (auto& p : people_)
      for (double& x : p.x) x = 4 * share() - 2;
  }

  [[nodiscard]] std::optional<std::vector<candidate>> ask(std::uint64_t n) {
    std::vector<candidate> next(n);
    for (auto& c : next) {
      auto const &a = any(), &b = any(), &d = any(), &old = people_[asked_ % people_.size()];
      c.place = asked_ % people_.size();
      auto const sure = random_() % dimensions;
      for (std::size_t i = 0; i < dimensions; ++i)
        c.x[i] = asked_ < people_.size()      ? 4 * share() - 2
                 : i == sure || share() < 0.9 ? a.x[i] + 0.6 * (b.x[i] - d.x[i])
                                              : old.x[i];
      ++asked_;
    }
    return next;
  }
  skel::results::flow tell(skel::task_id /*id*/, candidate const& c, double error) {
    ++told;
    if (error < errors_[c.place]) {
      errors_[c.place] = error;
      people_[c.place] = c;
    }
    best = std::min(best, error);
    return told == evaluations ? skel::results::flow::stop : skel::results::flow::go_on;
  }
  std::uint64_t told = 0;
  double best = 1e300;

 private:
  double share() { return static_cast<double>(random_()) / 4294967296.0; }
  candidate const& any() { return people_[random_() % people_.size()]; }

  std::vector<candidate> people_;
  std::vector<double> errors_;
  std::mt19937 random_{1};
  std::uint64_t asked_ = 0;
};

struct measured {
  double busy = 0, seconds = 0;
  void add(skel::report const& r) {
    busy += r.busy_share * r.seconds;
    seconds += r.seconds;
  }
};

// The next generation is known when all results of this one have come.
void run_generations(skel::context& ctx, evolution& state, std::size_t size, measured& m) {
  for (bool found = false; !found;) {
    auto const all = *state.ask(size);  // the same on every rank
    std::vector<double> errors;
    m.add(skel::farm(ctx, skel::replicated(all), simulated_error_of, skel::into(errors)).report);
    errors = *skel::broadcast(ctx, skel::on_root([&] { return errors; })).value;
    for (std::size_t i = 0; i < size; ++i)
      found = state.tell(i, all[i], errors[i]) == skel::results::flow::stop || found;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string const mode = argc > 1 ? argv[1] : "";
  std::uint64_t const number = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  if (mode != "come" && (number == 0 || (mode != "window" && mode != "generations"))) {
    std::fprintf(stderr, "usage: skel-bench-steered come | window W | generations P\n");
    return 2;
  }
  auto const body = [&](skel::context& ctx) {
    evolution state(mode == "generations" ? number : 16);
    measured m;
    if (mode == "generations")
      run_generations(ctx, state, number, m);
    else if (mode == "window")
      m.add(
          skel::farm(ctx, skel::steered(state, skel::reproducible{number}), simulated_error_of, skel::discard)
              .report);
    else
      m.add(skel::farm(ctx, skel::steered(state), simulated_error_of, skel::discard).report);
    if (ctx.is_root()) std::printf("%.1f %.0f %.1e\n", 100 * (1 - m.busy / m.seconds), m.seconds, state.best);
  };
  auto const end = sim::run(sim::platform::ready("cluster:ranks=" + std::to_string(ranks)), body);
  if (end.exit_code != 0) std::fprintf(stderr, "skel-bench-steered: %s\n", end.failure.c_str());
  return end.exit_code;
}
