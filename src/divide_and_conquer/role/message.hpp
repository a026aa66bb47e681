// What the ranks of a divide_and_conquer call say to each other.
#pragma once

#include <variant>

#include "divide_and_conquer/role/rank_span.hpp"
#include "role/call_message.hpp"
#include "role/codec.hpp"

namespace skel::role {

namespace divide_say {
/// The group's problem travels with it.
struct problem {
  rank_span group{};
  friend bool operator==(problem const&, problem const&) = default;
};
/// The solution of the group's problem travels with it.
struct solution {
  rank_span group{};
  friend bool operator==(solution const&, solution const&) = default;
};
/// Please send the group's problem.
struct need_problem {
  rank_span group{};
  friend bool operator==(need_problem const&, need_problem const&) = default;
};
/// Please send the solution of the group's problem, as soon as it is there.
struct need_solution {
  rank_span group{};
  friend bool operator==(need_solution const&, need_solution const&) = default;
};
/// To the root: each rank of the group has what this call gives it.
struct reached {
  rank_span group{};
  friend bool operator==(reached const&, reached const&) = default;
};
/// Please make the solution of the group's problem, whose ranks are lost, and send it.
struct make_solution {
  rank_span group{};
  friend bool operator==(make_solution const&, make_solution const&) = default;
};
/// To the root: may this rank do the work of other ranks? They are lost.
struct ask_takeover {
  group_work work{};
  friend bool operator==(ask_takeover const&, ask_takeover const&) = default;
};
/// From the root: yes.
struct allow_takeover {
  group_work work{};
  friend bool operator==(allow_takeover const&, allow_takeover const&) = default;
};
/// From the root to itself: let rank `to` do it.
struct leave_takeover {
  group_work work{};
  rank_id to = 0;
  friend bool operator==(leave_takeover const&, leave_takeover const&) = default;
};
/// To the root: this rank has done the work that it asked for, or does not need to any more.
struct end_takeover {
  group_work work{};
  bool done = false;
  friend bool operator==(end_takeover const&, end_takeover const&) = default;
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
