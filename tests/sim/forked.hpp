// Each simulation in a process of its own; what it finds comes back through a pipe.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace forked {

/// Numbers that the child has found. Throws what went wrong when it did not end in order within `seconds`.
inline std::vector<double> run(std::function<std::vector<double>()> const& child, unsigned seconds = 300) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  std::cout.flush();
  std::fflush(nullptr);  // or it would be written twice
  pid_t const pid = fork();
  if (pid < 0) throw std::runtime_error("no child");
  if (pid == 0) {
    alarm(seconds);
    close(ends[0]);
    int code = 0;
    try {
      auto const found = child();
      auto const size = found.size() * sizeof(double);
      if (write(ends[1], found.data(), size) != static_cast<ssize_t>(size)) code = 3;
    } catch (std::exception const& e) {
      std::fprintf(stderr, "%s\n", e.what());
      code = 4;
    }
    _exit(code);
  }
  close(ends[1]);
  std::vector<double> found;
  double number = 0;
  while (read(ends[0], &number, sizeof number) == static_cast<ssize_t>(sizeof number))
    found.push_back(number);
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status))
    throw std::runtime_error("the simulation ended with " + std::string(strsignal(WTERMSIG(status))));
  if (WEXITSTATUS(status) != 0)
    throw std::runtime_error("the simulation ended with code " + std::to_string(WEXITSTATUS(status)));
  return found;
}

}  // namespace forked
