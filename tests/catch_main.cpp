// The main function of every test program that does not start MPI.
#include "catch.hpp"

int main(int argc, char** argv) { return test::run_cases(argc, argv); }
