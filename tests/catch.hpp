// Catch2 2 (Debian 12) and 3 have different header names; tests include this one.
#pragma once
#if SKEL_CATCH2_V3
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

namespace test {

/// Runs the cases that the words of a command line select; returns the exit code.
int run_cases(int argc, char const* const* argv);

}  // namespace test
