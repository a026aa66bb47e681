// A parameter sweep whose sink writes a CSV file, in the order of the parameters. Solvers that fail
// run again on another rank.
//     mpiexec -n 4 sweep > sweep.csv
#include <atomic>
#include <cmath>
#include <cstdio>
#include <skel/program.hpp>
#include <skel/skel.hpp>
#include <stdexcept>
#include <vector>

struct setting {
  double damping, force;
};

// The greatest deflection of a damped, driven pendulum.
double deflection(setting const& s) {
  static std::atomic<int> calls = 0;
  if (++calls == 5) throw std::runtime_error("no licence");  // now and then, as on a real cluster
  double angle = 0, speed = 0, most = 0;
  constexpr double step = 1e-3;
  for (int i = 0; i < 20'000; ++i) {
    speed += step * (s.force * std::cos(0.7 * step * i) - std::sin(angle) - s.damping * speed);
    angle += step * speed;
    most = std::fmax(most, std::fabs(angle));
  }
  return most;
}

int main(int argc, char** argv) {
  auto const body = [&](skel::context& ctx) {
    skel::program::session self(ctx, "sweep", argc, argv);  // --report, --watch, --threads, ...
    if (self.answers_help("usage: sweep [options] > sweep.csv")) return 0;
    std::vector<setting> all;  // every rank makes the same list
    for (int d = 1; d <= 5; ++d)
      for (int f = 1; f <= 8; ++f) all.push_back({0.1 * d, 0.1 * f});
    if (ctx.is_root()) std::printf("damping,force,deflection\n");
    auto const write = [&](skel::task_id i, double most) {  // on the root
      std::printf("%.1f,%.1f,%.12g\n", all[i].damping, all[i].force, most);
    };
    auto options = self.farm();
    options.on_error = skel::on_error::retry{.times = 3};
    auto const [report] =
        skel::farm(ctx, skel::replicated(all), deflection, self.schedule(), skel::ordered(write), options);
    return self.finish({.run = report});
  };
  return skel::run_main(argc, argv, skel::restartable(body));
}
