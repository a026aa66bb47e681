// The main function of a skel program: MPI up and down, errors to exit codes.
#pragma once

#include <functional>

#include "skel/context.hpp"

namespace skel {

namespace detail {
int run_main_alone(int argc, char** argv, std::function<void(context&)> const& body);
int run_main_mpi(int argc, char** argv, std::function<void(context&)> const& body);
}  // namespace detail

/// Runs body(context&) once per rank and returns the exit code: 0 done, 1 failed, 2 bad usage or bad input.
/// Under mpiexec the ranks are MPI processes; otherwise one process with threads does the whole job.
/// An exception that escapes is printed once, on one line `program: text`, by the lowest rank that failed;
/// the other ranks are told and leave with the same exit code. After the loss of a rank the process ends by
/// _exit.
inline int run_main(int argc, char** argv, std::function<void(context&)> const& body) {
#if SKEL_WITH_MPI
  return detail::run_main_mpi(argc, argv, body);
#else
  return detail::run_main_alone(argc, argv, body);
#endif
}

}  // namespace skel
