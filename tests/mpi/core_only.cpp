// A program linked with skel::core only. contract.cpp starts it in the environments of several launchers.
#include <cstdio>

#include "skel/run_main.hpp"

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) { std::printf("%d rank\n", ctx.size()); });
}
