// Directories that hold shards, at most one of an object each (the paper's data repositories).
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
  std::optional<std::uint64_t> generation;  ///< otherwise one more than the newest there is
  std::optional<key> seal_with;             ///< encrypted
  std::uint32_t block_size = 1U << 16U;
  kernel computed_by = default_kernel();
};

/// Shards are written under temporary names, synced, and only then renamed, all after the last of them is
/// whole. So a generation appears at once but for a crash between the renames, and what was there before
/// stays until remove_older_than().
class shard_store {
 public:
  /// usage_error where a directory is named twice.
  explicit shard_store(std::vector<std::string> directories, report_problem report = {},
                       file_system& files = real_file_system());

  /// Shards that can be opened, by header, whatever their files are called; others and directories that
  /// cannot be read are reported. The newest generation first; of the same generation (a writer died among
  /// its renames, and another used its number) what has more shards first. Of all objects, or of one.
  [[nodiscard]] std::vector<stored_object> scan(std::optional<std::string> const& name = std::nullopt) const;

  /// Stores `length` bytes that `source` hands to the sink it is given; shard i goes to directory i.
  /// usage_error unless there is a directory for each shard, or where the generation is there already.
  stored_object put(std::string const& name, code const& how, std::uint64_t length,
                    std::function<void(byte_sink const&)> const& source, put_options const& options = {});

  /// The object's content. skel::error where it cannot be given back; what the sink has had is void then.
  void get(stored_object const& what, byte_sink const& to, std::optional<key> const& with = std::nullopt,
           kernel computed_by = default_kernel()) const;

  /// Which of the shards are there and whole, block by block; reports what is wrong with the others.
  /// skel::error where the object cannot be read.
  [[nodiscard]] std::vector<bool> verify(stored_object const& what, kernel computed_by = default_kernel(),
                                         count_bytes const& progress = {}) const;

  /// Writes the shards that are missing or not whole again: damaged ones in place, missing ones to
  /// directories without a shard of this object. Replaces no shard of rivals_of() it. Gives back the paths.
  /// usage_error where there are too few directories.
  std::vector<std::string> repair(stored_object const& what, std::vector<bool> const& whole,
                                  kernel computed_by = default_kernel(), count_bytes const& progress = {});

  /// What tidy() takes for rubbish beside second copies of shards, and beside unreadable() files that can be
  /// opened and are no shards: shards of other objects with the same name, generation and membership, if
  /// these are lost, or in any case. Where such an object has rivals_of(), unreadable files may be theirs.
  enum class others : std::uint8_t { lost, all };
  /// Removes them, when it has read all shards of the object that stay: skel::error, and nothing is removed,
  /// unless these are whole. Gives back the paths.
  std::vector<std::string> tidy(stored_object const& what, others which = others::lost,
                                kernel computed_by = default_kernel(), count_bytes const& progress = {});

  /// Paths with the names of this object's shards whose files are no shards or cannot be opened.
  [[nodiscard]] std::vector<std::string> unreadable(stored_object const& what) const;

  /// Removes the shards of generations of this object before `generation`.
  void remove_older_than(std::string const& name, std::uint64_t generation);

  /// Paths that a shard of `what` must not be written over: those of its own shards, and of all other objects
  /// with its name and generation that can be given back, whoever wrote them.
  [[nodiscard]] std::set<std::string> occupied(stored_object const& what) const;

  /// The object from those of its shards that can be opened; skel::error where they are too few.
  [[nodiscard]] std::unique_ptr<object_reader> open(stored_object const& what, kernel computed_by,
                                                    report_problem const& report) const;

 private:
  struct new_file;
  [[nodiscard]] std::vector<stored_object> scan(std::optional<std::string> const& name,
                                                report_problem const& report) const;
  [[nodiscard]] std::vector<std::string> unreadable(stored_object const& what,
                                                    std::vector<stored_object> const& readable) const;
  [[nodiscard]] bool can_be_opened(std::string const& path) const;
  [[nodiscard]] stored_object best_copies(stored_object const& what) const;
  void commit(std::vector<new_file>& files);
  void abandon(std::vector<new_file>& files) noexcept;

  std::vector<std::string> directories_;
  report_problem report_;
  file_system* files_;
};

}  // namespace skel::storage
