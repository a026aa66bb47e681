// The thread that drives communication while tasks run.
#include "engine/helper.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>

#include "catch.hpp"
#include "engine/context_access.hpp"
#include "engine/engine.hpp"
#include "skel/skel.hpp"
#include "transport/hub_transport.hpp"

using namespace std::chrono_literals;
namespace detail = skel::detail;

namespace {

class counting_run final : public detail::run {
 public:
  void on_message(int /*from*/, std::span<std::byte const> /*body*/,
                  skel::transport::packet& /*whole*/) override {}
  void on_rank_lost(int /*rank*/) override {}
  void on_left(int /*rank*/) override {}
  void on_tick(double /*now*/) override {}
  void work(unsigned /*thread*/) override {}
  void idle_work() override {
    ++visits;
    while (blocks && blocks->load()) std::this_thread::sleep_for(1ms);
  }
  [[nodiscard]] bool idle_work_takes_long() const override { return blocks != nullptr; }
  [[nodiscard]] std::string state() const override { return "counts visits"; }

  std::atomic<int> visits{0};
  std::atomic<bool>* blocks = nullptr;
};

// Gives up after 30 seconds.
template <class Condition>
bool comes_true(Condition const& what) {
  auto const end = std::chrono::steady_clock::now() + 30s;
  while (!what() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  return what();
}

}  // namespace

TEST_CASE("the helper leaves a call that is about to end") {
  hub::job job(2);
  job.run([](skel::context& ctx) {
    auto& engine = detail::context_access::engine_of(ctx);
    counting_run working, ending;  // the second has left with_pool(), and is still in the table
    detail::run_key const first{1, 1'000'000}, second{1, 1'000'001};
    {
      std::lock_guard const lock(engine.mutex());
      engine.open(first, working);
      engine.open(second, ending);
    }
    engine.helper().with_pool(working, 1, [&] { comes_true([&] { return working.visits >= 3; }); });
    {
      std::lock_guard const lock(engine.mutex());
      engine.close(first);
      engine.close(second);
    }
    if (working.visits < 3) throw std::runtime_error("the helper did not come");
    if (ending.visits > 0) throw std::runtime_error("the helper came to a call that is about to end");
  });
  CHECK(job.error(0).empty());
  CHECK(job.error(1).empty());
}

TEST_CASE("messages are received while a sink takes long") {
  hub::job job(2);
  job.run([](skel::context& ctx) {
    auto& engine = detail::context_access::engine_of(ctx);
    std::atomic<bool> blocks = true, done = false;
    counting_run slow, other;
    slow.blocks = &blocks;
    std::thread beside(
        [&] { engine.helper().with_pool(slow, 1, [&] { comes_true([&] { return done.load(); }); }); });
    bool came = false, goes_on = false;
    engine.helper().with_pool(other, 1, [&] {
      came = comes_true([&] { return slow.visits == 1; });
      int const before = other.visits;
      goes_on = comes_true([&] { return other.visits >= before + 3; });  // after driving communication
      blocks = false;
      done = true;
    });
    beside.join();
    if (!came) throw std::runtime_error("nobody came to the sink");
    if (!goes_on) throw std::runtime_error("the helper waits for the sink");
  });
  CHECK(job.error(0).empty());
  CHECK(job.error(1).empty());
}
