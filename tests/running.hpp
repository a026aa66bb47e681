// Starts programs as users do.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "observe/support.hpp"

namespace test {

struct output {
  int code = 128;      // 128: ended by a signal
  std::string text;    // standard output
  std::string errors;  // standard error
};

/// Runs a command under the shell.
inline output run_command(std::string const& command) {
  temporary_directory const directory;
  auto const out = directory.file("out"), err = directory.file("err");
  int const status = std::system(("{ " + command + "\n} >'" + out + "' 2>'" + err + "'").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, read_file(out), read_file(err)};
}

/// Runs a program for at most `seconds`; `text` has both streams.
inline output run_program(std::string const& program, std::string const& arguments, int seconds) {
  return run_command("timeout " + std::to_string(seconds) + " " + program + " " + arguments + " 2>&1");
}

}  // namespace test
