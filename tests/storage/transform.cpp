// Transforms, compared with Lagrange's formula in bitwise arithmetic and with matrices.
#include "storage/transform.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>
#include <string>

#include "catch.hpp"
#include "codes_support.hpp"
#include "fewer.hpp"
#include "skel/storage/coder.hpp"

using namespace skel::storage;

namespace {

std::uint8_t slow_quotient(unsigned a, unsigned b) {
  std::uint8_t inverse = 1;
  for (int i = 0; i < 254; ++i) inverse = test::slow_product(inverse, b);
  return test::slow_product(a, inverse);
}

// All shards of random data, by the definitions in docs/reference/checkpoint.md.
std::vector<test::byte_vector> slow_shards(std::string const& matrix, std::size_t m, std::size_t k,
                                           std::size_t size, std::uint64_t seed) {
  std::vector<std::uint8_t> points;
  for (unsigned i = 0; i < m + k; ++i)
    points.push_back(matrix != "zfec" || i < 2 ? static_cast<std::uint8_t>(i)
                                               : test::slow_product(points.back(), 2));
  std::vector<test::byte_vector> shards;
  for (std::size_t j = 0; j < m; ++j) shards.push_back(test::random_bytes(size, seed + j));
  for (std::size_t i = m; i < m + k; ++i) {
    test::byte_vector parity(size);
    for (std::size_t j = 0; j < m; ++j) {
      std::uint8_t above = 1, below = 1;
      if (matrix == "cauchy") below = points[i] ^ points[j];
      for (std::size_t l = 0; matrix != "cauchy" && l < m; ++l) {
        if (l == j) continue;
        above = test::slow_product(above, points[i] ^ points[l]);
        below = test::slow_product(below, points[j] ^ points[l]);
      }
      auto const factor = slow_quotient(above, below);
      for (std::size_t b = 0; b < size; ++b)
        parity[b] ^= std::byte{test::slow_product(factor, std::to_integer<unsigned>(shards[j][b]))};
    }
    shards.push_back(std::move(parity));
  }
  return shards;
}

std::string spec(std::string const& matrix, std::size_t m, std::size_t k) {
  return "ida:" + std::to_string(m) + "," + std::to_string(k) + ",matrix=" + matrix;
}

// Whether the wanted shards come back from the available ones.
bool comes_back(code const& c, std::vector<test::byte_vector> const& shards,
                std::vector<std::size_t> const& available, std::vector<std::size_t> const& wanted,
                unsigned log, kernel with) {
  std::vector<std::byte const*> sources;
  std::vector<test::byte_vector> again(wanted.size(), test::byte_vector(shards.front().size() + 1));
  sources.reserve(available.size());
  for (auto const i : available) sources.push_back(shards[i].data());
  transform const map(recovery_form(c, available, wanted), log);
  map.apply(sources, test::pointers(again), shards.front().size(), with);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!std::equal(shards[wanted[i]].begin(), shards[wanted[i]].end(), again[i].begin())) return false;
    if (again[i].back() != std::byte{0}) return false;  // written past the end
  }
  return true;
}

}  // namespace

TEST_CASE("transforms restore all shards from any m, for all m + k up to 10") {
  std::size_t const most = test::fewer_if_slow(10) == 10 ? 10 : 6;
  std::uint64_t turn = 0;
  auto const all = kernels();
  for (std::string const matrix : {"vandermonde", "cauchy", "zfec"})
    for (std::size_t n = 2; n <= most; ++n)
      for (std::size_t m = 1; m < n; ++m) {
        code const c(spec(matrix, m, n - m));
        auto const shards = slow_shards(matrix, m, n - m, 67, n * m);
        for (unsigned set = 0; set < (1U << n); ++set) {
          if (static_cast<std::size_t>(std::popcount(set)) != m) continue;
          std::vector<std::size_t> available, wanted;
          for (std::size_t i = 0; i < n; ++i) ((set >> i & 1U) != 0 ? available : wanted).push_back(i);
          for (unsigned log = least_transform_log; log <= most_transform_log; ++log)
            if (!comes_back(c, shards, available, wanted, log, all[++turn % all.size()]))
              FAIL(c.to_string() << ", set " << set << ", cosets of 2^" << log);
        }
      }
}

TEST_CASE("transforms restore any wanted shards of large codes") {
  std::mt19937_64 random(2014);
  int const rounds = test::long_campaign() ? 1000 : static_cast<int>(test::fewer_if_slow(24));
  for (int round = 0; round < rounds; ++round) {
    std::string const matrix = round % 3 == 0 ? "vandermonde" : round % 3 == 1 ? "cauchy" : "zfec";
    std::size_t const n = round % 4 == 0 ? 256 : 17 + random() % 240;
    std::size_t const m = round % 8 == 0 ? n / 2 : 1 + random() % (n - 1);
    code const c(spec(matrix, m, n - m));
    auto const shards =
        slow_shards(matrix, m, n - m, 1 + random() % (round % 6 == 0 ? 9000U : 200U) / m, random());
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    if (round % 5 != 0) std::ranges::shuffle(order, random);
    std::vector<std::size_t> const available(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(m));
    std::vector<std::size_t> wanted(order.begin() + static_cast<std::ptrdiff_t>(m), order.end());
    if (round % 2 == 0) wanted.resize(1 + random() % wanted.size());
    for (auto const k : kernels())
      for (unsigned log = least_transform_log; log <= most_transform_log; ++log)
        if (!comes_back(c, shards, available, wanted, log, k))
          FAIL(c.to_string() << ", cosets of 2^" << log << ", " << to_string(k));
  }
}

TEST_CASE("a transform of large shards at any alignment gives the bytes of the matrix") {
  code const c("ida:40,24");
  auto const form = encoding_form(c);
  constexpr std::size_t size = 70'000;  // more than 4 MB in all: outputs may bypass the caches
  auto shards = std::vector<test::byte_vector>(40, test::random_bytes(size + 1, 1));
  for (std::size_t const at : {0U, 1U}) {
    std::vector<std::byte const*> sources;
    sources.reserve(shards.size());
    for (auto& s : shards) sources.push_back(s.data() + at);
    for (auto const k : kernels()) {
      std::vector<test::byte_vector> ours(24, test::byte_vector(size)), theirs = ours;
      transform(form, 3).apply(sources, test::pointers(ours), size, k);
      linear_map(form.cells()).apply(sources, test::pointers(theirs), size, k);
      CHECK(ours == theirs);
    }
  }
}

TEST_CASE("wide codes are transformed, and narrow ones and few losses are not") {
  auto const chosen = [](char const* which) { return transform::worthwhile(encoding_form(code(which))); };
  for (auto const* const narrow :
       {"ida:8,2", "ida:10,4", "ida:200,4", "ida:1,255", "parity:255", "replicate:256"})
    CHECK_FALSE(chosen(narrow));
  CHECK(chosen("ida:16,16") == 4);
  CHECK(chosen("ida:32,32") == 5);
  CHECK(chosen("ida:128,128") == 7);
  CHECK(chosen("ida:48,16,matrix=cauchy"));
  code const c("ida:128,128");
  std::vector<std::size_t> present(128), odd(128), even(128);
  std::iota(present.begin(), present.end(), 1);
  for (std::size_t i = 0; i < 128; ++i) odd[i] = 2 * i + 1, even[i] = 2 * i;
  CHECK_FALSE(transform::worthwhile(recovery_form(c, present, std::vector<std::size_t>{0})));
  CHECK(transform::worthwhile(recovery_form(c, odd, even)) == 7);
}

TEST_CASE("wrong numbers of pointers are refused") {
  transform const map(encoding_form(code("ida:8,8")), 3);
  std::vector<std::byte const*> const sources(7);
  std::vector<std::byte*> const outputs(8);
  CHECK_THROWS_AS(map.apply(sources, outputs, 64), std::invalid_argument);
}

TEST_CASE("coders of wide codes have the bytes of the definition, and update them") {
  for (auto const* const matrix : {"vandermonde", "cauchy"})
    for (auto const k : kernels()) {
      auto shards = slow_shards(matrix, 40, 30, 200, 7);
      coder const c(code(spec(matrix, 40, 30)), k);
      auto const again = slow_shards(matrix, 40, 30, 200, 8);
      auto all = shards;
      auto const p = test::pointers(all);
      for (auto& parity : std::span(all).subspan(40)) std::ranges::fill(parity, std::byte{0});
      c.encode(test::read_only(std::span(p).first(40)), std::span(p).subspan(40), 200);
      CHECK(all == shards);
      for (std::size_t j = 0; j < 40; ++j)
        c.update(j, shards[j].data(), again[j].data(), std::span(p).subspan(40), 200);
      CHECK(std::equal(all.begin() + 40, all.end(), again.begin() + 40));
    }
}
