// Programs of skel that another one runs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace skel::program {

/// A folder that is removed at the end.
class temporary_folder {
 public:
  temporary_folder();
  ~temporary_folder();
  temporary_folder(temporary_folder const&) = delete;
  temporary_folder& operator=(temporary_folder const&) = delete;
  [[nodiscard]] std::string file(std::string const& name) const { return (path_ / name).string(); }
  /// Leaves it to the user. Returns its path.
  std::string keep();

 private:
  std::filesystem::path path_;
  bool kept_ = false;
};

/// Returns the path of an executable: the one beside this program, else the first in PATH.
[[nodiscard]] std::optional<std::string> find_sister(std::string const& program);

/// Runs an executable without standard output, and waits for it. Returns what it wrote on standard error if
/// it failed. Throws skel::error if it cannot be started.
[[nodiscard]] std::optional<std::string> run_sister(std::string const& path, std::vector<std::string> words);

/// An executable that runs beside this program, without standard output. Its standard input ends with this
/// object, or with this process, however that ends. The destructor waits for it, and ends it after 20 s.
class running_sister {
 public:
  /// Throws skel::error if it cannot be started.
  running_sister(std::string const& path, std::vector<std::string> words);
  ~running_sister();
  running_sister(running_sister const&) = delete;
  running_sister& operator=(running_sister const&) = delete;

 private:
  int child_ = 0;
  int input_ = -1;
};

}  // namespace skel::program
