// The messages of a farm, beside those of all skeletons (call_message). They hold no payloads: the engine
// attaches the bytes of the tasks or results that the ranges of a message name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "protocol/call_message.hpp"
#include "protocol/codec.hpp"
#include "skel/detail/task_range.hpp"

namespace skel::role {

namespace farm {
using role::operator==;

/// A member's report about itself, for adaptive grants.
struct load {
  std::uint64_t waiting = 0;  ///< tasks that wait on this rank
  double cost = 0;            ///< seconds per (average) task of one thread; 0: unknown
};
/// Member to root: requests this many tasks.
struct ask {
  std::uint64_t wanted = 0;
  std::optional<load> here{};
  std::optional<rank_id> refused_by{};  ///< the victim named last, if it had no tasks
};
/// Root to member: grants these tasks. Their payloads travel with it.
struct grant {
  range_list ranges{};
  bool may_be_held = false;  ///< the member may hold some of them already
};
/// Root to member: grants a task that was running on a lost rank, threw, or is late elsewhere. The member
/// runs it next and alone, sends `begins` first if it is watched, and gives it to no thief. The payload
/// travels with it.
struct grant_alone {
  task_range task{0, 1, 1};
  bool watched = true;  ///< whether the rank reports what it begins
};
/// Root to member: no more tasks will come. Concentrated results may travel.
struct nothing {};
/// Root to member: names a victim, and how many of its tasks to take.
struct take_from {
  rank_id victim = 0;
  std::uint64_t tasks = 0;
};
/// Member to root: these tasks have finished. Their results travel with it.
struct results {
  range_list ranges{};
  std::uint64_t wanted = 0;  ///< tasks requested in the same message; 0: none
  range_list begun{};        ///< tasks begun since the member's last message
  std::optional<load> here{};
};
/// Member to root: it has begun tasks; these are all that it runs.
struct begins {
  range_list running{};
  std::optional<load> here{};
  bool overrun = false;  ///< of the root: its process ends, since these have run for too long
};
/// Root to member: asks which tasks it holds.
struct take_stock {
  std::uint64_t round = 0;
  bool hello_missing = false;  ///< the member's hello was lost
};
/// Member to root: the answer to take_stock.
struct stock {
  std::uint64_t round = 0;
  std::uint64_t finished = 0;  ///< tasks finished since the run began
  range_list held{};           ///< tasks given to this member and not returned
};
/// Member to member: an idle rank requests tasks [Lee97, §3, phase 2].
struct steal {
  bool copy = false;       ///< a copy of a running task will do
  double power = 0;        ///< of the thief, if copies are allowed
  std::uint64_t most = 0;  ///< tasks to take as the root said; 0: as the schedule says
};
/// Member to member: gives these tasks. Their payloads travel with it.
struct give {
  range_list ranges{};
  bool may_be_held = false;  ///< the thief may hold some of them already
  bool copy = false;         ///< the victim runs it as well
};
/// Member to member: the victim has nothing to give.
struct none {
  std::optional<rank_id> busy{};  ///< a rank that had tasks
  bool copies = false;            ///< a copy of a task that runs here would pay
  double power = 0;               ///< of the fastest rank that runs it, if `copies`
};

/// Member to root: a task threw, and the member goes on with others.
struct task_failed {
  task_id task = 0;
  std::uint64_t nth = 0;  ///< counts this member's failures, to detect repeated messages
  std::string text{};
};
/// Member to root: it cannot run this task, now or later.
struct refused {
  task_id task = 0;
  std::uint64_t nth = 0;     ///< counts this member's failures and refusals, to detect repeated messages
  std::uint64_t memory = 0;  ///< bytes that the task needs
  std::uint64_t threads = 0;
  std::string late{};  ///< why it cannot end before the time limit; empty: the rank is too small
};
/// Root to member: how long results may wait for others, so that the root can keep up with all ranks.
struct spacing {
  std::uint64_t microseconds = 0;  ///< of work of each compute thread
};
/// Root to member: the run pauses, before it ends or the root leaves: the rank retires, or (not `on`) goes
/// on.
struct pause {
  bool on = true;
};
/// Member to root: it begins nothing more, and has dropped what it has not begun; or it goes on.
struct retires {
  bool does = true;
  bool vacant = false;  ///< it runs nothing more, and has sent all results
};
/// Root to member: its results cannot be believed. It computes nothing more.
struct dismissed {};

}  // namespace farm

using farm_message = std::variant<call_message, farm::ask, farm::grant, farm::grant_alone, farm::nothing,
                                  farm::results, farm::begins, farm::take_stock, farm::stock, farm::steal,
                                  farm::give, farm::none, farm::take_from, farm::spacing, farm::task_failed,
                                  farm::dismissed, farm::refused, farm::retires, farm::pause>;
template <>
inline constexpr unsigned first_kind<farm_message> = 16;

/// Whether the message is for the root role; all others are for the receiving member.
[[nodiscard]] inline bool for_root_role(farm_message const& m) {
  if (auto const* const call = std::get_if<call_message>(&m)) return for_roll_call(*call);
  return holds_any<farm::ask, farm::results, farm::begins, farm::stock, farm::task_failed, farm::refused,
                   farm::retires>(m);
}

/// The tasks that the message gives to a member; their payloads travel with the message.
[[nodiscard]] inline std::span<task_range const> given_tasks(farm_message const& m) {
  if (auto const* const g = std::get_if<farm::grant>(&m)) return g->ranges;
  if (auto const* const s = std::get_if<farm::grant_alone>(&m)) return {&s->task, 1};
  if (auto const* const v = std::get_if<farm::give>(&m)) return v->ranges;
  return {};
}

}  // namespace skel::role
