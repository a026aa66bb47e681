// The suite on ranks that are threads of this process.
#include <thread>
#include <utility>

#include "skel/run_threads.hpp"
#include "suite.hpp"

namespace suite {

void on_ranks(std::function<void(skel::context&)> const& body) {
  for (auto const& [ranks, threads] : {std::pair{1, 1}, {1, 2}, {2, 2}, {3, 1}, {5, 2}, {8, 1}}) {
    INFO(ranks << " ranks, " << threads << " threads each");
    skel::context_options options;
    options.threads = threads;
    options.check.tasks = false;    // cases count how often a task runs
    options.watchdog_seconds = 60;  // prints every rank's state instead of hanging
    skel::run_threads(ranks, body, options);
  }
  SUCCEED();
}

void spend(std::chrono::microseconds time) { std::this_thread::sleep_for(time); }

}  // namespace suite
