// A store of three directories for the checkpoints of whole runs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "observe/support.hpp"
#include "skel/storage/options.hpp"

namespace test {

inline skel::checkpoint_options::resume_mode resume_mode(bool resume) {
  using mode = skel::checkpoint_options::resume_mode;
  return resume ? mode::yes : mode::no;
}

struct store_of_three {
  temporary_directory root;
  std::vector<std::string> directories;

  store_of_three() {
    for (char const* name : {"a", "b", "c"}) {
      directories.push_back(root.file(name));
      std::filesystem::create_directory(directories.back());
    }
  }
  /// Options with a checkpoint every two milliseconds.
  [[nodiscard]] skel::checkpoint_options options(bool resume, std::string const& problem = "numbers") const {
    skel::checkpoint_options c;
    c.store = directories;
    c.every_seconds = 0.002;
    c.resume = resume_mode(resume);
    c.program = {"a test", "1"};
    c.problem = problem;
    return c;
  }
  /// Removes the path of the directories from a message: "… in a, b, c …".
  [[nodiscard]] std::string without_path(std::string text) const {
    for (std::size_t at = 0; (at = text.find(root.file(""))) != std::string::npos;)
      text.erase(at, root.file("").size());
    return text;
  }
};

}  // namespace test
