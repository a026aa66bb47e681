// The suite on simulated ranks.
#include "sim/forked.hpp"
#include "skel/sim/run.hpp"
#include "suite.hpp"

namespace sim = skel::sim;

namespace suite {

void on_ranks(std::function<void(skel::context&)> const& body) {
  for (int const ranks : {1, 3, 5}) {
    INFO(ranks << " simulated ranks");
    forked::run([&] {
      auto const end = sim::run(sim::platform::ready("cluster:ranks=" + std::to_string(ranks)), body);
      if (end.exit_code != 0) throw std::runtime_error(end.failure);
      return std::vector<double>();
    });
  }
  SUCCEED();
}

void spend(std::chrono::microseconds time) { sim::spend(1e-6 * static_cast<double>(time.count())); }

}  // namespace suite
