#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "context_access.hpp"
#include "engine.hpp"
#include "skel/error.hpp"

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

// Marks the beginning or end of a call. During a call, exit() ends the process as described at
// engine::end_by_exit(): it would end the rank with the code of a task and no result.
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

}  // namespace

call_slot::call_slot(context const& ctx)
    : engine_(context_access::engine_of(ctx)),
      context_(context_access::id(ctx)),
      number_(engine_.calls().gate().enter(context_, engine_.helper().owns_this_thread())) {
  guard_exit(engine_, true);
}

void call_slot::throw_if_nested() const {
  for (auto const& failure : engine_.calls().gate().take_failures({context_, number_}))
    throw usage_error(failure.text);
}

call_slot::~call_slot() {
  guard_exit(engine_, false);
  engine_.calls().gate().leave(context_);
}

}  // namespace skel::detail
