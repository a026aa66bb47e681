// multi_host: the same output for every number of ranks and every grouping; errors; repeated calls.
#include "skel/multi_host.hpp"

#include <algorithm>

#include "slices.hpp"
#include "suite.hpp"

namespace suite::hosts {

using namespace std::chrono_literals;
using groups::slices;

namespace {

skel::multi_host_options of_size(unsigned n) {
  skel::multi_host_options o;
  o.group_size = n;
  return o;
}

skel::report run(skel::context& ctx, std::uint64_t units, slices const& what,
                 skel::multi_host_options const& how) {
  groups::written out;
  auto const r = skel::multi_host(ctx, units, what, std::ref(out), how).report;
  if (ctx.is_root()) CHECK((out.text == what.expected(units)));
  CHECK(r.tasks == units);
  return r;
}

}  // namespace

TEST_CASE("every grouping gives the same output, also of one unit and of none", "[multi_host]") {
  for (unsigned const n : {0U, 1U, 2U, 3U, 8U}) {
    INFO("groups of " << n);
    on_ranks([&](skel::context& ctx) {
      auto const size = static_cast<std::size_t>(ctx.size());
      for (std::uint64_t const units : {0U, 1U, 2U, 7U, 9U, 40U}) {
        auto const r = run(ctx, units, slices{}, of_size(n));
        if (!ctx.is_root()) continue;
        CHECK(r.groups.has_value());
        if (units >= 7 && n == 1) CHECK(r.groups->sizes.size() == std::min<std::size_t>(units, size));
        if (units > 0 && n >= size) CHECK((r.groups->sizes == std::vector<int>{ctx.size()}));
      }
    });
  }
}

TEST_CASE("the output is the same with and without each measure", "[multi_host]") {
  using options = skel::multi_host_options;
  std::pair<char const*, void (*)(options&, int ranks)> const all[] = {
      {"reassign", [](options& o, int) { o.measures.reassign = false; }},
      {"split_shares", [](options& o, int) { o.measures.split_shares = false; }},
      {"host_helps", [](options& o, int) { o.measures.host_helps = false; }},
      {"read_ahead", [](options& o, int) { o.measures.read_ahead = 0; }},
      {"read_ahead 5", [](options& o, int) { o.measures.read_ahead = 5; }},
      {"preload", [](options& o, int) { o.measures.preload = true; }},
      {"sink_cost", [](options& o, int) { o.sink_cost = 0.3; }},
      {"power", [](options& o, int n) { for (int r = 0; r < n; ++r) o.power.push_back(1 + r % 3); }},
      {"measured power", [](options& o, int) { o.measures.measure_power = true; }},
      {"preload and power", [](options& o, int) { o.measures.preload = o.measures.measure_power = true; }},
      {"all off", [](options& o, int) {
         o.measures.reassign = o.measures.host_helps = false;
         o.measures.read_ahead = 0;
       }}};
  for (auto const& [name, change] : all)
    for (unsigned const size : {2U, 3U}) {
      INFO(name << ", groups of " << size);
      on_ranks([&](skel::context& ctx) {
        auto how = of_size(size);
        change(how, ctx.size());
        slices what;
        what.process_time = 20us;
        run(ctx, 20, what, how);
      });
    }
}

TEST_CASE("what a unit's functions throw ends the call on every rank, and the next call works",
          "[multi_host]") {
  for (std::string const where : {"read", "process", "cut"})
    for (std::uint64_t const at : {0U, 6U, 13U}) {
      INFO(where << ' ' << at);
      on_ranks([&](skel::context& ctx) {
        slices what;
        what.fails = where;
        what.fails_at = at;
        auto const e = thrown_by<skel::task_error>(ctx, [&] { run(ctx, 14, what, of_size(2)); });
        CHECK(contains(e.what(), "no luck in " + where));
        // A host that starts at a unit also reads the two before it.
        if (where == "read") CHECK(e.task() >= at);
        if (where == "read") CHECK(e.task() <= at + 2);
        run(ctx, 5, slices{}, of_size(2));
      });
    }
}

TEST_CASE("a sink of a multi_host that throws ends the call", "[multi_host]") {
  for (std::uint64_t const at : {1U, 6U, 12U})
    on_ranks([&](skel::context& ctx) {
      auto const sink = [&](std::uint64_t unit, std::uint64_t, slices::result&&) {
        if (unit == at) throw std::runtime_error("the disk is full");
      };
      auto const e =
          thrown_by<skel::sink_error>(ctx, [&] { skel::multi_host(ctx, 14, slices{}, sink, of_size(2)); });
      CHECK(e.task() == at);
      CHECK(contains(e.what(), "the disk is full"));
      run(ctx, 5, slices{}, of_size(1));
    });
}

namespace {

// Packets and results of a megabyte.
struct large {
  using carried = int;
  using unit = std::vector<double>;
  using packet = std::vector<double>;
  using result = std::vector<double>;
  std::uint64_t read(std::uint64_t number, carried&, unit& into) const {
    into.assign(300000, static_cast<double>(number));
    return 3;
  }
  packet cut(unit const& from, std::uint64_t first, std::uint64_t count) const {
    return {from.begin() + static_cast<std::ptrdiff_t>(first * 100000),
            from.begin() + static_cast<std::ptrdiff_t>((first + count) * 100000)};
  }
  result process(packet const& p, std::size_t i) const {
    auto const begin = p.begin() + static_cast<std::ptrdiff_t>(i * 100000);
    return {begin, begin + 100000};
  }
};

}  // namespace

TEST_CASE("large packets and results travel", "[multi_host]") {
  on_ranks([](skel::context& ctx) {
    std::uint64_t pieces = 0;
    bool right = true;
    skel::multi_host(
        ctx, 6, large{},
        [&](std::uint64_t unit, std::uint64_t piece, large::result&& r) {
          right = right && unit == pieces / 3 && piece == pieces % 3 && r.size() == 100000 &&
                  r.back() == static_cast<double>(unit);
          ++pieces;
        },
        of_size(2));
    CHECK(right);
    if (ctx.is_root()) CHECK(pieces == 18);
  });
}

}  // namespace suite::hosts
