// Paths of shards.
#pragma once

#include <string>

namespace skel::storage {

inline std::string in_directory(std::string const& directory, std::string const& name) {
  return directory.ends_with('/') ? directory + name : directory + '/' + name;
}

inline std::string directory_of(std::string const& path) { return path.substr(0, path.rfind('/')); }

/// The path of an incomplete shard. Hidden and equal for each attempt, so that remains of a dead
/// writer are overwritten.
inline std::string temporary_of(std::string const& directory, std::string const& name) {
  return in_directory(directory, '.' + name + ".writing");
}

}  // namespace skel::storage
