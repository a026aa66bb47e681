// Directories that hold shards, at most one per object each (the data repositories of [Camargo06]).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "skel/storage/generation.hpp"
#include "skel/storage/repository.hpp"
#include "storage/cipher.hpp"
#include "storage/object_reader.hpp"

namespace skel::storage {

/// Receives warnings that are already known, or that do not matter.
inline void ignore_problem(std::string const& /*problem*/) {}

struct put_options {
  std::optional<std::uint64_t> generation;  ///< default: the newest plus one
  std::optional<key> seal_with;             ///< encrypts with this key
  std::uint32_t block_size = 1U << 16U;
};

/// Throws usage_error for options with which no shards can be written.
void check_writing(std::uint32_t block_size, std::optional<key> const& seal_with);

[[nodiscard]] std::vector<place> places_in(std::vector<std::string> const& directories);
/// The index of the place that holds this file.
[[nodiscard]] std::optional<std::size_t> place_of(std::span<place const> places, std::string const& path);

/// All files of an object.
[[nodiscard]] std::vector<std::string> paths_of(stored_object const& o);

/// Reads, writes and repairs objects. An object of a generation receives a spare place for each that fails
/// (spread.hpp); another one has exactly one shard in each directory, so it is written completely or not
/// at all. Older generations stay until they are removed.
class shard_store {
 public:
  using content_source = repository::content_source;

  /// Throws usage_error if a directory is given twice.
  explicit shard_store(std::vector<place> places, report_problem report = {},
                       file_system& files = real_file_system(), kernel computed_by = default_kernel());
  explicit shard_store(std::vector<std::string> const& directories, report_problem report = {},
                       file_system& files = real_file_system())
      : shard_store(places_in(directories), std::move(report), files) {}

  /// Finds all objects, or the named one, by the headers of shards under any file name. Reports
  /// unreadable shards and directories. The newest generation comes first. Two objects have the
  /// same generation if a writer died among its renames and another reused its number; the one with
  /// more shards then comes first.
  [[nodiscard]] std::vector<stored_object> scan(std::optional<std::string> const& name = std::nullopt) const;

  /// Writes the shards of an object, each to the place with this index. The object is encrypted if a key is
  /// given. Adds to `cost`. Throws skel::error, and leaves no hidden file, if a shard has no place; also
  /// throws what `source` throws.
  stored_object write(object_info object, std::vector<std::size_t> const& where, content_source const& source,
                      std::optional<key> const& seal_with, save_cost& cost) const;
  /// Writes an object that belongs to no generation; shard i goes to directory i. Throws usage_error unless
  /// there is one directory per shard, or if the generation exists already.
  stored_object put(std::string const& name, code const& how, std::uint64_t length,
                    content_source const& source, put_options const& options = {}) const;

  /// Whether the hashes of all blocks are compared with the footers before blocks are used: a small
  /// read per block, which finds blocks of other objects.
  enum class check : std::uint8_t { blocks, all_hashes };

  /// Writes the object's content to the sink that `begin` returns. With check::blocks, calls `begin`
  /// a second time, to start again, if shards that looked good contradict the others. Throws
  /// skel::error if the object cannot be restored, or if a key is given and the object is not
  /// encrypted; the bytes already written are then invalid.
  void get(stored_object const& what, std::function<byte_sink()> const& begin,
           std::optional<key> const& with = std::nullopt, check before = check::blocks) const;

  /// Reads every block and reports defects. Returns the object without its damaged shards. Throws
  /// skel::error if it cannot be read.
  [[nodiscard]] stored_object verify(stored_object const& what, count_bytes const& progress = {}) const;

  /// Rewrites the shards of `found` that `whole`, see verify(), does not have: damaged ones in place, missing
  /// ones where the fewest shards of this object are. Replaces no shard of its rivals_of(). Returns the
  /// paths. Throws usage_error if there are too few directories.
  std::vector<std::string> repair(stored_object const& found, stored_object const& whole,
                                  placement_choice const& how = {}) const;

  /// Selects what tidy() removes in addition to second copies of shards and unreadable() files that
  /// can be opened but are not shards: shards of other objects with the same name, generation and
  /// membership, either only lost ones or all. If such an object has rivals_of(), unreadable files
  /// may belong to them and are kept.
  enum class others : std::uint8_t { lost, all };
  /// Removes them after reading all shards of the object that stay. Throws skel::error, and removes
  /// nothing, unless these are whole. Returns the paths.
  std::vector<std::string> tidy(stored_object const& what, others which = others::lost) const;

  /// Paths with the names of this object's shards whose files are not shards or cannot be opened.
  [[nodiscard]] std::vector<std::string> unreadable(stored_object const& what) const;

  /// Removes the shards of generations of this object before `generation`.
  void remove_older_than(std::string const& name, std::uint64_t generation) const;

 private:
  [[nodiscard]] std::vector<stored_object> scan(std::optional<std::string> const& name,
                                                report_problem const& report) const;
  [[nodiscard]] std::vector<std::string> unreadable(stored_object const& what,
                                                    std::vector<stored_object> const& readable) const;
  void add_without_footer(std::vector<std::string> const& paths, std::vector<stored_object>& found,
                          report_problem const& report) const;
  [[nodiscard]] stored_object best_copies(stored_object const& what) const;
  [[nodiscard]] std::set<std::string> occupied(stored_object const& what) const;
  [[nodiscard]] std::map<std::uint32_t, std::size_t> places_for_missing(stored_object const& found,
                                                                        stored_object const& whole,
                                                                        placement_choice const& how) const;
  [[nodiscard]] std::unique_ptr<object_reader> open(stored_object const& what, report_problem const& report,
                                                    check before = check::all_hashes) const;

  std::vector<place> places_;
  report_problem report_;
  file_system* files_;
  kernel computed_by_;
};

}  // namespace skel::storage
