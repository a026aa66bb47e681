// Standard error and standard output of a part of a test.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "observe/support.hpp"

namespace test {

// Returns what `body` prints to standard error or standard output, which is redirected to a file.
template <class F>
std::string printed_by(F&& body, int descriptor) {
  temporary_directory const directory;
  std::fflush(stdout);
  int const saved = ::dup(descriptor);
  int const file = ::open(directory.file("out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ::dup2(file, descriptor);
  body();
  std::fflush(stdout);
  ::dup2(saved, descriptor);
  ::close(saved);
  ::close(file);
  return read_file(directory.file("out"));
}

template <class F>
std::string standard_error_of(F&& body) {
  return printed_by(body, STDERR_FILENO);
}

}  // namespace test
