// The configuration of a multi_host call's root.
#pragma once

#include <cstdint>
#include <vector>

#include "multi_host/role/action.hpp"

namespace skel::role {

/// Measures against idle ranks.
struct group_measures {
  bool reassigns = true;   ///< ranks of finished groups move to others
  bool splits = true;      ///< moved ranks may lead whole units, if enough are left
  bool hosts_help = true;  ///< hosts process pieces, too
  bool preloads = false;   ///< hosts hand out pieces once every host has read its first unit
};

struct group_root_config {
  int ranks = 1;  ///< rank 0 is the root
  std::uint64_t units = 0;
  unsigned group_size = 1;      ///< 0: as small as possible until measured()
  std::vector<double> power{};  ///< per rank; empty: all alike
  bool measures_power = false;  ///< wait until every rank has sent its power with its hello
  group_measures measures{};
  /// A group with at most this many thousandths of a unit left takes no ranks from others.
  std::uint64_t left_alone = default_left_alone;
  double sink_cost = 0;      ///< per unit on the root, as a share of the time to read and process it
  unsigned read_ahead = 1;   ///< of hosts: at most read_ahead + 2 units are open
  unsigned most_losses = 2;  ///< of hosts with the same unit open, before it is blamed; 0: never
  friend bool operator==(group_root_config const&, group_root_config const&) = default;
};

}  // namespace skel::role
