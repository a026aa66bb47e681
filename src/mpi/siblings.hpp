// Observes the ranks on this host as processes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <string>

namespace skel::detail {

/// Watches through /proc the processes that the launcher has started on this host for the same job.
/// Before MPI_Init has returned, no rank can be reached by messages, and Open MPI does not report
/// the death of another rank. Supports launchers that set PMIX_RANK and PMIX_NAMESPACE (Open MPI,
/// Slurm with PMIx); sees nothing under others.
class siblings {
 public:
  siblings();

  /// Looks at the processes. `now`: seconds on any clock. Returns a description of the problem, or
  /// an empty text: a rank that has been gone for a second, or one that did not appear within 15 s.
  [[nodiscard]] std::string what_is_wrong(double now);
  /// Whether this rank is the lowest one on this host that has not died.
  [[nodiscard]] bool is_spokesman() const;

 private:
  struct process {
    int rank = 0;
    double gone_since = -1;  // negative: present
  };
  [[nodiscard]] bool has_died(process const& p) const;

  pid_t launcher_ = 0;  // 0: unknown
  std::string job_;
  int rank_ = -1;
  std::size_t expected_ = 0;  // on this host; 0: unknown
  bool all_here_ = false;     // these are all ranks of the job
  std::map<pid_t, process> seen_;
  double last_look_ = 0;
  double few_since_ = -1;  // fewer processes than expected; negative: enough
};

}  // namespace skel::detail
