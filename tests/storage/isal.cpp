// Exchanges data with ISA-L in both directions: each decodes what the other encodes.
#include <isa-l/erasure_code.h>

#include "catch.hpp"
#include "codes_support.hpp"
#include "skel/storage/coder.hpp"
#include "storage/linear_map.hpp"

namespace {

using unsigned_pointers = std::vector<unsigned char*>;

unsigned_pointers raw(std::vector<test::byte_vector>& shards) {
  unsigned_pointers p;
  p.reserve(shards.size());
  for (auto& s : shards) p.push_back(reinterpret_cast<unsigned char*>(s.data()));
  return p;
}

}  // namespace

TEST_CASE("ISA-L's Cauchy codes equal matrix=isa-l") {
  using namespace skel::storage;
  for (auto const& [m, k] : {std::pair{1, 1}, {9, 1}, {8, 2}, {10, 4}, {16, 16}, {5, 11}, {100, 20}}) {
    int const n = m + k;
    constexpr int size = 1531;
    std::vector<unsigned char> cells(static_cast<std::size_t>(n * m)),
        tables(static_cast<std::size_t>(32 * m * k));
    gf_gen_cauchy1_matrix(cells.data(), n, m);
    ec_init_tables(m, k, cells.data() + m * m, tables.data());
    std::vector<test::byte_vector> theirs;
    theirs.reserve(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i)
      theirs.push_back(i < m ? test::random_bytes(size, static_cast<std::uint64_t>(i))
                             : test::byte_vector(size));
    auto p = raw(theirs);
    ec_encode_data(size, m, k, tables.data(), p.data(), p.data() + m);

    coder ours(code("ida:" + std::to_string(m) + "," + std::to_string(k) + ",matrix=isa-l"));
    auto shards = theirs;
    std::vector<bool> present(shards.size(), true);
    for (int i = m; i < n; ++i) std::ranges::fill(shards[static_cast<std::size_t>(i)], std::byte{1});
    auto const q = test::pointers(shards);
    auto const data = static_cast<std::size_t>(m);
    ours.encode(test::read_only(std::span(q).first(data)), std::span(q).subspan(data), size);
    INFO(ours.which().to_string());
    CHECK(shards == theirs);

    for (int i = 0; i < std::min(m, k); ++i) {
      present[static_cast<std::size_t>(i)] = false;
      std::ranges::fill(shards[static_cast<std::size_t>(i)], std::byte{2});
    }
    CHECK(ours.rebuild(test::pointers(shards), present, size));
    CHECK(shards == theirs);
  }
}

TEST_CASE("ISA-L uses the same field") {
  bool same = true;
  for (unsigned a = 0; a < 256; ++a)
    for (unsigned b = 0; b < 256; ++b)
      same = same && skel::storage::multiply(static_cast<unsigned char>(a), static_cast<unsigned char>(b)) ==
                         gf_mul(static_cast<unsigned char>(a), static_cast<unsigned char>(b));
  CHECK(same);
}
