// The folder and the files of a command that runs.
#pragma once

#include <cstdint>
#include <string>

#include "tools/run/request.hpp"

namespace skel::commands {

/// They have names of their own while the command runs, because another rank may run it too, after a loss.
/// keep() gives them their final ones, and replaces those of an earlier run of the command. Without keep()
/// they are removed.
class own_files {
 public:
  /// Makes the folder of --files or --folders. Throws usage_error if it cannot be written.
  static void check(surroundings const& where);
  /// Makes the folder and opens the files, if there are any. Throws skel::error.
  own_files(surroundings const& where, std::uint64_t number);
  ~own_files();
  own_files(own_files const&) = delete;
  own_files& operator=(own_files const&) = delete;

  /// Descriptors; -1: output is streamed.
  [[nodiscard]] int output() const { return output_; }
  [[nodiscard]] int errors() const { return errors_; }
  /// Empty: that of the rank.
  [[nodiscard]] std::string const& folder() const { return folder_; }
  /// Closes what this process need not keep open.
  void close();
  /// Throws skel::error.
  void keep();
  /// When the command with this number has written the file with its output, in nanoseconds since 1970, by
  /// which the file is recognised; 0: there is none.
  [[nodiscard]] static std::int64_t written(surroundings const& where, std::uint64_t number);

 private:
  std::string folder_, final_folder_;
  std::string files_, final_files_;  // without .out and .err
  int output_ = -1, errors_ = -1;
};

}  // namespace skel::commands
