// Runs programs under mpiexec, and leaves its own lines out.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "running.hpp"

namespace test {

struct ended {
  int code = -1;                    // of mpiexec
  std::vector<std::string> out;     // lines; "exit N" per rank if ranks print it; without mpiexec's own lines
  std::vector<std::string> errors;  // without mpiexec's own lines
};

inline std::vector<std::string> lines_of(std::string const& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// What MPICH's launcher adds to the output if it takes a process for crashed.
inline bool is_banner(std::string const& line) {
  for (auto const* start : {"===", "=   ", "YOUR APPLICATION TERMINATED WITH ",
                            "This typically refers to a problem ", "Please see the FAQ page "})
    if (line.starts_with(start)) return true;
  return line.empty();
}

inline ended shell(std::string const& command) {
  auto const r = run_command(command);
  ended e{r.code, lines_of(r.text), {}};
  std::erase_if(e.out, is_banner);
  for (auto const& line : lines_of(r.errors))
    if (line.starts_with("mpi_") || line.starts_with("skel: ")) e.errors.push_back(line);
  return e;
}

}  // namespace test
