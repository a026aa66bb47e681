// The contents of a store: generations, each of several parts that were saved at the same moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "skel/storage/object.hpp"

namespace skel::storage {

/// The shards of one object that were found: those with the same header and the same hash of the
/// object.
struct stored_object {
  object_info object;                           ///< as in the shards' headers
  hash128 hash{};                               ///< of the object's bytes
  std::map<std::uint32_t, std::string> shards;  ///< paths, by index
  std::vector<std::string> duplicates;          ///< paths of second copies of a shard
  std::size_t damaged = 0;                      ///< shards with a wrong length or a damaged footer
  /// Whether there are enough shards to restore the object.
  [[nodiscard]] bool enough() const { return shards.size() >= object.code.data_shards(); }
  /// 16 hexadecimal digits of the hash, which distinguish objects that two writers stored under one
  /// name and generation.
  [[nodiscard]] std::string id() const;
};

/// The other objects in `found` with the name, generation and membership of `o`, if they and `o`
/// can be restored.
[[nodiscard]] std::vector<stored_object> rivals_of(stored_object const& o,
                                                   std::vector<stored_object> const& found);

/// Identifies a writer. Only the same program in the same version with the same problem may resume.
struct identity {
  std::string program;        ///< its name
  std::string version;        ///< of the program
  std::uint64_t problem = 0;  ///< a hash of everything that the result depends on

  friend bool operator==(identity const&, identity const&) = default;
  /// Hash of all members.
  [[nodiscard]] std::uint64_t hash() const;
};

/// The common data of all parts of a generation. One process makes it with repository::next() and
/// sends it to the others. Trivially copyable.
///
/// A generation with a base is an increment: the content of each part is the content of the same
/// part of the base, followed by its own bytes. The base may have a base in turn.
struct generation_plan {
  std::uint64_t generation = 0;  ///< its number, larger than all numbers in the store
  std::uint64_t stamp = 0;       ///< distinguishes generations that two runs gave the same number
  std::uint32_t parts = 0;       ///< the number of parts
  std::uint64_t base = 0;        ///< the number of its base; 0: none
  std::uint64_t base_stamp = 0;  ///< the stamp of its base

  /// Makes `to`, which must be older and have as many parts, the base.
  void append_to(generation_plan const& to) {
    base = to.generation;
    base_stamp = to.stamp;
  }
  friend bool operator==(generation_plan const&, generation_plan const&) = default;
};

/// What a generation's manifest says of the run that saved it and of those that this run resumed.
struct run_history {
  double seconds = 0;          ///< of computation in all
  std::uint64_t failures = 0;  ///< from which they resumed
  bool ended = false;          ///< the run was about to end in an orderly way

  friend bool operator==(run_history const&, run_history const&) = default;
};

/// How much of a generation was found.
enum class condition : std::uint8_t {
  whole,     ///< all shards of all parts
  degraded,  ///< shards are missing, but every part can be restored
  lost       ///< a part cannot be restored
};
/// "whole", "degraded" or "lost".
[[nodiscard]] char const* to_string(condition c) noexcept;

/// A generation found in a store.
struct stored_generation {
  generation_plan plan;                          ///< as in the shards' headers
  std::uint64_t identity_hash = 0;               ///< identity::hash() of its writer
  std::optional<storage::identity> written_by;   ///< from the manifest
  std::optional<run_history> history;            ///< likewise, if the writer has given it
  std::optional<stored_object> manifest;         ///< empty: not committed, or all copies are lost
  std::map<std::uint32_t, stored_object> parts;  ///< those with at least one shard, by number
  std::uint64_t attempts = 0;  ///< runs that resumed from it, see repository::note_attempt()
  /// The generation that plan.base names; null if there is none, or if it was not found.
  std::shared_ptr<stored_generation const> base;

  /// 16 hexadecimal digits of the stamp, which distinguish generations that two runs saved under
  /// one number.
  [[nodiscard]] std::string id() const;

  /// Judged by the shards' headers, or, after repository::verify(), by every block.
  [[nodiscard]] condition own_state() const;
  /// The worst of its own state and those of its bases. An increment without its base is lost.
  [[nodiscard]] condition state() const;
};

/// The other generations in `all` with the number and the writer of `g`. Empty if `g` is lost; lost
/// generations are not included.
[[nodiscard]] std::vector<stored_generation> rivals_of(stored_generation const& g,
                                                       std::vector<stored_generation> const& all);

}  // namespace skel::storage
