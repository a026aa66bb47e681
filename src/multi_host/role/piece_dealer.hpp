// Hands the pieces of a host's open units to the workers that request some.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "multi_host/role/action.hpp"
#include "multi_host/role/open_units.hpp"

namespace skel::role {

/// Serves requests in the order of their arrival, with packets that shrink as the pieces run out. Hands out
/// suspects one at a time, each to a worker that has nothing else. A regular value.
class piece_dealer {
 public:
  struct request {
    rank_id from = 0;
    std::uint64_t threads = 1;
    std::uint64_t most = 0;  ///< pieces it accepts; 0: no limit
  };

  piece_dealer() = default;
  piece_dealer(rank_id self, rank_id root) : self_(self), root_(root) {}

  /// A term begins: requests that came before its host knew it wait from now on. `holds`: until go().
  void begin(term_id term, bool holds);
  void go() { holds_ = false; }
  /// `ranks`: of the group, as planned. `alone`: its unit was open on lost hosts.
  void set_group(std::uint64_t ranks, bool alone) {
    ranks_ = ranks;
    alone_ = alone;
  }
  /// Whether the host's own rank may process suspects.
  void set_last_resort(bool allowed) { last_resort_ = allowed; }
  void add(request const& r);
  /// A request of a term that this rank does not know yet.
  void add_early(term_id term, request const& r);
  void withdraw(rank_id from) {
    std::erase_if(waiting_, [&](request const& r) { return r.from == from; });
  }
  void withdraw_early(term_id term, rank_id from);
  /// Sends packets to the ranks whose requests wait.
  void give(term_id term, open_units& units, group_actions& out);
  void lost(rank_id rank);
  /// The host stops leading.
  void clear();

  /// Whether nothing is handed out, because other hosts are not ready.
  [[nodiscard]] bool holds() const { return holds_; }
  /// Number of requests that wait.
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  friend bool operator==(piece_dealer const&, piece_dealer const&) = default;
  auto fields() const { return std::tie(alone_, last_resort_, holds_, waiting_, early_, clients_); }

 private:
  void give_suspects(term_id term, bool to_itself, open_units& units, group_actions& out);
  [[nodiscard]] std::uint64_t grant_for(request const& r, std::uint64_t pooled) const;

  rank_id self_ = 0;
  rank_id root_ = 0;
  std::uint64_t ranks_ = 1;
  bool alone_ = false;
  bool last_resort_ = false;
  bool holds_ = false;
  std::deque<request> waiting_;
  std::vector<std::pair<term_id, request>> early_;
  std::map<rank_id, std::uint64_t> clients_;  // threads of each rank that has sent a request
};

}  // namespace skel::role
