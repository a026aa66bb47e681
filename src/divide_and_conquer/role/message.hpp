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
}  // namespace divide_say

using divide_message = std::variant<call_message, divide_say::problem, divide_say::solution,
                                    divide_say::need_problem, divide_say::need_solution, divide_say::reached>;

template <>
inline constexpr unsigned first_kind<divide_message> = 48;

}  // namespace skel::role
