#include "harness.hpp"

#include <algorithm>

namespace steal_harness {

using kind = event::kind;

world::world(scenario const& s, fault* f) : peer_world(s, f), slips_(f) {
  std::vector<std::vector<int>> children(s.parent.size());
  for (std::size_t i = 1; i < s.parent.size(); ++i)
    children[static_cast<std::size_t>(s.parent[i])].push_back(static_cast<int>(i));
  children_ = std::make_shared<std::vector<std::vector<int>> const>(std::move(children));
  runs_ = none();
  role::steal_member_config c;
  c.ranks = s.ranks;
  c.order = s.order;
  c.records = s.records;
  c.most_losses = s.most_losses;
  c.most_parcels = s.most_parcels;
  for (int r = 0; r < s.ranks; ++r) {
    c.self = r;
    c.call_hash = call_hash(r);
    at(r).role = role::steal_member(c);
  }
}

// --- events

void world::begin(int rank) {
  auto& n = at(rank);
  if (rank == 0) n.debts[0] = {{{0}, none()}};
  role::steal_actions list;
  n.role.begin(list);
  perform(rank, list);
}

void world::receive(int from, int to, packet& p) {
  auto& n = at(to);
  if (auto const* call = std::get_if<role::call_message>(&p.what)) {
    if (to == 0) call_roll(&role::roll_call::on, from, *call);
    if (for_roll_call(*call)) return;
    if (std::holds_alternative<role::finish>(*call)) n.result = p.body.result;
  }
  if (auto const* l = std::get_if<role::steal::loan>(&p.what)) {
    p.lender = from;
    require(to != 0 || !l->suspect, "the root borrows suspect tasks");
  }
  if (auto const* i = std::get_if<role::steal::inherits>(&p.what))
    for (auto& [id, d] : n.debts)
      if (d.lender == i->of && d.number == i->loan) d.lender = from;
  role::steal_actions list;
  n.role.on(from, p.what, list);
  perform(to, list, &p);
}

void world::hear_lost(int rank, int peer) {
  role::steal_actions list;
  at(rank).role.lost(peer, list);
  perform(rank, list);
}

void world::hear_tick(int rank) {
  role::steal_actions list;
  at(rank).role.tick(list);
  perform(rank, list);
}

void world::please_stop(int rank) {
  role::steal_actions list;
  at(rank).role.please_stop(list);
  perform(rank, list);
}

void world::add_own(int rank, std::vector<event>& all) const {
  auto const& n = at(rank);
  auto const& s = *scenario_;
  auto const current = n.role.debts().current();
  auto const waiting = current ? n.debts.at(*current).tasks.size() : 0;
  if (n.running)
    all.push_back({kind::finish, rank});
  else if (waiting > 0 && !n.role.leaves())
    all.push_back({kind::start, rank});
  std::size_t const keeps = s.explored && !n.running ? 1 : 0;
  if (current && n.role.thieves().may_have(*n.role.debts().find(*current)) && waiting > keeps)
    all.push_back({kind::lend, rank});
  if (!n.role.thieves().empty() && !s.explored) all.push_back({kind::away, rank});
  if (!n.draining && statements_ < s.statements)
    for (auto const& [debt, d] : n.debts)
      if (n.role.debts().suspect(debt) ? d.changed : s.records) all.push_back({kind::state, rank, 0, debt});
  if (s.explored && s.stops_early && !asked_to_stop_) all.push_back({kind::stop, rank});
  if (n.role.resting()) all.push_back({kind::retry, rank});
  if (n.role.has_news()) all.push_back({kind::spread, rank});
  if (rank == 0 || n.draining) return;
  if (!n.role.leaves() && retired_ < s.retirements) all.push_back({kind::retire, rank});
  if (n.role.leaves() && stayed_ < s.changes_of_mind) all.push_back({kind::retire, rank, 0, 1});
  if (may_leave(rank)) all.push_back({kind::leave, rank});
}

void world::apply_own(event const& e) {
  auto& role = at(e.a).role;
  role::steal_actions list;
  if (e.what == kind::start) return start(e.a);
  if (e.what == kind::finish) return finish(e.a);
  if (e.what == kind::lend) role.spare(*role.debts().current(), list);
  if (e.what == kind::away) role.nothing_to_spare(list);
  if (e.what == kind::retry) role.retry(list);
  if (e.what == kind::spread) role.spread(list);
  if (e.what == kind::retire) {
    ++(e.n == 0 ? retired_ : stayed_);
    role.retire(e.n == 0, false, list);
  }
  if (e.what == kind::leave) {
    ran_by_leavers_ += at(e.a).ran;
    die(e.a, ~0ULL);
    --deaths_;
    return;
  }
  if (e.what == kind::state) {
    ++statements_;
    role.state(e.n, list);
  }
  perform(e.a, list);
}

void world::start(int rank) {
  auto& n = at(rank);
  auto const debt = *n.role.debts().current();
  auto& waiting = n.debts.at(debt).tasks;
  n.running = {debt, waiting.back()};
  waiting.pop_back();
}

void world::finish(int rank) {
  auto& n = at(rank);
  auto const [debt, task] = *n.running;
  if (scenario_->poison == task) return take_poison(rank);
  n.running.reset();
  ++n.ran;
  count_run(task);
  if (scenario_->bounded) {
    auto const bound = static_cast<role::bound_key>(1 + task * 7 % 11);
    static_cast<void>(n.role.share(bound));
    found_ = std::max(found_, bound);
  }
  auto const d = n.debts.find(debt);
  if (d == n.debts.end()) return;  // voided while the task ran
  if (scenario_->failing == task) {
    failed_ = true;
    role::steal_actions list;
    n.role.failed(n.ran, "it throws", list);
    perform(rank, list);
    return;
  }
  ++d->second.result[static_cast<std::size_t>(task)];
  for (int const child : (*children_)[static_cast<std::size_t>(task)]) d->second.tasks.push_back(child);
  d->second.changed = true;
}

void world::count_run(int task) {
  auto const runs = ++runs_[static_cast<std::size_t>(task)];
  require(runs == 1 || deaths_ > 0 || suspicions_ > 0 || failed_ || scenario_->other_call,
          "a task runs twice, but no rank was lost");
}

// The root must not run the poison while another rank can, unless it is the first to run it.
void world::take_poison(int rank) {
  auto const& s = *scenario_;
  bool const others = std::any_of(nodes_.begin() + 1, nodes_.end(), [](node const& n) { return n.alive; });
  if (rank != 0) {
    ++poisoned_;
    lenders_poisoned_ += at(rank).lent.empty() ? 0 : 1;
    return die(rank, s.last_words ? ~0ULL : ran() % 3);
  }
  require(poisoned_ == 0 || !others || suspicions_ > 0 || s.deaths > 0,
          "the root runs a task that has killed another rank");
  root_poisoned_ = true;
  at(0).failure = "poisoned";
  for (auto& n : nodes_) n.ended = true;
}

std::uint64_t world::most_events() const { return 200 * static_cast<std::uint64_t>(scenario_->ranks); }

std::string world::waits_for() const {
  std::string text = "debts and loans:";
  for (int a = 0; a < scenario_->ranks; ++a)
    if (active(a))
      text += " rank " + std::to_string(a) + " " + std::to_string(at(a).role.debts().size()) + "/" +
              std::to_string(at(a).role.loans().book().size());
  return text;
}

// --- invariants

// A parcel may be blamed only if it is one task, for lost ranks that were running it or a descendant. When
// the root alone is left, and would be the next to run it: for ranks that held it, one of them having begun
// it.
void world::check_blame(int rank, role::blamed const& b) {
  auto const& lent = at(rank).lent;
  auto const l =
      std::find_if(lent.begin(), lent.end(), [&](auto const& x) { return x.second.origin == b.task; });
  require(l != lent.end(), "a loan is blamed that does not exist");
  std::size_t watched = 0;
  bool ran = l->second.worth.tasks.size() == 1;
  for (int const r : b.ranks) {
    require(lost_[wire(rank, r)], "a loan is blamed for a living rank");
    watched += static_cast<std::size_t>(std::count(l->second.watched.begin(), l->second.watched.end(), r));
    ran = ran && (at(r).alive || std::count(l->second.ran.begin(), l->second.ran.end(), r) > 0);
  }
  auto const most = scenario_->most_losses;
  require(most > 0 && b.ranks.size() >= most && watched >= std::max(1U, most - 1),
          "a loan is blamed too early");
  auto const others = lost_.begin() + static_cast<std::ptrdiff_t>(wire(rank, 0));
  bool const no_other =
      rank == 0 && std::count(others, others + scenario_->ranks, true) == scenario_->ranks - 1;
  require(ran || no_other, "a loan is blamed whose task did not run on each lost rank");
  blamed_ = failed_ = true;
}

void world::check_done() const {
  auto const& s = *scenario_;
  require(total_ == counts(s.parent.size(), 1), "not every node is counted once");
  require(at(0).how->tasks == s.parent.size(), "the number of tasks is wrong");
  for (auto const& n : nodes_) require(!n.alive || n.result == total_, "ranks have different results");
}

// A run that stops early counts each executed node at most once, and exactly once if no rank was lost or
// suspected. A node that throws is a failure, not an early end.
void world::check_stopped_early() const {
  require(complete_, "an early end without a result");
  require(at(0).how->tasks == tasks_, "the number of tasks is wrong");
  for (auto const& n : nodes_) require(!n.alive || n.result == total_, "ranks have different results");
  require(std::all_of(total_.begin(), total_.end(), [](auto c) { return c <= 1; }),
          "a node is counted twice");
  require(deaths_ > 0 || suspicions_ > 0 || ran() == tasks_, "the early result lacks tasks that ran");
  check_last_record();
}

// If no rank was lost or suspected and no task threw, the last checkpoint contains every node that ran
// before the early end.
void world::check_last_record() const {
  if (!scenario_->records || failed_) return;
  require(recorded_.has_value(), "an early end without a checkpoint");
  if (deaths_ > 0 || suspicions_ > 0) return;
  std::uint64_t counted = 0;
  for (auto const c : recorded_->result) counted += c;
  require(ran() == counted, "the last checkpoint lacks tasks that ran");
}

bool world::may_leave(int rank) const {
  auto const& role = at(rank).role;
  if (slips(slip::leaves_unheard)) return role.leaves() && role.debts().size() == 0 && is_silent(rank);
  return role.vacant() && is_silent(rank);
}

bool world::is_silent(int rank) const {
  for (int to = 0; to < scenario_->ranks; ++to)
    if (!under_way(rank, to).empty() && !(at(rank).alive && lost_[wire(rank, to)])) return false;
  return true;
}

bool world::gets_away(int rank, std::mt19937_64& dice) {
  auto const rests = [&] { return !active(rank) || at(rank).draining; };
  if (rests()) return true;
  prompt_ = true;
  if (!at(rank).role.leaves()) apply({kind::retire, rank});
  for (auto left = most_events(); left > 0 && !rests(); --left) {
    auto all = possible(0);
    std::erase_if(all, [&](event const& e) {
      bool const own = e.a == rank && (e.what == kind::finish || (e.what == kind::leave));
      return e.what != kind::deliver && e.what != kind::away && e.what != kind::begin &&
             e.what != kind::detect && !own;
    });
    if (all.empty()) break;
    apply(all[dice() % all.size()]);
  }
  return rests();
}

std::uint64_t world::ran() const {
  std::uint64_t n = ran_by_leavers_;
  for (auto const& x : nodes_) n += x.ran;
  return n;
}

std::uint64_t world::again() const {
  std::uint64_t n = 0;
  for (auto const& x : nodes_) n += x.role.loans().taken_back();
  return n;
}

}  // namespace steal_harness
