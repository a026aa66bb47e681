// The main function of every Catch2 test program that does not start MPI.
#if !SKEL_CATCH2_V3
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
