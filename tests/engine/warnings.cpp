// Warnings about variables that skel does not know, and about threads within tasks.
#include "engine/warnings.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "catch.hpp"

using skel::detail::too_many_threads;

namespace {

std::vector<std::string> said_of(std::vector<char const*> variables) {
  variables.push_back(nullptr);
  return skel::detail::unknown_variables(variables.data());
}

}  // namespace

TEST_CASE("a misspelt variable is named, with the one that may be meant") {
  CHECK(said_of({"HOME=/", "SKEL_THREADS=2", "SKEL_WATCHDOG=", "SKELETON=1"}).empty());
  CHECK(said_of({"SKEL_THREAD=2"}) ==
        std::vector<std::string>{"unknown environment variable SKEL_THREAD; did you mean SKEL_THREADS?"});
  CHECK(said_of({"SKEL_SUSPECTAFTER=2s", "SKEL_XYZ=1"}) ==
        std::vector<std::string>{
            "unknown environment variable SKEL_SUSPECTAFTER; did you mean SKEL_SUSPECT_AFTER?",
            "unknown environment variable SKEL_XYZ"});
}

TEST_CASE("every documented variable is known") {
  std::ifstream page(SKEL_DOCS "/reference/environment.md");
  std::set<std::string> names;
  std::regex const variable("`(SKEL_[A-Z_]+)");
  for (std::string line; std::getline(page, line);)
    for (std::sregex_iterator found(line.begin(), line.end(), variable), end; found != end; ++found)
      names.insert((*found)[1]);
  CHECK(names.size() >= 10);
  for (auto const& name : names) CHECK(said_of({name.c_str()}).empty());
}

TEST_CASE("threads within tasks are too many if they and the compute threads exceed the cores") {
  skel::detail::inner_threads const openmp{"OpenMP", "OMP_NUM_THREADS", 4};
  CHECK(too_many_threads(1, 4, openmp).empty());
  CHECK(too_many_threads(2, 8, openmp).empty());
  CHECK(too_many_threads(4, 4, {"OpenMP", "OMP_NUM_THREADS", 1}).empty());
  CHECK(too_many_threads(4, 4, openmp) ==
        "4 compute threads per rank, and OpenMP would use 4 threads in each task, but the rank has 4 cores: "
        "set OMP_NUM_THREADS=1 or SKEL_THREADS=1 unless no task uses OpenMP");
}

TEST_CASE("a loaded OpenMP library is found, with the threads of a new thread") {
  setenv("OMP_NUM_THREADS", "3", 1);
  if (dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL) == nullptr) return;
  auto* const set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  REQUIRE(set != nullptr);
  set(1);  // on this thread only
  auto const found = skel::detail::find_inner_threads();
  REQUIRE(found);
  CHECK(std::string(found->variable) == "OMP_NUM_THREADS");
  CHECK(found->threads == 3);
}
