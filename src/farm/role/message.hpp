// What the ranks of a farm say to each other, beside what all skeletons say (call_message). Payloads (tasks,
// results) are not part of it: the engine attaches the bytes that belong to the ranges of a message.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "role/call_message.hpp"
#include "role/codec.hpp"
#include "skel/detail/task_range.hpp"

namespace skel::role {

namespace farm {

/// Worker to root: this many tasks, please.
struct ask {
  std::uint64_t wanted = 0;
  friend bool operator==(ask const&, ask const&) = default;
};
/// Root to worker: these tasks are yours. Payloads travel with it.
struct grant {
  range_list ranges{};
  bool may_be_held = false;  ///< the worker may hold some of them already
  friend bool operator==(grant const&, grant const&) = default;
};
/// Root to worker: this task was running on a rank that was lost. Run it alone, say `begins` before, and give
/// it to no thief. Its payload travels with it.
struct grant_suspect {
  task_range task{0, 1, 1};
  friend bool operator==(grant_suspect const&, grant_suspect const&) = default;
};
/// Root to worker: the pool is empty for good. Results kept back may travel.
struct nothing {
  friend bool operator==(nothing const&, nothing const&) = default;
};
/// Worker to root: these tasks are done. Their results travel with it.
struct results {
  range_list ranges{};
  std::uint64_t wanted = 0;  ///< tasks asked for at the same time; 0: none
  range_list begun{};        ///< what the worker began since its last message
  friend bool operator==(results const&, results const&) = default;
};
/// Worker to root: it began something, and these are all the tasks that it runs.
struct begins {
  range_list running{};
  friend bool operator==(begins const&, begins const&) = default;
};
/// Root to worker: what do you hold?
struct take_stock {
  std::uint64_t round = 0;
  bool hello_missing = false;  ///< the worker's hello was lost
  friend bool operator==(take_stock const&, take_stock const&) = default;
};
/// Worker to root: the answer.
struct stock {
  std::uint64_t round = 0;
  std::uint64_t finished = 0;  ///< tasks since the run began
  range_list held{};           ///< given to this worker, and not returned
  friend bool operator==(stock const&, stock const&) = default;
};
/// Worker to worker: this rank is idle; tasks, please (gdc section 3, phase 2).
struct steal {
  bool copy = false;  ///< a copy of one that runs will do
  double power = 0;   ///< of the thief, where there are copies
  friend bool operator==(steal const&, steal const&) = default;
};
/// Worker to worker: these tasks are yours. Payloads travel with it.
struct give {
  range_list ranges{};
  bool may_be_held = false;  ///< the thief may hold some of them already
  bool copy = false;         ///< the victim runs it, too
  friend bool operator==(give const&, give const&) = default;
};
/// Worker to worker: there is nothing to give.
struct none {
  std::optional<rank_id> busy{};  ///< a rank that had some
  bool copies = false;            ///< a copy of what runs here is worth while
  double power = 0;               ///< of the fastest rank that runs it, where `copies`
  friend bool operator==(none const&, none const&) = default;
};

}  // namespace farm

using farm_message =
    std::variant<call_message, farm::ask, farm::grant, farm::grant_suspect, farm::nothing, farm::results,
                 farm::begins, farm::take_stock, farm::stock, farm::steal, farm::give, farm::none>;
template <>
inline constexpr unsigned first_kind<farm_message> = 16;

/// Whether the root's ledger answers it. All others are for the worker that receives them.
[[nodiscard]] inline bool for_ledger(farm_message const& m) {
  if (auto const* const call = std::get_if<call_message>(&m)) return for_roll_call(*call);
  return std::holds_alternative<farm::ask>(m) || std::holds_alternative<farm::results>(m) ||
         std::holds_alternative<farm::begins>(m) || std::holds_alternative<farm::stock>(m);
}

/// The tasks that the message gives to a worker; their payloads travel with it.
[[nodiscard]] inline std::span<task_range const> given_tasks(farm_message const& m) {
  if (auto const* const g = std::get_if<farm::grant>(&m)) return g->ranges;
  if (auto const* const s = std::get_if<farm::grant_suspect>(&m)) return {&s->task, 1};
  if (auto const* const v = std::get_if<farm::give>(&m)) return v->ranges;
  return {};
}

}  // namespace skel::role
