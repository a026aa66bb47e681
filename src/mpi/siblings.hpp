// The ranks on this host, seen as processes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <string>

namespace skel::detail {

/// Watches the processes that the launcher has started on this host for the same job, through /proc. Before
/// MPI_Init has returned no rank can be reached by messages, and Open MPI tells no rank that another one has
/// died. Knows the launchers that set PMIX_RANK and PMIX_NAMESPACE (Open MPI, Slurm with PMIx); under others
/// it sees nothing.
class siblings {
 public:
  siblings();

  /// Looks at the processes. `now`: seconds on any clock. Returns what is wrong, in words, or nothing: a rank
  /// that has been gone for a second, or one that was not there within 15.
  [[nodiscard]] std::string what_is_wrong(double now);
  /// Whether this rank has the lowest number of those here that have not died.
  [[nodiscard]] bool is_spokesman() const;

 private:
  struct process {
    int rank = 0;
    double gone_since = -1;  // negative: it is there
  };
  [[nodiscard]] bool has_died(process const& p) const;

  pid_t launcher_ = 0;  // 0: not known
  std::string job_;
  int rank_ = -1;
  std::size_t expected_ = 0;  // on this host; 0: not known
  bool all_here_ = false;     // they are all ranks of the job
  std::map<pid_t, process> seen_;
  double last_look_ = 0;
  double few_since_ = -1;  // fewer processes than expected; negative: enough
};

}  // namespace skel::detail
