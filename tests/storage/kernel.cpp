// Every kernel of this machine computes the products bit for bit, at every length and alignment.
#include "skel/storage/kernel.hpp"

#include <algorithm>
#include <cstring>

#include "catch.hpp"
#include "codes_support.hpp"
#include "fewer.hpp"
#include "skel/error.hpp"
#include "storage/linear_map.hpp"

using namespace skel::storage;

namespace {

matrix random_matrix(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  matrix m(rows, columns);
  auto const cells = test::random_bytes(rows * columns, seed);
  for (std::size_t i = 0; i < cells.size(); ++i)
    m.at(i / columns, i % columns) = static_cast<element>(cells[i]);
  return m;
}

struct example {
  matrix cells;
  std::size_t size, offset;  // bytes, and how far from alignment
  std::vector<test::byte_vector> sources, expected;
};

example make_example(matrix cells, std::size_t size, std::size_t offset) {
  example e{std::move(cells), size, offset, {}, {}};
  for (std::size_t j = 0; j < e.cells.columns(); ++j)
    e.sources.push_back(test::random_bytes(size + offset, size + j));
  for (std::size_t i = 0; i < e.cells.rows(); ++i) {
    auto& row = e.expected.emplace_back(size);
    for (std::size_t j = 0; j < e.cells.columns(); ++j)
      for (std::size_t b = 0; b < size; ++b)
        row[b] ^= std::byte{
            test::slow_product(e.cells.at(i, j), static_cast<std::uint8_t>(e.sources[j][offset + b]))};
  }
  return e;
}

// Also checks that nothing is written past the end.
bool right(example& e, kernel k) {
  linear_map const map(e.cells);
  constexpr std::size_t guard = 64;
  std::vector<test::byte_vector> outputs(e.cells.rows(),
                                         test::byte_vector(e.offset + e.size + guard, std::byte{0xaa}));
  auto sources = test::pointers(e.sources), places = test::pointers(outputs);
  for (auto& p : sources) p += e.offset;
  for (auto& p : places) p += e.offset;
  map.apply(test::read_only(sources), places, e.size, k);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!std::equal(e.expected[i].begin(), e.expected[i].end(), places[i])) return false;
    if (!std::all_of(places[i] + e.size, places[i] + e.size + guard,
                     [](auto b) { return b == std::byte{0xaa}; }))
      return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the portable kernel is always available; environment and arguments select a kernel") {
  auto const here = kernels();
  REQUIRE(here.front() == kernel::table);
  CHECK(kernel_named("auto") == kernel::automatic);
  for (auto const k : here) CHECK(kernel_named(to_string(k)) == k);
  try {
    (void)kernel_named("sse9");
    FAIL("accepted");
  } catch (skel::usage_error const& bad) {
    CHECK(std::string(bad.what()) ==
          "unknown kernel \"sse9\"; known: table, ssse3, avx2, avx2-gfni, avx512, avx512-gfni, neon, auto");
  }
  bool const arm = std::ranges::find(here, kernel::neon) != here.end();
  CHECK_THROWS_AS(kernel_named(arm ? "avx2" : "neon"), skel::usage_error);
#if defined(__x86_64__) && SKEL_VECTOR_GF
  CHECK(here.size() > 1);
#endif
}

TEST_CASE("all kernels give the same bytes") {
  std::string ran;
  for (auto const k : kernels()) {
    ran += std::string(to_string(k)) + " ";
    INFO(ran);
    for (std::size_t rows = 1; rows <= 20; ++rows) {
      auto e = make_example(random_matrix(rows, rows % 3 * 7 + 1, rows), rows == 5 ? 4160 + rows : 300 + rows,
                            rows % 5);
      INFO(rows << " rows");
      CHECK(right(e, k));
    }
    for (std::size_t size = 0; size < test::fewer_if_slow(560); ++size) {
      auto e = make_example(random_matrix(3, 4, size), size, size % 7);
      if (!right(e, k)) FAIL_CHECK(to_string(k) << ", " << size << " bytes");
    }
    matrix ones(2, 12);
    for (std::size_t i = 0; i < 24; ++i) ones.at(i / 12, i % 12) = 1;
    auto sum = make_example(ones, 1000, 0);
    CHECK(right(sum, k));
  }
}

TEST_CASE("large outputs, which bypass the caches, have the same bytes") {
  constexpr std::size_t size = (3U << 20U) + 77;
  std::vector<test::byte_vector> sources{test::random_bytes(size, 1), test::random_bytes(size, 2)};
  auto const from = test::read_only(test::pointers(sources));
  for (std::size_t rows = 1; rows <= 9; rows += rows < 3 ? 1 : 3) {
    linear_map const map(random_matrix(rows, 2, rows));
    std::vector<test::byte_vector> expected(rows, test::byte_vector(size)),
        outputs(rows, test::byte_vector(size + 64));
    map.apply(from, test::pointers(expected), size, kernel::table);
    auto aligned = test::pointers(outputs);
    for (auto& p : aligned) p += (64 - reinterpret_cast<std::uintptr_t>(p) % 64) % 64;
    auto all = kernels();
    all.insert(all.end(), 30, kernel::automatic);  // often enough to try all strategies
    for (auto const k : all) {
      INFO(to_string(k) << ", " << rows << " rows");
      for (auto* const p : aligned) std::fill_n(p, size, std::byte{0xaa});
      map.apply(from, aligned, size, k);
      for (std::size_t i = 0; i < rows; ++i) CHECK(std::memcmp(expected[i].data(), aligned[i], size) == 0);
    }
  }
}

TEST_CASE("arguments that do not fit a map are refused") {
  linear_map const map(random_matrix(2, 3, 1));
  test::byte_vector b(10);
  std::vector<std::byte*> const two(2, b.data()), three(3, b.data());
  CHECK_THROWS_AS(map.apply(test::read_only(two), two, 10), std::invalid_argument);
  CHECK_THROWS_AS(map.apply(test::read_only(three), three, 10), std::invalid_argument);
  CHECK_THROWS_AS(map.add_column(3, b.data(), two, 10), std::out_of_range);
  auto const here = kernels();
  auto const absent = std::ranges::find(here, kernel::neon) == here.end() ? kernel::neon : kernel::avx2;
  CHECK_THROWS_AS(map.apply(test::read_only(three), two, 10, absent), std::invalid_argument);
}
