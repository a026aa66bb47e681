#include "skel/run_threads.hpp"

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "context_access.hpp"
#include "cores.hpp"
#include "engine.hpp"
#include "environment.hpp"
#include "run_body.hpp"
#include "skel/error.hpp"
#include "transport/queues.hpp"

namespace skel {

namespace {

// Leaves like a rank of run_main, so that the others hear of a failure. `thrown`: what the body threw.
void run_rank(detail::engine& engine, context& ctx, detail::function_reference<void(context&)> body,
              std::exception_ptr& thrown) {
  auto const kept = [&](context& own) -> int {
    try {
      body(own);
      return 0;
    } catch (detail::peer_failed const&) {
      throw;
    } catch (...) {
      thrown = std::current_exception();
      throw;
    }
  };
  engine.say_farewell(detail::run_body(ctx, kept), {});
}

}  // namespace

void run_threads(int ranks, detail::function_reference<void(context&)> body, context_options const& options) {
  if (ranks < 1) throw usage_error("run_threads: expected at least one rank, found " + std::to_string(ranks));
  detail::check_trace_file(options);
  auto each = options;
  each.suspect_after_seconds = 0;  // threads do not die one by one
  if (each.threads == 0) {
    int const cores = detail::usable_cores();
    each.threads = detail::default_threads(cores, cores, ranks);
  }
  auto const wires = std::make_shared<transport::queues>(ranks);
  std::vector<context> contexts;
  for (int r = 0; r < ranks; ++r) {
    auto engine = std::make_shared<detail::engine>(std::make_unique<transport::queue_transport>(wires, r),
                                                   each, detail::system_host_name());
    engine->place.on_host = {r, ranks};
    contexts.push_back(detail::context_access::make(std::move(engine)));
  }
  std::vector<std::exception_ptr> thrown(contexts.size());
  // The ranks begin when each has a thread: if the system refuses one, the others would wait for it forever.
  enum : int { waiting, begun, given_up };
  std::atomic<int> start{waiting};
  auto const tell = [&start](int what) {
    start = what;
    start.notify_all();
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t r = 0; r < contexts.size(); ++r)
        threads.emplace_back([&, r] {
          start.wait(waiting);
          if (start == begun)
            run_rank(detail::context_access::engine_of(contexts[r]), contexts[r], body, thrown[r]);
        });
    } catch (...) {
      tell(given_up);
      throw;
    }
    tell(begun);
  }
  for (auto const& t : thrown)
    if (t) std::rethrow_exception(t);
}

}  // namespace skel
