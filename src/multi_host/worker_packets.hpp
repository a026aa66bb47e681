// Packets that this rank processes in a multi_host call, and results that it has not sent yet.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cargo.hpp"
#include "multi_host/role/action.hpp"

namespace skel::detail {

struct worker_packet {
  role::term_id term = 0;
  bool own = false;    ///< of the share that this rank leads
  bool stays = false;  ///< its results do not leave this rank
  std::uint64_t first = 0;
  std::uint64_t unfinished = 0;
  std::shared_ptr<host_packet const> object;
  transport::packet packed;
  std::once_flag opened;
};

/// Pieces for one compute thread.
struct process_job {
  role::packet_id id = 0;
  std::shared_ptr<worker_packet> packet;
  role::piece_run pieces;
  bool on_trial = false;  ///< the time to send them is measured, too
};

/// Keeps packets until all of their pieces are processed, and results until a message takes them. Called
/// under the engine's lock.
class worker_packets {
 public:
  /// `own_stay`: results of the share that this rank leads do not leave it.
  explicit worker_packets(bool own_stay) : own_stay_(own_stay) {}

  void accept(role::group_act::accept const& a, group_cargo& with);
  [[nodiscard]] process_job job(role::group_act::execute const& x) const {
    return {x.id, packets_.at(x.id), x.pieces};
  }
  /// Keeps the results of a job. False: its packet is void meanwhile.
  [[nodiscard]] bool finished(process_job const& j, std::vector<held_piece>& results);
  [[nodiscard]] held_piece take(role::term_id term, std::uint64_t unit, std::uint64_t piece);
  void forget(role::term_id term);
  void clear();

 private:
  bool own_stay_;
  std::map<role::packet_id, std::shared_ptr<worker_packet>> packets_;
  // By term, unit and piece. A key occurs twice if a host has declared this rank lost and gives it the same
  // piece again.
  std::multimap<std::array<std::uint64_t, 3>, held_piece> finished_;
};

}  // namespace skel::detail
