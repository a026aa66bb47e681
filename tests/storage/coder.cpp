// Tests the names of codes, published vectors, and that any m of m + k shards restore the data.
#include "skel/storage/coder.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>

#include "catch.hpp"
#include "codes_support.hpp"
#include "fewer.hpp"
#include "skel/error.hpp"

using namespace skel::storage;

namespace {

// Encodes shards of random data.
std::vector<test::byte_vector> encoded(coder const& c, std::size_t size, std::uint64_t seed) {
  std::vector<test::byte_vector> shards;
  for (std::size_t i = 0; i < c.which().shards(); ++i)
    shards.push_back(i < c.which().data_shards() ? test::random_bytes(size, seed + i)
                                                 : test::byte_vector(size));
  auto const p = test::pointers(shards);
  auto const m = c.which().data_shards();
  c.encode(test::read_only(std::span(p).first(m)), std::span(p).subspan(m), size);
  return shards;
}

// Erases the shards that are not present and checks that rebuild() restores them.
bool comes_back(coder& c, std::vector<test::byte_vector> const& shards, std::vector<bool> const& present) {
  auto damaged = shards;
  for (std::size_t i = 0; i < shards.size(); ++i)
    if (!present[i]) std::ranges::fill(damaged[i], std::byte{0xee});
  return c.rebuild(test::pointers(damaged), present, shards.front().size()) && damaged == shards;
}

std::string refused_code(std::string const& spec) {
  try {
    (void)code(spec);
  } catch (skel::usage_error const& bad) {
    return bad.what();
  }
  return "accepted";
}

std::vector<test::byte_vector> parity_of(std::string const& spec, std::vector<std::vector<int>> const& data) {
  coder const c{code(spec)};
  std::vector<test::byte_vector> shards;
  shards.reserve(c.which().shards());
  for (auto const& d : data) shards.push_back(test::of(d));
  shards.resize(c.which().shards(), test::byte_vector(data.front().size()));
  auto const p = test::pointers(shards);
  c.encode(test::read_only(std::span(p).first(data.size())), std::span(p).subspan(data.size()),
           data.front().size());
  shards.erase(shards.begin(), shards.begin() + static_cast<std::ptrdiff_t>(data.size()));
  return shards;
}

}  // namespace

TEST_CASE("codes are read from their names and written back") {
  for (auto const* const spec :
       {"replicate:2", "parity:9", "ida:8,2", "ida:10,4,matrix=cauchy", "ida:3,7,matrix=zfec", "ida:1,255",
        "ida:255,1", "replicate:256", "parity:255"})
    CHECK(code(spec).to_string() == spec);
  CHECK(code("ida:8,2,matrix=redset") == code("ida:8,2"));
  CHECK(code("ida:8,2,matrix=isa-l") == code("ida:8,2,matrix=cauchy"));
  CHECK_FALSE(code("ida:8,2") == code("ida:8,3"));
  CHECK(code("replicate:3").data_shards() == 1);
  CHECK(code("replicate:3").shards() == 3);
  CHECK(code("parity:9").shards() == 10);
  CHECK(refused_code("raid6:4") ==
        "unknown code \"raid6:4\"; known: replicate:COPIES, parity:SLICES, "
        "ida:DATA,PARITY[,matrix=vandermonde|cauchy|zfec], central");
  CHECK(refused_code("ida") == refused_code("raid6:4").replace(14, 7, "ida"));
  CHECK(refused_code("replicate:0") ==
        "code \"replicate:0\": copies must be a whole number from 1 to 256, found \"0\"");
  CHECK(code("replicate:1").shards() == 1);
  CHECK(code("central") == code("replicate:1"));
  CHECK(refused_code("ida:8") == refused_code("raid6:4").replace(14, 7, "ida:8"));
  CHECK(refused_code("ida:8,x") ==
        "code \"ida:8,x\": parity shards must be a whole number from 1 to 256, found \"x\"");
  CHECK(refused_code("ida:200,57") == "code \"ida:200,57\": 257 shards, expected at most 256");
  CHECK(refused_code("parity:256") == "code \"parity:256\": 257 shards, expected at most 256");
  CHECK(refused_code("ida:8,2,matrix=rs") ==
        "code \"ida:8,2,matrix=rs\": unknown option \"matrix=rs\"; known: "
        "matrix=vandermonde|cauchy|zfec|backblaze|isa-l|klauspost|redset");
  for (auto const* const bad : {"", ":", "ida:", "ida:0,2", "ida:8,0", "ida:8,2,", "ida:8,2,matrix=cauchy,x",
                                "parity:-1", "parity:9,2", "replicate:2 ", "ida:+8,2", "IDA:8,2"})
    CHECK(refused_code(bad) != "accepted");
}

TEST_CASE("parity equals that of the libraries after which the matrices are named") {
  std::vector<std::vector<int>> const data{{0, 1}, {4, 5}, {2, 3}, {6, 7}, {8, 9}};
  auto const expect = [](std::vector<std::vector<int>> const& rows) {
    std::vector<test::byte_vector> all;
    all.reserve(rows.size());
    for (auto const& r : rows) all.push_back(test::of(r));
    return all;
  };
  CHECK(parity_of("ida:5,5,matrix=klauspost", data) ==
        expect({{12, 13}, {10, 11}, {14, 15}, {90, 91}, {94, 95}}));
  CHECK(parity_of("ida:5,5,matrix=zfec", data) ==
        expect({{4, 5}, {118, 119}, {132, 133}, {18, 19}, {51, 50}}));
  CHECK(parity_of("ida:5,5,matrix=isa-l", data) ==
        expect({{97, 64}, {173, 3}, {218, 14}, {107, 35}, {110, 177}}));
  CHECK(parity_of("parity:5", data) == expect({{0 ^ 4 ^ 2 ^ 6 ^ 8, 1 ^ 5 ^ 3 ^ 7 ^ 9}}));
  CHECK(parity_of("replicate:3", {{1, 2, 3}}) == expect({{1, 2, 3}, {1, 2, 3}}));
}

TEST_CASE("every set of m of the m + k shards restores the data, for all m + k up to 16") {
  std::size_t const most = test::fewer_if_slow(16) == 16 ? 16 : 9;
  std::uint64_t patterns = 0;
  for (auto const* const matrix : {"vandermonde", "cauchy", "zfec"})
    for (std::size_t n = 2; n <= most; ++n)
      for (std::size_t m = 1; m < n; ++m) {
        coder c(code("ida:" + std::to_string(m) + "," + std::to_string(n - m) + ",matrix=" + matrix));
        auto const shards = encoded(c, 3, n * m);
        for (unsigned set = 0; set < (1U << n); ++set) {
          if (static_cast<std::size_t>(std::popcount(set)) != m) continue;
          std::vector<bool> present(n);
          for (std::size_t i = 0; i < n; ++i) present[i] = ((set >> i) & 1U) != 0;
          ++patterns;
          if (!comes_back(c, shards, present)) FAIL(c.which().to_string() << ", set " << set);
        }
      }
  // sum over n of 2^n - 2 (all sets but the empty and the full one), for three matrices
  CHECK(patterns == 3 * ((std::uint64_t{4} << (most - 1)) - 4 - 2 * (most - 1)));
}

TEST_CASE("replicas and parity restore the data from any m shards") {
  for (auto const* const spec :
       {"replicate:2", "replicate:5", "parity:1", "parity:2", "parity:9", "parity:15"}) {
    coder c{code(spec)};
    auto const shards = encoded(c, 5, 1);
    for (unsigned set = 0; set < (1U << shards.size()); ++set) {
      if (static_cast<std::size_t>(std::popcount(set)) != c.which().data_shards()) continue;
      std::vector<bool> present(shards.size());
      for (std::size_t i = 0; i < present.size(); ++i) present[i] = ((set >> i) & 1U) != 0;
      if (!comes_back(c, shards, present)) FAIL(spec << ", set " << set);
    }
  }
}

TEST_CASE("large codes survive random losses") {
  std::mt19937_64 random(2006);
  int const rounds = test::long_campaign() ? 4000 : static_cast<int>(test::fewer_if_slow(64));
  for (int round = 0; round < rounds; ++round) {
    std::size_t const n = 17 + random() % (round % 8 == 0 ? 240 : 60);
    std::size_t const m = 1 + random() % (n - 1);
    char const* const matrix = round % 3 == 0 ? "zfec" : round % 3 == 1 ? "cauchy" : "vandermonde";
    coder c(code("ida:" + std::to_string(m) + "," + std::to_string(n - m) + ",matrix=" + matrix));
    auto const shards = encoded(c, 1 + random() % 70, random());
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<bool> present(n);
    for (std::size_t i = 0; i < m; ++i) present[order[i]] = true;
    if (!comes_back(c, shards, present)) FAIL(c.which().to_string());
    present[order[0]] = false;
    auto few = shards;
    CHECK_FALSE(c.rebuild(test::pointers(few), present, shards.front().size()));
    CHECK(few == shards);  // nothing was written
  }
}

TEST_CASE("a changed block updates the parity without the other data") {
  for (auto const* const spec : {"ida:6,3", "ida:5,4,matrix=cauchy", "parity:4", "replicate:3"})
    for (auto const k : kernels()) {
      coder const c(code(spec), k);
      constexpr std::size_t size = 9000;
      auto shards = encoded(c, size, 3);
      auto const m = c.which().data_shards();
      auto const changed = m / 2;
      constexpr std::size_t from = 100, count = 5001;
      auto const before = shards[changed];
      auto const fresh = test::random_bytes(count, 99);
      std::ranges::copy(fresh, shards[changed].begin() + from);
      auto expected = shards;
      auto const p = test::pointers(expected);
      c.encode(test::read_only(std::span(p).first(m)), std::span(p).subspan(m), size);
      std::vector<std::byte*> parity;
      for (std::size_t i = m; i < shards.size(); ++i) parity.push_back(shards[i].data() + from);
      c.update(changed, before.data() + from, fresh.data(), parity, count);
      CHECK(shards == expected);
    }
}
