#include "launch_environment.hpp"

#include <array>
#include <cstdlib>

#include "base/text.hpp"

namespace skel::detail {

namespace {

constexpr char const* slurm = "Slurm's srun";

std::optional<long> number_in(char const* variable) {
  char const* const text = std::getenv(variable);
  return text == nullptr ? std::nullopt : to_number<long>(text);
}

// The shell of salloc and a batch script are steps with numbers from here on. A program that they
// start directly is one process, although SLURM_NTASKS counts the whole job.
constexpr long first_special_step = 4294967280;

std::optional<launch> launched_by_slurm() {
  if (auto const n = number_in("SLURM_STEP_NUM_TASKS")) return launch{slurm, *n};
  auto const step = number_in("SLURM_STEP_ID");
  auto const tasks = number_in("SLURM_NTASKS");
  if (step && tasks && *step >= 0 && *step < first_special_step) return launch{slurm, *tasks};
  return std::nullopt;
}

}  // namespace

std::string launch::number() const { return (exact ? std::to_string(processes) : "several") + " processes"; }

std::optional<launch> launched_by() {
  struct known {
    char const* variable;
    char const* launcher;
  };
  static constexpr std::array<known, 3> sizes{{{"OMPI_COMM_WORLD_SIZE", "Open MPI's mpiexec"},
                                               {"PMI_SIZE", "the mpiexec of an MPICH or Intel MPI"},
                                               {"MV2_COMM_WORLD_SIZE", "MVAPICH2's mpiexec"}}};
  std::optional<launch> found;
  for (auto const& s : sizes)
    if (auto const n = number_in(s.variable); n && (!found || *n > found->processes))
      found = {s.launcher, *n};
  if (!found) found = launched_by_slurm();  // under mpiexec, a Slurm step may belong to mpiexec itself
  // PMIx gives a process its rank only; a rank above 0 implies several processes.
  if (auto const rank = number_in("PMIX_RANK"); rank && !found)
    found = {"a launcher with PMIx", *rank > 0 ? 2 : 1, false};
  return found;
}

}  // namespace skel::detail
