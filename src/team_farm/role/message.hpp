// The messages and actions of a farm of teams. Payloads are not part of them: the engine attaches the bytes
// of the task that a message names, or of its result.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "farm/role/action.hpp"
#include "protocol/call_message.hpp"
#include "protocol/codec.hpp"
#include "skel/detail/task_range.hpp"

namespace skel::role {

/// A task that a team runs, by the root's own number; never used twice.
using job_id = std::uint64_t;

namespace team {
using role::operator==;

/// Root to each rank of a team: run this task together. The payload travels with it.
struct run {
  job_id job = 0;
  task_range task{0, 1, 1};
  job_id formed = 0;   ///< the first job of this team; the same ranks in a new team have another number
  range_list ranks{};  ///< of the team, ascending; the first is its root
};
/// Root to a rank of a team: another rank of the team was lost or failed, so its calls on the team fail.
struct cancel {
  job_id job = 0;
  rank_id because_of = 0;
  std::string text{};
};
/// To the root: the task has ended on this rank. From the team's root, the result travels with it, unless the
/// task has failed or was cancelled.
struct ended {
  job_id job = 0;
  bool cancelled = false;
  std::optional<std::string> failure{};  ///< what the task threw
  std::optional<rank_id> lost{};         ///< of the team: because of it, this rank has cancelled the task
};
/// To the root: the task has failed on this rank, but still runs.
struct overran {
  job_id job = 0;
  std::string text{};
};
/// To the root: the rank is to leave the job (leave_request), or stays after all. It joins no further team.
struct retires {
  std::uint64_t number = 0;  ///< of the requests of this rank
};
/// The answer, once the task of its team has ended on all ranks: the rank is given nothing more.
struct released {
  std::uint64_t number = 0;
};

// --- actions

/// Run this task with these ranks, and answer with ended().
struct begin {
  run what{};
};
/// Calls on this rank's team throw lost_rank_error from now on.
struct abandon {
  rank_id because_of = 0;
  std::string text{};
};
/// Pass the result of this job to the sink.
struct accept {
  job_id job = 0;
  task_id task = 0;
  std::vector<rank_id> ranks{};  ///< of the team
};
/// Drop the result of this job, if there is one.
struct drop {
  job_id job = 0;
};
/// Drop the payload of this task.
struct forget {
  task_id task = 0;
};

}  // namespace team

using team_message = std::variant<call_message, team::run, team::cancel, team::ended, team::overran,
                                  team::retires, team::released>;
template <>
inline constexpr unsigned first_kind<team_message> = 112;

namespace team {
/// Send `what` to `to`. Messages to the role's own rank are delivered at once.
struct send {
  rank_id to = 0;
  team_message what{};
};
}  // namespace team

/// Whether the message is for the root role; all others are for the receiving rank.
[[nodiscard]] inline bool for_root_role(team_message const& m) {
  if (auto const* const call = std::get_if<call_message>(&m)) return for_roll_call(*call);
  return holds_any<team::ended, team::overran, team::retires>(m);
}

/// The task that the message gives to a rank; its payload travels with the message.
[[nodiscard]] inline std::span<task_range const> given_tasks(team_message const& m) {
  if (auto const* const r = std::get_if<team::run>(&m)) return {&r->task, 1};
  return {};
}

using team_action = std::variant<team::send, tell_root, team::begin, team::abandon, team::accept, team::drop,
                                 team::forget, farm::leave_out, close, drain, end, fail>;
using team_actions = std::vector<team_action>;

}  // namespace skel::role
