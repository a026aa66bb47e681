// States the value of debts: for checkpoints, and for the lenders of suspect debts.
#include <algorithm>
#include <utility>

#include "call/timed.hpp"
#include "call/user_code.hpp"
#include "checkpoint/interval.hpp"
#include "run.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"

namespace skel::detail {

namespace {

// A statement rises by one lender at a time, so statements are made more often than checkpoints.
constexpr double statements_per_checkpoint = 4;
constexpr double shortest_interval = 10e-3;  // seconds
// Ratio of working time to statement time for a suspect debt.
constexpr double suspects_share = 20;

}  // namespace

void steal_run::open_store() {
  call_description what("ring_steal");
  what.add("label", options_.label).add_hidden("types", hash_text(work_.types()));
  if (auto const tasks = work_.tasks()) what.add("tasks", *tasks);
  add_values(what, "job", work_);
  recorder_ = std::make_unique<steal_recorder>(engine_, *options_.checkpoint, std::move(what));
  auto const left = recorder_->take_restored();
  if (!left) return;
  if (auto const bad = thrown_by([&] { add(open_debt(0), *left); }))
    throw usage_error("the checkpoint cannot be used: " + *bad);
}

// The statement's tasks wait on this rank; its result joins the debt's.
void steal_run::add(debt& to, steal_statement const& s) {
  std::span<std::byte const> waiting(s.waiting);
  for (auto n = s.bags; n > 0; --n) work_.unpack_bag(waiting, *to.waiting);
  add_sum(*to.sum, s);
  to.tasks += s.tasks;
}

void steal_run::add_sum(merged_result& to, steal_statement const& s) {
  if (s.tasks == 0) return;
  std::span<std::byte const> sum(s.sum);
  auto const part = work_.make_result();
  work_.unpack_result(sum, *part);
  work_.merge(to, *part);
}

// The value of a debt: the threads' tasks as they were at the start of the quantum, and loans as
// last stated by their borrowers.
steal_statement steal_run::statement_of(debt_id id) {
  gather(id);
  auto& d = debts_.at(id);
  d.changed = false;
  steal_statement s;
  s.tasks = d.tasks;
  if (d.tasks > 0) work_.pack_result(*d.sum, s.sum);
  auto const sum = work_.make_result();
  add_sum(*sum, s);
  auto const add_bags = [&](std::uint64_t bags, std::vector<std::byte> const& packed) {
    s.bags += bags;
    s.waiting.insert(s.waiting.end(), packed.begin(), packed.end());
  };
  if (d.waiting->size() > 0) {
    s.bags = 1;
    work_.pack_bag(*d.waiting, s.waiting);
  }
  for (auto const& t : state_)
    if (t.runs && t.sum_of == id) add_bags(1, t.taken);
  for (auto const& [number, l] : lent_) {
    if (l.of != id) continue;
    add_bags(l.worth.bags, l.worth.waiting);
    add_sum(*sum, l.worth);
    s.tasks += l.worth.tasks;
  }
  s.sum.clear();
  if (s.tasks > 0) work_.pack_result(*sum, s.sum);
  return s;
}

// A thread leaves a copy of the tasks it takes if a statement is due, or if they are few. The debt
// can then be stated however long the tasks run. Returns false if the user's code threw; the run
// then fails.
bool steal_run::leave_copy(thread_state& t, debt_id id) {
  auto const bad = thrown_by([&] {
    gather_from(t, id);
    t.taken.clear();
    work_.pack_bag(*t.bag, t.taken);
  });
  if (bad) {
    t.bag = work_.make_bag();
    fail_task(*bad);
    return false;
  }
  t.copied = true;
  ++debts_.at(id).copied;
  return true;
}

// A debt with running tasks waits until each of its threads has left a copy.
void steal_run::state_if_due() {
  if (!options_.checkpoint || draining_ || over_) return;
  double const t = now();
  if (!stating_ && t < state_at_ && !(recorder_ && recorder_->due(t))) return;
  stating_ = false;
  std::vector<debt_id> ready;
  for (auto const& [id, d] : debts_) {
    if (!d.changed) continue;
    if (d.running == d.copied)
      ready.push_back(id);
    else
      stating_ = true;
  }
  role::steal_actions list;
  for (auto const id : ready) role_.state(id, list);
  perform(list);
  if (stating_ || draining_) return;
  double const every = recorder_ ? recorder_->interval() : usual_interval(*options_.checkpoint);
  state_at_ = t + std::max(every / statements_per_checkpoint, shortest_interval);
  if (recorder_) recorder_->save_if_due(t);
}

// States a suspect debt as soon as enough work has been done. The next borrower then resumes close
// to the task that ended the previous one. A borrower that computes for a whole interval has passed
// that point.
void steal_run::state_suspects() {
  if (draining_ || over_) return;
  double const t = now();
  std::vector<debt_id> ready;
  for (auto const& [id, d] : debts_)
    if (d.changed && d.running == d.copied && role_.debts().suspect(id) && t >= d.state_at)
      ready.push_back(id);
  for (auto const id : ready) {
    double const begin = now();
    role::steal_actions list;
    role_.state(id, list);
    perform(list);
    if (auto const d = debts_.find(id); d != debts_.end())
      d->second.state_at = now() + std::max(suspects_interval, suspects_share * (now() - begin));
  }
}

void steal_run::record() {
  if (!debts_.contains(0)) return;  // the run has failed meanwhile
  auto& costs = recorder_->costs();
  timed const blocked(costs.blocked_seconds);
  timed const serialised(costs.serialise_seconds);
  if (auto const bad = thrown_by([&] { recorder_->record(statement_of(0)); })) fail_task(*bad);
}

void steal_run::save_last() {
  if (recorder_) recorder_->close();
}

std::optional<checkpoint_report> steal_run::checkpoint_costs() const {
  if (!recorder_) return {};
  return recorder_->costs();
}

}  // namespace skel::detail
