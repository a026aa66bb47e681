#include "launcher.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "engine/launch_environment.hpp"

namespace skel::detail {

bool launcher_survives_losses() {
  // skel-mpiexec sets the first; Open MPI 4 passes its options on as the second.
  for (auto const* name : {"SKEL_EXIT_STATUS_FILE", "OMPI_MCA_orte_enable_recovery"})
    if (char const* const text = std::getenv(name);
        text != nullptr && *text != '\0' && std::strcmp(text, "0") != 0)
      return true;
  return false;
}

std::string launcher_mismatch(int size) {
  auto const job = size > 1 ? std::nullopt : launched_by();
  if (!job || job->processes <= 1) return {};
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  std::string mpi(version, static_cast<std::size_t>(length));
  mpi.erase(std::min(mpi.find_first_of(",\n"), mpi.size()));
  return "started as one of " + job->number() + " by " + job->launcher +
         ", but this program is linked with " + mpi + " and is the only process: use that library's mpiexec";
}

int cores_of_all(MPI_Comm here, int own_cores) {
  constexpr int words = 128;  // 8,192 processors
  std::array<std::uint64_t, words> mine{};
  std::array<std::uint64_t, words> all{};
  static_assert(sizeof mine == 8192 / 8);
  if (sched_getaffinity(0, sizeof mine, reinterpret_cast<cpu_set_t*>(mine.data())) < 0) return own_cores;
  MPI_Allreduce(mine.data(), all.data(), words, MPI_UINT64_T, MPI_BOR, here);
  int own_mask = 0;
  int cores = 0;
  for (auto const w : mine) own_mask += std::popcount(w);
  for (auto const w : all) cores += std::popcount(w);
  // A quota below the affinity mask is shared by all ranks of the cgroup.
  return own_cores < own_mask ? std::min(cores, own_cores) : cores;
}

}  // namespace skel::detail
