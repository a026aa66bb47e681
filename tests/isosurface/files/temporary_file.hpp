// Files of a test's own.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace test {

inline std::string temporary(std::string const& name) {
  return (std::filesystem::temp_directory_path() / ("skel-isosurface-" + std::to_string(getpid()) + name))
      .string();
}

inline std::string bytes_of(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void put(std::string const& path, std::string const& bytes) {
  std::filesystem::remove(path);  // some file systems write out at once what replaces a file
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace test
