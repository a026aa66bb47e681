// multi_host as compiled code sees it: units, packets and results behind an interface. skel/multi_host.hpp
// implements it for the user's types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "skel/context.hpp"
#include "skel/report.hpp"
#include "skel/worker.hpp"

namespace skel {

/// Where the results of a unit go when all are there.
enum class unit_results : std::uint8_t {
  in_order,      ///< to the sink on the root, unit by unit; what comes early waits there
  as_they_come,  ///< to the sink on the root, each unit as a whole, its pieces in order
  on_hosts       ///< to the sink on the host that led the unit, and nowhere else
};

/// Everything about a multi_host call beside units, job and sink. The same on every rank. Each of the paper's
/// measures can be switched off, to see what it is worth (docs/multi-host.md).
struct multi_host_options {
  /// Ranks per group: 1 is the symmetric partition, all of them the host-slave partition. 0: found from the
  /// times of the first units, and told in the report.
  unsigned group_size = 0;
  /// Relative power of the ranks: groups of about equal power, shares in proportion. Empty: all alike, or
  /// measured by a short probe.
  std::vector<double> power{};
  bool measure_power = false;
  /// What the sink on the root takes of a unit, of what it takes to read and process it (of a run before:
  /// report groups->sink_seconds). The root leads so much less, and all ranks end together. 0: next to
  /// nothing.
  double sink_cost = 0;
  bool reassign = true;  ///< ranks of a group that is through go to others, in proportion to what is left
  /// Ranks of a group that is through lead the end of another one's share themselves, where enough whole
  /// units are left that nobody has begun to read; false: they only help, as in the paper.
  bool split_shares = true;
  /// Units: a group with no more than so much left to give is left alone, no ranks go there any more. The
  /// paper has 0.5 (section 5.2). 0: as long as there is anything.
  double reassign_down_to = 0.125;
  bool host_helps = true;    ///< hosts process pieces, too, while there is nothing to read
  bool host_listens = true;  ///< false: requests wait while the host reads or processes
  unsigned read_ahead = 1;   ///< units that are read before anybody needs them; 0: when all pieces are given
  bool preload = false;  ///< each host reads its first unit before anything is given, and the clock starts
  std::uint64_t least_pieces = 1;  ///< of a packet: neighbours travel together
  bool shrinking = true;           ///< packets shrink with what is left; false: least_pieces each
  /// A packet keeps a slave busy for about so long at most, by what its latest pieces took; 0: no limit. Who
  /// comes to help later finds something to do.
  double packet_seconds = 0.02;
  bool early_requests = true;  ///< a slave asks when `threshold` pieces are left; false: when it is idle
  std::uint64_t threshold = 1;
  unsigned buffers =
      0;  ///< packets of a host under way and not received: 1 synchronous, 2 the paper's, 0 any
  std::size_t results_level = std::size_t{64} * 1024;  ///< bytes of results that a slave keeps; 0: none
  unit_results results = unit_results::in_order;
  std::stop_token stop{};                      ///< ends the run early when requested on any rank
  std::optional<double> time_limit_seconds{};  ///< ends the run early
  std::string label{};                         ///< for progress and trace; default: "multi_host"
};

namespace detail {

/// What a host carries from unit to unit.
struct host_state {
  host_state() = default;
  host_state(host_state const&) = delete;
  host_state& operator=(host_state const&) = delete;
  virtual ~host_state() = default;
};
/// A unit that has been read, or is being read.
struct host_unit {
  host_unit() = default;
  host_unit(host_unit const&) = delete;
  host_unit& operator=(host_unit const&) = delete;
  virtual ~host_unit() = default;
};
/// Neighbouring pieces, cut from their unit.
struct host_packet {
  host_packet() = default;
  host_packet(host_packet const&) = delete;
  host_packet& operator=(host_packet const&) = delete;
  virtual ~host_packet() = default;
};
/// The result of one piece.
struct piece_result {
  piece_result() = default;
  piece_result(piece_result const&) = delete;
  piece_result& operator=(piece_result const&) = delete;
  virtual ~piece_result() = default;
};

/// All but the sink are called concurrently.
class group_work {
 public:
  group_work() = default;
  group_work(group_work const&) = delete;
  group_work& operator=(group_work const&) = delete;
  virtual ~group_work() = default;
  /// Mangled names, which tell calls apart.
  [[nodiscard]] virtual std::string types() const = 0;
  [[nodiscard]] virtual std::string function() const = 0;
  /// Units before `unit` that a host must read again when it begins there.
  [[nodiscard]] virtual std::uint64_t history(std::uint64_t unit) const = 0;

  [[nodiscard]] virtual std::unique_ptr<host_state> make_state() const = 0;
  [[nodiscard]] virtual std::shared_ptr<host_unit> make_unit() const = 0;
  /// Returns the number of pieces; calls ready(n) before, where the first n pieces are there. `fresh`: the
  /// state is new, the history is read as well. While it writes, cut() reads what was ready.
  virtual std::uint64_t read(std::uint64_t unit, bool fresh, host_state& carried, host_unit& into,
                             std::function<void(std::uint64_t)> const& ready) const = 0;
  [[nodiscard]] virtual std::shared_ptr<host_packet const> cut(host_unit const& from, std::uint64_t first,
                                                               std::uint64_t count) const = 0;
  [[nodiscard]] virtual std::unique_ptr<piece_result> process(host_packet const& packet, std::uint64_t index,
                                                              worker_info const& where) const = 0;

  virtual void pack(host_packet const& packet, std::vector<std::byte>& out) const = 0;
  [[nodiscard]] virtual std::shared_ptr<host_packet const> unpack_packet(
      std::span<std::byte const> in) const = 0;
  virtual void pack(piece_result const& result, std::vector<std::byte>& out) const = 0;
  /// `in` stays as long as `owner`.
  [[nodiscard]] virtual std::unique_ptr<piece_result> unpack_result(
      std::span<std::byte const> in, std::shared_ptr<void const> const& owner) const = 0;

  /// One call at a time on a rank. False: the sink wants the run to end.
  virtual bool sink(std::uint64_t unit, std::uint64_t piece, piece_result& result) = 0;
};

[[nodiscard]] report run_multi_host(context& ctx, std::uint64_t units, group_work& work,
                                    multi_host_options const& options);

}  // namespace detail
}  // namespace skel
