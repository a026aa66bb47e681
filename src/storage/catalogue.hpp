// Assembles generations from the shards in directories (the cluster data repository manager of
// [Camargo06]).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "skel/storage/repository.hpp"
#include "storage/shard_store.hpp"

namespace skel::storage {

/// Returns all generations among the objects that scan() found, the newest first. Among generations
/// with the same number, committed ones come first. Objects that belong to no generation are
/// ignored.
[[nodiscard]] std::vector<stored_generation> generations_of(std::vector<stored_object> const& objects,
                                                            shard_store const& store,
                                                            report_problem const& report);

/// What a repository's directories hold. `of` must outlive it.
struct inventory {
  inventory(repository_options const& of, report_problem receiver, file_system& where);
  /// The same with another receiver of warnings.
  [[nodiscard]] inventory reporting_to(report_problem receiver) const {
    return {options, std::move(receiver), files};
  }

  [[nodiscard]] std::vector<stored_generation> catalogue() const;
  /// The files whose names are those of a Name (part_name.hpp), with their paths.
  template <class Name>
  [[nodiscard]] std::vector<std::pair<std::string, Name>> files_named() const;
  /// Whether this writer may restore and remove the generation.
  [[nodiscard]] bool is_mine(stored_generation const& g) const;
  [[nodiscard]] placement_choice choice(std::uint64_t generation, std::uint32_t part = 0) const {
    return {options.placement.home, part, generation, options.placement.remote_every};
  }
  [[nodiscard]] object_info describe(generation_plan const& plan, std::uint32_t part, std::string const& name,
                                     std::uint64_t length) const;
  /// Reports a file that cannot be removed.
  void remove(std::string const& path) const;

  repository_options const& options;
  report_problem report;
  file_system& files;
  std::vector<place> places;  ///< on living hosts; others receive no shards and count in no quorum
  shard_store store;
};

}  // namespace skel::storage
