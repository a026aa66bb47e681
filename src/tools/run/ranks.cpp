#include "tools/run/ranks.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "skel/error.hpp"

namespace skel::commands {

namespace fs = std::filesystem;

namespace {

// In shared memory, where the programs have theirs.
std::string new_folder() {
  auto const* const set = std::getenv("TMPDIR");
  std::string path;
  for (std::string const in : {"/dev/shm", set == nullptr ? "/tmp" : set}) {
    path = in + "/skel-run.XXXXXX";
    if (::mkdtemp(path.data()) != nullptr) return path;
  }
  throw error(path + ": " + std::strerror(errno));
}

// Beside this program in a build tree, elsewhere where it is installed.
std::string program() {
  std::error_code failed;
  auto const here = fs::read_symlink("/proc/self/exe", failed).parent_path();
  for (auto const* const in : {"", SKEL_RUN_LIBEXEC})
    if (auto const path = here / in / "skel-run-ranks"; ::access(path.c_str(), X_OK) == 0) return path;
  return {};
}

}  // namespace

std::string own_cores() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "Cpus_allowed_list:" && status >> word) return word;
  return {};
}

std::string why_no_ranks() {
#ifndef SKEL_RUN_PMIX
  if (::dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") != nullptr)
    return "programs of Open MPI need PMIx, which this build of skel does not have (SKEL_PMIX)";
#endif
  return program().empty() ? "its program skel-run-ranks is missing" : "";
}

ranks_starter::~ranks_starter() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

pid_t ranks_starter::start(request const& what, char* const* environment, process_setup const& setup) {
  if (folder_.empty()) folder_ = new_folder();
  std::vector<std::string> words{program(), folder_, what.what.line};
  words.insert(words.end(), what.cores.begin(), what.cores.end());
  std::vector<char*> all;
  for (auto* const* v = environment; *v != nullptr; ++v) all.push_back(*v);
  static char yield[] = "OMPI_MCA_mpi_yield_when_idle=1";
  if (auto const* const crowded = std::getenv("OMPI_MCA_mpi_oversubscribe");
      crowded != nullptr && std::string(crowded) == "1")
    all.push_back(yield);  // a setting of the user comes before it, and wins
  all.push_back(nullptr);
  return start_program(words, all.data(), setup);
}

}  // namespace skel::commands
