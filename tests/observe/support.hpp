// Temporary directories and files for the tests of observe/ and program/.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace test {

class temporary_directory {
 public:
  explicit temporary_directory(std::filesystem::path const& parent = std::filesystem::temp_directory_path()) {
    std::string name = (parent / "skel-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~temporary_directory() { std::filesystem::remove_all(path_); }
  temporary_directory(temporary_directory const&) = delete;
  temporary_directory& operator=(temporary_directory const&) = delete;

  [[nodiscard]] std::string file(std::string const& name) const { return (path_ / name).string(); }
  [[nodiscard]] int entries() const {
    int n = 0;
    for ([[maybe_unused]] auto const& entry : std::filesystem::directory_iterator(path_)) ++n;
    return n;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void write_file(std::string const& path, std::string const& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// what() of the exception of type E that `call` throws; other exceptions pass, none gives "(nothing
/// thrown)".
template <class E, class F>
std::string error_text(F&& call) {
  try {
    call();
  } catch (E const& e) {
    return e.what();
  }
  return "(nothing thrown)";
}

}  // namespace test
