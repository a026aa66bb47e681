// Calls that are refused: nested in another call, from two threads at a time, or different on different
// ranks. Values that must be the same on all ranks. Teams.
#include <atomic>
#include <latch>
#include <thread>

#include "call/every_call.hpp"
#include "suite.hpp"

namespace suite::calls {

namespace {

constexpr char const* nested_text =
    " made a skeleton call inside a task, merge, source or sink of another call on the same context: make it "
    "after that call has returned, or, in a task, source or sink, on a team of this rank (context::team)";

void check_nested(skel::context& ctx, call_test::call const& outer,
                  std::function<void(skel::context&)> const& inner, bool caught) {
  auto const inside = [&] {
    try {
      inner(ctx);
    } catch (skel::usage_error const&) {
      if (!caught) throw;
    }
  };
  std::string const text = thrown_by<skel::usage_error>([&] { outer(ctx, inside); }).what();
  CHECK(text.starts_with("rank "));
  CHECK(text.ends_with(nested_text));
  usable(ctx);  // the ranks still agree on the next call
}

}  // namespace

TEST_CASE("a farm inside any function of any skeleton is a usage_error on every rank", "[calls]") {
  for (auto const& [where, outer] : call_test::outer_calls) {
    INFO(where);
    on_ranks([&](skel::context& ctx) {
      bool const merges = ctx.size() > 1 || ctx.threads() > 1 || where != "a ring_steal's merge";
      if (merges) check_nested(ctx, outer, call_test::inner_calls.at("farm"), false);
    });
  }
}

TEST_CASE("every skeleton inside a farm's task is a usage_error, even if the task catches it", "[calls]") {
  for (auto const& [name, inner] : call_test::inner_calls) {
    INFO(name);
    on_ranks([&](skel::context& ctx) {
      for (bool const caught : {false, true})
        check_nested(ctx, call_test::outer_calls.at("a farm's task"), inner, caught);
    });
  }
}

TEST_CASE("a rank that makes another call is named, with the difference", "[calls]") {
  on_ranks([](skel::context& ctx) {
    if (ctx.size() == 1) return;
    int const last = ctx.size() - 1;
    bool const me = ctx.rank() == last;
    auto const refused = [&](auto const& call, std::string const& what) {
      CHECK(thrown_by<skel::protocol_error>(ctx, call).what() ==
            "rank " + std::to_string(last) + " made another skeleton call than the root: " + what);
      usable(ctx);
    };
    refused([&] { sum_of(ctx, me ? 11 : 10); }, "tasks 11 instead of 10");
    refused([&] { me ? ctx.require_same("seed", "1") : static_cast<void>(sum_of(ctx, 10)); },
            "require_same instead of farm");
    auto const farm_over = [&](std::vector<std::string> const& list) {
      skel::farm(
          ctx, skel::replicated(list), [](std::string const& s) { return s.size(); },
          skel::schedule::interleaved{}, [](skel::task_id, std::size_t) {});
    };
    refused([&] { farm_over({"a", me ? "c" : "b"}); }, "other contents of the task list");
    farm_over({"a", "b"});
    auto const e =
        thrown_by<skel::protocol_error>(ctx, [&] { ctx.require_same(me ? "width" : "height", "1"); });
    CHECK(contains(e.what(), "rank " + std::to_string(last) + " made another skeleton call than the root"));
  });
}

namespace {

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
      if (contains(e.what(), "two threads of rank ")) ++refused;
    }
  };
  std::thread other([&] { call(1000); });
  call(1);
  other.join();
  CHECK(refused > 0);
  CHECK(wrong == 0);
}

}  // namespace

// Other ranks may still be ending the previous call when two threads collide. The context is useless
// afterwards.
TEST_CASE("of two threads on one context at a time, one is refused", "[calls][clock]") {
  on_ranks([](skel::context& ctx) {
    for (int i = 0; i < 20; ++i) {
      auto beside = ctx.beside();
      usable(beside);
      two_threads(beside);
    }
    auto with_all_threads = ctx.split(0);
    two_threads(with_all_threads);
  });
}

TEST_CASE("require_same names the lowest rank that differs", "[calls]") {
  on_ranks([](skel::context& ctx) {
    std::vector<std::byte> input(100'000, std::byte{7});
    std::string angle = "45";
    ctx.require_same("input", input);
    ctx.require_same("--angle", angle);
    ctx.require_same("nothing", "");
    for (int differs = 1; differs < ctx.size(); ++differs) {
      if (ctx.rank() >= differs) input.back() = static_cast<std::byte>(100 + ctx.rank());
      if (ctx.rank() == differs) angle = "450";
      auto const text =
          " of rank " + std::to_string(differs) + " differs from rank 0's: it must be the same on all ranks";
      CHECK(thrown_by<skel::usage_error>(ctx, [&] { ctx.require_same("input", input); }).what() ==
            "input" + text);
      CHECK(thrown_by<skel::usage_error>(ctx, [&] { ctx.require_same("--angle", angle); }).what() ==
            "--angle" + text);
      input.back() = std::byte{7};
      angle = "45";
    }
    ctx.require_same("input", input);
    usable(ctx);
  });
}

namespace {

std::uint64_t farmed(skel::context& ctx, std::uint64_t n) {
  std::uint64_t total = 0;
  skel::farm(ctx, skel::indices(n), mix, skel::schedule::guided{}, skel::reduced(total, add));
  return total;
}
std::uint64_t expected(std::uint64_t n) {
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < n; ++i) total += mix(i);
  return total;
}

}  // namespace

TEST_CASE("two teams side by side make different numbers of calls", "[teams]") {
  on_ranks([](skel::context& ctx) {
    auto const half = ctx.rank() % 2;
    auto team = ctx.split(half);
    CHECK(team.rank() == ctx.rank() / 2);
    CHECK(team.size() == (ctx.size() + 1 - half) / 2);
    for (int i = 0; i < 3 + 5 * half; ++i) {
      auto const total = farmed(team, 500);
      if (team.is_root()) CHECK(total == expected(500));
    }
    auto const all = farmed(ctx, 700);
    if (ctx.is_root()) CHECK(all == expected(700));
  });
}

TEST_CASE("an error stays in its team", "[teams]") {
  on_ranks([](skel::context& ctx) {
    auto team = ctx.split(ctx.rank() % 2);
    if (ctx.rank() % 2 == 1) {
      auto const e = thrown_by<skel::task_error>(team, [&] {
        skel::farm(
            team, skel::indices(20),
            [](std::uint64_t i) -> std::uint64_t { return i == 7 ? throw std::runtime_error("seven") : i; },
            skel::schedule::guided{}, [](skel::task_id, std::uint64_t) {});
      });
      CHECK(contains(e.what(), "seven"));
    }
    for (int i = 0; i < 20; ++i) {
      auto const total = farmed(team, 200);
      if (team.is_root()) CHECK(total == expected(200));
    }
  });
}

}  // namespace suite::calls
