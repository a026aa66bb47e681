// A broadcast whose ranks kill themselves while it travels: broadcast_losses HOW WHEN SEED. Every survivor
// compares all bytes, and throws where they are wrong; the root says who was lost, twice: the second
// broadcast begins without them. HOW: alone, or beside a farm. broadcast_losses_test.cpp starts it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "mpi/deaths.hpp"
#include "skel/skel.hpp"

namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;
using values = std::vector<std::uint64_t>;

values many(std::size_t n, std::uint64_t seed) {
  values all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = (seed + i) * 0x9e3779b97f4a7c15U;
  return all;
}

void send(skel::context& ctx, std::size_t n, std::uint64_t seed) {
  auto const expected = many(n, seed);
  auto const got = skel::broadcast(ctx, skel::on_root([&] { return values(expected); }));
  if (!got || *got != expected) throw std::runtime_error("the broadcast brought other bytes");
}

// Who is alive, and that the context is usable.
skel::report farm(skel::context& ctx, std::chrono::milliseconds task, bool& right) {
  std::vector<std::uint64_t> squares;
  auto const r = skel::farm(
                     ctx, skel::indices(40),
                     [&](std::uint64_t i) {
                       std::this_thread::sleep_for(task);
                       return i * i;
                     },
                     skel::schedule::first_come{}, skel::into(squares))
                     .report;
  right = squares.size() == 40;
  for (std::uint64_t i = 0; right && i < 40; ++i) right = squares[i] == i * i;
  return r;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    constexpr std::size_t large = 1'000'000;
    std::string const how = argv[1];
    // One that nobody disturbs says how long they take.
    auto const begin = steady::now();
    send(ctx, large, 1);
    auto const work =
        std::max(2000us, std::chrono::duration_cast<std::chrono::microseconds>(steady::now() - begin));
    test::plan_of_deaths const p{argv[2], std::strtoull(argv[3], nullptr, 10), ctx.size(), work};
    std::optional<skel::context> beside;
    if (how == "beside") beside.emplace(ctx.beside());
    // Who dies, has not done its part.
    auto const travels = std::make_shared<std::atomic<bool>>(true);
    if (auto const life = p.lifetime(ctx.rank())) test::die_in(*life, [travels] { return travels->load(); });
    // The root has no part to be done with: they travel until it is lost, however fast they are.
    while (p.when == "root") send(ctx, large, 2);
    bool right = true;
    if (beside) {
      auto sent = std::async(std::launch::async, [&] {
        send(*beside, large, 2);
        *travels = false;
      });
      farm(ctx, 10ms, right);
      sent.get();
    } else {
      send(ctx, large, 2);
      *travels = false;
    }
    for (int call = 0; call < 2; ++call) {
      bool good = true;
      auto report = farm(ctx, 0ms, good);
      report.tasks_handed_out_again = call == 0 && !report.lost_ranks.empty() ? 1 : 0;
      if (ctx.is_root()) test::say_losses(right && good, report);
      if (call == 0) send(ctx, large / 4, 3);
    }
  });
}
