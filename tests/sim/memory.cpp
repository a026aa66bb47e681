// How much memory a rank of a simulated farm needs, by counting what each rank allocates.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <simgrid/s4u/Actor.hpp>

#include "catch.hpp"
#include "forked.hpp"
#include "skel/farm.hpp"
#include "skel/sim/run.hpp"

namespace {

// The bytes that each actor holds, and the most that it has held. An actor is known by its address.
class account {
 public:
  struct entry {
    void const* actor = nullptr;
    long live = 0, most = 0;
  };
  entry* of(void const* actor) {
    auto at = reinterpret_cast<std::uintptr_t>(actor) / 64 % all_.size();
    while (all_[at].actor != nullptr && all_[at].actor != actor) at = (at + 1) % all_.size();
    all_[at].actor = actor;
    return &all_[at];
  }
  static void add(entry& e, long bytes) {
    e.live += bytes;
    if (e.live > e.most) e.most = e.live;
  }

 private:
  std::array<entry, 16384> all_{};
};

account* accounts = nullptr;  // while a simulation is counted

struct alignas(16) head {
  account::entry* owner;
  std::size_t size;
};

}  // namespace

void* operator new(std::size_t size) {
  auto* const h = static_cast<head*>(std::malloc(size + sizeof(head)));
  if (h == nullptr) throw std::bad_alloc();
  auto const* const actor = accounts != nullptr ? simgrid::s4u::Actor::self() : nullptr;
  h->owner = actor != nullptr ? accounts->of(actor) : nullptr;
  h->size = size;
  if (h->owner != nullptr) account::add(*h->owner, static_cast<long>(size));
  return h + 1;
}
void operator delete(void* p) noexcept {
  if (p == nullptr) return;
  auto* const h = static_cast<head*>(p) - 1;
  if (h->owner != nullptr) account::add(*h->owner, -static_cast<long>(h->size));
  std::free(h);
}
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

namespace {

struct needed {
  double root, others;  // bytes: of the root, and of 95 in 100 others
};

// The most that a rank needs during a farm of 16 tasks per rank, beyond what it has at its start.
needed farm_of(int ranks) {
  auto const found = forked::run([&] {
    accounts = new account;  // until the process ends
    double root = 0;
    std::vector<double> others;
    auto const end = skel::sim::run(skel::sim::platform::ready("cluster:ranks=" + std::to_string(ranks)),
                                    [&](skel::context& ctx) {
                                      auto& mine = *accounts->of(simgrid::s4u::Actor::self());
                                      auto const work = [](std::uint64_t i) {
                                        skel::sim::spend(0.05 + 1e-4 * static_cast<double>(i % 997));
                                        return i;
                                      };
                                      std::uint64_t received = 0;
                                      skel::farm(ctx, skel::indices(16 * static_cast<std::uint64_t>(ranks)),
                                                 work, [&](skel::task_id, std::uint64_t) { ++received; });
                                      auto const most = static_cast<double>(mine.most);
                                      if (ctx.is_root())
                                        root = most;
                                      else
                                        others.push_back(most);
                                    });
    if (end.exit_code != 0) throw std::runtime_error(end.failure);
    // The simulator's own tables grow on whichever rank is at work.
    std::sort(others.begin(), others.end());
    return std::vector{root, others[others.size() * 95 / 100]};
  });
  return {found.at(0), found.at(1)};
}

}  // namespace

TEST_CASE(
    "the root of a farm needs less than 1 kB per rank, and other ranks need no more than few ranks do") {
  needed const few = farm_of(64), some = farm_of(512), many = farm_of(2048);
  for (auto const& [ranks, n] : {std::pair{64, few}, {512, some}, {2048, many}})
    std::printf("| %d | %.0f | %.0f |\n", ranks, n.root / ranks, n.others);  // docs/measurements/scale.md
  CHECK(many.root - some.root < 1000.0 * (2048 - 512));
  CHECK(many.others - some.others < 2000);  // log N: two more peers on the ring
}
