// What skel-checkpoint does; docs/checkpoint.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skel::storage {

struct arguments {
  std::string code;
  std::vector<std::string> directories;
  std::string file;  ///< what is encoded
  std::string
      name;  ///< of the object; encode: the file's where it is empty; verify, list: all where it is empty
  std::string output;  ///< what is decoded
  std::string key_file;
  std::optional<std::uint64_t> generation;
  std::string object;      ///< the beginning of an id(), where several have the same generation
  std::uint64_t keep = 1;  ///< so many generations, 0 for all
  std::uint32_t block_size = 1U << 16U;
  std::string progress = "auto";
  bool quiet = false;
};

/// Each gives the exit code, 0 or 1, or throws: usage_error for 2, error for 1.
int encode(arguments const& a);
int decode(arguments const& a);
int verify(arguments const& a);
int repair(arguments const& a);
int list(arguments const& a);

}  // namespace skel::storage
