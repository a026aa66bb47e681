#include "launcher.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace skel::detail {

namespace {

long number_of(char const* variable) {
  char const* const text = std::getenv(variable);
  return text != nullptr ? std::strtol(text, nullptr, 10) : 0;
}

}  // namespace

bool launcher_survives_losses() {
  // skel-mpiexec sets the first, Open MPI 4 hands its options on as the second.
  for (auto const* name : {"SKEL_EXIT_STATUS_FILE", "OMPI_MCA_orte_enable_recovery"})
    if (char const* const text = std::getenv(name);
        text != nullptr && *text != '\0' && std::strcmp(text, "0") != 0)
      return true;
  return false;
}

std::string launcher_mismatch(int size) {
  if (size > 1) return {};
  struct launcher {
    char const* variable;
    char const* name;
  };
  // A Slurm batch script that starts one process directly sets SLURM_NTASKS too; SLURM_STEP_NUM_TASKS is set
  // by srun only.
  static constexpr std::array<launcher, 4> launchers{{{"OMPI_COMM_WORLD_SIZE", "Open MPI's mpiexec"},
                                                      {"PMI_SIZE", "the mpiexec of an MPICH or Intel MPI"},
                                                      {"MV2_COMM_WORLD_SIZE", "MVAPICH2's mpiexec"},
                                                      {"SLURM_STEP_NUM_TASKS", "Slurm's srun"}}};
  for (auto const& l : launchers) {
    long const n = number_of(l.variable);
    if (n <= 1) continue;
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(version, &length);
    std::string mpi(version, static_cast<std::size_t>(length));
    mpi.erase(std::min(mpi.find_first_of(",\n"), mpi.size()));
    return std::string("started as one of ") + std::to_string(n) + " processes by " + l.name +
           ", but this program is linked with " + mpi + " and finds itself alone: use that library's mpiexec";
  }
  return {};
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
  // A quota below the mask is shared by all ranks of the cgroup.
  return own_cores < own_mask ? std::min(cores, own_cores) : cores;
}

}  // namespace skel::detail
