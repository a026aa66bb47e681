// What a store holds: generations, each of several parts that were saved at the same moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "skel/storage/object.hpp"

namespace skel::storage {

/// What there is of one generation of an object: shards with the same header and the same hash of the object.
struct stored_object {
  object_info object;
  hash128 hash{};
  std::map<std::uint32_t, std::string> shards;  ///< paths, by index
  std::vector<std::string> duplicates;          ///< paths of second copies of a shard
  [[nodiscard]] bool enough() const { return shards.size() >= object.code.data_shards(); }
  /// 16 hexadecimal digits of the hash: tells apart what two writers have stored under one name and
  /// generation.
  [[nodiscard]] std::string id() const;
};

/// Of `found`, the others that have the name, generation and membership of `o`, if they and `o` can be given
/// back.
[[nodiscard]] std::vector<stored_object> rivals_of(stored_object const& o,
                                                   std::vector<stored_object> const& found);

/// Who may go on from a checkpoint: the same program in the same version with the same problem.
struct identity {
  std::string program, version;
  std::uint64_t problem = 0;  ///< a hash of everything that the result depends on

  friend bool operator==(identity const&, identity const&) = default;
  [[nodiscard]] std::uint64_t hash() const;
};

/// What all parts of a generation know of it. One process makes it with repository::next() and tells the
/// others. Trivially copyable.
struct generation_plan {
  std::uint64_t generation = 0;  ///< larger than all that is in the store
  std::uint64_t stamp = 0;  ///< tells apart what two runs, each unseen by the other, gave the same number
  std::uint32_t parts = 0;

  friend bool operator==(generation_plan const&, generation_plan const&) = default;
};

/// whole: all shards of all parts are there; degraded: some are missing, but each part can be given back;
/// lost: a part cannot.
enum class condition : std::uint8_t { whole, degraded, lost };
[[nodiscard]] char const* to_string(condition c) noexcept;

/// A generation as it is found.
struct stored_generation {
  generation_plan plan;
  std::uint64_t identity_hash = 0;
  std::optional<storage::identity> written_by;   ///< as its manifest says
  std::optional<stored_object> manifest;         ///< in copies; none: not committed, or all are lost
  std::map<std::uint32_t, stored_object> parts;  ///< those of which there is a shard, by number
  std::uint64_t attempts = 0;  ///< runs that have gone on from it, see repository::note_attempt()

  /// 16 hexadecimal digits of the stamp: tells apart what two runs have saved under one number.
  [[nodiscard]] std::string id() const;

  /// By the shards' headers, or, after repository::verify(), by every block.
  [[nodiscard]] condition state() const;
};

/// Of `all`, the others that have the number and the writer of `g`, if neither they nor `g` are lost.
[[nodiscard]] std::vector<stored_generation> rivals_of(stored_generation const& g,
                                                       std::vector<stored_generation> const& all);

}  // namespace skel::storage
