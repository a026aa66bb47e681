// divide_and_conquer: every kind, source and number of ranks gives the same solution. broadcast: all ranks
// have the root's value, even while a farm runs on the same ranks.
#include "skel/divide_and_conquer.hpp"

#include <algorithm>
#include <future>
#include <random>

#include "divide/jobs.hpp"
#include "skel/broadcast.hpp"
#include "suite.hpp"

namespace suite::division {

using namespace ::divide;

namespace {

numbers random_numbers(std::size_t n, unsigned seed = 7) {
  std::mt19937_64 dice(seed);
  numbers all(n);
  for (auto& x : all) x = static_cast<std::int64_t>(dice() % 1'000'000) - 500'000;
  return all;
}

}  // namespace

TEST_CASE("merge sort: every rank or only the root has the sorted numbers", "[divide]") {
  on_ranks([](skel::context& ctx) {
    for (std::size_t n : {0U, 1U, 2U, 3U, 5U, 1000U, 300'000U}) {
      auto const all = random_numbers(n);
      auto sorted = all;
      std::sort(sorted.begin(), sorted.end());
      auto const root = skel::on_root([&] { return all; });
      auto const cube = skel::divide_and_conquer(ctx, root, merge_sort{}, skel::division::hypercube{});
      CHECK(cube.value.here());
      CHECK((*cube.value == sorted));
      auto const same = skel::divide_and_conquer(ctx, skel::replicated_problem{all}, merge_sort{},
                                                 skel::division::hypercube{});
      CHECK(same.value.here());
      CHECK((*same.value == sorted));
      auto const tree = skel::divide_and_conquer(ctx, root, merge_sort{}, skel::division::tree{});
      CHECK(tree.value.here() == ctx.is_root());
      if (ctx.is_root())
        CHECK((*tree.value == sorted));
      else
        CHECK((tree.value.where == skel::division::placement::on_root));
    }
  });
}

namespace {

struct any_seven {
  using problem = std::vector<int>;
  using solution = bool;
  [[nodiscard]] bool trivial(problem const& p) const { return p.size() < 2; }
  [[nodiscard]] bool conquer(problem const& p) const { return !p.empty() && p[0] == 7; }
  [[nodiscard]] std::vector<problem> divide(problem const& p) const {
    auto const half = p.begin() + static_cast<std::ptrdiff_t>(p.size() / 2);
    return {{p.begin(), half}, {half, p.end()}};
  }
  [[nodiscard]] bool combine(bool a, bool b) const { return a || b; }
};

}  // namespace

TEST_CASE("a solution may be bool", "[divide]") {
  on_ranks([](skel::context& ctx) {
    for (int const last : {6, 7}) {
      auto const found =
          skel::divide_and_conquer(ctx, skel::replicated_problem{std::vector{1, 2, 3, 4, last}}, any_seven{},
                                   skel::division::hypercube{});
      bool const seven = *found.value;
      CHECK(seven == (last == 7));
    }
  });
}

TEST_CASE("quicksort: each rank keeps its part, in the order of ranks", "[divide]") {
  on_ranks([](skel::context& ctx) {
    for (std::size_t n : {0U, 1U, 3U, 3000U, 300'000U}) {
      auto const all = random_numbers(n);
      auto sorted = all;
      std::sort(sorted.begin(), sorted.end());
      auto const parts = skel::divide_and_conquer(ctx, skel::on_root([&] { return all; }), quicksort{},
                                                  skel::division::distributed{});
      CHECK(!parts.value.here());
      numbers mine, together;
      for (auto const& p : parts.value.parts) mine.insert(mine.end(), p.begin(), p.end());
      if (n >= 3000) CHECK(!mine.empty());
      for (auto const& part : gathered(ctx, mine)) together.insert(together.end(), part.begin(), part.end());
      if (ctx.is_root()) CHECK((together == sorted));
    }
  });
}

TEST_CASE("three subproblems: the product of polynomials", "[divide]") {
  numbers const a = random_numbers(512, 2), b = random_numbers(512, 3);
  numbers expected(a.size() + b.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) expected[i + j] += a[i] * b[j];
  on_ranks([&](skel::context& ctx) {
    auto const source = skel::on_root([&] { return polynomial_product::problem{a, b}; });
    auto const tree = skel::divide_and_conquer(ctx, source, polynomial_product{}, skel::division::tree{});
    if (ctx.is_root()) CHECK((*tree.value == expected));
    auto const cube =
        skel::divide_and_conquer(ctx, source, polynomial_product{}, skel::division::hypercube{});
    CHECK((*cube.value == expected));
  });
}

namespace {

using values = std::vector<std::uint64_t>;

values many(std::size_t n, std::uint64_t seed) {
  values all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = mix(seed + i);
  return all;
}

values sent(skel::context& ctx, std::size_t n, std::uint64_t seed) {
  auto const got = skel::broadcast(ctx, skel::on_root([&] {
                                     CHECK(ctx.is_root());
                                     return many(n, seed);
                                   }))
                       .value;
  CHECK(got.has_value());
  return *got;
}

}  // namespace

TEST_CASE("a broadcast brings the root's value to all ranks", "[broadcast]") {
  on_ranks([](skel::context& ctx) {
    for (std::size_t const n : {0, 1, 2, 3, 1000, 300'001}) CHECK((sent(ctx, n, n) == many(n, n)));
    auto const text = skel::broadcast(ctx, skel::on_root([] { return std::string("of any type"); })).value;
    CHECK(text.value() == "of any type");
  });
}

TEST_CASE("broadcasts beside farms: neither waits for the other", "[broadcast][clock]") {
  on_ranks([](skel::context& ctx) {
    auto other = ctx.beside();
    CHECK(other.threads() == 1);
    auto travels = std::async(std::launch::async, [&] {
      bool good = true;
      for (std::uint64_t i = 0; i < 8; ++i) good = good && sent(other, 20000 * i, i) == many(20000 * i, i);
      return good;
    });
    auto const busy = [](std::uint64_t i) {
      auto x = i;
      for (int k = 0; k < 500; ++k) x = mix(x);
      return x == 0 ? i + 1 : i;
    };
    for (int i = 0; i < 8; ++i) {
      std::uint64_t total = 0;
      skel::farm(ctx, skel::indices(2000), busy, skel::schedule::first_come{}, skel::reduced(total, add));
      if (ctx.is_root()) CHECK(total == 1999000);
    }
    CHECK(travels.get());
    auto third = ctx.beside();
    CHECK((sent(third, 77, 5) == many(77, 5)));
  });
}

TEST_CASE("a source of a broadcast that throws fails it on every rank", "[broadcast]") {
  on_ranks([](skel::context& ctx) {
    auto const throws = []() -> values { throw std::runtime_error("cannot be read"); };
    auto const e = thrown_by<skel::source_error>(
        ctx, [&] { static_cast<void>(skel::broadcast(ctx, skel::on_root(throws))); });
    CHECK(contains(e.what(), "cannot be read"));
    CHECK((sent(ctx, 10, 1) == many(10, 1)));
  });
}

TEST_CASE("a broadcast that was stopped has no value", "[broadcast]") {
  on_ranks([](skel::context& ctx) {
    ctx.request_stop();
    auto const got = skel::broadcast(ctx, skel::on_root([] { return many(1000, 1); })).value;
    CHECK((ctx.size() == 1 || !got));
  });
}

}  // namespace suite::division
