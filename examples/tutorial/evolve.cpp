// Differential evolution (Storn and Price, 1997): which damping and frequency explain a measured
// oscillation? Candidates depend on the results before, and the search ends when one is good.
//     mpiexec -n 4 evolve
#include <cmath>
#include <cstdio>
#include <random>
#include <skel/skel.hpp>
#include <vector>

struct candidate {
  std::size_t place;  // in the population, for which it competes
  double damping, frequency;
};

double wave(double d, double f, double t) { return std::exp(-d * t) * std::cos(f * t); }
// The mean squared difference from the measurement.
double error_of(candidate const& c) {
  double sum = 0;
  for (double t = 0; t < 10; t += 1e-3) sum += std::pow(wave(c.damping, c.frequency, t) - wave(0.3, 2, t), 2);
  return sum / 10'000;
}

class evolution {
 public:
  // n candidates: each a step from one of the population, in the direction from another to a third.
  std::optional<std::vector<candidate>> ask(std::uint64_t n) {
    std::vector<candidate> next;
    for (; next.size() < n; ++asked_) {
      candidate const a = any(), b = any(), c = any();
      next.push_back({asked_ % size, share(), 5 * share()});  // anywhere
      if (asked_ < size) continue;
      next.back().damping = a.damping + 0.7 * (b.damping - c.damping);
      next.back().frequency = a.frequency + 0.7 * (b.frequency - c.frequency);
    }
    return next;
  }
  skel::results::flow tell(skel::task_id id, candidate const& c, double error) {
    if (error < errors_[c.place]) people_[c.place] = c, errors_[c.place] = error;
    if (error > 1e-9) return skel::results::flow::go_on;
    std::printf("candidate %d: damping %.4f, frequency %.4f\n", int(id), c.damping, c.frequency);
    return skel::results::flow::stop;
  }

 private:
  double share() { return static_cast<double>(random_()) / 4294967296.0; }
  candidate any() { return people_[random_() % size]; }
  static constexpr std::size_t size = 16;
  std::vector<candidate> people_ = std::vector<candidate>(size);
  std::vector<double> errors_ = std::vector<double>(size, 1e9);
  std::mt19937 random_;
  std::uint64_t asked_ = 0;
};

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) {
    evolution search;  // asked and told on the root
    skel::farm(ctx, skel::steered(search, skel::reproducible{8}), error_of, skel::discard);
  });
}
