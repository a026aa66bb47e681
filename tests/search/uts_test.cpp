// UTS's node generator, compared with the published counts and an independent generator.
#include <algorithm>

#include "catch.hpp"
#include "jobs.hpp"
#include "sequential.hpp"
#include "skel/error.hpp"

namespace {

using namespace search;

tree_counts by_ring_steal(uts_parameters const& p, int threads) {
  skel::context_options options;
  options.threads = threads;
  skel::context ctx(options);
  tree_search const job{uts_tree(p)};
  auto const open = [&] { return std::vector<uts_node>{job.tree.root()}; };
  auto const found = skel::ring_steal(ctx, skel::on_root(open), job);
  CHECK(found.report.tasks == found.value.nodes);
  return found.value;
}

}  // namespace

TEST_CASE("a root is the SHA-1 of zeroes and the seed, a child that of its parent and its number") {
  // The first bytes, as computed by sha1sum.
  auto const begins = [](uts_node const& n, std::array<std::uint8_t, 4> const& with) {
    return std::equal(with.begin(), with.end(), n.state.begin());
  };
  auto const root = uts_tree(parse_tree("T1").parameters).root();
  CHECK(root.depth == 0);
  CHECK(begins(root, {0xc6, 0x98, 0x8a, 0xb7}));
  CHECK(begins(uts_tree::child(root, 3), {0x4e, 0x62, 0xc7, 0x78}));
  CHECK(uts_tree::child(root, 3).depth == 1);
}

TEST_CASE("the published trees have the published counts") {
  for (auto const& t : known_trees()) {
    if (!t.published || t.published->nodes > 10000000) continue;
    INFO(t.name);
    CHECK(traverse(t.parameters) == *t.published);
  }
}

TEST_CASE("three methods agree on every type and shape of tree") {
  for (char const* spec :
       {"geometric:shape=linear,d=8,b=4,r=1", "geometric:shape=fixed,d=5,b=4,r=15",
        "geometric:shape=cyclic,d=6,b=3,r=15", "geometric:shape=expdec,d=8,b=3,r=4",
        "binomial:b=100,q=0.12,m=8,r=5", "binomial:b=2000,q=0.4,m=2,r=6",
        "hybrid:shape=linear,d=8,b=4,q=0.2,m=4,r=7", "hybrid:shape=fixed,d=6,b=4,q=0.24,m=4,f=0.8,r=8"}) {
    auto const p = parse_tree(spec).parameters;
    INFO(spec);
    auto const found = traverse(p);
    CHECK(found.nodes > 10);
    CHECK(traverse_independently(p) == found);
    CHECK(by_ring_steal(p, 1) == found);
    CHECK(by_ring_steal(p, 3) == found);
  }
}

TEST_CASE("invalid trees are refused") {
  struct wrong {
    char const* spec;
    char const* text;
  };
  for (auto const& w :
       {wrong{"T9", "unknown tree \"T9\"; known: T1, T2, T3, T4, T5, T1L, T3L"},
        wrong{"geometric:shape=round", "unknown shape \"round\" (known: linear, expdec, cyclic, fixed)"},
        wrong{"geometric:x=1", "unknown key \"x\" (known: shape, d, b, q, m, f, r)"},
        wrong{"geometric:b=many", "b must be a number from 0 to 1e+06, found \"many\""},
        wrong{"geometric:d", "expected key=value, found \"d\""},
        wrong{"geometric:d=3,d=4", "found d twice, expected once"},
        wrong{"geometric:d=0", "d must be at least 1"},
        wrong{"binomial:q=0.5,m=2", "q times m must be less than 1"},
        wrong{"hybrid:m=8", "q times m must be less than 1"},
        wrong{"geometric:shape=expdec,b=0.9", "b must be at least 1"}}) {
    INFO(w.spec);
    try {
      static_cast<void>(parse_tree(w.spec));
      FAIL("accepted");
    } catch (skel::usage_error const& refused) {
      CHECK(std::string(refused.what()).find(w.text) != std::string::npos);
    }
  }
}
