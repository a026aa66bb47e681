// Starts a program as users do.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace test {

struct output {
  int code;          // 128: ended by a signal
  std::string text;  // both streams
};

/// Runs a program under the shell for at most `seconds`.
inline output run_program(std::string const& program, std::string const& arguments, int seconds) {
  auto const command = "timeout " + std::to_string(seconds) + " " + program + " " + arguments + " 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen: " + command);
  std::string text;
  std::array<char, 4096> part{};
  while (auto const n = fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), n);
  int const status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, text};
}

}  // namespace test
