// A store of checkpoints: generations of parts, spread as shards over directories, the newest that can be
// rebuilt given back (the paper's data repositories, their manager and the execution manager in one).
//
// Saving has two phases, so that several processes can save parts of one generation; whoever talks to them
// (MPI, or nobody) is not this file's business:
//
//   one process           plan = store.next(parts)            tells the others
//   each, its parts       store.prepare(plan, part, bytes)    shards are durable when it returns
//   one, after all        store.commit(plan)                  the manifest is durable when it returns
//   the same, then        store.remove_old(plan)              what is no longer needed
//
// docs/checkpoint.md says why a crash anywhere in this leaves the newest whole generation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "skel/checkpoint/generation.hpp"
#include "skel/checkpoint/placement.hpp"

namespace skel::storage {

struct repository_options {
  std::vector<place> places;
  storage::code code{"ida:1,1"};
  storage::identity identity;
  std::string home{};              ///< host of this process, see placement_choice
  std::uint64_t remote_every = 0;  ///< see placement_choice
  /// So many generations that can be given back stay, the newest and those before it; of remote ones, where
  /// there are any, the newest stays too. At least 1.
  std::size_t keep = 2;
  std::uint32_t block_size = 1U << 16U;
  std::optional<key> seal_with{};
  kernel computed_by = default_kernel();
};

/// What a part's saving took, in seconds.
struct save_cost {
  double code = 0;   ///< coding and hashing
  double write = 0;  ///< handing bytes to the files
  double sync = 0;   ///< until they are durable

  save_cost& operator+=(save_cost const& more);
};

class repository {
 public:
  /// Looks at nothing yet. usage_error where options make no sense. Problems that do not stop anything go to
  /// `report`, from the thread that calls.
  explicit repository(repository_options options, report_problem report = {},
                      file_system& files = real_file_system());

  [[nodiscard]] repository_options const& options() const noexcept { return options_; }

  // ----- what is there -----

  /// Everything that the directories hold of generations, the newest first, from shards and manifests as they
  /// are found, whatever their names, whoever wrote them. Damaged files and unreadable directories are
  /// reported and left out.
  [[nodiscard]] std::vector<stored_generation> catalogue() const;

  /// usage_error, one line that names a directory, unless all is well at the start of a run: at least one
  /// place can be written to (others are reported), what is there was written by this identity.
  void check_at_start() const;

  // ----- giving back -----

  /// The bytes of a part. skel::error where they cannot be given back; never wrong bytes.
  [[nodiscard]] std::vector<std::byte> read(stored_generation const& from, std::uint32_t part) const;

  struct restored {
    generation_plan plan;
    std::vector<std::vector<std::byte>> parts;
  };
  /// All parts of the newest generation that gives all of them back; those that do not are reported. Empty
  /// where the store holds no generation; skel::error where it holds some and none can be given back;
  /// usage_error where they are another program's. For several processes: catalogue(), and read() of what
  /// each needs, agreeing on the generation.
  [[nodiscard]] std::optional<restored> restore() const;

  // ----- saving -----

  /// The next generation: its number is larger than any there is in the store, in shards that were never
  /// committed too.
  [[nodiscard]] generation_plan next(std::uint32_t parts) const;

  /// Writes a part's shards, hidden, makes them durable, and shows them. A place that fails is reported, and
  /// its shard goes to another; skel::error where no place takes it: then nothing of the part is shown. May
  /// run in a thread of its own (background_saver).
  save_cost prepare(generation_plan const& plan, std::uint32_t part, std::string const& name,
                    std::span<std::byte const> bytes) const;

  /// Looks whether all parts are there, and writes the manifest to all places of the generation. Durable in
  /// a quorum of them (more than half, and more than the code's parity shards where there are that many) when
  /// it returns. skel::error otherwise.
  void commit(generation_plan const& plan) const;

  /// After commit() of `plan`, and never before: removes generations older than those to keep,
  /// never-committed ones too, and what dead writers have left. What cannot be removed is reported.
  void remove_old(generation_plan const& plan) const;

  // ----- care -----

  /// Reads every block: bad shards are reported and taken out of what is given back, so its state() is true.
  [[nodiscard]] stored_generation verify(stored_generation const& what) const;
  /// Writes missing and bad shards anew; gives back their paths. skel::error where the generation is lost.
  std::vector<std::string> repair(stored_generation const& what) const;

 private:
  repository_options options_;
  report_problem report_;
  file_system* files_;
};

}  // namespace skel::storage
