// The jobs of a divide_and_conquer call: divide, solve and combine, on compute threads.
#include <algorithm>
#include <utility>

#include "call/user_code.hpp"
#include "run.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {
double seconds_since(double begin, double end) { return std::max(0.0, end - begin); }
}  // namespace

void divide_run::add_job(job::kind what, rank_span group) {
  auto p = std::make_shared<piece>();
  p->group = group;
  if (what == job::kind::combine) {
    p->halves[0] = std::move(solutions_.extract(group.left()).mapped());
    p->halves[1] = std::move(solutions_.extract(group.right()).mapped());
  } else {
    p->problem = problems_.at(group);
    p->depth = what == job::kind::solve ? piece_depth_ : 0;
  }
  jobs_.push_back({what, std::move(p)});
  if (compute_threads_ > 1) engine_.calls().work_arrived().notify_all();
}

bool divide_run::find_work(unsigned /*thread*/) {
  if (stop_wanted()) check_stop();
  if (!jobs_.empty()) return true;
  check_quiet();
  return false;
}

void divide_run::check_quiet() {
  if (!draining_ || running_ > 0 || over_) return;
  role::divide_actions list;
  role_.quiet(list);
  perform(list);
}

// Runs one job. The lock is held on entry and exit, but not in between.
void divide_run::compute(unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto const j = std::move(jobs_.front());
  jobs_.pop_front();
  ++running_;
  lock.unlock();
  done d;
  d.begin = now();
  auto const bad = thrown_by([&] { run(j, d); });
  d.end = now();
  lock.lock();
  --running_;
  ++calls_;
  auto& clock = clocks_[thread];
  clock.busy += d.end - d.begin;
  clock.tasks += j.what == job::kind::solve && !d.halves ? 1 : 0;
  span(thread, observe::activity::compute, d.begin, d.end, static_cast<std::uint64_t>(j.of->group.first), 1);
  last_moved_ = d.end;
  if (draining_)
    check_quiet();
  else if (bad)
    fail(*bad);
  else
    finish(j, d);
}

problem_ptr divide_run::open_problem(held_problem& p) {
  if (!p.object) p.object = work_.unpack_problem(p.packed->bytes());
  return p.object;
}

solution_ptr divide_run::open_solution(held_solution& s) {
  if (!s.object) {
    auto const message = std::make_shared<bytes const>(std::move(*s.packed));
    s.object = work_.unpack_solution(message->bytes(), message);
  }
  s.packed.reset();
  return std::move(s.object);
}

// Whether other ranks wait for the solution of this rank's group.
bool divide_run::travels(rank_span group) const {
  if (group == everybody() || kind_.to == placement::in_parts) return false;
  if (kind_.to == placement::everywhere) return group.contains(rank_);
  return group.first == rank_ && role::parent_of(everybody(), group).first != rank_;
}

// Runs without the lock.
void divide_run::run(job const& j, done& d) {
  auto& p = *j.of;
  auto const pack_solution = [&] {
    if (p.parent || !travels(p.group)) return;
    double const begin = now();
    work_.pack(*d.solution.object, d.solution.packed.emplace(engine_.wires().buffer()).body());
    d.pack_seconds = seconds_since(begin, now());
    d.packed_bytes = d.solution.packed->size();
  };
  if (j.what == job::kind::divide || (j.what == job::kind::solve && p.depth > 0)) {
    auto const problem = open_problem(p.problem);
    bool const among_ranks = j.what == job::kind::divide;
    constexpr double half = 0.5;
    double const share =
        among_ranks ? static_cast<double>(p.group.left().size()) / static_cast<double>(p.group.size()) : half;
    double const begin = now();
    d.halves = work_.divide(*problem, share);
    d.seconds = seconds_since(begin, now());
    if (among_ranks) d.sizes = work_.measure(*problem);
    if (among_ranks && d.halves && kind_.from == placement::on_root && p.group.first == rank_) {
      auto const pack_begin = now();
      auto packed = std::make_shared<bytes>(engine_.wires().buffer());
      work_.pack(*d.halves->second, packed->body());
      d.pack_seconds = seconds_since(pack_begin, now());
      d.packed_bytes = packed->size();
      d.right_packed = std::move(packed);
    }
    if (among_ranks || d.halves) return;
  }
  if (j.what == job::kind::solve) {
    auto const problem = open_problem(p.problem);
    d.solution.object = work_.solve(*problem, threads_);
    if (!p.parent) d.sizes = work_.measure(*problem);
  } else {
    double const begin = now();
    auto left = open_solution(p.halves[0]);
    auto right = open_solution(p.halves[1]);
    double const middle = now();
    d.unpack_seconds = seconds_since(begin, middle);
    d.solution.object = work_.combine(std::move(left), std::move(right));
    d.seconds = seconds_since(middle, now());
  }
  pack_solution();
}

void divide_run::finish(job const& j, done& d) {
  using phase = phase_clock::phase;
  auto const& p = j.of;
  auto const group = p->group;
  if (j.what == job::kind::divide) {
    role::divide_actions list;
    problems_[group].object = p->problem.object;
    if (d.halves) {
      phases_.add(phase::divide, level(group), d.seconds, d.packed_bytes, std::move(d.sizes));
      phases_.exchange(level(group), d.pack_seconds, d.packed_bytes);
      problems_.erase(group);
      problems_[group.left()] = {d.halves->first, nullptr};
      problems_[group.right()] = {d.halves->second, std::move(d.right_packed)};
      role_.divided(group, list);
    } else {
      role_.whole(group, list);
    }
    perform(list);
    return;
  }
  if (j.what == job::kind::solve && d.halves) {
    for (int side = 1; side >= 0; --side) {
      auto half = std::make_shared<piece>();
      half->group = group;
      half->parent = p;
      half->side = side;
      half->depth = p->depth - 1;
      half->problem.object = side == 0 ? d.halves->first : d.halves->second;
      jobs_.push_front({job::kind::solve, std::move(half)});
    }
    if (p->begin == 0) p->begin = d.begin;
    p->sizes = work_.measure(*p->problem.object);
    p->problem = {};
    engine_.calls().work_arrived().notify_all();
    return;
  }
  if (p->parent) {
    auto& parent = *p->parent;
    parent.halves.at(static_cast<std::size_t>(p->side)) = std::move(d.solution);
    if (--parent.open_halves == 0) {
      jobs_.push_front({job::kind::merge, p->parent});
      engine_.calls().work_arrived().notify_all();
    }
    return;
  }
  int const at = level(group);
  if (j.what == job::kind::combine) {
    phases_.add(phase::combine, at, d.seconds, 0, std::move(d.sizes));
    phases_.exchange(at, d.unpack_seconds, 0);
  } else {
    double const begin = p->begin > 0 ? p->begin : d.begin;
    phases_.add(phase::sequential, at, d.end - begin - d.pack_seconds, 0,
                p->sizes.empty() ? std::move(d.sizes) : std::move(p->sizes));
  }
  if (travels(group)) {
    phases_.exchange(at - 1, d.pack_seconds, d.packed_bytes);
    phases_.sent(at - 1, now());
  }
  ++combined_;
  role::divide_actions list;
  role_.solved(group, list);
  perform(list, nullptr, &d);
}

}  // namespace skel::detail
