// The parts of a farm: the user's choices, checked, and the roles' configurations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "call/call_description.hpp"
#include "farm/role/member.hpp"
#include "farm/role/root.hpp"
#include "skel/context.hpp"
#include "skel/detail/farm_work.hpp"
#include "skel/farm.hpp"
#include "tasks/window_size.hpp"

namespace skel::detail {

class engine;

/// Whether tasks run on teams of several ranks, which is another run.
[[nodiscard]] bool forms_teams(farm_traits const& traits, farm_options const& options, int ranks);

struct farm_setup {
  farm_policy policy;
  farm_options options;
  farm_traits traits;
  int size = 1;  ///< ranks of the context
  int rank = 0;
  int root = 0;
  std::uint64_t window_bytes = 0;  ///< of the open tasks, on the root; 0: no limit
  std::vector<double> costs;  ///< of each task, by its number in the list; the average is 1; empty: unknown
  bool again = false;         ///< the body runs once more, after the loss of the root
  bool remembers = false;     ///< the ranks keep their results for another attempt
  bool recalls = false;       ///< the ranks may remember results of an earlier attempt, and send these first
  std::uint64_t costly = 0;   ///< number of tasks so costly that no other is to wait for one on its rank
  std::vector<role::task_room> rooms{};  ///< of each rank; empty: no needs of tasks are known

  /// Throws usage_error for options that exclude each other. All ranks come to the same decision before
  /// anything is sent. If the costs are known, `work` numbers its tasks in decreasing order of cost, unless
  /// the root forms teams.
  farm_setup(context const& ctx, farm_work& work, farm_policy how, farm_options const& with, int root);

  /// This rank and those after it compute: all, or all but the root.
  [[nodiscard]] int first_computing() const { return !options.root_works && size > 1 ? 1 : 0; }
  [[nodiscard]] int computing() const { return size - first_computing(); }
  [[nodiscard]] bool computes() const { return rank >= first_computing(); }
  /// Whether the user permits that.
  [[nodiscard]] bool may_resume() const {
    return options.checkpoint && options.checkpoint->resume != checkpoint_options::resume_mode::no;
  }
  [[nodiscard]] bool resumes() const { return options.checkpoint && (again || may_resume()); }
  /// Adds everything that must be equal on all ranks for their messages and results to fit.
  void describe(call_description& call, farm_work const& work, std::optional<bool> check_inputs) const;
  /// Whether the root runs a few tasks of other ranks again (rank_check).
  [[nodiscard]] bool checks_ranks(std::optional<bool> check_tasks) const;
  /// The limit in bytes for the window, if there is one.
  [[nodiscard]] window_size bytes_of_window() const;
  /// What these tasks cost; unknown: their number.
  [[nodiscard]] double cost_of(task_range const& tasks, farm_work const& work) const;
  [[nodiscard]] role::farm_member_config member_config(engine& of, std::uint64_t call_hash,
                                                       unsigned threads) const;
  [[nodiscard]] role::farm_root_config root_config(std::uint64_t call_hash, bool root_in_place,
                                                   range_list restored) const;

 private:
  void check_choices() const;
  void check_source() const;
  void check_schedule() const;
  [[nodiscard]] std::string source() const;  // for messages
  [[nodiscard]] bool may_audit() const;
  void check_audit() const;
  [[nodiscard]] bool wants_window() const {
    return options.results.window > 0 || options.results.window_bytes > 0 || traits.window > 0;
  }
  [[nodiscard]] bool audit_holds() const;
  [[nodiscard]] task_costs costs_in_order() const;
  [[nodiscard]] std::uint64_t count_costly(int threads) const;
};

}  // namespace skel::detail
