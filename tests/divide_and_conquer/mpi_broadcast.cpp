// A broadcast reaches all ranks, even while a farm runs on the same ranks.
#include <cstdlib>
#include <future>
#include <string>
#include <vector>

#include "mpi/check.hpp"
#include "skel/broadcast.hpp"
#include "skel/skel.hpp"

namespace {

using test::check;
using test::check_equal;
using values = std::vector<std::uint64_t>;

values many(std::size_t n, std::uint64_t seed) {
  values all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = test::mix(seed + i);
  return all;
}

values sent(skel::context& ctx, std::size_t n, std::uint64_t seed) {
  auto const got = skel::broadcast(ctx, skel::on_root([&] {
                                     check(ctx.is_root(), "read on the root only");
                                     return many(n, seed);
                                   }))
                       .value;
  check(got.has_value(), "a broadcast that was not stopped has a value");
  return *got;
}

std::uint64_t sum_of(skel::context& ctx, std::uint64_t n) {
  std::uint64_t total = 0;
  skel::farm(
      ctx, skel::indices(n),
      [](std::uint64_t i) {
        auto x = i;
        for (int k = 0; k < 500; ++k) x = test::mix(x);
        return x == 0 ? i + 1 : i;
      },
      skel::schedule::first_come{},
      skel::reduced(total, [](std::uint64_t a, std::uint64_t b) { return a + b; }));
  return total;
}

void everything_arrives(skel::context& ctx) {
  for (std::size_t const n : {0, 1, 2, 3, 1000, 300001}) check(sent(ctx, n, n) == many(n, n), "values");
  auto const text = skel::broadcast(ctx, skel::on_root([] { return std::string("of any type"); })).value;
  check_equal(text.value(), "of any type", "text");
}

// Runs eight broadcasts beside eight farms; neither waits for the other.
void beside_a_farm(skel::context& ctx) {
  auto other = ctx.beside();
  check_equal(other.threads(), 1, "threads beside");
  auto travels = std::async(std::launch::async, [&] {
    bool good = true;
    for (std::uint64_t i = 0; i < 8; ++i) good = good && sent(other, 20000 * i, i) == many(20000 * i, i);
    return good;
  });
  for (int i = 0; i < 8; ++i) {
    auto const total = sum_of(ctx, 2000);
    if (ctx.is_root()) check_equal(total, 1999000U, "farm beside broadcasts");
  }
  check(travels.get(), "broadcasts beside farms");
  auto third = ctx.beside();
  check(sent(third, 77, 5) == many(77, 5), "another context");
}

void an_error_of_the_source(skel::context& ctx) {
  auto const e = test::thrown_by<skel::source_error>(
      [&] {
        static_cast<void>(skel::broadcast(
            ctx, skel::on_root([]() -> values { throw std::runtime_error("cannot be read"); })));
      },
      "a source that throws");
  check(test::contains(e.what(), "cannot be read"), e.what());
  check(sent(ctx, 10, 1) == many(10, 1), "after the error");
}

void stopped_early(skel::context& ctx) {
  ctx.request_stop();
  auto const got = skel::broadcast(ctx, skel::on_root([] { return many(1000, 1); })).value;
  check(ctx.size() == 1 || !got, "stopped");
}

}  // namespace

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    if (argc > 1) ctx.set_threads(std::atoi(argv[1]));
    everything_arrives(ctx);
    beside_a_farm(ctx);
    an_error_of_the_source(ctx);
    stopped_early(ctx);
  });
}
