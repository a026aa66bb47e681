// Standard error of a part of a test.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "observe/support.hpp"

namespace test {

// Returns what `body` prints to standard error, which is redirected to a file.
template <class F>
std::string standard_error_of(F&& body) {
  temporary_directory const directory;
  int const saved = ::dup(STDERR_FILENO);
  int const file = ::open(directory.file("err").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ::dup2(file, STDERR_FILENO);
  body();
  ::dup2(saved, STDERR_FILENO);
  ::close(saved);
  ::close(file);
  return read_file(directory.file("err"));
}

}  // namespace test
