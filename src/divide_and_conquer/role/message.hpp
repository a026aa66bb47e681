// Messages between the ranks of a divide_and_conquer call, and actions of its roles.
#pragma once

#include <variant>
#include <vector>

#include "divide_and_conquer/role/rank_span.hpp"
#include "protocol/call_message.hpp"
#include "protocol/codec.hpp"
#include "protocol/outcome.hpp"

namespace skel::role {

namespace divide {
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
}  // namespace divide

using divide_message =
    std::variant<call_message, divide::problem, divide::solution, divide::need_problem, divide::need_solution,
                 divide::reached, divide::make_solution, divide::ask_takeover, divide::allow_takeover,
                 divide::leave_takeover, divide::end_takeover>;

template <>
inline constexpr unsigned first_kind<divide_message> = 48;

namespace divide {
using role::operator==;
/// Send `what` to `to`, which may be this rank. The engine attaches the group's problem or solution
/// to `problem` and `solution`.
struct send {
  rank_id to = 0;
  divide_message what;
};
/// Divide the problem of this group on a compute thread; answer with divided() or whole().
struct divide {
  rank_span group;
};
/// Solve the problem of this group; answer with solved().
struct solve {
  rank_span group;
};
/// Combine the solutions of both halves of this group, which are then no longer needed; answer with solved().
struct combine {
  rank_span group;
};
/// The event just handled brought the problem of this group: keep it.
struct keep_problem {
  rank_span group;
};
/// The event just handled brought the solution of this group: keep it, and drop those of groups inside it.
struct keep_solution {
  rank_span group;
};
/// On the root: these lost ranks did this work, which must not end another one.
struct blame {
  group_work work;
  std::vector<rank_id> ranks{};
};
}  // namespace divide

using divide_action =
    std::variant<tell_root, drain, end, fail, divide::send, divide::divide, divide::solve, divide::combine,
                 divide::keep_problem, divide::keep_solution, divide::blame, close>;
using divide_actions = std::vector<divide_action>;

}  // namespace skel::role
