// ring_steal: counts, consecutive calls, exceptions, early ends.
#include "skel/ring_steal.hpp"

#include <atomic>
#include <numeric>
#include <stop_token>

#include "suite.hpp"

namespace suite::steal {

// Cannot be sent when it is complete.
struct unsendable {
  std::uint64_t nodes = 0;
  std::string note{};  // otherwise it would travel as its bytes
  template <class Archive>
  void serialize(Archive& archive, unsigned /*version*/) {
    archive& nodes& note;
    if (Archive::is_saving::value && nodes == all) throw std::runtime_error("too heavy");
  }
  static constexpr std::uint64_t all = 364;  // nodes(5)
};

}  // namespace suite::steal

template <>
inline constexpr bool skel::exact_merge<suite::steal::unsendable> = true;

namespace suite::steal {

using namespace std::chrono_literals;

namespace {

struct node {
  int depth = 0;
  std::uint64_t index = 0;  // the path as ternary digits; deep trees keep only the last ones
};

// Three children per node, so the tree has (3^(depth + 1) - 1) / 2 nodes.
struct ternary {
  using task = node;
  using result = std::uint64_t;
  int depth = 9;
  std::int64_t throws_at = -1;  // the index of a node on the deepest level
  int rank = 0;
  int only_on = -1;  // this rank throws in any task
  std::chrono::microseconds time{};

  void run(node const& n, skel::spawner<node>& more, std::uint64_t& sum) const {
    if (rank == only_on) throw std::runtime_error("not here");
    if (only_on >= 0 && n.depth == 7) spend(200us);  // gives that rank time to steal
    if (time > 0us) spend(time);
    ++sum;
    if (n.depth == depth) {
      if (throws_at >= 0 && n.index == static_cast<std::uint64_t>(throws_at))
        throw std::runtime_error("no luck");
      return;
    }
    for (int i = 0; i < 3; ++i) more.emplace(node{n.depth + 1, n.index * 3 + static_cast<unsigned>(i)});
  }
  std::uint64_t merge(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

auto root_node() {
  return skel::on_root([] { return std::vector<node>{node{}}; });
}

constexpr std::uint64_t nodes(int depth) {
  std::uint64_t all = 1;
  for (int i = 0; i <= depth; ++i) all *= 3;
  return (all - 1) / 2;
}

void next_call_works(skel::context& ctx) {
  CHECK(skel::ring_steal(ctx, root_node(), ternary{4}).value == nodes(4));
}

}  // namespace

TEST_CASE("every node is counted once, and every rank has the number", "[steal]") {
  on_ranks([](skel::context& ctx) {
    for (auto const take : {skel::schedule::steal_size::half, skel::schedule::steal_size::one})
      for (int depth : {0, 1, 5, 11}) {
        auto const all =
            skel::ring_steal(ctx, root_node(), ternary{depth}, skel::schedule::stealing{.take = take});
        CHECK(all.value == nodes(depth));
        CHECK(all.report.tasks == nodes(depth));
        CHECK(all.report.skeleton == "ring_steal");
        CHECK(all.report.steals.has_value());
        if (ctx.is_root()) CHECK(all.report.per_rank.size() == static_cast<std::size_t>(ctx.size()));
      }
    usable(ctx);
    CHECK(skel::ring_steal(ctx, root_node(), ternary{7}).value == nodes(7));
  });
}

TEST_CASE("a task that throws fails the call on every rank, and the next call works", "[steal]") {
  on_ranks([](skel::context& ctx) {
    int const last = 19682;  // 3^9 - 1
    for (int const at : {0, last / 2, last}) {
      auto const e = thrown_by<skel::task_error>(ctx, [&] {
        skel::ring_steal(ctx, root_node(), ternary{9, at});
      });
      CHECK(e.text() == "no luck");
      next_call_works(ctx);
    }
    for (int const rank : {0, 1}) {  // the root throws in the very first task
      if (rank == ctx.size()) break;
      ternary const job{9, -1, ctx.rank(), rank};
      CHECK(thrown_by<skel::task_error>(ctx, [&] { skel::ring_steal(ctx, root_node(), job); }).rank() ==
            rank);
      next_call_works(ctx);
    }
  });
}

namespace {

// Parts of its value can be sent, the whole cannot.
struct heavy {
  using task = node;
  using result = unsendable;
  void run(node const& n, skel::spawner<node>& more, unsendable& sum) const {
    ++sum.nodes;
    if (n.depth < 5)
      for (unsigned i = 0; i < 3; ++i) more({n.depth + 1, n.index * 3 + i});
  }
  unsendable merge(unsendable a, unsendable const& b) const { return {a.nodes + b.nodes, {}}; }
};

}  // namespace

TEST_CASE("a value that cannot be packed fails the call on every rank", "[steal]") {
  on_ranks([](skel::context& ctx) {
    if (ctx.size() == 1) return;
    auto const e = thrown_by<skel::task_error>(ctx, [&] { skel::ring_steal(ctx, root_node(), heavy{}); });
    CHECK(e.text() == "too heavy");
    next_call_works(ctx);
  });
}

TEST_CASE("a rank that steals in another way is named", "[steal]") {
  on_ranks([](skel::context& ctx) {
    if (ctx.size() == 1) return;
    bool const other = ctx.rank() == ctx.size() - 1;
    auto const e = thrown_by<skel::protocol_error>(ctx, [&] {
      skel::ring_steal(ctx, root_node(), ternary{9},
                       skel::schedule::stealing{.take = other ? skel::schedule::steal_size::one
                                                              : skel::schedule::steal_size::half});
    });
    CHECK(contains(e.what(), "rank " + std::to_string(ctx.size() - 1) + " made another skeleton call"));
    next_call_works(ctx);
  });
}

TEST_CASE("a search that ends at its time limit has the result of every task that ran", "[steal]") {
  on_ranks([](skel::context& ctx) {
    skel::ring_steal_options options;
    options.time_limit_seconds = 0.05;
    auto const all = skel::ring_steal(ctx, root_node(), ternary{.depth = 40, .time = 20us}, options);
    CHECK(all.report.stopped_early);
    CHECK(all.value > 0);
    CHECK(all.value == all.report.tasks);
    next_call_works(ctx);
  });
}

namespace {

// Only the last rank requests a stop, at a node it runs itself.
struct first_solution {
  using task = node;
  using result = std::uint64_t;
  bool stops = false;
  std::atomic<std::uint64_t>* started = nullptr;
  std::stop_source found{};
  static constexpr result solution = std::uint64_t{1} << 40;

  void run(node const& n, skel::spawner<node>& more, result& sum) const {
    ++*started;
    spend(20us);
    ++sum;
    if (stops && n.depth > 20 && !found.stop_requested()) {
      sum += solution;
      std::stop_source(found).request_stop();
    }
    for (unsigned i = 0; i < 3; ++i) more({n.depth + 1, n.index * 3 + i});
  }
  result merge(result a, result b) const { return a + b; }
};

}  // namespace

TEST_CASE("a search that stops at its first solution returns it on every rank", "[steal]") {
  for (auto const take : {skel::schedule::steal_size::half, skel::schedule::steal_size::one})
    on_ranks([&](skel::context& ctx) {
      std::atomic<std::uint64_t> started = 0;
      first_solution const search{ctx.rank() == ctx.size() - 1, &started};
      skel::ring_steal_options options;
      options.stop = search.found.get_token();
      auto const all =
          skel::ring_steal(ctx, root_node(), search, skel::schedule::stealing{.take = take}, options);
      CHECK(all.report.stopped_early);
      CHECK(all.value >= first_solution::solution);
      CHECK(all.value % first_solution::solution == all.report.tasks);
      ctx.require_same("the result", std::to_string(all.value));
      auto const began = gathered(ctx, started.load());
      for (std::size_t r = 0; r < began.size(); ++r) CHECK(all.report.per_rank.at(r).tasks == began[r]);
      auto const ran = std::accumulate(began.begin(), began.end(), std::uint64_t{0});
      if (ctx.is_root()) CHECK(all.report.tasks == ran);
      next_call_works(ctx);
    });
}

}  // namespace suite::steal
