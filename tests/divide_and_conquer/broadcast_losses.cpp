// A broadcast whose ranks kill themselves in transit: broadcast_losses HOW WHEN SEED. HOW is `alone`, or
// `beside` for a broadcast beside a farm. Every survivor compares all bytes and throws on a difference. The
// root prints the lost ranks twice; the second broadcast starts without them. Started by
// broadcast_losses_test.cpp.
#include <algorithm>
#include <atomic>
#include <chrono>
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
  auto const got = skel::broadcast(ctx, skel::on_root([&] { return values(expected); })).value;
  if (!got || *got != expected) throw std::runtime_error("the broadcast brought other bytes");
}

// Runs a farm to find the lost ranks and to check that the context still works.
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
    // An undisturbed broadcast measures how long one takes.
    auto const begin = steady::now();
    send(ctx, large, 1);
    auto const work =
        std::max(2000us, std::chrono::duration_cast<std::chrono::microseconds>(steady::now() - begin));
    test::plan_of_deaths const p{argv[2], std::strtoull(argv[3], nullptr, 10), ctx.size(), work};
    std::optional<skel::context> beside;
    if (how == "beside") beside.emplace(ctx.beside());
    // A rank dies only while its part of the broadcast is unfinished.
    auto const travels = std::make_shared<std::atomic<bool>>(true);
    if (auto const life = p.lifetime(ctx.rank())) test::die_in(*life, [travels] { return travels->load(); });
    // A broadcast can finish before the root dies, so the ranks repeat it until the root is lost.
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
      if (call == 0)
        report.lost_ranks.insert(report.lost_ranks.end(), report.lost_before.begin(),
                                 report.lost_before.end());
      report.tasks_handed_out_again = call == 0 && !report.lost_ranks.empty() ? 1 : 0;
      if (ctx.is_root()) test::say_losses(right && good, report);
      if (call == 0) send(ctx, large / 4, 3);
    }
  });
}
