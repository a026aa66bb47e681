// Sources: lists that every rank has, and streams that exist only on the root.
#include <algorithm>
#include <atomic>
#include <deque>
#include <ranges>
#include <string>
#include <vector>

#include "mpi/check.hpp"
#include "skel/skel.hpp"

namespace {

using test::check;
using test::check_equal;

void a_list_on_every_rank_is_not_copied(skel::context& ctx) {
  std::vector<std::string> list{"one", "two", "three", "four"};
  std::vector<std::size_t> lengths;
  skel::farm(
      ctx, skel::replicated(list),
      [&](std::string const& text) {
        check(&text >= list.data() && &text < list.data() + list.size(),
              "a task is a reference into the list");
        return text.size();
      },
      skel::schedule::interleaved{}, skel::into(lengths));
  if (ctx.is_root()) check(lengths == std::vector<std::size_t>{3, 3, 5, 4}, "lengths");
}

void a_list_may_be_any_random_access_range(skel::context& ctx) {
  std::vector<double> halves;
  skel::farm(
      ctx, skel::replicated(std::views::iota(0, 9) | std::views::transform([](int i) { return i / 2.0; })),
      [](double x) { return x; }, skel::schedule::guided{}, skel::into(halves));
  if (ctx.is_root()) check_equal(halves.at(5), 2.5, "a computed list");
  std::vector<int> numbers;
  skel::farm(
      ctx, skel::replicated(std::deque<int>{5, 6, 7}), [](int i) { return i; }, skel::schedule::first_come{},
      skel::into(numbers));
  if (ctx.is_root()) check(numbers == std::vector<int>{5, 6, 7}, "a list that the source owns");
}

// Tasks differ in length and are sent as bytes. Other ranks never open the stream.
void a_stream_travels_from_the_root(skel::context& ctx, skel::any_schedule const& how, skel::root_role role) {
  constexpr std::uint64_t n = 5000;
  int opened = 0;
  auto const text_of = [](std::uint64_t i) { return std::string(i % 40, static_cast<char>('a' + i % 26)); };
  auto open = [&] {
    ++opened;
    return std::views::iota(std::uint64_t{0}, n) | std::views::transform(text_of);
  };
  std::vector<std::string> got;
  auto const r = skel::farm(ctx, skel::on_root(open), [](std::string const& text) { return text + "!"; }, how,
                            skel::into(got), {.root = role})
                     .report;
  check_equal(opened, ctx.is_root() ? 1 : 0, "the stream is opened once, on the root");
  if (!ctx.is_root()) return;
  check_equal(r.tasks, n, "tasks of a stream");
  check_equal(got.size(), n, "results of a stream");
  for (std::uint64_t i = 0; i < n; ++i) check(got[i] == text_of(i) + "!", "result " + std::to_string(i));
}

void an_empty_stream_ends(skel::context& ctx) {
  auto const r = skel::farm(
                     ctx, skel::on_root([] { return std::vector<int>{}; }), [](int i) { return i; },
                     skel::schedule::guided{},
                     [](skel::task_id, int) { check(false, "an empty stream has no results"); })
                     .report;
  check_equal(r.tasks, 0U, "tasks of an empty stream");
}

// The root never holds more tasks than the window and a bounded read-ahead, for any length of the stream.
void a_stream_is_pulled_as_it_is_needed(skel::context& ctx) {
  constexpr std::uint64_t window = 256;
  std::atomic<std::uint64_t> sunk = 0;
  std::uint64_t most_open = 0;
  auto open = [&] {
    return std::views::iota(std::uint64_t{0}, std::uint64_t{100000}) |
           std::views::transform([&](std::uint64_t i) {
             most_open = std::max(most_open, i - sunk.load());
             return i;
           });
  };
  std::uint64_t sum = 0;
  skel::farm(
      ctx, skel::on_root(open), [](std::uint64_t i) { return i; }, skel::schedule::guided{},
      [&](skel::task_id, std::uint64_t i) {
        sum += i;
        ++sunk;
      },
      {.results = {.window = window}});
  if (!ctx.is_root()) return;
  check_equal(sum, std::uint64_t{100000} * 99999 / 2, "sum over the stream");
  check(most_open <= 3 * window, "a window of 256 tasks had " + std::to_string(most_open) + " open");
}

}  // namespace

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    if (argc > 1) ctx.set_threads(std::atoi(argv[1]));
    a_list_on_every_rank_is_not_copied(ctx);
    a_list_may_be_any_random_access_range(ctx);
    for (auto const role : {skel::root_role::works, skel::root_role::serves})
      for (auto const* how : {"first-come", "first-come:chunk=16", "guided", "auto"})
        a_stream_travels_from_the_root(ctx, skel::any_schedule(how), role);
    an_empty_stream_ends(ctx);
    a_stream_is_pulled_as_it_is_needed(ctx);
  });
}
