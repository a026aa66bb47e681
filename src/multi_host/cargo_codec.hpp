// Converts the pieces and results of a multi_host call to messages and back.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "cargo.hpp"
#include "clock.hpp"
#include "engine/engine.hpp"
#include "led_share.hpp"
#include "multi_host/role/message.hpp"
#include "worker_packets.hpp"

namespace skel::detail {

/// Attaches to each message what it carries: `packet` the pieces, cut from their unit; `returned` the results
/// of its runs; `unit_done` the results of the unit. Called under the engine's lock. Exceptions of
/// the user's functions pass through.
class cargo_codec {
 public:
  cargo_codec(engine& of, group_work& work, led_share& share, worker_packets& packets, group_clock& clock,
              bool results_stay)
      : engine_(of),
        work_(work),
        share_(share),
        packets_(packets),
        clock_(clock),
        results_stay_(results_stay) {}

  /// Whether `m` carries anything.
  [[nodiscard]] static bool carries(role::group_message const& m);
  /// The unit of which `m` carries something; 0 if it carries nothing.
  [[nodiscard]] static std::uint64_t unit_of(role::group_message const& m);
  /// Adds what `m` carries to this rank itself: objects stay objects.
  void load(role::group_message const& m, group_cargo& with);
  /// Returns the cargo that `m` carries to another rank.
  [[nodiscard]] transport::packet pack(role::group_message const& m);
  /// Reads the cargo that `m` brought from another rank: `body`, the rest of `whole`, which keeps the
  /// results.
  [[nodiscard]] group_cargo unload(role::group_message const& m, std::span<std::byte const> body,
                                   transport::packet& whole) const;

 private:
  void load(role::group_msg::packet const& m, group_cargo& with);
  void load(role::group_msg::returned const& m, group_cargo& with);
  void load(role::group_msg::unit_done const& m, group_cargo& with);
  [[nodiscard]] transport::packet pack_pieces(role::piece_run const& pieces);
  [[nodiscard]] transport::packet pack_results(std::span<labelled_piece const> pieces);

  engine& engine_;
  group_work& work_;
  led_share& share_;
  worker_packets& packets_;
  group_clock& clock_;
  bool results_stay_;  // on the host that leads their unit
};

}  // namespace skel::detail
