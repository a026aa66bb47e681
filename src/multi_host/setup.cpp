#include "setup.hpp"

#include <algorithm>
#include <cmath>

#include "base/format.hpp"
#include "call/power_probe.hpp"
#include "call/user_code.hpp"
#include "engine/context_access.hpp"
#include "engine/engine.hpp"
#include "skel/error.hpp"

namespace skel::detail {

group_setup::group_setup(context const& ctx, std::uint64_t number, multi_host_options const& with,
                         int root_rank)
    : options(with), units(number), size(ctx.size()), rank(ctx.rank()), root(root_rank) {
  check_choices();
  // A team may be given other work in another attempt.
  remembers = context_access::is_observed(ctx) && !sink_on_hosts();
  recalls = remembers && context_access::engine_of(ctx).job.attempt > 1;
}

void group_setup::check_choices() const {
  constexpr auto where = "multi_host";
  require_count(where, "the number of units", units);
  require_count(where, "group_size", options.group_size);
  require_count(where, "max_losses_per_task", options.max_losses_per_task);
  require_count(where, "read_ahead", options.measures.read_ahead);
  auto const ranks = static_cast<std::size_t>(size);
  if (!options.power.empty() && options.power.size() != ranks)
    throw usage_error(detail::format("multi_host: expected {1} powers, one per rank, found {0}",
                                     options.power.size(), ranks));
  if (std::any_of(options.power.begin(), options.power.end(),
                  [](double p) { return !(p > 0) || !std::isfinite(p); }))
    throw usage_error("multi_host: the power of a rank must be a positive number");
  if (!options.power.empty() && options.measures.measure_power)
    throw usage_error("multi_host: power and measure_power exclude each other");
  if (options.measures.preload && options.group_size == 0)
    throw usage_error(
        "multi_host: preload requires a group_size: the trial that finds a size cannot preload");
  if (!(options.sink_cost >= 0) || !std::isfinite(options.sink_cost))
    throw usage_error(detail::format("multi_host: sink_cost must be a finite number, at least 0, found {}",
                                     options.sink_cost));
}

char const* group_setup::results() const {
  switch (options.results) {
    case multi_host_options::unit_results::in_order:
      return "in_order";
    case multi_host_options::unit_results::as_they_come:
      return "as_they_come";
    default:
      return "on_hosts";
  }
}

void group_setup::describe(call_description& call, group_work const& work) const {
  auto const& o = options;
  call.add("units", units)
      .add("group_size", o.group_size)
      .add("reassign", o.measures.reassign)
      .add("split_shares", o.measures.split_shares)
      .add("host_helps", o.measures.host_helps)
      .add("preload", o.measures.preload)
      .add("measure_power", o.measures.measure_power)
      .add("results", results())
      .add("read_ahead", o.measures.read_ahead)
      .add("sink_cost", o.sink_cost)
      .add_types("types", work.types())
      .add_types("job", work.function());
  if (!o.power.empty()) call.add("power", detail::join(o.power, " "));
}

role::group_member_config group_setup::member_config(engine& of, std::uint64_t call_hash,
                                                     unsigned threads) const {
  role::group_member_config w{rank, root, call_hash, threads};
  if (measures_power()) {
    auto const known = of.wires().carrier().power();
    constexpr double least = 1e-3;  // 0 would mean: not measured
    w.power = std::max(least, (known ? *known : measured_power()) * threads);
  }
  return w;
}

role::group_host_config group_setup::host() const {
  return {.self = rank,
          .root = root,
          .read_ahead = options.measures.read_ahead,
          .most_losses = options.max_losses_per_task};
}

// A trial costs each rank that joins a larger group up to the unit it has begun, so it needs long shares.
// Without one, a few ranks per host are best where they need not wait for its first unit, unless hosts read
// for longer than a group of four processes. Where they wait, each rank for itself is.
unsigned group_setup::group_size(group_work const& work) const {
  constexpr unsigned units_per_rank = 4, without_trial = 4;
  bool const is_short = units < std::uint64_t{units_per_rank} * static_cast<unsigned>(size);
  return options.group_size == 0 && is_short && work.begins_in_parts() ? without_trial : options.group_size;
}

role::group_root_config group_setup::root_config(group_work const& work) const {
  auto const& o = options;
  return {size,
          units,
          group_size(work),
          o.power,
          measures_power(),
          {o.measures.reassign, o.measures.split_shares, o.measures.host_helps, o.measures.preload},
          role::default_left_alone,
          sink_on_hosts() ? 0 : o.sink_cost,
          o.measures.read_ahead,
          o.max_losses_per_task,
          recalls};
}

}  // namespace skel::detail
