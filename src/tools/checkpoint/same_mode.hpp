// Permissions of files that are made from other files.
#pragma once

#include <string>
#include <vector>

#include "skel/storage/generation.hpp"

namespace skel::storage {

/// Gives new files the permissions that all of some existing files have. While it lives, files are
/// created with no others, so that secret data is never readable for more users than before.
class same_mode {
 public:
  /// Files that do not exist do not count.
  explicit same_mode(std::vector<std::string> const& existing);
  /// As the shards of an object.
  explicit same_mode(stored_object const& o);
  /// As all shards of a generation.
  explicit same_mode(stored_generation const& g);
  ~same_mode();
  same_mode(same_mode const&) = delete;
  same_mode& operator=(same_mode const&) = delete;

  /// Gives all permissions to new files, also those that a process does not set by itself.
  void apply(std::vector<std::string> const& created) const;

 private:
  unsigned mode_, umask_before_;
};

}  // namespace skel::storage
