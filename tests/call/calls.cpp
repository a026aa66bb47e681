// Invalid skeleton calls: nested in another call, from two threads at once, or different on different ranks.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "every_call.hpp"
#include "farm/over_hub.hpp"
#include "observe/support.hpp"
#include "skel/error.hpp"

using namespace call_test;
using namespace farm_test;

TEST_CASE("context::beside is a usage_error inside a task, but works outside of calls") {
  hub::job job(2);
  job.run([&](skel::context& ctx) {
    outer_calls.at("a farm's task")(ctx, [&] { static_cast<void>(ctx.beside()); });
  });
  for (int r = 0; r < 2; ++r) CHECK(test::contains(job.error(r), "context::beside was called inside a task"));
  std::atomic<std::uint64_t> sum = 0;
  job.run([&](skel::context& ctx) {
    auto other = ctx.beside();
    std::thread aside([&] {
      for (int i = 0; i < 10; ++i) sum += sum_of(other, 100);
    });
    for (int i = 0; i < 10; ++i) sum += sum_of(ctx, 200);
    aside.join();
  });
  CHECK(sum == 10 * (4950 + 19900));
}

namespace {

// Ignores all messages and counts the reported failures.
struct deaf_run final : skel::detail::run {
  int failures = 0;
  void on_message(int, std::span<std::byte const>, skel::transport::packet&) override {}
  void on_rank_lost(int) override {}
  void on_left(int) override {}
  void on_tick(double) override {}
  void work(unsigned) override {}
  [[nodiscard]] std::string state() const override { return {}; }
  void on_failure(std::exception_ptr const&, bool) override { ++failures; }
};

}  // namespace

TEST_CASE("two threads on one context of several ranks: earlier calls still end without an error") {
  auto const net = std::make_shared<hub::network>(2);
  skel::context_options options;
  options.suspect_after_seconds = 0;
  skel::detail::engine here(std::make_unique<hub::transport>(net, 0), options, "here");
  skel::detail::engine there(std::make_unique<hub::transport>(net, 1), options, "there");
  constexpr std::uint32_t context = 1;
  auto const key = [](std::uint32_t number) { return skel::detail::run_key{context, number}; };
  auto const with_lock = [](skel::detail::engine& e, auto const& what) {
    std::lock_guard const lock(e.mutex());
    what();
  };
  // Simulates two threads of the other rank starting its call `number` at the same time.
  auto const collide = [&](std::uint32_t number) {
    with_lock(there, [&] {
      there.calls().fail_call({key(number), skel::detail::call_failure::kind::usage, "collision", true});
      there.driver().progress();
    });
    with_lock(here, [&] { here.driver().progress(); });
  };
  deaf_run fifth, sixth, seventh;
  for (int i = 0; i < 5; ++i) {
    CHECK_NOTHROW(here.calls().gate().enter(context, false));
    if (i < 4) here.calls().gate().leave(context);
  }
  with_lock(here, [&] { here.open(key(5), fifth); });
  auto const begin = [&](std::uint32_t number) {  // sends the other rank's first message of a call
    with_lock(there, [&] { there.calls().send(0, key(number), {}); });
  };
  begin(7);
  collide(7);
  begin(8);
  CHECK(fifth.failures == 0);
  here.calls().gate().leave(context);
  CHECK(here.calls().gate().enter(context, false) == 6);
  with_lock(here, [&] { here.open(key(6), sixth); });
  CHECK(sixth.failures == 0);
  with_lock(here, [&] { here.open(key(7), seventh); });
  CHECK(seventh.failures == 1);
  here.calls().gate().leave(context);
  CHECK_THROWS_AS(here.calls().gate().enter(context, false), skel::usage_error);

  collide(8);  // only the first collision counts
  CHECK(sixth.failures == 0);
  collide(6);
  CHECK(fifth.failures == 0);
  CHECK(sixth.failures == 1);
  with_lock(here, [&] {
    for (std::uint32_t number : {5, 6, 7}) here.close(key(number));
  });

  // A failed call of the other rank must not count as a call that this rank has missed.
  int codes[] = {-1, -1};
  std::thread other([&] { codes[1] = there.say_farewell({}, {}).value_or(-1); });
  codes[0] = here.say_farewell({}, {}).value_or(-1);
  other.join();
  CHECK(codes[0] == 0);
  CHECK(codes[1] == 0);
}

TEST_CASE("two threads of one rank collide while the previous call still ends on another rank") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    hub::job job(3, 1, std::size_t{1} << 30, std::chrono::milliseconds(3));
    job.run_well([&](skel::context& ctx) {
      for (std::uint64_t i = 0; i <= seed; ++i) sum_of(ctx, 10);
      std::atomic<int> refused = 0;
      auto const colliding = [&] {
        try {
          skel::farm(
              ctx, skel::indices(3),
              [&](std::uint64_t i) {
                if (ctx.rank() == 2)
                  while (refused == 0) std::this_thread::yield();
                return i;
              },
              skel::schedule::blocks{}, [](skel::task_id, std::uint64_t) {});
        } catch (skel::usage_error const& e) {
          if (test::contains(e.what(), "two threads of rank 2 made skeleton calls")) ++refused;
        }
      };
      std::thread other;
      if (ctx.rank() == 2) other = std::thread(colliding);
      colliding();
      if (other.joinable()) other.join();
      if (refused != (ctx.rank() == 2 ? 2 : 1)) throw std::runtime_error("the collision went unnoticed");
    });
  }
}

namespace {

// Returns the text that all three ranks throw when the last one makes `another` call.
std::string said_of(std::function<void(skel::context&)> const& one,
                    std::function<void(skel::context&)> const& another) {
  hub::job job(3);
  auto const text = job.all_throw<skel::protocol_error>(
      [&](skel::context& ctx) { (ctx.rank() == 2 ? another : one)(ctx); });
  std::atomic<std::uint64_t> sum = 0;
  job.run([&](skel::context& ctx) { sum += sum_of(ctx, 100); });
  CHECK(sum == 4950);
  std::string const begin = "rank 2 made another skeleton call than the root: ";
  CHECK(text.starts_with(begin));
  return text.substr(std::min(text.size(), begin.size()));
}

auto farm_of(std::uint64_t tasks, std::string const& schedule, skel::farm_options const& options = {}) {
  return [=](skel::context& ctx) {
    skel::farm(
        ctx, skel::indices(tasks), work, skel::any_schedule(schedule), [](skel::task_id, std::uint64_t) {},
        options);
  };
}

void check_inputs(skel::context& ctx, std::optional<bool> check = true) {
  skel::detail::context_access::engine_of(ctx).options().check.inputs = check;
}

template <class List>
auto farm_over(List list, std::optional<bool> check = true) {
  return [=](skel::context& ctx) {
    check_inputs(ctx, check);
    skel::farm(
        ctx, skel::replicated(list), [](auto const&) { return 1; }, skel::schedule::guided{},
        [](skel::task_id, int) {});
  };
}

}  // namespace

TEST_CASE("the error for different calls names the difference") {
  CHECK(said_of(farm_of(10, "guided"), farm_of(11, "guided")) == "tasks 11 instead of 10");
  CHECK(said_of(farm_of(10, "guided"), farm_of(10, "blocks")) == "schedule blocks instead of guided");
  CHECK(said_of(farm_of(10, "guided"), farm_of(12, "guided:min=2")) ==
        "tasks 12 instead of 10, schedule guided:min=2 instead of guided");
  CHECK(said_of(farm_of(10, "guided"), farm_of(10, "guided", {.root_works = false})) ==
        "root serves instead of works");
  CHECK(said_of(farm_of(10, "guided"), farm_of(10, "guided", {.results = skel::results::concentrated()})) ==
        "results concentrated instead of streamed");
  auto const texts = [](skel::context& ctx) {
    skel::farm(
        ctx, skel::indices(10), [](std::uint64_t) { return 1.0F; }, skel::schedule::guided{},
        [](skel::task_id, float) {});
  };
  CHECK(said_of(farm_of(10, "guided"), texts)
            .starts_with("types unsigned long -> float instead of unsigned long -> unsigned long"));
  auto const twin = [](skel::context& ctx) {
    skel::farm(
        ctx, skel::indices(10), [](std::uint64_t i) { return i; }, skel::schedule::guided{},
        [](skel::task_id, std::uint64_t) {});
  };
  CHECK(said_of(farm_of(10, "guided"), twin).starts_with("task function "));
}

TEST_CASE("the error for different skeletons names both, in every combination") {
  std::map<std::string, std::function<void(skel::context&)>> calls = inner_calls;
  calls.erase("broadcast");  // reported as divide_and_conquer
  for (auto const& [one, first] : calls)
    for (auto const& [another, second] : calls) {
      if (one == another) continue;
      CAPTURE(one, another);
      std::string expected = another;
      expected.append(" instead of ").append(one);
      CHECK(said_of(first, second) == expected);
    }
}

TEST_CASE("replicated lists: sizes are compared, and contents on request") {
  using ints = std::vector<int>;
  std::string const contents = "other contents of the task list";
  CHECK(said_of(farm_over(ints{1, 2, 3}, false), farm_over(ints{1, 2}, false)) == "tasks 2 instead of 3");
  CHECK(said_of(farm_over(ints{1, 2, 3}), farm_over(ints{1, 2, 4})) == contents);
  using strings = std::vector<std::string>;
  CHECK(said_of(farm_over(strings{"a", "b"}), farm_over(strings{"ab", ""})) == contents);
  using lists = std::vector<std::vector<double>>;
  CHECK(said_of(farm_over(lists{{1, 2}, {3}}), farm_over(lists{{1}, {2, 3}})) == contents);
  CHECK(said_of(farm_over(std::views::iota(0, 5)), farm_over(std::views::iota(1, 6))) == contents);

  struct padded {
    char c;
    double d;
  };
  std::vector<padded> a(20), b(20);
  std::memset(static_cast<void*>(a.data()), 0x55, a.size() * sizeof(padded));
  std::memset(static_cast<void*>(b.data()), 0xaa, b.size() * sizeof(padded));
  for (auto* v : {&a, &b})
    for (auto& x : *v) {
      x.c = 1;
      x.d = 2;
    }
  hub::job job(2);
  job.run_well([&](skel::context& ctx) { farm_over(ctx.rank() == 0 ? a : b)(ctx); });
  job.run_well([&](skel::context& ctx) {  // without check_inputs the contents are not compared
    farm_over(ctx.rank() == 0 ? ints{1} : ints{2}, false)(ctx);
  });

  auto const search = [](ints const& list) {
    return [=](skel::context& ctx) {
      check_inputs(ctx);
      skel::ring_steal(ctx, skel::replicated(list), spawning{});
    };
  };
  CHECK(said_of(search({1, 1}), search({1})) == "tasks 1 instead of 2");
  CHECK(said_of(search({1, 1}), search({1, 2})) == contents);
  auto const divided = [](int n) {
    return [=](skel::context& ctx) {
      check_inputs(ctx);
      skel::divide_and_conquer(ctx, skel::replicated_problem{std::pair{0, n}}, halves{},
                               skel::division::hypercube{});
    };
  };
  CHECK(said_of(divided(8), divided(9)) == "other contents of the replicated_problem");
}

TEST_CASE("task numbers are compared without visiting each") {
  hub::job job(2);
  job.run_well([](skel::context& ctx) {
    check_inputs(ctx);
    skel::farm(
        ctx, skel::indices(std::uint64_t{1} << 62), [](std::uint64_t) { return 1; }, skel::schedule::guided{},
        [](skel::task_id, int) { return skel::results::flow::stop; });
  });
}

namespace {

class opaque {  // one member could be an address
 public:
  explicit opaque(std::int64_t value = 0) : value_(value) {}

 private:
  [[maybe_unused]] std::int64_t value_;
};
struct maybe {
  int number;
  std::optional<double> limit;
};
struct item {
  int number = 0;
  std::string name;
  std::vector<item> parts;
};

// The error of two ranks with these lists if no option says whether contents are compared.
template <class List>
std::string said_by_default(List const& a, List const& b) {
  hub::job job(2);
  job.run([&](skel::context& ctx) { farm_over(ctx.rank() == 0 ? a : b, std::nullopt)(ctx); });
  auto const text = job.error(0);
  CHECK(job.error(1).empty() == text.empty());
  return test::contains(text, "other contents of the task list") ? "other" : text;
}

#ifdef NDEBUG
auto const* const only_on_request = "";
#else
auto const* const only_on_request = "other";
#endif

}  // namespace

TEST_CASE("contents are compared in every build") {
  CHECK(said_by_default(std::vector{1, 2}, std::vector{1, 3}) == "other");
  CHECK(said_by_default(std::vector{1, 2}, std::vector{1, 2}).empty());
  CHECK(said_by_default(std::deque{1.0, 2.0}, std::deque{1.0, 2.5}) == "other");
  std::vector<item> const a{{1, "a", {}}, {2, "b", {{3, "c", {}}}}};
  auto b = a;
  CHECK(said_by_default(a, b).empty());
  b[1].parts[0].name = "d";
  CHECK(said_by_default(a, b) == "other");
}

TEST_CASE("equal lists are never taken for different ones") {
  std::vector<maybe> a(20), b(20);
  for (auto* v : {&a, &b})
    for (auto& x : *v) {
      x.number = 1;
      x.limit = v == &a ? 1.5 : 2.5;  // its bytes stay
      x.limit.reset();
    }
  CHECK(said_by_default(a, b).empty());
  std::vector<std::unordered_set<int>> c(1), d(1);
  d[0].reserve(1000);
  for (int i = 0; i < 20; ++i) {
    c[0].insert(i);
    d[0].insert(19 - i);
  }
  CHECK(said_by_default(c, d).empty());
  d[0].insert(20);
  CHECK(said_by_default(c, d) == "other");
}

TEST_CASE("what may hold addresses or is computed when it is read is compared on request") {
  std::vector<opaque> const a(2, opaque(1)), b(2, opaque(2));
  CHECK(said_by_default(a, b) == only_on_request);
  CHECK(said_of(farm_over(a), farm_over(b)) == "other contents of the task list");
  auto const computed = [](int by) {
    return std::views::iota(0, 5) | std::views::transform([by](int i) { return by * i; });
  };
  CHECK(said_by_default(computed(1), computed(2)) == only_on_request);
  CHECK(said_of(farm_over(computed(1)), farm_over(computed(2))) == "other contents of the task list");
}

TEST_CASE("a parameter that cannot hold the largest index is refused") {
  skel::context ctx;
  auto const farm = [&](auto source, auto const& f) {
    std::uint64_t total = 0;
    skel::farm(ctx, source, f, skel::reduced(total, std::plus<>()), {.time_limit_seconds = 0.01});
  };
  auto const of_int = [](int i) { return static_cast<std::uint64_t>(i < 0); };
  auto const of_unsigned = [](unsigned) { return std::uint64_t{0}; };
  auto const of_any = [](auto) { return std::uint64_t{0}; };
  std::uint64_t const two_31 = std::uint64_t{1} << 31, two_32 = std::uint64_t{1} << 32;
  farm(skel::indices(two_31), of_int);
  farm(skel::indices(two_32), of_unsigned);
  farm(skel::indices(two_32 + 1), of_any);
  CHECK_THROWS_WITH(farm(skel::indices(two_31 + 1), of_int),
                    "farm: the parameter of the task function cannot hold 2147483648: expected a wider type");
  CHECK_THROWS_AS(farm(skel::indices(two_32 + 1), of_unsigned), skel::usage_error);
  CHECK_THROWS_AS(farm(skel::replicated(std::views::iota(-1, 3)), of_unsigned), skel::usage_error);
  CHECK_THROWS_AS(farm(skel::replicated(std::vector{std::int64_t{1}, std::int64_t{1} << 40}), of_int),
                  skel::task_error);
  CHECK_THROWS_AS(skel::ring_steal(ctx, skel::indices(two_31 + 1), spawning{}), skel::usage_error);
}

TEST_CASE("SKEL_CHECK_INPUTS and SKEL_CHECK_TASKS are yes, no or an error") {
  auto const found = [](char const* value) {
    setenv("SKEL_CHECK_INPUTS", value, 1);
    auto const options = skel::context_options::from_environment();
    unsetenv("SKEL_CHECK_INPUTS");
    return options.check.inputs;
  };
  CHECK(found("yes") == true);
  CHECK(found("no") == false);
  CHECK(found("") == std::nullopt);
  CHECK_THROWS_WITH(found("1"), "SKEL_CHECK_INPUTS must be yes or no, found \"1\"");
  unsetenv("SKEL_CHECK_INPUTS");
  CHECK_FALSE(skel::context_options::from_environment().check.tasks.has_value());
  setenv("SKEL_CHECK_TASKS", "yes", 1);
  CHECK(skel::context_options::from_environment().check.tasks == true);
  unsetenv("SKEL_CHECK_TASKS");
}
