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
#include <utility>
#include <vector>

#include "skel/storage/file_system.hpp"
#include "skel/storage/generation.hpp"
#include "skel/storage/kernel.hpp"
#include "skel/storage/key.hpp"
#include "skel/storage/placement.hpp"

namespace skel::storage {

struct part_name;
struct attempt_name;
class shard_store;

struct repository_options {
  std::vector<place> places;
  storage::code code{"ida:1,1"};
  storage::identity identity;
  std::string home{};              ///< host of this process, see placement_choice
  std::uint64_t remote_every = 0;  ///< see placement_choice
  /// So many generations that can be given back stay, the newest and those before it; of remote ones, where
  /// there are any, the newest stays too. At least 1.
  std::size_t keep = 2;
  /// A generation from which so many runs have gone on, none of which has committed a newer one, is tried
  /// after the others: perhaps it is what ends them.
  std::uint64_t attempts = 3;
  /// Where several complete generations have the same number (two runs used it, each while the other's
  /// directories were away): the beginning of the id() of the one that is meant.
  std::string object{};
  std::uint32_t block_size = 1U << 16U;
  std::optional<key> seal_with{};
  kernel computed_by = default_kernel();
};

/// What a part's saving took, in seconds.
struct save_cost {
  double code = 0;      ///< coding and hashing
  double write = 0;     ///< handing bytes to the files
  double sync = 0;      ///< until they are durable
  double transfer = 0;  ///< on the way to files of other hosts, which is in none of the others

  save_cost& operator+=(save_cost const& more);
};

class repository {
 public:
  /// Looks at nothing yet. usage_error where options make no sense. Problems that do not stop anything go to
  /// `report`, from the thread that calls.
  explicit repository(repository_options options, report_problem report = {},
                      file_system& files = real_file_system());

  [[nodiscard]] repository_options const& options() const noexcept { return options_; }
  /// The same store, whose problems go elsewhere.
  [[nodiscard]] repository reporting_to(report_problem report) const {
    return repository(options_, std::move(report), *files_);
  }

  // ----- what is there -----

  /// Everything that the directories hold of generations, the newest first, from shards and manifests as they
  /// are found, whatever their names, whoever wrote them. Damaged files and unreadable directories are
  /// reported and left out.
  [[nodiscard]] std::vector<stored_generation> catalogue() const;

  /// usage_error, one line that names a directory, unless all is well at the start of a run: at least one
  /// place can be written to (others are reported), what is there was written by this identity.
  void check_at_start() const;

  // ----- giving back -----

  /// Of the catalogue what can be given back by its headers, in the order in which it is to be tried: the
  /// newest first, those with too many attempts last. The others are reported. Empty where the store holds no
  /// generation; skel::error where it holds some and none can be given back; usage_error where they are
  /// another program's. Several processes agree on one, each reads what it needs, and where one cannot, on
  /// the next.
  [[nodiscard]] std::vector<stored_generation> candidates() const;

  /// `all`, of which several may have the same number, without those that options().object does not choose.
  /// usage_error where it is not said which of the newest to take; older ones are then reported and left out.
  [[nodiscard]] std::vector<stored_generation> chosen(std::vector<stored_generation> all) const;

  /// A run goes on from this generation.
  void note_attempt(generation_plan const& plan) const;

  /// The bytes of a part. skel::error where they cannot be given back; never wrong bytes.
  [[nodiscard]] std::vector<std::byte> read(stored_generation const& from, std::uint32_t part) const;

  struct restored {
    generation_plan plan;
    std::vector<std::vector<std::byte>> parts;
  };
  /// All parts of the first of the candidates() that gives all of them back; those that do not are reported.
  /// Errors likewise.
  [[nodiscard]] std::optional<restored> restore() const;

  // ----- saving -----

  /// The next generation: its number is larger than any there is in the store, in shards that were never
  /// committed too.
  [[nodiscard]] generation_plan next(std::uint32_t parts) const;

  /// Writes a part's shards, hidden, makes them durable, and shows them. A place that fails is reported, and
  /// its shard goes to another; skel::error where no place takes it: then nothing of the part is shown. May
  /// run in a thread of its own.
  save_cost prepare(generation_plan const& plan, std::uint32_t part, std::string const& name,
                    std::span<std::byte const> bytes) const;

  /// Looks whether all parts are there, and writes the manifest to all places that the generation goes to.
  /// Durable in a quorum, more than half of them, when it returns. skel::error otherwise.
  void commit(generation_plan const& plan) const;

  /// After commit() of `plan`, and never before: removes generations older than those to keep,
  /// never-committed ones too, and what dead writers have left. What cannot be removed is reported.
  void remove_old(generation_plan const& plan) const;

  // ----- care -----

  /// Reads every block: bad shards are reported and taken out of what is given back, so its state() is true.
  [[nodiscard]] stored_generation verify(stored_generation const& what,
                                         count_bytes const& progress = {}) const;
  /// Writes the shards that are in `what`, as it was found, and not in `whole`, as verify() left it, or in
  /// neither, anew, the bad ones in place; gives back their paths. skel::error where the generation is lost.
  std::vector<std::string> repair(stored_generation const& what, stored_generation const& whole) const;
  /// Removes second copies of shards, shards of which the manifest says that they are no part, and what is
  /// left of lost generations with the same number and writer. Reads before what stays: skel::error, unless
  /// it is whole; gives back the paths.
  std::vector<std::string> tidy(generation_plan const& plan) const;

 private:
  [[nodiscard]] shard_store store(report_problem const& report) const;
  [[nodiscard]] std::vector<place> present() const;
  [[nodiscard]] std::vector<stored_generation> catalogue(report_problem const& report) const;
  template <class Name>
  [[nodiscard]] std::vector<std::pair<std::string, Name>> files_named() const;
  [[nodiscard]] std::vector<std::pair<std::string, part_name>> part_files() const;
  [[nodiscard]] std::vector<std::pair<std::string, attempt_name>> attempt_files() const;
  [[nodiscard]] std::uint64_t attempts(generation_plan const& plan) const;
  [[nodiscard]] std::optional<std::size_t> place_of(std::string const& path) const;
  [[nodiscard]] bool is_remote(stored_generation const& g) const;
  [[nodiscard]] object_info describe(generation_plan const& plan, std::uint32_t part, std::string const& name,
                                     std::uint64_t length) const;
  std::vector<std::string> write_manifest(stored_generation const& of) const;
  std::vector<std::string> repair(stored_object const& found, stored_object const& whole) const;
  void remove_quietly(std::string const& path) const;

  repository_options options_;
  report_problem report_;
  file_system* files_;
};

}  // namespace skel::storage
