// The harness's version of the work the engine does for divide-and-conquer's roles.
#include "harness.hpp"

namespace divide_harness {

namespace divide = role::divide;

void world::perform(int rank, role::divide_actions& list, items problem, std::string const& solution) {
  auto& n = at(rank);
  if (fault_ != nullptr) fault_->wants(*this, rank, list);
  for (auto const& action : std::exchange(list, {})) {
    if (auto const* const s = std::get_if<divide::send>(&action)) {
      send(rank, s->to, s->what);
    } else if (auto const* d = std::get_if<divide::divide>(&action)) {
      require(d->group.size() > 1, "a group of one rank is divided");
      n.jobs.push_back({job::kind::divide, d->group, n.problems.at(d->group)});
    } else if (auto const* so = std::get_if<divide::solve>(&action)) {
      n.jobs.push_back({job::kind::solve, so->group, n.problems.at(so->group)});
    } else if (auto const* c = std::get_if<divide::combine>(&action)) {
      auto left = n.solutions.extract(c->group.left());
      auto right = n.solutions.extract(c->group.right());
      require(!left.empty() && !right.empty(), "a solution to combine is missing");
      n.jobs.push_back({job::kind::combine, c->group, {}, left.mapped(), right.mapped()});
    } else if (auto const* kp = std::get_if<divide::keep_problem>(&action)) {
      require(problem.first < problem.second, "an empty problem");
      n.problems[kp->group] = problem;
    } else if (auto const* ks = std::get_if<divide::keep_solution>(&action)) {
      require(!solution.empty(), "an empty solution");
      std::erase_if(n.solutions, [&](auto const& x) { return ks->group.contains(x.first); });
      n.solutions[ks->group] = solution;
    } else if (auto const* end = std::get_if<role::close>(&action)) {
      require(rank == 0 && !complete_, "the call completes twice");
      complete_ = true;
      call_roll(&role::roll_call::close, end->how);
    } else if (auto const* b = std::get_if<divide::blame>(&action)) {
      if (roll_.stopping()) continue;
      check_blame(*b);
      blamed_ = true;
      call_roll(&role::roll_call::close, role::outcome{.how = role::outcome::status::task_failed,
                                                       .rank = b->ranks.back(),
                                                       .text = named(b->work)});
    } else if (std::holds_alternative<role::drain>(action)) {
      n.draining = true;
    } else {
      performs(rank, action);
    }
  }
}

void world::send(int rank, int to, role::divide_message const& what) {
  auto& n = at(rank);
  auto p = packet_of(what);
  if (auto const* const pr = std::get_if<divide::problem>(&what)) {
    p.problem = n.problems.at(pr->group);
  } else if (auto const* const so = std::get_if<divide::solution>(&what)) {
    p.solution = n.solutions.at(so->group);
  } else if (auto const* const yes = std::get_if<divide::allow_takeover>(&what)) {
    allowed_[yes->work].insert(to);
  } else if (auto const* const call = std::get_if<role::call_message>(&what)) {
    auto const* const f = std::get_if<role::finish>(call);
    if (f != nullptr && scenario_->to == placement::everywhere && f->how.how == role::outcome::status::done &&
        !n.role.reached().has(to))
      p.solution = n.solutions.at({0, scenario_->ranks});
  }
  post(rank, to, std::move(p));
}

void world::follow_up(int rank) {
  auto& n = at(rank);
  if (!active(rank) || !n.draining || !n.jobs.empty()) return;
  role::divide_actions list;
  n.role.quiet(list);
  perform(rank, list);
}

// --- state hash

void packet::add_to(role::digest& d) const { d.add(solution); }

void node::add_to(role::digest& d) const { d.add(role).add(problems).add(solutions).add(jobs); }

}  // namespace divide_harness
