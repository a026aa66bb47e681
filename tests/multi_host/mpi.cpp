// multi_host over MPI: the same output for every number of ranks and every grouping; errors; repeated calls.
#include <cstdint>
#include <functional>
#include <string>

#include "mpi/check.hpp"
#include "skel/skel.hpp"
#include "slices.hpp"

namespace {

using groups::slices;
using groups::written;
using test::check;
using test::contains;

skel::multi_host_options of_size(unsigned n) {
  skel::multi_host_options o;
  o.group_size = n;
  return o;
}

skel::report run(skel::context& ctx, std::uint64_t units, slices const& what,
                 skel::multi_host_options const& how) {
  written out;
  auto const r = skel::multi_host(ctx, units, what, std::ref(out), how).report;
  if (ctx.is_root()) check(out.text == what.expected(units), "the output");
  check(r.tasks == units, "the number of units");
  return r;
}

// Tests one unit and none, more ranks than units, and several calls in a row on the same context.
void every_grouping(skel::context& ctx) {
  for (std::uint64_t const units : {0U, 1U, 2U, 7U, 40U})
    for (unsigned const n : {0U, 1U, 2U, 3U, 8U}) {
      auto const r = run(ctx, units, slices{}, of_size(n));
      if (!ctx.is_root()) continue;
      check(r.groups.has_value(), "groups in the report");
      if (units >= 7 && n == 1)
        check(r.groups->sizes.size() == std::min<std::size_t>(units, static_cast<std::size_t>(ctx.size())),
              "symmetric partition");
      if (units > 0 && n >= static_cast<unsigned>(ctx.size()))
        check(r.groups->sizes == std::vector<int>{ctx.size()}, "one group of all ranks");
    }
}

void every_measure_off(skel::context& ctx) {
  auto how = of_size(3);
  how.measures.reassign = how.measures.host_helps = false;
  how.measures.read_ahead = 0;
  run(ctx, 15, slices{}, how);
  how = of_size(2);
  how.measures.preload = how.measures.measure_power = true;
  run(ctx, 15, slices{}, how);
}

// Functions throw on the first unit, in the middle, and on the last; on the root and elsewhere.
void errors(skel::context& ctx) {
  for (auto const* where : {"read", "process"})
    for (std::uint64_t const at : {0U, 6U, 13U}) {
      slices what;
      what.fails = where;
      what.fails_at = at;
      auto const e = test::thrown_by<skel::task_error>([&] { run(ctx, 14, what, of_size(2)); }, where);
      check(contains(e.what(), std::string("no luck in ") + where), "the text of a task_error");
      // A host that starts at a unit also reads the two before it.
      if (where == std::string("read")) check(e.task() >= at && e.task() <= at + 2, "its unit");
      run(ctx, 5, slices{}, of_size(2));
    }
  for (std::uint64_t const at : {1U, 6U, 12U}) {
    auto const call = [&] {
      skel::multi_host(
          ctx, 14, slices{},
          [&](std::uint64_t unit, std::uint64_t, slices::result&&) {
            if (unit == at) throw std::runtime_error("the disk is full");
          },
          of_size(2));
    };
    auto const e = test::thrown_by<skel::sink_error>(call, "sink");
    check(e.task() == at && contains(e.what(), "the disk is full"), "the text of a sink_error");
    run(ctx, 5, slices{}, of_size(1));
  }
}

// Packets and results too large for one message.
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
    result r(begin, begin + 100000);
    r.front() += static_cast<double>(p.size() - i * 100000) * 0;
    return r;
  }
};

void large_packets(skel::context& ctx) {
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
  if (ctx.is_root()) check(right && pieces == 18, "large packets");
}

}  // namespace

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    if (argc > 1) ctx.set_threads(std::atoi(argv[1]));
    every_grouping(ctx);
    every_measure_off(ctx);
    errors(ctx);
    large_packets(ctx);
  });
}
