// Type-erased interface of a bulk synchronous parallel program. skel/bsp.hpp implements it for the
// user's types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "skel/context.hpp"
#include "skel/detail/erased.hpp"
#include "skel/detail/function_reference.hpp"
#include "skel/detail/parallel_loop.hpp"
#include "skel/report.hpp"

namespace skel {

struct bsp_options;

namespace detail {

/// A bundle of messages that is not empty begins with this many bytes of room, for the headers in front of
/// it.
inline constexpr std::size_t bundle_room = 192;

/// One rank's state and the messages that it has received. Called by one thread at a time.
class bsp_work : public user_work {
 public:
  /// Whether the program can split its state for another number of ranks.
  [[nodiscard]] virtual bool splits() const = 0;
  /// Whether the program names the neighbours of a rank.
  [[nodiscard]] virtual bool has_neighbours() const = 0;

  virtual void begin(int rank, int size) = 0;
  /// Converts the state and the received messages to bytes and back. pack_part() appends, and
  /// reserves the whole buffer up front when the size is known.
  virtual void pack_part(std::vector<std::byte>& out) const = 0;
  using part_reader = function_reference<std::span<std::byte const>(int)>;  // valid until the next part
  virtual void load(part_reader const& part, int parts, int rank, int size) = 0;

  /// The neighbours of a rank, sorted and without the rank itself; empty if the program names none.
  /// superstep() lets the rank send to no others. Throws skel::error if one is out of range.
  virtual std::vector<int> const& neighbours(int rank, int size) = 0;

  /// Unpacks the bundles of all members, in the order of the members.
  virtual void receive(std::vector<std::span<std::byte const>> const& bundles) = 0;
  /// Computes a superstep and packs the messages for each member, whose bundle is empty before. `loops` runs
  /// its loops. Returns true if this rank continues or has sent a message.
  virtual bool superstep(std::uint64_t number, int rank, int size,
                         std::vector<std::vector<std::byte>>& bundles, parallel_loop& loops) = 0;
};

/// `again`: the same call as the one before it, whose checkpoints are this one's.
[[nodiscard]] report run_bsp(context& ctx, bsp_work& work, bsp_options const& options, bool again);

}  // namespace detail
}  // namespace skel
