// GF(2^8) and matrices over it, compared with bitwise arithmetic and published values.
#include <string>

#include "catch.hpp"
#include "codes_support.hpp"
#include "storage/cauchy.hpp"

using namespace skel::storage;

TEST_CASE("the products of all pairs equal those of polynomials modulo 0x11d") {
  bool products = true, inverses = true;
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b)
      products =
          products && multiply(static_cast<element>(a), static_cast<element>(b)) == test::slow_product(a, b);
    if (a != 0) inverses = inverses && test::slow_product(a, inverse(static_cast<element>(a))) == 1;
  }
  CHECK(products);
  CHECK(inverses);
  CHECK(inverse(element{0}) == 0);
  for (unsigned const a : {0U, 1U, 2U, 3U, 29U, 255U}) {
    unsigned expected = 1;
    for (unsigned n = 0; n < 520; ++n) {
      REQUIRE(power(static_cast<element>(a), n) == expected);
      expected = test::slow_product(expected, a);
    }
  }
  CHECK(power(0, 0) == 1);
}

TEST_CASE("parity rows equal those of the libraries after which they are named") {
  auto const row = [](char const* spec, std::size_t i) {
    auto const all = encoding_form(code(spec)).cells();
    auto const r = all.row(i);
    return std::vector<int>(r.begin(), r.end());
  };
  CHECK(row("ida:5,5", 0) == std::vector{7, 7, 6, 6, 1});
  CHECK(row("ida:5,5,matrix=zfec", 0) == std::vector{84, 116, 231, 216, 30});
  CHECK(row("ida:5,5,matrix=cauchy", 0) == std::vector{167, 71, 186, 122, 1});
  CHECK(row("ida:4,2", 0) == std::vector{27, 28, 18, 20});
  CHECK(row("ida:4,2", 1) == std::vector{28, 27, 20, 18});
}

TEST_CASE("the largest codes have matrices") {
  for (auto const* const how : {"vandermonde", "cauchy", "zfec"})
    for (std::size_t const m : {1U, 128U, 255U}) {
      auto const spec = "ida:" + std::to_string(m) + "," + std::to_string(256 - m) + ",matrix=" + how;
      auto const p = encoding_form(code(spec)).cells();
      CHECK(p.rows() == 256 - m);
      bool none_zero = true;  // with a zero, some sets of m shards would not suffice
      for (std::size_t i = 0; i < p.rows(); ++i)
        for (auto const cell : p.row(i)) none_zero = none_zero && cell != 0;
      CHECK(none_zero);
    }
}
