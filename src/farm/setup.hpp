// The parts of a farm: the user's choices, checked, and the roles' configurations.
#pragma once

#include <optional>

#include "call/call_description.hpp"
#include "farm/role/ledger.hpp"
#include "farm/role/worker.hpp"
#include "skel/context.hpp"
#include "skel/detail/farm_work.hpp"
#include "skel/farm.hpp"

namespace skel::detail {

class engine;

struct farm_setup {
  farm_policy policy;
  farm_options options;
  farm_traits traits;
  int size = 1;  ///< ranks of the context
  int rank = 0;
  int root = 0;

  /// Throws usage_error for options that exclude each other. All ranks come to the same decision before
  /// anything is sent.
  farm_setup(context const& ctx, farm_work const& work, farm_policy how, farm_options const& with, int root);

  /// The ranks that compute: all, or all but the root.
  [[nodiscard]] role::rank_range workers() const;
  [[nodiscard]] bool computes() const { return rank >= workers().first; }
  [[nodiscard]] bool resumes() const { return options.checkpoint && options.checkpoint->resume; }
  /// Adds everything that must be equal on all ranks for their messages and results to fit.
  void describe(call_description& call, farm_work const& work, std::optional<bool> check_inputs) const;
  [[nodiscard]] role::farm_worker_config worker(engine& of, std::uint64_t call_hash, unsigned threads) const;
  [[nodiscard]] role::farm_ledger_config ledger(std::uint64_t call_hash, bool root_in_place,
                                                range_list restored) const;

 private:
  void check_choices() const;
};

}  // namespace skel::detail
