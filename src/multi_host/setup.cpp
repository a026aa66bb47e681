// A multi_host call begins: choices, roles, and the size of groups where it has to be found.
#include <algorithm>
#include <cmath>

#include "base/format.hpp"
#include "call/power_probe.hpp"
#include "call/user_code.hpp"
#include "engine/context_access.hpp"
#include "run.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {
// Pieces of the first units that the root processes before it knows what they cost.
constexpr std::uint64_t trial_pieces = 4;
constexpr double most_left_alone = 1e6;  // units
}  // namespace

group_run::group_run(context& ctx, std::uint64_t units, group_work& work, multi_host_options const& options)
    : peer_run(ctx, call_options_of(options, "multi_host"), "multi_host"),
      units_(units),
      work_(work),
      options_(options),
      sink_on_hosts_(options.results == unit_results::on_hosts),
      state_(threads_) {
  check_choices();
  describe_call();
  set_up_roles();
}

group_run::~group_run() = default;

void group_run::check_choices() const {
  constexpr auto where = "multi_host";
  require_count(where, "the number of units", units_);
  require_count(where, "group_size", options_.group_size);
  require_count(where, "max_losses_per_task", options_.max_losses_per_task);
  require_count(where, "read_ahead", options_.paper.read_ahead);
  require_count(where, "least_pieces", options_.paper.least_pieces, 1);
  require_count(where, "threshold", options_.paper.threshold);
  require_count(where, "buffers", options_.paper.buffers);
  require_count(where, "results_level", options_.paper.results_level);
  auto const ranks = static_cast<std::size_t>(ctx_.size());
  if (!options_.power.empty() && options_.power.size() != ranks)
    throw usage_error(
        detail::format("multi_host: power has {} numbers for {} ranks", options_.power.size(), ranks));
  if (std::any_of(options_.power.begin(), options_.power.end(),
                  [](double p) { return !(p > 0) || !std::isfinite(p); }))
    throw usage_error("multi_host: the power of a rank must be a positive number");
  if (!options_.power.empty() && options_.paper.measure_power)
    throw usage_error("multi_host: power is given and to be measured; choose one of them");
  if (options_.paper.preload && options_.group_size == 0)
    throw usage_error(
        "multi_host: preload needs a group_size: while the size is being found, nothing is preloaded");
  if (!(options_.paper.packet_seconds >= 0))
    throw usage_error("multi_host: packet_seconds must be a number of seconds, 0 for no limit");
  if (!(options_.paper.reassign_down_to >= 0) || options_.paper.reassign_down_to > most_left_alone)
    throw usage_error(detail::format("multi_host: reassign_down_to must be 0 to {} units, got {}",
                                     most_left_alone, options_.paper.reassign_down_to));
  if (!(options_.sink_cost >= 0) || !std::isfinite(options_.sink_cost))
    throw usage_error(
        detail::format("multi_host: sink_cost must be a number from 0 on, got {}", options_.sink_cost));
}

void group_run::describe_call() {
  auto const& o = options_;
  call_.add("units", units_)
      .add("group_size", o.group_size)
      .add("reassign", o.paper.reassign)
      .add("split_shares", o.paper.split_shares)
      .add("reassign_down_to", o.paper.reassign_down_to)
      .add("host_helps", o.paper.host_helps)
      .add("preload", o.paper.preload)
      .add("measure_power", o.paper.measure_power)
      .add("results", o.results == unit_results::in_order       ? "in_order"
                      : o.results == unit_results::as_they_come ? "as_they_come"
                                                                : "on_hosts")
      .add("read_ahead", o.paper.read_ahead)
      .add("sink_cost", o.sink_cost)
      .add_types("types", work_.types())
      .add_types("job", work_.function());
  if (!o.power.empty()) call_.add("power", detail::join(o.power, " "));
}

void group_run::set_up_roles() {
  auto const& o = options_;
  auto const hash = call_.hash();
  role::group_worker_config s{rank_, root_, hash, threads_, 0, std::nullopt, o.paper.results_level};
  if (o.paper.early_requests) s.threshold = o.paper.threshold;
  if (o.paper.measure_power && ctx_.size() > 1) {
    auto const known = engine_.wires().power();
    constexpr double least = 1e-3;  // 0 would mean that it is not measured
    s.power = std::max(least, (known ? *known : measured_power()) * threads_);
  }
  worker_ = role::group_worker(s);
  auto const policy = o.paper.shrinking ? schedule::guided{o.paper.least_pieces}.policy()
                                        : schedule::first_come{o.paper.least_pieces}.policy();
  auto const left_alone = static_cast<std::uint64_t>(
      std::llround(o.paper.reassign_down_to * static_cast<double>(role::whole_unit)));
  host_ = role::group_host(
      {rank_, root_, policy, o.paper.read_ahead, o.paper.buffers, left_alone, o.max_losses_per_task});
  if (!is_root()) return;
  arbiter_.emplace(role::group_arbiter_config{
      ctx_.size(), units_, o.group_size, o.power, o.paper.measure_power && ctx_.size() > 1, o.paper.reassign,
      o.paper.split_shares, o.paper.host_helps, o.paper.preload, left_alone, sink_on_hosts_ ? 0 : o.sink_cost,
      o.paper.read_ahead, o.max_losses_per_task});
  roll_.emplace(context_access::team(ctx_), hash);
}

void group_run::begin(std::unique_lock<std::mutex>& /*lock*/) {
  role::group_actions list;
  worker_.begin(list);
  perform(list);
  if (!arbiter_) return;
  arbiter_->begin(list);
  perform(list);
  maybe_complete();
}

// --- the size of groups

// What it would take to send this piece away, and its result back.
void group_run::measure_sending(process_job const& j, piece_result const& result) {
  double const begin = now();
  auto const message = std::make_shared<std::vector<std::byte>>();
  work_.pack(*j.packet->object, *message);
  std::ignore = work_.unpack_packet(*message);
  message->clear();
  work_.pack(result, *message);
  std::ignore = work_.unpack_result(*message, message);
  double const seconds = now() - begin;
  std::lock_guard const lock(engine_.mutex());
  clock_.send_seconds += seconds;
  ++clock_.pieces_sent;
}

void group_run::maybe_measured() {
  if (!arbiter_ || !arbiter_->on_trial() || draining_ || trial_units_ == 0 || clock_.pieces == 0) return;
  bool const enough = clock_.pieces >= trial_pieces * threads_ || clock_.pieces >= trial_pieces_;
  if (!enough) return;
  auto const per_unit = static_cast<double>(trial_pieces_) / static_cast<double>(trial_units_);
  unit_times times;
  times.read_seconds = clock_.read_seconds / static_cast<double>(clock_.units_read);
  times.compute_seconds = clock_.compute_seconds / static_cast<double>(clock_.pieces) * per_unit;
  if (clock_.pieces_sent > 0)
    times.send_seconds = clock_.send_seconds / static_cast<double>(clock_.pieces_sent) * per_unit;
  // Threads share the processing, not the reading.
  times.compute_seconds /= threads_;
  auto const history = static_cast<unsigned>(std::min<std::uint64_t>(work_.history(units_), units_));
  size_found_ = true;
  role::group_actions list;
  arbiter_->measured(best_group_size(times, ctx_.size(), units_, history, options_.paper.reassign), list);
  perform(list);
}

report run_multi_host(context& ctx, std::uint64_t units, group_work& work,
                      multi_host_options const& options) {
  group_run run(ctx, units, work, options);
  return run.execute();
}

}  // namespace skel::detail
