#include "setup.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/format.hpp"
#include "call/power_probe.hpp"
#include "call/user_code.hpp"
#include "engine/engine.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {
constexpr double most_left_alone = 1e6;  // units
}  // namespace

group_setup::group_setup(context const& ctx, std::uint64_t number, multi_host_options const& with,
                         int root_rank)
    : options(with), units(number), size(ctx.size()), rank(ctx.rank()), root(root_rank) {
  check_choices();
}

void group_setup::check_choices() const {
  constexpr auto where = "multi_host";
  require_count(where, "the number of units", units);
  require_count(where, "group_size", options.group_size);
  require_count(where, "max_losses_per_task", options.max_losses_per_task);
  require_count(where, "read_ahead", options.paper.read_ahead);
  require_count(where, "least_pieces", options.paper.least_pieces, 1);
  require_count(where, "threshold", options.paper.threshold);
  require_count(where, "buffers", options.paper.buffers);
  require_count(where, "results_level", options.paper.results_level);
  auto const ranks = static_cast<std::size_t>(size);
  if (!options.power.empty() && options.power.size() != ranks)
    throw usage_error(detail::format("multi_host: expected {1} powers, one per rank, found {0}",
                                     options.power.size(), ranks));
  if (std::any_of(options.power.begin(), options.power.end(),
                  [](double p) { return !(p > 0) || !std::isfinite(p); }))
    throw usage_error("multi_host: the power of a rank must be a positive number");
  if (!options.power.empty() && options.paper.measure_power)
    throw usage_error("multi_host: power and measure_power exclude each other");
  if (options.paper.preload && options.group_size == 0)
    throw usage_error(
        "multi_host: preload requires a group_size: the trial that finds a size cannot preload");
  if (!(options.paper.packet_seconds >= 0))
    throw usage_error("multi_host: packet_seconds must be at least 0 seconds, 0 for no limit");
  if (!(options.paper.reassign_down_to >= 0) || options.paper.reassign_down_to > most_left_alone)
    throw usage_error(detail::format("multi_host: reassign_down_to must be 0 to {} units, found {}",
                                     most_left_alone, options.paper.reassign_down_to));
  if (!(options.sink_cost >= 0) || !std::isfinite(options.sink_cost))
    throw usage_error(detail::format("multi_host: sink_cost must be a finite number, at least 0, found {}",
                                     options.sink_cost));
}

char const* group_setup::results() const {
  switch (options.results) {
    case unit_results::in_order:
      return "in_order";
    case unit_results::as_they_come:
      return "as_they_come";
    default:
      return "on_hosts";
  }
}

void group_setup::describe(call_description& call, group_work const& work) const {
  auto const& o = options;
  call.add("units", units)
      .add("group_size", o.group_size)
      .add("reassign", o.paper.reassign)
      .add("split_shares", o.paper.split_shares)
      .add("reassign_down_to", o.paper.reassign_down_to)
      .add("host_helps", o.paper.host_helps)
      .add("preload", o.paper.preload)
      .add("measure_power", o.paper.measure_power)
      .add("results", results())
      .add("read_ahead", o.paper.read_ahead)
      .add("sink_cost", o.sink_cost)
      .add_types("types", work.types())
      .add_types("job", work.function());
  if (!o.power.empty()) call.add("power", detail::join(o.power, " "));
}

role::group_worker_config group_setup::worker(engine& of, std::uint64_t call_hash, unsigned threads) const {
  auto const& o = options;
  role::group_worker_config w{rank, root, call_hash, threads, 0, std::nullopt, o.paper.results_level};
  if (o.paper.early_requests) w.threshold = o.paper.threshold;
  if (measures_power()) {
    auto const known = of.wires().carrier().power();
    constexpr double least = 1e-3;  // 0 would mean: not measured
    w.power = std::max(least, (known ? *known : measured_power()) * threads);
  }
  return w;
}

std::uint64_t group_setup::left_alone() const {
  return static_cast<std::uint64_t>(
      std::llround(options.paper.reassign_down_to * static_cast<double>(role::whole_unit)));
}

role::group_host_config group_setup::host() const {
  auto const& o = options;
  auto const policy = o.paper.shrinking ? schedule::guided{o.paper.least_pieces}.policy()
                                        : schedule::first_come{o.paper.least_pieces}.policy();
  return {rank, root, policy, o.paper.read_ahead, o.paper.buffers, left_alone(), o.max_losses_per_task};
}

// A trial costs each rank that joins a larger group up to the unit it has begun, so it needs long shares.
// Without one, a few ranks per host are best where they need not wait for its first unit, unless hosts read
// for longer than a group of four processes. Where they wait, each rank for itself is.
unsigned group_setup::group_size(group_work const& work) const {
  constexpr unsigned units_per_rank = 4, without_trial = 4;
  bool const is_short = units < std::uint64_t{units_per_rank} * static_cast<unsigned>(size);
  return options.group_size == 0 && is_short && work.begins_in_parts() ? without_trial : options.group_size;
}

role::group_arbiter_config group_setup::arbiter(group_work const& work) const {
  auto const& o = options;
  return {size,
          units,
          group_size(work),
          o.power,
          measures_power(),
          o.paper.reassign,
          o.paper.split_shares,
          o.paper.host_helps,
          o.paper.preload,
          left_alone(),
          sink_on_hosts() ? 0 : o.sink_cost,
          o.paper.read_ahead,
          o.max_losses_per_task};
}

}  // namespace skel::detail
