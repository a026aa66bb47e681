// The worked example of [Hyper, §6]: nine edges on four processors, with the vectors of roots
// before and after each of the two exchanges.
#include "catch.hpp"
#include "job.hpp"
#include "reference.hpp"

using namespace components;

namespace {

using vector = std::vector<node>;

// Converts the paper's numbering, which starts at 1.
vector from_one(roots r) {
  vector v;
  for (auto const label : r.labels()) v.push_back(label + 1);
  return v;
}

edge_part example() {
  std::vector<edge> edges{{1, 2}, {2, 3}, {1, 3}, {4, 5}, {5, 6}, {6, 7}, {4, 7}, {5, 7}, {8, 9}};
  for (auto& e : edges) --e.u, --e.v;
  return reference::part_of(edges);
}

// The solution as it arrives at the partner.
roots sent(roots const& r) {
  std::vector<std::byte> bytes;
  skel::pack(r, bytes);
  std::span<std::byte const> in(bytes);
  return skel::unpack<roots>(in);
}

}  // namespace

TEST_CASE("the paper's example, stage by stage") {
  auto const how = GENERATE(exchange::cheapest, exchange::dense);
  auto const local = GENERATE(local_method::union_find, local_method::dfs);
  components_job const job{.nodes = 9, .local = local, .how = how};

  auto const [left, right] = job.divide(example());
  auto const [first, second] = job.divide(left);
  auto const [third, fourth] = job.divide(right);
  std::array<roots, 4> p{job.solve(first), job.solve(second), job.solve(third), job.solve(fourth)};
  CHECK(from_one(p[0]) == vector{1, 1, 1, 4, 5, 6, 7, 8, 9});
  CHECK(from_one(p[1]) == vector{1, 2, 3, 4, 4, 4, 7, 8, 9});
  CHECK(from_one(p[2]) == vector{1, 2, 3, 4, 5, 4, 4, 8, 9});
  CHECK(from_one(p[3]) == vector{1, 2, 3, 4, 5, 6, 5, 8, 8});

  std::array<roots, 4> const q{job.combine(p[0], sent(p[1])), job.combine(p[1], sent(p[0])),
                               job.combine(p[2], sent(p[3])), job.combine(p[3], sent(p[2]))};
  for (auto const i : {0U, 1U}) CHECK(from_one(q[i]) == vector{1, 1, 1, 4, 4, 4, 7, 8, 9});
  for (auto const i : {2U, 3U}) CHECK(from_one(q[i]) == vector{1, 2, 3, 4, 4, 4, 4, 8, 8});

  for (auto const i : {0U, 1U, 2U, 3U})
    CHECK(from_one(job.combine(q[i], sent(q[i ^ 2]))) == vector{1, 1, 1, 4, 4, 4, 4, 8, 8});
}

TEST_CASE("division down to single edges gives the same result") {
  components_job const job{.nodes = 9};
  auto const solve = [&](auto&& self, edge_part const& part) -> roots {
    if (job.trivial(part)) return job.conquer(part);
    auto const [a, b] = job.divide(part);
    return job.combine(self(self, a), self(self, b));
  };
  CHECK(from_one(solve(solve, example())) == vector{1, 1, 1, 4, 4, 4, 4, 8, 8});
}
