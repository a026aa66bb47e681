// Catch2 itself, which takes long to compile.
#if !SKEL_CATCH2_V3
#define CATCH_CONFIG_RUNNER
#endif
#include "catch.hpp"

int test::run_cases(int argc, char const* const* argv) { return Catch::Session().run(argc, argv); }
