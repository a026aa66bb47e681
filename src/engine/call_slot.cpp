#include "exit_guard.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "engine.hpp"

namespace skel::detail {

namespace {

struct calls_in_progress {
  std::mutex mutex;
  std::vector<engine*> engines;  // one entry per call
  pid_t process = 0;             // a child of fork() has none of them
};

// Never destroyed: exit() destroys static objects before and after the handler runs.
calls_in_progress& calls() {
  static auto& all = *new calls_in_progress;
  return all;
}

void at_exit() {
  engine* of = nullptr;
  {
    std::lock_guard const lock(calls().mutex);
    if (!calls().engines.empty() && calls().process == getpid()) of = calls().engines.back();
  }
  if (of != nullptr) of->end_by_exit();
}

}  // namespace

void guard_exit(engine& of, bool begins) {
  static bool const installed = std::atexit(&at_exit) == 0;
  static_cast<void>(installed);
  auto& all = calls();
  std::lock_guard const lock(all.mutex);
  if (begins) {
    all.process = getpid();
    all.engines.push_back(&of);
  } else if (auto const at = std::find(all.engines.begin(), all.engines.end(), &of);
             at != all.engines.end()) {
    all.engines.erase(at);
  }
}

}  // namespace skel::detail
