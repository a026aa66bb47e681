// Traverses a tree of the UTS benchmark with a stack on one core, the baseline of skel-search.
#include <cstdio>
#include <exception>

#include "clock.hpp"
#include "sequential.hpp"

int main(int argc, char** argv) {
  try {
    auto const tree = search::parse_tree(argc > 1 ? argv[1] : "T1");
    double const begin = bench::seconds();
    auto const found = search::traverse(tree.parameters);
    double const seconds = bench::seconds() - begin;
    std::printf("nodes=%llu seconds=%.6f\n", static_cast<unsigned long long>(found.nodes), seconds);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "skel-bench-traverse: %s\n", e.what());
    return 2;
  }
}
