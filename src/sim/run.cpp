#include "skel/sim/run.hpp"

#include <cmath>
#include <fstream>
#include <simgrid/s4u/Engine.hpp>

#include "base/format.hpp"
#include "skel/error.hpp"
#include "world.hpp"

namespace skel::sim {

namespace {

world& running(char const* caller) {
  auto* const w = current_world();
  if (w == nullptr) throw usage_error(std::string(caller) + ": no simulation is running");
  return *w;
}

// A rank has a stack and a page that guards it. SimGrid aborts if the system does not allow all these
// mappings.
void require_stacks(std::size_t ranks) {
  constexpr std::size_t of_the_process = 1000;
  std::size_t allowed = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> allowed;
  if (auto const needed = 2 * ranks + of_the_process; allowed > 0 && needed > allowed)
    throw usage_error(
        detail::format("{} machines need {} memory mappings, found a limit of {}; raise it with sysctl -w "
                       "vm.max_map_count={}",
                       ranks, needed, allowed, needed));
}

}  // namespace

outcome run(platform const& where, std::function<void(context&)> const& body, run_options const& options) {
  static bool used = false;
  if (used)
    throw usage_error("skel::sim::run: one simulation per process; start another process for another");
  if (where.machines.empty()) throw usage_error("skel::sim::run: a platform without machines");
  require_stacks(where.machines.size());
  used = true;
  world w(where, options);
  return w.run(body);
}

void spend(double seconds) {
  auto& w = running("skel::sim::spend");
  if (!std::isfinite(seconds) || seconds < 0)
    throw usage_error("skel::sim::spend: needs a number of seconds, not " + std::to_string(seconds));
  w.current("skel::sim::spend").compute(seconds);
}

double now() {
  running("skel::sim::now");
  return simgrid::s4u::Engine::get_clock();
}

void kill(int rank) {
  auto& w = running("skel::sim::kill");
  if (rank < 0 || rank >= w.size())
    throw usage_error("skel::sim::kill: there is no rank " + std::to_string(rank));
  w.at(rank).die_at(now());
}

}  // namespace skel::sim
