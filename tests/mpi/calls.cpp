// Nested calls, calls from two threads at a time, and different calls on different ranks, over MPI. Argument:
// compute threads per rank.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "skel/skel.hpp"

namespace {

using test::check;
using test::check_equal;

std::uint64_t add(std::uint64_t a, std::uint64_t b) { return a + b; }

std::uint64_t sum_of(skel::context& ctx, std::uint64_t n) {
  std::uint64_t total = 0;
  skel::farm(
      ctx, skel::indices(n), [](std::uint64_t i) { return i; }, skel::schedule::guided{},
      skel::reduced(total, add));
  return total;
}

void check_in_step(skel::context& ctx, std::string const& after) {
  auto const total = sum_of(ctx, 100);
  if (ctx.is_root()) check_equal(total, 4950U, "farm after " + after);
}

template <class Call>
void check_nested(skel::context& ctx, std::string const& where, Call const& call) {
  auto const e = test::thrown_by<skel::usage_error>(call, "a farm inside " + where);
  check(
      test::contains(e.what(), " made a skeleton call inside a task, merge, source or sink of another call"),
      e.what());
  check_in_step(ctx, where);
}

void nested(skel::context& ctx) {
  check_nested(ctx, "a task", [&] {
    skel::farm(
        ctx, skel::indices(50), [&](std::uint64_t i) { return i + sum_of(ctx, 10); },
        skel::schedule::guided{}, [](skel::task_id, std::uint64_t) {});
  });
  check_nested(ctx, "a sink", [&] {
    skel::farm(
        ctx, skel::indices(50), [](std::uint64_t i) { return i; }, skel::schedule::guided{},
        [&](skel::task_id, std::uint64_t) { sum_of(ctx, 10); });
  });
  check_nested(ctx, "a merge", [&] {
    std::uint64_t total = 0;
    skel::farm(
        ctx, skel::indices(50), [](std::uint64_t i) { return i; }, skel::schedule::blocks{},
        skel::reduced(total, [&](std::uint64_t a, std::uint64_t b) { return a + b + sum_of(ctx, 10); }));
  });
  check_nested(ctx, "a source", [&] {
    auto const open = [&] {
      sum_of(ctx, 10);
      return std::vector<int>{1};
    };
    skel::farm(
        ctx, skel::on_root(open), [](int i) { return i; }, skel::schedule::first_come{},
        [](skel::task_id, int) {});
  });
  check_nested(ctx, "require_same in a task", [&] {
    skel::farm(
        ctx, skel::indices(50), [&](std::uint64_t i) { return ctx.require_same("seed", "1"), i; },
        skel::schedule::guided{}, [](skel::task_id, std::uint64_t) {});
  });
}

void other_calls(skel::context& ctx) {
  if (ctx.size() == 1) return;
  int const last = ctx.size() - 1;
  bool const me = ctx.rank() == last;
  auto const check_said = [&](auto const& call, std::string const& what) {
    auto const e = test::thrown_by<skel::protocol_error>(call, what);
    check_equal(e.what(),
                "rank " + std::to_string(last) + " made another skeleton call than the root: " + what,
                "text");
    check_in_step(ctx, what);
  };
  check_said([&] { sum_of(ctx, me ? 11 : 10); }, "tasks 11 instead of 10");
  check_said([&] { me ? ctx.require_same("seed", "1") : static_cast<void>(sum_of(ctx, 10)); },
             "require_same instead of farm");
  auto const farm_over = [&](std::vector<std::string> const& list) {
    skel::farm(
        ctx, skel::replicated(list), [](std::string const& s) { return s.size(); },
        skel::schedule::interleaved{}, [](skel::task_id, std::size_t) {});
  };
  check_said(
      [&] {
        farm_over(me ? std::vector<std::string>{"a", "c"} : std::vector<std::string>{"a", "b"});
      },
      "other contents of the task list");
  farm_over({"a", "b"});
}

// The ranks disagree on the next call of this context.
void two_threads(skel::context& ctx) {
  std::atomic<int> refused = 0, wrong = 0;
  std::latch both(2);
  auto const call = [&](std::uint64_t factor) {
    both.arrive_and_wait();
    try {
      for (int i = 0; i < 5; ++i) {
        std::uint64_t total = 0;
        skel::farm(
            ctx, skel::indices(200),
            [=](std::uint64_t task) {
              std::this_thread::sleep_for(std::chrono::microseconds(100));
              return factor * task;
            },
            skel::schedule::guided{}, skel::reduced(total, add));
        if (ctx.is_root() && total != factor * 19900) ++wrong;
      }
    } catch (skel::usage_error const& e) {
      if (test::contains(e.what(), "two threads of rank ")) ++refused;
    }
  };
  std::thread other([&] { call(1000); });
  call(1);
  other.join();
  check(refused > 0, "two threads on one context at a time");
  check_equal(wrong, 0, "wrong sums");
}

}  // namespace

int main(int argc, char** argv) {
  setenv("SKEL_CHECK_INPUTS", "yes", 1);
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    if (argc > 1) ctx.set_threads(std::atoi(argv[1]));
    nested(ctx);
    other_calls(ctx);
    for (int i = 0; i < 20;
         ++i) {  // other ranks may still be ending the previous call when two threads collide
      auto beside = ctx.beside();
      check_in_step(beside, "making a context");
      two_threads(beside);
    }
    two_threads(ctx);
  });
}
