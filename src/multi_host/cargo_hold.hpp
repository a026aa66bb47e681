// The pieces and results on this rank in a multi_host call, and their way into messages and out of them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cargo.hpp"
#include "clock.hpp"
#include "engine/engine.hpp"
#include "led_share.hpp"
#include "multi_host/role/message.hpp"
#include "setup.hpp"
#include "unit_sink.hpp"
#include "worker_packets.hpp"

namespace skel::detail {

/// Holds the units that this rank leads, the packets that it processes and the units for its sink, and
/// attaches to each message what it carries: `packet` the pieces, cut from their unit; `returned` the results
/// of its runs; `unit_done` the results of the unit. Called under the engine's lock. Exceptions of the user's
/// functions pass through.
class cargo_hold {
 public:
  cargo_hold(engine& of, group_work& work, group_clock& clock, group_setup const& setup)
      : engine_(of),
        work_(work),
        clock_(clock),
        results_stay_(setup.sink_on_hosts()),
        share_(work),
        packets_(results_stay_ || setup.rank == setup.root),
        sink_(of, work, setup.options.results == multi_host_options::unit_results::in_order) {}

  /// Whether `m` carries anything.
  [[nodiscard]] static bool carries(role::group_message const& m);
  /// The unit of which `m` carries something; 0 if it carries nothing.
  [[nodiscard]] static std::uint64_t unit_of(role::group_message const& m);
  /// Returns what `m` carries to this rank itself: objects stay objects.
  [[nodiscard]] group_cargo load(role::group_message const& m);
  /// Returns the cargo that `m` carries to another rank.
  [[nodiscard]] transport::packet pack(role::group_message const& m);
  /// Reads the cargo that `m` brought from another rank: `body`, the rest of `whole`, which keeps the
  /// results.
  [[nodiscard]] group_cargo unload(role::group_message const& m, std::span<std::byte const> body,
                                   transport::packet& whole) const;

  // --- the actions of the roles about what this rank holds
  void act(role::group_act::read const& a, group_cargo* with);
  void act(role::group_act::keep const& a, group_cargo* with) { share_.keep(a.pieces, *with); }
  void act(role::group_act::close const& /*a*/, group_cargo* /*with*/) { share_.close(); }
  void act(role::group_act::accept const& a, group_cargo* with);
  void act(role::group_act::execute const& a, group_cargo* /*with*/) { job_ = packets_.job(a); }
  void act(role::group_act::forget const& a, group_cargo* /*with*/) { packets_.forget(a.term); }
  void act(role::group_act::record const& a, group_cargo* with) { sink_.push(a.unit, with->pieces); }
  void act(role::group_act::started const& /*a*/, group_cargo* /*with*/) {
    clock_.started_at = engine_.now();
  }
  /// The run drains.
  void clear();

  [[nodiscard]] led_share& share() { return share_; }
  [[nodiscard]] worker_packets& packets() { return packets_; }
  [[nodiscard]] unit_sink& sink() { return sink_; }
  [[nodiscard]] unit_sink const& sink() const { return sink_; }
  /// The latest job to execute, if it has not been taken.
  [[nodiscard]] std::optional<process_job> take_job() { return std::exchange(job_, std::nullopt); }

 private:
  void load(role::group_msg::packet const& m, group_cargo& with);
  void load(role::group_msg::returned const& m, group_cargo& with);
  void load(role::group_msg::unit_done const& m, group_cargo& with);
  [[nodiscard]] transport::packet pack_pieces(role::piece_run const& pieces);
  [[nodiscard]] transport::packet pack_results(std::span<labelled_piece const> pieces);

  engine& engine_;
  group_work& work_;
  group_clock& clock_;
  bool results_stay_;  // on the host that leads their unit
  led_share share_;
  worker_packets packets_;
  unit_sink sink_;
  std::optional<process_job> job_;
};

}  // namespace skel::detail
