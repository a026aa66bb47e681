// Actions of the roles of a divide_and_conquer call.
#pragma once

#include <variant>
#include <vector>

#include "divide_and_conquer/role/message.hpp"
#include "divide_and_conquer/role/rank_span.hpp"
#include "protocol/call_message.hpp"
#include "protocol/outcome.hpp"

namespace skel::role {

namespace divide_act {
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
/// Combine the solutions of both halves of this group, which are then no longer needed; answer with
/// solved().
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
/// On the root: every rank has its result of the call.
struct complete {};
/// On the root: these lost ranks did this work, which must not end another one.
struct blame {
  group_work work;
  std::vector<rank_id> ranks{};
};
}  // namespace divide_act

using divide_action = std::variant<tell_root, drain, end, fail, divide_act::send, divide_act::divide,
                                   divide_act::solve, divide_act::combine, divide_act::keep_problem,
                                   divide_act::keep_solution, divide_act::complete, divide_act::blame>;
using divide_actions = std::vector<divide_action>;

}  // namespace skel::role
