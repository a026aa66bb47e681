// Assigns shards to directories without reading a disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "skel/storage/file_system.hpp"

namespace skel::storage {

/// A directory that takes shards (the paper's autonomous data repository).
struct place {
  std::string directory{};  ///< its path
  std::string host{};       ///< directories of a host are lost together; empty: a host of its own
  bool remote = false;      ///< in another cluster, for every n-th generation

  friend bool operator==(place const&, place const&) = default;
};

/// The name of a place's host, see place::host.
[[nodiscard]] std::string const& host_of(place const& p) noexcept;

/// Input of the decision.
struct placement_choice {
  std::string home;                ///< host of the writer; empty: parts start at different hosts
  std::uint32_t part = 0;          ///< of the generation
  std::uint64_t generation = 0;    ///< counted from 1
  std::uint64_t remote_every = 0;  ///< generations n, 2n, 3n, … go to remote places; 0: none does
  std::vector<disk_use> use{};     ///< of each place; empty: unknown
  std::uint64_t shard_bytes = 0;   ///< the room that a shard needs
  std::uint32_t parts = 1;         ///< of the generation, which are written at the same time
};

/// Whether this generation goes to remote places. "Four in the local cluster and one in remote
/// clusters" [Camargo06, "Execution overhead"] is remote_every = 5.
[[nodiscard]] bool goes_remote(std::span<place const> places, placement_choice const& how);

/// Whether there are more hosts than shards, so that how.use decides between them.
[[nodiscard]] bool has_choice(std::span<place const> places, std::size_t shards, placement_choice const& how);

/// Returns the index of a place for each of `shards` shards. The first shard goes to the home host
/// if that has a place, the others to the least loaded hosts first ("idle" machines in [Camargo06]),
/// and in turn to those that are equally loaded: up to twice as much as the least one, and so on; an
/// unknown load is as the least. The
/// numbers of shards per host differ by at most one, and so do those per directory of a host: no two
/// shards share a host or directory if there are enough. Places without room for a shard receive
/// none, unless no place has room; those without room for one of each part receive none while there
/// are enough other hosts. Remote generations use remote places only, others local places only,
/// unless there are none. Throws usage_error if there are no places.
[[nodiscard]] std::vector<std::size_t> place_shards(std::span<place const> places, std::size_t shards,
                                                    placement_choice const& how);

/// Returns the replacement for `meant`, the failed place of a shard. Among the places that have not
/// failed, it is the one whose host, then whose directory, holds the fewest of the shards at
/// `taken`; local or remote as `meant` if possible. Returns nothing if all places have failed.
[[nodiscard]] std::optional<std::size_t> spare_place(std::span<place const> places, std::size_t meant,
                                                     std::span<std::size_t const> taken,
                                                     std::vector<bool> const& failed);

}  // namespace skel::storage
