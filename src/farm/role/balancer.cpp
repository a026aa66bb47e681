#include "farm/role/balancer.hpp"

#include <algorithm>
#include <limits>

#include "farm/role/late_tasks.hpp"

namespace skel::role {

namespace {
// Seconds between two searches for late tasks.
constexpr double look_again = 0.01;
// After a search in vain, slower ranks do not search for this time per rank. A search takes some 50 ns per
// rank.
constexpr double in_vain = 5e-6;
// With the time for more tasks than this ahead, the root begins one without a look at the other ranks.
constexpr double many_tasks = 8;

double pause_of(farm_book const& book) { return in_vain * static_cast<double>(book.dealer.ranks().ranks()); }
}  // namespace

farm_balancer::farm_balancer(farm_root_config const& config)
    : on_(config.directs()), copies_(config.policy.copies), root_(config.root) {
  if (config.root_in_place) in_place_ = config.root;
}

void farm_balancer::learn(rank_id rank, range_list const& done, farm_book& book) const {
  if (!on_) return;
  for (auto const& b : book.losses.begun().of(rank))
    if (any_contains(done, b.tasks.last()))
      book.dealer.loads().speeds().took(rank, book.dealer.costs().of(b.tasks), book.now - b.since);
}

bool farm_balancer::direct(rank_id rank, bool copies, farm_book& book, farm_actions& out) {
  if (book.stopping()) return false;
  auto& loads = book.dealer.loads();
  if (rank == root_ && leaves_to_others(book)) return false;
  if (auto const theft = loads.theft_for(rank)) {
    loads.moves(theft->victim, rank, theft->tasks);
    out.push_back(farm::send{rank, farm::take_from{theft->victim, theft->tasks}});
    return true;
  }
  return copies && copies_ && give_copy(rank, book, out);
}

bool farm_balancer::may_copy(rank_id owner, task_range const& tasks, farm_book const& book) const {
  return book.dealer.ranks().alive(owner) && !book.tasks.recorded().contains(tasks.last()) &&
         !book.losses.suspects().contains(tasks.last()) && owner != in_place_;
}

bool farm_balancer::give_copy(rank_id rank, farm_book& book, farm_actions& out) {
  auto& s = searched_;
  double const speed = book.dealer.loads().speeds().of_thread(rank);
  bool const searched = book.now < s.vain_until;
  if (searched && speed <= s.vain_speed) return false;
  measure_running(book.losses.begun(), book.dealer.loads(), book.now);
  auto const allowed = [&](rank_id owner, task_range const& tasks) { return may_copy(owner, tasks, book); };
  auto const copy = copy_for(rank, book.losses.begun(), book.dealer.loads(), book.dealer.costs(), book.now,
                             rank == root_, allowed);
  if (!copy) {
    s.vain_speed = searched ? std::max(speed, s.vain_speed) : speed;
    s.vain_until = book.now + std::min(look_again, pause_of(book));
    return false;
  }
  book.dealer.loads().speeds().copies(rank, copy->cost);
  book.give_copy(rank, book.tasks.not_recorded({copy->tasks}), false, out);  // its first tasks may be done
  return true;
}

void farm_balancer::direct_idle(bool at_once, farm_book& book, farm_actions& out) {
  auto const& loads = book.dealer.loads();
  if (loads.idle().empty() || book.stopping() || !book.no_more() || !book.dealer.pool().empty()) return;
  bool const copies = at_once || book.now >= searched_.idle + look_again;
  if (!loads.any_waiting() && !copies) return;
  if (copies) searched_.idle = book.now;
  if (at_once) searched_.vain_until = book.now;
  auto idle = loads.idle();
  std::sort(idle.begin(), idle.end(),
            [&](rank_id a, rank_id b) { return loads.speeds().of_thread(a) > loads.speeds().of_thread(b); });
  double vain = -1, vain_thread = -1;  // speeds of a rank for which there was nothing
  for (rank_id const rank : idle) {
    double const speed = loads.speed(rank);
    double const speed_of_thread = loads.speeds().of_thread(rank);
    if (speed <= vain && speed_of_thread <= vain_thread) continue;  // nor is there for a slower one
    if (direct(rank, copies, book, out)) {
      vain = vain_thread = -1;
    } else if (rank != root_ && speed >= vain && speed_of_thread >= vain_thread) {  // the root may only rest
      vain = speed;
      vain_thread = speed_of_thread;
    }
  }
}

bool farm_balancer::leaves_to_others(farm_book& book) const {
  auto const& ranks = book.dealer.ranks();
  auto& loads = book.dealer.loads();
  auto const& pool = book.dealer.pool();
  if (!on_ || book.dealer.holds_back() || !book.no_more() || (pool.empty() && !loads.any_waiting()))
    return false;
  measure_running(book.losses.begun(), loads, book.now);
  auto const& costs = book.dealer.costs();
  double const cost = pool.empty() ? 1 : costs.of({pool.ranges().front().first, 1, 1});
  double const mine = loads.speeds().of_thread(root_);
  if (many_tasks * cost / mine <= loads.remaining(pool.tasks(), ranks.computing())) return false;
  double work = 0;  // of the others
  for (auto const& r : pool.ranges()) work += costs.of(r);
  double speeds = 0;
  double first = std::numeric_limits<double>::infinity();  // another rank would be done with one more task
  for (rank_id r = 0; r < ranks.ranks(); ++r) {
    if (!ranks.computes(r) || !ranks.said_hello(r)) continue;
    auto const waiting = static_cast<double>(loads.waiting(r));
    work += waiting;
    if (r == root_) continue;
    double const wait = wait_for(r, book.losses.begun(), loads, costs, book.now);
    speeds += loads.speed(r);
    work += wait * loads.speed(r);
    first = std::min(first, wait + waiting / loads.speed(r) + cost / loads.speeds().of_thread(r));
  }
  if (speeds <= 0) return false;
  double const end = std::max(first, work / speeds);
  double const late =
      costs.known() ? std::max(0.0, cost / mine - end) : loads.speeds().excess(0, end * mine) / mine;
  return late > cost / speeds;  // by which they end later if they run the task
}

void farm_balancer::give_early_copies(farm_book& book, farm_actions& out) {
  auto& dealer = book.dealer;
  if (!on_ || !copies_ || book.stopping() || !book.no_more() || dealer.holds_back()) return;
  auto const& loads = dealer.loads();
  auto const& pool = dealer.pool();
  if (pool.empty() && !loads.any_waiting()) return;
  if (book.now < searched_.early + std::max(look_again, pause_of(book))) return;
  searched_.early = book.now;
  auto const& ranks = dealer.ranks();
  double const remaining = loads.remaining(pool.room() ? pool.tasks() : 0, ranks.computing());
  auto const computes = [&](rank_id r) { return ranks.computes(r) && ranks.said_hello(r); };
  auto const allowed = [&](rank_id owner, task_range const& tasks) { return may_copy(owner, tasks, book); };
  for (auto const& copy : early_copies(book.losses.begun(), loads, dealer.costs(), book.now,
                                       book.spacing.seconds(), remaining, computes, allowed))
    book.give_copy(copy.rank, {{copy.task, 1, 1}}, true, out);
}

}  // namespace skel::role
