// The choice of a strategy, on made-up processors whose times are known.
#include "storage/autotune.hpp"

#include <functional>
#include <thread>

#include "catch.hpp"
#include "codes_support.hpp"
#include "storage/linear_map.hpp"

using namespace skel::storage;

namespace {

using namespace std::chrono_literals;

using speed = std::function<double(strategy const&)>;  // gigabytes per second

std::vector<kernel> const three{kernel::table, kernel::avx2, kernel::avx2_gfni, kernel::avx512_gfni};

product_shape shape(std::size_t rows, std::size_t columns, unsigned magnitude) {
  return {rows, columns, false, false, magnitude};
}

struct outcome {
  strategy best;
  int trials;
  double seconds;
};

outcome tune(product_shape const& what, speed const& gigabytes_per_second) {
  autotuner tuner(what, three);
  outcome o{tuner.best(), 0, 0};
  while (auto const trial = tuner.start_trial()) {
    auto const seconds = static_cast<double>(trial->bytes) / 1e9 / gigabytes_per_second(trial->how);
    CHECK_FALSE(tuner.start_trial());  // one at a time
    tuner.end_trial(std::chrono::duration<double>(seconds), trial->bytes);
    ++o.trials;
    o.seconds += seconds;
  }
  o.best = tuner.best();
  return o;
}

}  // namespace

TEST_CASE("measuring finds the fastest strategy of each processor, within 50 ms") {
  for (auto const with : {kernel::avx2, kernel::avx2_gfni, kernel::avx512_gfni})
    for (std::size_t const ahead : {0, 512, 2048, 8192})
      for (bool const streamed : {false, true})
        for (bool const few : {false, true}) {
          auto const found = tune(shape(8, 8, 30), [&](strategy const& s) {
            return 30.0 * (s.with == with ? 1 : 0.7) * (s.how.ahead == ahead ? 1 : 0.9) *
                   (s.how.streamed == streamed ? 1 : 0.8) *
                   (s.how.most_rows == 4 ? few ? 1 : 0.9
                    : few                ? 0.9
                                         : 1);
          });
          CHECK(found.best.with == with);
          CHECK(found.best.how.ahead == ahead);
          CHECK(found.best.how.streamed == streamed);
          CHECK((found.best.how.most_rows == 4) == few);
          CHECK(found.seconds < 0.05);
        }
}

TEST_CASE("a kernel that gains by another property is found by the second look") {
  // The usual one gains nothing from fetching ahead; this one is the slower only without.
  auto const found = tune(shape(1, 9, 22), [](strategy const& s) {
    return s.with == kernel::avx512_gfni ? (s.how.ahead == 0 ? 12.0 : 10.0) : (s.how.ahead == 0 ? 20.0 : 9.0);
  });
  CHECK(found.best.with != kernel::avx512_gfni);
  CHECK(found.best.how.ahead == 0);
}

TEST_CASE("without a clear difference the usual strategy stays") {
  auto const found =
      tune(shape(4, 10, 27), [](strategy const& s) { return s.with == kernel::avx2 ? 10.2 : 10.0; });
  CHECK(found.best.with == kernel::avx512_gfni);
  CHECK(found.best.how.ahead == pass_options{}.ahead);
  CHECK(found.best.how.streamed);
}

TEST_CASE("a slow processor's choice ends in time, and never for what was not tried") {
  auto const found = tune(shape(16, 16, 30), [](strategy const&) { return 0.2; });  // 21 ms each
  CHECK(found.trials == 3);
  CHECK(found.best.with == kernel::avx512_gfni);
}

TEST_CASE("outputs of small products, and sums, always pass through the caches") {
  CHECK_FALSE(autotuner(shape(1, 9, 20), three).best().how.streamed);
  CHECK_FALSE(autotuner({1, 9, true, false, 30}, three).best().how.streamed);
  CHECK(autotuner(shape(1, 9, 28), three).best().how.streamed);
}

TEST_CASE("threads that choose together give the same bytes") {
  constexpr std::size_t size = 2U << 20U;
  matrix cells(3, 4);
  for (std::size_t i = 0; i < 12; ++i) cells.at(i / 4, i % 4) = static_cast<element>(7 * i + 3);
  linear_map const map(cells);
  std::vector<test::byte_vector> sources;
  for (std::size_t j = 0; j < 4; ++j) sources.push_back(test::random_bytes(size, j));
  auto const from = test::read_only(test::pointers(sources));
  std::vector<test::byte_vector> expected(3, test::byte_vector(size));
  map.apply(from, test::pointers(expected), size, kernel::table);
  std::vector<std::vector<test::byte_vector>> outputs(4, expected);
  std::vector<std::thread> threads;
  threads.reserve(outputs.size());
  for (auto& mine : outputs)
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        for (auto& o : mine) std::ranges::fill(o, std::byte{1});
        map.apply(from, test::pointers(mine), size, kernel::automatic);
      }
    });
  for (auto& t : threads) t.join();
  for (auto const& mine : outputs) CHECK(mine == expected);
}
