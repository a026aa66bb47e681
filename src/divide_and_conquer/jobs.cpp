#include "jobs.hpp"

#include <algorithm>
#include <utility>

namespace skel::detail {

namespace {
double seconds_since(double begin, double end) { return std::max(0.0, end - begin); }

void append_bytes(transport::packet const& more, transport::packet& body) {
  auto const b = more.bytes();
  body.body().insert(body.body().end(), b.begin(), b.end());
}
}  // namespace

void divide_jobs::add(divide_job::kind what, rank_span group, held_problem problem) {
  auto p = std::make_shared<divide_piece>();
  p->group = group;
  p->problem = std::move(problem);
  p->depth = what == divide_job::kind::solve ? depth_ : 0;
  waiting_.push_back({what, std::move(p)});
}

void divide_jobs::add_combine(rank_span group, held_solution left, held_solution right) {
  auto p = std::make_shared<divide_piece>();
  p->group = group;
  p->halves = {std::move(left), std::move(right)};
  waiting_.push_back({divide_job::kind::combine, std::move(p)});
}

divide_job divide_jobs::take() {
  auto j = std::move(waiting_.front());
  waiting_.pop_front();
  return j;
}

solution_ptr divide_jobs::open(held_solution& s) const {
  if (!s.object) {
    auto const message = std::make_shared<transport::packet const>(std::move(*s.packed));
    s.object = work_.unpack_solution(message->bytes(), message);
  }
  s.packed.reset();
  return std::move(s.object);
}

// Usually already packed. Packs here only after a loss, when the problem was not expected to travel.
void divide_jobs::pack(held_problem const& p, transport::packet& body) const {
  if (p.packed)
    append_bytes(*p.packed, body);
  else
    work_.pack(*p.object, body.body());
}

void divide_jobs::pack(held_solution& s, transport::packet& body) const {
  if (s.packed && s.object)
    body = std::move(*std::exchange(s.packed, std::nullopt));
  else if (s.packed)
    append_bytes(*s.packed, body);
  else
    work_.pack(*s.object, body.body());
}

bool divide_jobs::travels(rank_span group) const {
  if (group == everybody_ || kind_.to == placement::in_parts) return false;
  if (kind_.to == placement::everywhere) return group.contains(rank_);
  return group.first == rank_ && role::parent_of(everybody_, group).first != rank_;
}

void divide_jobs::divide(divide_piece& p, bool among_ranks, divide_job::done& d) const {
  constexpr double half = 0.5;
  auto const& problem = *p.problem.object;
  double const share =
      among_ranks ? static_cast<double>(p.group.left().size()) / static_cast<double>(p.group.size()) : half;
  double const begin = engine_.now();
  d.halves = work_.divide(problem, share);
  d.seconds = seconds_since(begin, engine_.now());
  if (among_ranks || d.halves) d.sizes = work_.measure(problem);
  if (!among_ranks || !d.halves || kind_.from != placement::on_root || p.group.first != rank_) return;
  auto const pack_begin = engine_.now();
  auto packed = std::make_shared<transport::packet>(engine_.wires().buffer());
  work_.pack(*d.halves->second, packed->body());
  d.pack_seconds = seconds_since(pack_begin, engine_.now());
  d.packed_bytes = packed->size();
  d.right_packed = std::move(packed);
}

void divide_jobs::run(divide_job const& j, divide_job::done& d) const {
  using kind = divide_job::kind;
  auto& p = *j.of;
  if (j.what == kind::divide || j.what == kind::solve) {
    if (!p.problem.object) p.problem.object = work_.unpack_problem(p.problem.packed->bytes());
    if (j.what == kind::divide || p.depth > 0) divide(p, j.what == kind::divide, d);
    if (j.what == kind::divide || d.halves) return;
    d.solution.object = work_.solve(*p.problem.object, work_.solves_with_threads() ? threads_ : 1);
    if (!p.parent) d.sizes = work_.measure(*p.problem.object);
  } else {
    double const begin = engine_.now();
    auto left = open(p.halves[0]);
    auto right = open(p.halves[1]);
    double const middle = engine_.now();
    d.unpack_seconds = seconds_since(begin, middle);
    d.solution.object = work_.combine(std::move(left), std::move(right));
    d.seconds = seconds_since(middle, engine_.now());
  }
  if (p.parent || !travels(p.group)) return;
  double const begin = engine_.now();
  work_.pack(*d.solution.object, d.solution.packed.emplace(engine_.wires().buffer()).body());
  d.pack_seconds = seconds_since(begin, engine_.now());
  d.packed_bytes = d.solution.packed->size();
}

void divide_jobs::add_first(divide_job::kind what, std::shared_ptr<divide_piece> of) {
  waiting_.push_front({what, std::move(of)});
  engine_.calls().work_arrived().notify_all();
}

bool divide_jobs::ended(divide_job const& j, divide_job::done& d) {
  auto const& p = j.of;
  if (j.what == divide_job::kind::divide) return true;
  if (j.what == divide_job::kind::solve && d.halves) {
    for (int side = 1; side >= 0; --side) {
      auto half = std::make_shared<divide_piece>();
      half->group = p->group;
      half->parent = p;
      half->side = side;
      half->depth = p->depth - 1;
      half->problem.object = side == 0 ? d.halves->first : d.halves->second;
      add_first(divide_job::kind::solve, std::move(half));
    }
    if (p->begin == 0) p->begin = d.begin;
    p->sizes = d.sizes;
    p->problem = {};
    return false;
  }
  if (!p->parent) return true;
  auto& parent = *p->parent;
  parent.halves.at(static_cast<std::size_t>(p->side)) = std::move(d.solution);
  if (--parent.open_halves == 0) add_first(divide_job::kind::merge, p->parent);
  return false;
}

}  // namespace skel::detail
