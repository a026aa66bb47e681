// Which running tasks of a farm another rank would finish earlier.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "farm/role/rank_loads.hpp"
#include "role/digest.hpp"
#include "skel/detail/task_range.hpp"

namespace skel::role {

/// Knows what each rank runs, and since when, as far as the root has been told. Ranks are named by their
/// index. A regular value.
class late_tasks {
 public:
  late_tasks() = default;
  explicit late_tasks(std::size_t ranks) : ranks_(ranks) {}

  /// A rank with a free thread begins what it is given.
  void given(std::size_t index, std::size_t threads, range_list const& tasks, double t);
  /// It says that it has finished and begun these, ...
  void results(std::size_t index, std::size_t threads, range_list const& done, range_list const& begun,
               double t);
  /// ... or that it runs just these.
  void all(std::size_t index, range_list const& running, double t);
  void lost(std::size_t index) { ranks_[index].clear(); }

  /// The range that gains most if `thief` runs a copy of it; `allowed` decides which may be copied. A rank
  /// that takes a copy is remembered, so that only a faster one takes another.
  [[nodiscard]] std::optional<task_range> copy_for(std::size_t thief, rank_loads const& loads, double t,
                                                   std::function<bool(std::size_t, task_id)> const& allowed);
  friend bool operator==(late_tasks const&, late_tasks const&) = default;
  void hash(digest& d) const;

 private:
  struct run {
    task_range range;
    double since = 0;
    double best = 0;  // speed of the fastest thread that runs a copy
    friend bool operator==(run const&, run const&) = default;
  };
  void add(std::size_t index, task_range const& range, double t);

  std::vector<std::vector<run>> ranks_;
};

}  // namespace skel::role
