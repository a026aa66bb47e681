// Which shard goes where: a decision, made without looking at a disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace skel::storage {

/// A directory that takes shards (the paper's autonomous data repository).
struct place {
  std::string directory{};
  std::string host{};   ///< what is lost together; a directory without one is a host of its own
  bool remote = false;  ///< far away, in another cluster: for every n-th generation

  friend bool operator==(place const&, place const&) = default;
};

/// The host of a place by name, see place::host.
[[nodiscard]] std::string const& host_of(place const& p) noexcept;

struct placement_choice {
  std::string home;                ///< host of who writes; empty: none, parts start at different hosts
  std::uint32_t part = 0;          ///< of the generation
  std::uint64_t generation = 0;    ///< counted from 1
  std::uint64_t remote_every = 0;  ///< generations n, 2n, 3n, … go to remote places; 0: none does
};

/// Whether this generation goes to remote places: "four in the local cluster and one in remote clusters" (de
/// Camargo, Cerqueira, Kon 2006, "Execution overhead") is remote_every = 5.
[[nodiscard]] bool goes_remote(std::span<place const> places, placement_choice const& how);

/// A place, by number, for each of `shards` shards. The first is at home where home has a place; hosts get
/// equally many, up to one, and so do the directories of a host: no two shards share a host or directory when
/// there are enough. Remote generations go to remote places only, others to local ones only, unless there are
/// none. usage_error where there are no places.
[[nodiscard]] std::vector<std::size_t> place_shards(std::span<place const> places, std::size_t shards,
                                                    placement_choice const& how);

/// Where another shard of an object goes when the place meant for it has failed: the place that is not in
/// `failed`, whose host, then whose directory holds the fewest of the shards at `taken`; of the same distance
/// as places[meant] where there is one. Empty where all have failed.
[[nodiscard]] std::optional<std::size_t> spare_place(std::span<place const> places, std::size_t meant,
                                                     std::span<std::size_t const> taken,
                                                     std::vector<bool> const& failed);

}  // namespace skel::storage
