// Directories that hold shards, at most one per object each (the data repositories of [Camargo06]).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "skel/storage/generation.hpp"
#include "storage/cipher.hpp"
#include "storage/object_reader.hpp"

namespace skel::storage {

struct put_options {
  std::optional<std::uint64_t> generation;  ///< default: the newest plus one
  std::optional<key> seal_with;             ///< encrypts with this key
  std::uint32_t block_size = 1U << 16U;
  kernel computed_by = default_kernel();
};

/// Shards are written under temporary names and synced. They are renamed only after the last of
/// them is complete, so a generation appears at once except for a crash between the renames. Older
/// generations stay until remove_older_than().
class shard_store {
 public:
  /// Throws usage_error if a directory is given twice.
  explicit shard_store(std::vector<std::string> directories, report_problem report = {},
                       file_system& files = real_file_system());

  /// Finds all objects, or the named one, by the headers of shards under any file name. Reports
  /// unreadable shards and directories. The newest generation comes first. Two objects have the
  /// same generation if a writer died among its renames and another reused its number; the one with
  /// more shards then comes first.
  [[nodiscard]] std::vector<stored_object> scan(std::optional<std::string> const& name = std::nullopt) const;

  /// Stores the `length` bytes that `source` writes to its sink; shard i goes to directory i.
  /// Throws usage_error unless there is one directory per shard, or if the generation exists
  /// already.
  stored_object put(std::string const& name, code const& how, std::uint64_t length,
                    std::function<void(byte_sink const&)> const& source, put_options const& options = {});

  /// Whether the hashes of all blocks are compared with the footers before blocks are used: a small
  /// read per block, which finds blocks of other objects.
  enum class check : std::uint8_t { blocks, all_hashes };

  /// Writes the object's content to the sink that `begin` returns. With check::blocks, calls `begin`
  /// a second time, to start again, if shards that looked good contradict the others. Throws
  /// skel::error if the object cannot be restored, or if a key is given and the object is not
  /// encrypted; the bytes already written are then invalid.
  void get(stored_object const& what, std::function<byte_sink()> const& begin,
           std::optional<key> const& with = std::nullopt, kernel computed_by = default_kernel(),
           check before = check::blocks) const;

  /// Checks every block. Returns for each shard whether it is present and whole; reports defects.
  /// Throws skel::error if the object cannot be read.
  [[nodiscard]] std::vector<bool> verify(stored_object const& what, kernel computed_by = default_kernel(),
                                         count_bytes const& progress = {}) const;

  /// Rewrites missing and damaged shards: damaged ones in place, missing ones in directories
  /// without a shard of this object. Replaces no shard of its rivals_of(). Returns the paths.
  /// Throws usage_error if there are too few directories.
  std::vector<std::string> repair(stored_object const& what, std::vector<bool> const& whole,
                                  kernel computed_by = default_kernel(), count_bytes const& progress = {});

  /// Selects what tidy() removes in addition to second copies of shards and unreadable() files that
  /// can be opened but are not shards: shards of other objects with the same name, generation and
  /// membership, either only lost ones or all. If such an object has rivals_of(), unreadable files
  /// may belong to them and are kept.
  enum class others : std::uint8_t { lost, all };
  /// Removes them after reading all shards of the object that stay. Throws skel::error, and removes
  /// nothing, unless these are whole. Returns the paths.
  std::vector<std::string> tidy(stored_object const& what, others which = others::lost,
                                kernel computed_by = default_kernel(), count_bytes const& progress = {});

  /// Paths with the names of this object's shards whose files are not shards or cannot be opened.
  [[nodiscard]] std::vector<std::string> unreadable(stored_object const& what) const;

  /// Removes the shards of generations of this object before `generation`.
  void remove_older_than(std::string const& name, std::uint64_t generation);

  /// Paths that must not be overwritten by a shard of `what`: those of its own shards and of all
  /// other restorable objects with its name and generation.
  [[nodiscard]] std::set<std::string> occupied(stored_object const& what) const;

  /// Opens the object from its readable shards. Throws skel::error if they are too few.
  [[nodiscard]] std::unique_ptr<object_reader> open(stored_object const& what, kernel computed_by,
                                                    report_problem const& report,
                                                    check before = check::all_hashes) const;

 private:
  struct new_file;
  [[nodiscard]] std::vector<stored_object> scan(std::optional<std::string> const& name,
                                                report_problem const& report) const;
  [[nodiscard]] std::vector<std::string> unreadable(stored_object const& what,
                                                    std::vector<stored_object> const& readable) const;
  void add_without_footer(std::vector<std::string> const& paths, std::vector<stored_object>& found,
                          report_problem const& report) const;
  [[nodiscard]] bool can_be_opened(std::string const& path) const;
  [[nodiscard]] stored_object best_copies(stored_object const& what) const;
  void commit(std::vector<new_file>& files);
  void abandon(std::vector<new_file>& files) noexcept;

  std::vector<std::string> directories_;
  report_problem report_;
  file_system* files_;
};

}  // namespace skel::storage
