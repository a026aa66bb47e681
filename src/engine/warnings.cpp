#include "warnings.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <string_view>
#include <thread>
#include <utility>

#include "base/format.hpp"
#include "base/text.hpp"

namespace skel::detail {

namespace {

// All variables that skel, its programs, scripts and tests read. docs/reference/environment.md and
// docs/how-to/survive-losses.md explain those for users.
std::vector<std::string> const& known_variables() {
  static std::vector<std::string> const all{
      "SKEL_THREADS", "SKEL_THREADS_PER_DEVICE", "SKEL_PROGRESS", "SKEL_TRACE", "SKEL_WATCHDOG",
      "SKEL_SUSPECT_AFTER", "SKEL_HOST", "SKEL_CLUSTER", "SKEL_HOST_LOAD", "SKEL_CHECK_INPUTS",
      "SKEL_CHECK_TASKS", "SKEL_GF_KERNEL", "SKEL_REMEMBER", "SKEL_SPARES",
      // skel-run, for its commands
      "SKEL_TASK", "SKEL_FROM",
      // skel-mpiexec
      "SKEL_MPIEXEC", "SKEL_ULFM", "SKEL_RESTART_PAUSE", "SKEL_EXIT_STATUS_FILE", "SKEL_STATUS_DIR",
      // packaging/slurm/resume.sbatch
      "SKEL_STORE",
      // CMake and environment modules
      "SKEL_ROOT", "SKEL_DIR", "SKEL_HOME",
      // tests
      "SKEL_LONG", "SKEL_WRITTEN", "SKEL_HARNESS_RUNS", "SKEL_HARNESS_SEED"};
  return all;
}

}  // namespace

std::vector<std::string> unknown_variables(char const* const* environment) {
  constexpr std::string_view prefix = "SKEL_";
  auto const& known = known_variables();
  std::vector<std::string> texts;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    std::string_view const entry = *environment;
    std::string const name(entry.substr(0, entry.find('=')));
    if (!name.starts_with(prefix) || std::ranges::find(known, name) != known.end()) continue;
    auto const meant = nearest(name.substr(prefix.size()), [&] {
      std::vector<std::string> rest;
      rest.reserve(known.size());
      for (auto const& k : known) rest.push_back(k.substr(prefix.size()));
      return rest;
    }());
    texts.push_back(
        detail::format("unknown environment variable {}{}", name,
                       meant.empty() ? "" : detail::format("; did you mean {}{}?", prefix, meant)));
  }
  return texts;
}

std::optional<inner_threads> find_inner_threads() {
  struct known {
    char const* function;
    inner_threads library;
  };
  static constexpr known all[] = {
      {"omp_get_max_threads", {"OpenMP", "OMP_NUM_THREADS", 0}},
      {"openblas_get_num_threads", {"OpenBLAS", "OPENBLAS_NUM_THREADS", 0}},
      {"MKL_Get_Max_Threads", {"MKL", "MKL_NUM_THREADS", 0}},
  };
  std::vector<std::pair<int (*)(), inner_threads>> loaded;
  for (auto const& k : all)
    if (auto* const found = dlsym(RTLD_DEFAULT, k.function))
      loaded.emplace_back(reinterpret_cast<int (*)()>(found), k.library);
  if (loaded.empty()) return std::nullopt;
  // OpenMP has a number for each thread: omp_set_num_threads() on the main thread does not change those of
  // skel's threads. A new thread has the same number as they.
  std::thread([&loaded] {
    for (auto& [function, library] : loaded) library.threads = function();
  }).join();
  return std::ranges::max_element(loaded, {}, [](auto const& l) { return l.second.threads; })->second;
}

std::string too_many_threads(int compute_threads, int cores, inner_threads const& inner) {
  if (compute_threads <= 1 || inner.threads <= 1 || compute_threads * inner.threads <= cores) return {};
  return detail::format(
      "{} compute threads per rank, and {} would use {} threads in each task, but the rank has {} cores: "
      "set {}=1 or SKEL_THREADS=1 unless no task uses {}",
      compute_threads, inner.library, inner.threads, cores, inner.variable, inner.library);
}

}  // namespace skel::detail
