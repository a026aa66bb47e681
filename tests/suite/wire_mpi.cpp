// The suite over MPI: all ranks run the same cases in the same order. A failed check ends all ranks, as an
// exception in the body of any program does.
#include <exception>
#include <thread>

#include "engine/context_access.hpp"
#include "engine/engine.hpp"
#include "skel/skel.hpp"
#include "suite.hpp"

namespace {

skel::context* world = nullptr;
std::exception_ptr failure;

}  // namespace

namespace suite {

void on_ranks(std::function<void(skel::context&)> const& body) {
  int const threads = world->threads();
  try {
    body(*world);
  } catch (...) {
    failure = std::current_exception();
    throw;
  }
  world->set_threads(threads);
  skel::detail::context_access::engine_of(*world).calls().stop_requested() =
      false;  // the next case is not stopped
  SUCCEED();
}

void spend(std::chrono::microseconds time) { std::this_thread::sleep_for(time); }

}  // namespace suite

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    world = &ctx;
    std::vector<char const*> words(argv, argv + argc);
    words.push_back("--abort");
    if (!ctx.is_root()) words.insert(words.end(), {"--out", "/dev/null"});
    if (test::run_cases(static_cast<int>(words.size()), words.data()) == 0) return;
    if (failure) std::rethrow_exception(failure);
    throw std::runtime_error("a case failed outside of the ranks' bodies");
  });
}
