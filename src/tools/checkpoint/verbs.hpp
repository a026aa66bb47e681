// The subcommands of skel-checkpoint; see docs/reference/checkpoint.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skel::storage {

struct arguments {
  std::string code;
  std::vector<std::string> directories;
  std::string file;  ///< encode: the input
  std::string
      name;  ///< of the object; if empty, encode uses the file's name, verify and list use all objects
  std::string output;  ///< decode: the result
  std::string key_file;
  std::optional<std::uint64_t> generation;
  std::string object;      ///< prefix of an id(), if several objects have the same generation
  std::uint64_t keep = 1;  ///< number of generations to keep, 0 for all
  std::string progress = "auto";
  bool remove_lost = false;  ///< repair: what cannot be restored
  bool quiet = false;
};

/// Each returns the exit code 0 or 1, or throws usage_error (exit code 2) or error (exit code 1).
int encode(arguments const& a);
int decode(arguments const& a);
int verify(arguments const& a);
int repair(arguments const& a);
int list(arguments const& a);

}  // namespace skel::storage
