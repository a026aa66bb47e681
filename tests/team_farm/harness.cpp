#include "harness.hpp"

#include <algorithm>

namespace team_harness {

using kind = event::kind;
using status = role::outcome::status;

world::world(scenario const& s, fault* f) : peer_world(s, f), faults_(f), tasks_(s.sizes.size()) {
  sink_.ordered = s.ordered;
  sink_.fails_at = s.sink_fails_at;
  auto const ranks = static_cast<std::size_t>(s.ranks);
  seen_alive_.assign(ranks, true);
  inside_.resize(ranks);
  leaves_.resize(ranks);
  role::team_root_config l;
  l.ranks = s.ranks;
  l.first_computing = s.serves && s.ranks > 1 ? 1 : 0;
  if (s.hosts > 0)
    for (int r = 0; r < s.ranks; ++r) l.hosts.push_back(static_cast<std::uint64_t>(s.host(r)));
  l.ordered = s.ordered;
  l.window = s.window;
  l.most_losses = s.most_losses;
  l.on_error = s.on_error;
  for (task_id const id : s.restored) {
    append(l.restored, {id, 1, 1});
    tasks_[id].restored = true;
  }
  root_role_ = role::team_root(std::move(l));
  for (int r = 0; r < s.ranks; ++r) at(r).role = role::team_member({r, 0, call_hash(r), computes(r)});
}

// --- events

void world::begin(int rank) {
  auto const& s = *scenario_;
  if (rank == 0) {
    sink_.push(s.restored);
    if (!s.stream) supply(s.sizes.size());
  }
  role::team_actions list;
  at(rank).role.begin(list);
  perform(rank, list);
}

void world::receive(int from, int to, packet& p) {
  if (to == 0 && for_root_role(p.what)) return hear(from, p);
  if (auto const* const r = std::get_if<team::run>(&p.what); r != nullptr && to != 0 && scenario_->stream)
    at(to).payloads.insert(r->task.first);
  require(!std::holds_alternative<team::run>(p.what) || !at(to).role.vacant(),
          "a rank that may leave is given a task");
  role::team_actions list;
  at(to).role.on(from, p.what, list);
  perform(to, list);
}

// A message to the root. A rank that speaks is not lost.
void world::hear(int from, packet& p) {
  auto const index = static_cast<std::size_t>(from);
  if (!roll_.finished() && !seen_alive_[index]) {
    seen_alive_[index] = true;
    for (auto& [id, j] : jobs_) j.lost.erase(from);
  }
  auto const* const call = std::get_if<role::call_message>(&p.what);
  if (roll_.finished() ? from != 0
                       : roll_.stopping() && call != nullptr && std::holds_alternative<role::hello>(*call))
    call_roll(&role::roll_call::say_again, from);  // it has not heard of the end
  else
    roll_.heard(from);
  bool const stops = call != nullptr && std::holds_alternative<role::please_stop>(*call);
  if (stops && !(faults_ != nullptr && faults_->stops_at_once()))
    tell_root_role(&role::team_root::please_stop);
  else if (call != nullptr)
    call_roll(&role::roll_call::on, from, *call);
  none_begins_ = none_begins_ || stops;
  if (auto const* const l = std::get_if<team::retires>(&p.what)) {
    leaves_[index] = l->number % 2 == 1;
    enlisted_ = enlisted_ || able() == 0;
  }
  if (auto const* const e = std::get_if<team::ended>(&p.what)) {
    if (inside_[index] == e->job) inside_[index].reset();
    if (root_role_.awaits_result(from, e->job)) kept_[e->job] = p.body;
  }
  tell_root_role(&role::team_root::on, from, p.what);
}

void world::hear_lost(int rank, int peer) {
  if (rank == 0) {
    auto const index = static_cast<std::size_t>(peer);
    if (seen_alive_[index]) {
      seen_alive_[index] = false;
      enlisted_ = enlisted_ || able() == 0;
      if (inside_[index])
        if (auto& j = job(*inside_[index]); !j.settled) j.lost.insert(peer);
    }
    tell_root_role(&role::team_root::lost, peer);
    if (!active(0)) return;
  }
  auto& n = at(rank);
  bool const had = n.running && !n.role.cancelled();
  role::team_actions list;
  n.role.lost(peer, list);
  if (had && n.role.cancelled()) job(n.running->job).broken = true;
  perform(rank, list);
}

void world::hear_tick(int rank) {
  if (rank == 0) {
    bool const stopping = roll_.stopping();
    std::set<task_id> suspects;
    for (task_id id = 0; id < tasks_.size(); ++id)
      if (is_blamed(id)) suspects.insert(id);
    if (stopping) call_roll(&role::roll_call::tick);
    tell_root_role(&role::team_root::tick);
    if (!stopping && roll_.stopping()) blamable_ = std::move(suspects);
    if (!active(0)) return;
  }
  role::team_actions list;
  at(rank).role.tick(list);
  perform(rank, list);
}

void world::please_stop(int rank) {
  role::team_actions list;
  at(rank).role.please_stop(list);
  perform(rank, list);
}

void world::follow_up(int /*rank*/) { complete_ = complete_ || roll_.finished(); }

void world::add_own(int rank, std::vector<event>& all) const {
  auto const& s = *scenario_;
  auto const& n = at(rank);
  if (n.todo && !n.running) all.push_back({kind::start, rank});
  if (n.running && may_finish(rank)) all.push_back({kind::finish, rank});
  if (n.running && n.entered && !n.overran && overruns_ < s.overruns) all.push_back({kind::overrun, rank});
  if (rank != 0 && retirements_ < s.retirements) all.push_back({kind::retire, rank});
  if (n.retires && n.role.vacant() && root_heard_all(rank)) all.push_back({kind::leave, rank});
  if (rank != 0) return;
  if (sink_busy_ || !sink_.queue.empty()) all.push_back({kind::sink, 0});
  if (!source_ended_ && !roll_.stopping()) all.push_back({kind::supply, 0});
}

void world::apply_own(event const& e) {
  if (e.what == kind::start) return start(e.a);
  if (e.what == kind::finish) return finish(e.a);
  if (e.what == kind::overrun) return overrun(e.a);
  if (e.what == kind::supply) return supply(below(5));
  if (e.what == kind::retire) return retire(e.a);
  if (e.what == kind::leave) return leave(e.a);
  if (sink_busy_) return tell_sunk();
  sink();
}

std::uint64_t world::most_events() const {
  return 200 + 40 * scenario_->sizes.size() * static_cast<std::uint64_t>(scenario_->ranks);
}

// --- tasks

void world::start(int rank) {
  auto& n = at(rank);
  n.running = std::exchange(n.todo, std::nullopt);
  auto const& r = *n.running;
  task_id const id = r.task.first;
  if (scenario_->stream && rank == 0) {
    require(!tasks_[id].forgotten, "the root runs a task whose payload it has dropped");
  } else if (scenario_->stream) {
    auto const mine = n.payloads.find(id);
    require(mine != n.payloads.end(), "a rank runs a task without its payload");
    n.payloads.erase(mine);
  }
  if (n.role.cancelled()) return end_job(rank, std::nullopt);
  require(r.formed == r.job || n.formed == r.formed, "a rank did not form the team that runs another task");
  n.formed = r.formed;
  n.entered = true;
  auto const* const t = throws(rank, r);
  if (!(t != nullptr && t->early)) job(r.job).arrived.insert(rank);
}

// In a job of a task that throws, the failing member is drawn from the team; in that of a poison, the victim.
throwing const* world::throws(int rank, team::run const& r) const {
  auto const& j = jobs_.at(r.job);
  for (auto const& t : scenario_->throws)
    if (t.task == r.task.first && j.number < t.times &&
        (!t.member || j.ranks[*t.member % j.ranks.size()] == rank))
      return &t;
  return nullptr;
}

bool world::is_victim(int rank, team::run const& r) const {
  auto const& j = jobs_.at(r.job);
  return scenario_->poison == r.task.first && j.ranks[scenario_->victim % j.ranks.size()] == rank;
}

bool world::may_finish(int rank) const {
  auto const& n = at(rank);
  auto const* const t = throws(rank, *n.running);
  auto const& j = jobs_.at(n.running->job);
  return n.gave_up || j.broken || (t != nullptr && t->early) || is_victim(rank, *n.running) || all_arrived(j);
}

void world::finish(int rank) {
  auto& n = at(rank);
  auto& j = job(n.running->job);
  bool const cancelled = n.role.cancelled();
  if (is_victim(rank, *n.running) && !cancelled) return take_poison(rank);
  // Calls on the team fail, but the task may have made its last one. The first rank that thinks that another
  // one is lost may end the calls of all.
  if ((n.gave_up || j.broken) && (!all_arrived(j) || below(2) == 0)) return end_job(rank, "a rank is lost");
  if (throws(rank, *n.running) != nullptr) {
    failed_ = true;
    if (!cancelled) j.failed.insert(rank);
    return end_job(rank, "it throws");
  }
  if (!cancelled && !n.overran) j.completed.insert(rank);
  n.made.whole = n.role.leads();
  end_job(rank, std::nullopt);
}

void world::end_job(int rank, std::optional<std::string> failure) {
  auto& n = at(rank);
  n.made.job = n.running->job;
  n.made.task = n.running->task.first;
  n.running.reset();
  n.entered = n.overran = n.gave_up = false;
  role::team_actions list;
  n.role.ended(std::move(failure), list);
  perform(rank, list);
  n.made = {};
}

void world::overrun(int rank) {
  auto& n = at(rank);
  ++overruns_;
  n.overran = failed_ = true;
  job(n.running->job).failed.insert(rank);
  role::team_actions list;
  n.role.overran("it takes too long", list);
  perform(rank, list);
}

void world::retire(int rank) {
  auto& n = at(rank);
  ++retirements_;
  n.retires = !n.retires;
  role::team_actions list;
  n.role.retire(n.retires, list);
  perform(rank, list);
}

void world::take_poison(int rank) {
  if (rank != 0) {
    ++poisoned_;
    return die(rank, scenario_->last_words ? ~0ULL : below(4));
  }
  root_poisoned_ = true;
  at(0).failure = "poisoned";
  for (auto& n : nodes_) n.ended = true;
}

// --- the source and the sink

void world::supply(std::uint64_t most) {
  auto const& s = *scenario_;
  if (s.source_fails_at && supplied_ + most > *s.source_fails_at) {
    source_failed_ = source_ended_ = true;
    return close({.how = status::source_failed, .text = "no tasks"});
  }
  auto const first = static_cast<std::ptrdiff_t>(supplied_);
  supplied_ = std::min<std::uint64_t>(supplied_ + most, s.sizes.size());
  source_ended_ = supplied_ == s.sizes.size() && (!s.stream || below(2) == 0);
  std::vector<int> const sizes(s.sizes.begin() + first,
                               s.sizes.begin() + static_cast<std::ptrdiff_t>(supplied_));
  tell_root_role(&role::team_root::supplied, supplied_, source_ended_, std::span<int const>(sizes),
                 std::span<double const>(s.costs));
}

void world::sink() {
  if (roll_.stopping()) return sink_.queue.clear();
  sink_busy_ = true;
  sink_.take(1 + below(4));
}

void world::tell_sunk() {
  sink_busy_ = false;
  if (sink_.bad) {
    sink_failed_ = true;
    close({.how = status::sink_failed, .task = *sink_.bad, .text = "disk full"});
  }
  told_sunk_ = sink_.received;
  told_next_ = sink_.next;
  tell_root_role(&role::team_root::sunk, faults_ != nullptr ? faults_->sunk(told_sunk_) : told_sunk_,
                 told_next_);
  if (scenario_->sink_stops_at && told_sunk_ >= *scenario_->sink_stops_at) {
    asked_to_stop_ = sink_stopped_ = true;
    close({.how = status::stopped_early});
  }
}

// --- invariants at the end

std::uint64_t world::failures(task_id task) const {
  std::uint64_t n = 0;
  for (auto const& [id, j] : jobs_) n += j.what.task.first == task && !j.failed.empty() ? 1 : 0;
  return n;
}

std::uint64_t world::losses(task_id task) const {
  std::uint64_t n = 0;
  for (auto const& [id, j] : jobs_) n += j.what.task.first == task && !j.lost.empty() ? 1 : 0;
  return n;
}

std::uint64_t world::able() const {
  std::map<int, std::uint64_t> on_host{{0, 0}};
  for (int r = 0; r < scenario_->ranks; ++r) {
    auto const index = static_cast<std::size_t>(r);
    if (computes(r) && seen_alive_[index] && !leaves_[index]) ++on_host[scenario_->host(r)];
  }
  return std::ranges::max_element(on_host, {}, [](auto const& h) { return h.second; })->second;
}

bool world::may_blame(role::outcome const& how) const {
  if (blamable_.contains(how.task)) return true;
  require(failures(how.task) >= scenario_->on_error.times, "a task fails the run that has not failed often");
  return true;
}

bool world::may_end_so(role::outcome const& how) const {
  return how.how == role::outcome::status::source_failed ? source_failed_
         : how.how == role::outcome::status::sink_failed ? sink_failed_
                                                         : false;
}

void world::check_end() const {
  peer_world::check_end();
  if (root_poisoned_ || !at(0).failure.empty()) return;
  require(kept_.empty(), "a result is kept after the end");
  for (auto const& [id, j] : jobs_) {
    require(j.sent.size() == j.ranks.size(), "a rank of a team was not given the task");
    require(j.settled, "a job ends neither accepted nor dropped");
  }
  auto const& how = *at(0).how;
  require(how.handed_out_again == root_role_.handed_out_again(), "the outcome counts tasks wrongly");
  if (deaths_ == 0 && suspicions_ == 0)
    require(how.handed_out_again == 0, "tasks are handed out again, but no rank was lost");
  require(how.tasks <= sink_.received, "the outcome counts results that the sink has not received");
}

void world::check_done() const {
  auto const& s = *scenario_;
  require(source_ended_ && supplied_ == tasks_.size(), "the run is done before its source");
  for (task_id id = 0; id < tasks_.size(); ++id) {
    auto const& t = tasks_[id];
    require(t.accepted + t.left_out + t.restored == 1, "a task has no result");
    require(t.forgotten, "a payload is kept after the end");
    if (deaths_ == 0 && suspicions_ == 0)
      require(t.jobs <= 1 + failures(id), "a task runs again that has not failed");
  }
  require(sink_.received + sink_.left_out.size() == tasks_.size(), "the sink has not received all results");
  require(at(0).how->tasks == sink_.received, "the number of tasks is wrong");
  require(!sink_failed_ && !source_failed_, "a failure is not reported");
  for (auto const& t : s.throws)
    if (!t.member && t.times > s.on_error.times && !tasks_[t.task].restored)
      require(tasks_[t.task].left_out || deaths_ + suspicions_ > 0, "a task that throws has a result");
}

// A task that has ended on its team has a result, and the sink has received it.
void world::check_stopped_early() const {
  if (sink_stopped_ || deaths_ > 0 || suspicions_ > 0 || overruns_ > 0) return;
  for (auto const& [id, j] : jobs_)
    require(j.completed.size() < j.ranks.size() || tasks_[j.what.task.first].accepted,
            "the stop has dropped the result of a task that has ended");
  auto const accepted = std::count_if(tasks_.begin(), tasks_.end(), [](auto const& t) { return t.accepted; });
  require(scenario_->ordered ||
              sink_.received == static_cast<std::uint64_t>(accepted) + scenario_->restored.size(),
          "the stop has dropped a result on its way to the sink");
}

std::string world::waits_for() const {
  std::string text = std::to_string(root_role_.tasks().recorded().count()) + " recorded, " +
                     std::to_string(root_role_.pooled()) + " in the pool, " +
                     std::to_string(root_role_.free_ranks()) + " free ranks" +
                     (roll_.stopping() ? ", stopping" : "");
  for (int r = 0; r < scenario_->ranks; ++r) {
    auto const& n = at(r);
    text += "; rank " + std::to_string(r);
    text += !n.alive ? " dead" : n.ended ? " ended" : n.draining ? " draining" : "";
    if (n.running) text += " in job " + std::to_string(n.running->job) + (n.role.cancelled() ? "c" : "");
  }
  return text;
}

}  // namespace team_harness
