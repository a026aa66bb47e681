// A store of checkpoints: generations of parts, spread as shards over directories. It restores the
// newest generation that is complete [Camargo06].
//
// Saving has two phases, so that several processes can save the parts of one generation. They send
// each other the plan by their own means:
//
//   one process          plan = store.next(parts)                  sends the plan to the others
//   each process         store.prepare(plan, part, name, bytes)    shards are durable when it returns
//   one, after all       store.commit(plan)                        the manifest is durable when it returns
//   the same             store.remove_old(plan)                    removes older generations
//
// docs/reference/checkpoint.md explains why a crash at any point leaves the newest whole generation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "skel/storage/file_system.hpp"
#include "skel/storage/generation.hpp"
#include "skel/storage/kernel.hpp"
#include "skel/storage/key.hpp"
#include "skel/storage/machine.hpp"
#include "skel/storage/placement.hpp"

namespace skel::storage {

struct inventory;

/// Options of a repository.
struct repository_options {
  /// Generations in the same store that are neither restored nor removed.
  struct ignored_generations {
    std::vector<storage::identity> writers{};  ///< other writers
    /// Those of this writer for which it is true. Empty: none.
    std::function<bool(generation_plan const&)> generations{};
  };
  /// As in placement_choice.
  struct placement_rule {
    std::string home{};              ///< host of this process
    std::uint64_t remote_every = 0;  ///< generations n, 2n, 3n, … go to remote places; 0: none does
  };

  std::vector<place> places;      ///< where shards go; at least one
  storage::code code{"ida:1,1"};  ///< of new generations
  storage::identity identity;     ///< the writer; only an equal identity may resume
  ignored_generations ignored{};  ///< neither restored nor removed
  placement_rule placement{};     ///< where shards go
  /// The number of restorable generations to keep, the newest ones; at least 1. The newest
  /// generation that remote places alone can restore is kept too, and the newest for local places.
  std::size_t keep = 2;
  /// Selects one of several complete generations with the same number, by the first digits of its
  /// id(). Two runs use one number if neither can reach the other's directories.
  std::string object{};
  std::uint32_t block_size = 1U << 16U;    ///< in bytes, 1 to largest_block
  std::optional<key> seal_with{};          ///< encrypts, and refuses what is not; empty: does not
  std::uint64_t machine = this_machine();  ///< only a program with equal representations may resume
};

/// The seconds that saving a part took.
struct save_cost {
  double code = 0;      ///< coding and hashing
  double write = 0;     ///< handing bytes to files
  double sync = 0;      ///< waiting until they are durable
  double transfer = 0;  ///< transfers to other hosts; not contained in the other members

  /// Adds up.
  save_cost& operator+=(save_cost const& more);
};

/// A store of checkpoints, see the beginning of this file.
class repository {
 public:
  /// Reads nothing yet. Throws usage_error for invalid options. Warnings go to `report`, on the
  /// calling thread.
  explicit repository(repository_options options, report_problem report = {},
                      file_system& files = real_file_system());

  /// The options that the constructor received.
  [[nodiscard]] repository_options const& options() const noexcept { return options_; }
  /// The same store with another receiver of warnings.
  [[nodiscard]] repository reporting_to(report_problem report) const {
    return repository(options_, std::move(report), *files_);
  }

  // ----- contents -----

  /// All generations in the directories, the newest first. They are found by the headers of all
  /// shards and manifests, independent of file names and writers. Reports and skips damaged files
  /// and unreadable directories.
  [[nodiscard]] std::vector<stored_generation> catalogue() const;

  /// Checks the store at the start of a run. Throws a usage_error that names a directory unless at
  /// least one place is writable (the others are reported) and all contents were written by this
  /// identity.
  void check_at_start() const;

  /// Whether no run has committed a generation here: the store is empty, or the first save did not
  /// end. Throws a usage_error that names a path if anything is unreadable or missing, so that a
  /// damaged store is never taken for an empty one.
  [[nodiscard]] bool unused() const;

  // ----- restoring -----

  /// The generations that can be restored, judged by their headers, in the order in which to try
  /// them: the newest first. A generation from which three runs have resumed without committing a newer
  /// one comes last, since it may be the cause of their failures. Reports the others. Empty if the
  /// store holds no generation, or only parts of saves that did not end. Throws skel::error if none of
  /// its generations can be restored, usage_error if they belong to another program or options().seal_with is
  /// not their key. Several processes agree on one; if one of them cannot read its parts, they agree on the
  /// next.
  [[nodiscard]] std::vector<stored_generation> candidates() const;

  /// Removes from `all` the generations that options().ignored names. If several of the others have the
  /// same number, also removes those that options().object does not select. Throws usage_error if it does not
  /// decide between the newest ones; reports and skips older ambiguous ones.
  [[nodiscard]] std::vector<stored_generation> chosen(std::vector<stored_generation> all) const;

  /// Records that a run resumes from this generation.
  void note_attempt(generation_plan const& plan) const;

  /// The content of a part: the bytes of its bases, then its own. Throws skel::error if they cannot be
  /// restored; never returns wrong bytes. `memory` is used for the result, whatever it holds.
  [[nodiscard]] std::vector<std::byte> read(stored_generation const& from, std::uint32_t part,
                                            std::vector<std::byte> memory = {}) const;
  /// Gives the part's own bytes to `to`, without those of its bases, in the memory of one stripe. Throws
  /// as read(); what `to` has received is then invalid.
  void read_own(stored_generation const& from, std::uint32_t part, byte_sink const& to) const;

  /// A generation and its contents.
  struct restored {
    stored_generation from;                     ///< the generation
    std::vector<std::vector<std::byte>> parts;  ///< the bytes of each part, by number
  };
  /// All parts of the first of the candidates() that can be restored; reports the others. Throws as
  /// candidates().
  [[nodiscard]] std::optional<restored> restore() const;

  /// Whether shards in remote places alone, or in local ones alone, restore it and its bases.
  [[nodiscard]] bool lies_in(stored_generation const& g, bool remote) const;

  // ----- saving -----

  /// The plan of the next generation. Its number is larger than any in the store, uncommitted ones
  /// included. It has no base.
  [[nodiscard]] generation_plan next(std::uint32_t parts) const;

  /// Whether this generation goes to remote places; places on lost hosts do not count.
  [[nodiscard]] bool goes_remote(generation_plan const& plan) const;

  /// Writes the shards of a part under temporary names, makes them durable and renames them. If
  /// there are more hosts than shards, asks which are in use, see place_shards(). If a place fails,
  /// it is reported and its shard goes to another place. Throws skel::error, and
  /// leaves no shard, if no place accepts one. May run in a thread of its own.
  save_cost prepare(generation_plan const& plan, std::uint32_t part, std::string const& name,
                    std::span<std::byte const> bytes) const;
  /// Gives all bytes of a part to a sink, in order; called again if a place fails.
  using content_source = std::function<void(byte_sink const&)>;
  /// The same for `length` bytes that `source` produces, in the memory of one stripe unless they are
  /// encrypted. Also throws what `source` throws.
  save_cost prepare(generation_plan const& plan, std::uint32_t part, std::string const& name,
                    std::uint64_t length, content_source const& source) const;

  /// Checks that all parts and all bases exist and writes the manifest to all places of the generation.
  /// Returns once the manifest is durable in more than half of them; otherwise throws skel::error.
  void commit(generation_plan const& plan, std::optional<run_history> const& history = {}) const;

  /// Removes generations older than those to keep and their bases, uncommitted ones, and temporary files
  /// of dead writers. Must only be called after commit() of `plan`. Reports files that cannot be removed.
  void remove_old(generation_plan const& plan) const;

  // ----- maintenance -----

  /// Reads every block. Reports bad shards and removes them from the returned value, whose state()
  /// is then exact.
  [[nodiscard]] stored_generation verify(stored_generation const& what,
                                         count_bytes const& progress = {}) const;
  /// Rewrites missing and bad shards, bad ones in place. `what` is the generation as found, `whole`
  /// the value that verify() returned. Returns the paths of the new shards. Throws skel::error if
  /// the generation is lost.
  std::vector<std::string> repair(stored_generation const& what, stored_generation const& whole) const;
  /// Removes second copies of shards, shards that the manifest does not list, and remains of lost
  /// generations with the same number and writer. First reads everything that is kept, and throws
  /// skel::error unless it is whole. Returns the paths of removed files.
  std::vector<std::string> tidy(generation_plan const& plan) const;
  /// Removes all shards of a generation, the manifest first; reports files that cannot be removed.
  /// Returns the paths.
  std::vector<std::string> remove(stored_generation const& what) const;

 private:
  [[nodiscard]] inventory here() const;

  repository_options options_;
  report_problem report_;
  file_system* files_;
};

}  // namespace skel::storage
