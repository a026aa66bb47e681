// Sources: lists that every rank has, and streams that exist only on the root.
#include <algorithm>
#include <atomic>
#include <deque>
#include <fstream>
#include <initializer_list>
#include <ranges>

#include "suite.hpp"

namespace suite::sources {

TEST_CASE("a task is a reference into the list of its rank", "[farm][sources]") {
  on_ranks([](skel::context& ctx) {
    std::vector<std::string> list{"one", "two", "three", "four"};
    std::vector<std::size_t> lengths;
    skel::farm(
        ctx, skel::replicated(list),
        [&](std::string const& text) {
          CHECK(&text >= list.data());
          CHECK(&text < list.data() + list.size());
          return text.size();
        },
        skel::schedule::interleaved{}, skel::into(lengths));
    if (ctx.is_root()) CHECK(lengths == std::vector<std::size_t>{3, 3, 5, 4});
  });
}

TEST_CASE("a list may be any random-access range", "[farm][sources]") {
  on_ranks([](skel::context& ctx) {
    auto const same = [](auto x) { return x; };
    std::vector<double> halves;
    skel::farm(
        ctx, skel::replicated(std::views::iota(0, 9) | std::views::transform([](int i) { return i / 2.0; })),
        [](double x) { return x; }, skel::schedule::guided{}, skel::into(halves));
    if (ctx.is_root()) CHECK(halves.at(5) == 2.5);
    auto const whole = skel::replicated(std::initializer_list<int>{5, 6, 7});  // its elements die here
    std::vector<int> owned, kept;
    skel::farm(ctx, skel::replicated(std::deque<int>{5, 6, 7}), same, skel::schedule::first_come{},
               skel::into(owned));
    skel::farm(ctx, whole, same, skel::schedule::guided{}, skel::into(kept));
    if (ctx.is_root()) CHECK(owned == std::vector{5, 6, 7});
    if (ctx.is_root()) CHECK(kept == owned);
  });
}

// Tasks differ in length and are sent as bytes. Other ranks never open the stream.
TEST_CASE("a stream travels from the root", "[farm][sources]") {
  constexpr std::uint64_t n = 5000;
  auto const text_of = [](std::uint64_t i) { return std::string(i % 40, static_cast<char>('a' + i % 26)); };
  for (bool const root_works : {true, false})
    for (auto const* how : {"first-come", "first-come:chunk=16", "guided", "auto"}) {
      INFO(how);
      on_ranks([&](skel::context& ctx) {
        int opened = 0;
        auto const open = [&] {
          ++opened;
          return std::views::iota(std::uint64_t{0}, n) | std::views::transform(text_of);
        };
        std::vector<std::string> got;
        auto const r =
            skel::farm(ctx, skel::on_root(open), [](std::string const& text) { return text + "!"; },
                       skel::any_schedule(how), skel::into(got), {.root_works = root_works})
                .report;
        CHECK(opened == (ctx.is_root() ? 1 : 0));
        if (!ctx.is_root()) return;
        CHECK(r.tasks == n);
        CHECK(got.size() == n);
        for (std::uint64_t i = 0; i < n; ++i) CHECK(got[i] == text_of(i) + "!");
      });
    }
}

TEST_CASE("an empty stream has no results", "[farm][sources]") {
  on_ranks([](skel::context& ctx) {
    int sunk = 0;
    auto const r = skel::farm(
                       ctx, skel::on_root([] { return std::vector<int>{}; }), [](int i) { return i; },
                       skel::schedule::guided{}, [&](skel::task_id, int) { ++sunk; })
                       .report;
    CHECK(r.tasks == 0);
    CHECK(sunk == 0);
  });
}

// The root never holds more tasks than the window and a bounded read-ahead, for any length of the stream.
TEST_CASE("a stream is pulled as its tasks are needed", "[farm][sources]") {
  constexpr std::uint64_t window = 256, n = 100'000;
  on_ranks([&](skel::context& ctx) {
    std::atomic<std::uint64_t> sunk = 0;
    std::uint64_t most_open = 0, sum = 0;
    auto const open = [&] {
      return std::views::iota(std::uint64_t{0}, n) | std::views::transform([&](std::uint64_t i) {
               most_open = std::max(most_open, i - sunk.load());
               return i;
             });
    };
    skel::farm(
        ctx, skel::on_root(open), [](std::uint64_t i) { return i; }, skel::schedule::guided{},
        [&](skel::task_id, std::uint64_t i) {
          sum += i;
          ++sunk;
        },
        {.results = {.window = window}});
    if (!ctx.is_root()) return;
    CHECK(sum == n * (n - 1) / 2);
    CHECK(most_open <= 3 * window);
  });
}

namespace {

// Largest resident set of this process so far, in KiB.
std::uint64_t peak() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6));
  return 0;
}

void doubled(skel::context& ctx, std::uint64_t tasks, bool root_works) {
  std::uint64_t total = 0;
  skel::farm(
      ctx, skel::on_root([&] { return std::views::iota(std::uint64_t{0}, tasks); }),
      [](std::uint64_t i) { return 2 * i; }, skel::schedule::guided{},
      [&](skel::task_id, std::uint64_t twice) { total += twice; }, {.root_works = root_works});
  if (ctx.is_root()) CHECK(total == tasks * (tasks - 1));
}

}  // namespace

// Runs by itself: a peak of other cases could hide that of this one.
TEST_CASE("ten million tasks travel, and none is kept", "[.][stream]") {
  for (bool const root_works : {true, false})
    on_ranks([&](skel::context& ctx) {
      doubled(ctx, 200'000, root_works);
      auto const before = peak();
      doubled(ctx, 10'000'000, root_works);
      CHECK(peak() < before + 16 * 1024);  // ten million results of 8 bytes would be 80 MB
    });
}

}  // namespace suite::sources
