// Messages between the ranks of a divide_and_conquer call.
#pragma once

#include <variant>

#include "divide_and_conquer/role/rank_span.hpp"
#include "protocol/call_message.hpp"
#include "protocol/codec.hpp"

namespace skel::role {

namespace divide_say {
using role::operator==;
/// Carries the group's problem.
struct problem {
  rank_span group{};
};
/// Carries the solution of the group's problem.
struct solution {
  rank_span group{};
};
/// Requests the group's problem.
struct need_problem {
  rank_span group{};
};
/// Requests the solution of the group's problem, as soon as it exists.
struct need_solution {
  rank_span group{};
};
/// To the root: every rank of the group has its result of the call.
struct reached {
  rank_span group{};
};
/// Requests that the receiver computes and sends the solution of the group's problem. The ranks of
/// the group are lost.
struct make_solution {
  rank_span group{};
};
/// To the root: requests permission to do the work of lost ranks.
struct ask_takeover {
  group_work work{};
};
/// From the root: grants that permission.
struct allow_takeover {
  group_work work{};
};
/// From the root to itself: leaves the work to rank `to`.
struct leave_takeover {
  group_work work{};
  rank_id to = 0;
};
/// To the root: this rank has done the work that it asked for, or no longer needs to.
struct end_takeover {
  group_work work{};
  bool done = false;
};
}  // namespace divide_say

using divide_message =
    std::variant<call_message, divide_say::problem, divide_say::solution, divide_say::need_problem,
                 divide_say::need_solution, divide_say::reached, divide_say::make_solution,
                 divide_say::ask_takeover, divide_say::allow_takeover, divide_say::leave_takeover,
                 divide_say::end_takeover>;

template <>
inline constexpr unsigned first_kind<divide_message> = 48;

}  // namespace skel::role
