// How a call ends: outcomes common to the roles of all skeletons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fields.hpp"
#include "skel/detail/task_range.hpp"

namespace skel::role {

using rank_id = int;

/// The end of a run, the same on every rank.
struct outcome {
  enum class status : std::uint8_t {
    done,
    stopped_early,
    task_failed,
    sink_failed,
    source_failed,
    part_lost,
    refused  ///< a property that must be the same on all ranks is not: rank, text
  };
  status how = status::done;
  task_id task = 0;        ///< the failed task
  int rank = 0;            ///< the rank where it failed, or that was lost
  std::uint64_t more = 0;  ///< further failures
  std::string text{};
  std::uint64_t tasks = 0;  ///< tasks recorded
  std::uint64_t handed_out_again = 0;
};

void encode(outcome const& o, std::vector<std::byte>& out);
/// Throws protocol_error for bytes that encode() cannot have written.
[[nodiscard]] outcome decode_outcome(std::span<std::byte const>& in);

/// An action of the root: the run ends with this outcome on all ranks.
struct close {
  outcome how;
};
/// An action: the run is over on this rank.
struct end {
  outcome how;
};
/// An action: the run cannot continue, because the ranks disagree or the root is lost.
struct fail {
  enum class reason : std::uint8_t { protocol, lost_root } why = reason::protocol;
  std::string text;
};

}  // namespace skel::role
