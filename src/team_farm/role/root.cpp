#include "root.hpp"

#include <algorithm>

#include "protocol/suspects.hpp"

namespace skel::role {

namespace {
// Ticks for which the first teams wait for ranks that have not come.
constexpr unsigned longest_wait = 2;
}  // namespace

team_root::team_root(team_root_config config)
    : config_(std::move(config)),
      window_(config_.window),
      roll_(config_.ranks, config_.call_hash),
      members_(config_.ranks) {
  count_able();
  for (auto const& r : config_.restored) {
    recorded_.insert(r);
    restored_end_ = std::max(restored_end_, r.last() + 1);
  }
}

void team_root::tell(call_messages& told, team_actions& out) const {
  for (auto& m : told) out.push_back(team::send{m.to, std::move(m.what)});
}

// --- the source and the sink

void team_root::supplied(std::uint64_t available, bool ended, std::span<int const> sizes,
                         std::span<double const> costs, team_actions& out) {
  if (stopping()) return;
  costs_.assign(costs.begin(), costs.end());
  for (task_id id = available_; id < available; ++id) {
    if (recorded_.contains(id)) {
      out.push_back(team::forget{id});
      continue;
    }
    auto& same = waiting_[static_cast<std::uint64_t>(sizes[id - available_])];
    if (costs_.empty() && !same.empty() && same.back().last() + 1 == id)
      ++same.back().count;
    else
      same.push_back({id, 1, 1});
    ++pooled_;
  }
  if (!costs_.empty())
    for (auto& [size, tasks] : waiting_)
      std::sort(tasks.begin(), tasks.end(), [&](auto& a, auto& b) { return before(a.first, b.first); });
  available_ = std::max(available_, available);
  source_ended_ = source_ended_ || ended;
  if (source_ended_ && restored_end_ > available_) {
    source_failed("it has " + std::to_string(available_) +
                      " tasks, but the checkpoint holds the result of task " +
                      std::to_string(restored_end_ - 1),
                  out);
    return;
  }
  form(out);
  maybe_complete(out);
}

void team_root::sunk(std::uint64_t count, task_id next, team_actions& out) {
  sunk_ = count;
  sink_next_ = next;
  if (config_.window > 0) form(out);
  maybe_complete(out);
}

void team_root::resize_window(std::uint64_t tasks) {
  window_ = std::min(config_.window, std::max<std::uint64_t>(tasks, able_));
}

// The sink may still throw while results wait for it, so the run ends only when it has received all.
void team_root::maybe_complete(team_actions& out) {
  if (!stopping() && source_ended_ && recorded_.count() == available_ && sunk_ + left_out_ == available_)
    roll(out, &roll_call::done, sunk_);
}

void team_root::sink_failed(task_id id, std::string text, team_actions& out) {
  roll(out, &roll_call::sink_failed, id, std::move(text));
}
void team_root::source_failed(std::string text, team_actions& out) {
  roll(out, &roll_call::source_failed, std::move(text));
}
void team_root::stop_early(team_actions& out) {
  roll_.count(sunk_, handed_out_again_);
  roll(out, &roll_call::stop_early);
}
void team_root::abort(std::string text, team_actions& out) { roll(out, &roll_call::abort, std::move(text)); }

// --- teams

// Counts the ranks that may compute. The root does if no other rank is left.
void team_root::count_able() {
  able_ = 0;
  for (rank_id r = config_.first_worker; r < config_.ranks; ++r)
    if (!lost_.is_lost(r)) ++able_;
  if (able_ > 0) return;
  able_ = 1;
  enlisted_ = true;
  update_free(config_.root);
}

void team_root::update_free(rank_id rank) {
  auto const& m = members_[rank];
  bool const computes = rank >= config_.first_worker || (enlisted_ && rank == config_.root);
  if (!lost_.is_lost(rank) && m.hello && computes && !m.inside && !m.held)
    free_.insert(rank);
  else
    free_.erase(rank);
}

bool team_root::has_room(task_id id) const {
  if (window_ == 0) return true;
  if (config_.ordered) return id < sink_next_ + window_;
  return available_ - pooled_ - accused_.size() < sunk_ + left_out_ + window_;
}

// The task that begins next, and the size of its team. While the largest task waits for ranks, smaller ones
// may pass it, but not for ever.
team_root::waiting_tasks::iterator team_root::next_task(std::uint64_t& size) {
  bool largest = true;
  for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
    if (!has_room(at->second.front().first)) continue;
    size = std::clamp<std::uint64_t>(at->first, 1, std::max<std::uint64_t>(able_, 1));
    if (size <= free_.size()) {
      passed_ = largest ? 0 : passed_ + 1;
      return at;
    }
    if (std::exchange(largest, false) && passed_ >= able_) break;
  }
  return waiting_.end();
}

// The first teams wait a little for all ranks: formed of those that come first, they would span hosts.
void team_root::form(team_actions& out) {
  if (!all_here_ && ticks_ < longest_wait) {
    for (rank_id r = config_.first_worker; r < config_.ranks; ++r)
      if (!lost_.is_lost(r) && !members_[r].hello) return;
    all_here_ = true;
  }
  while (!stopping() && !free_.empty() && !waiting_.empty()) {
    std::uint64_t size = 1;
    auto const at = next_task(size);
    if (at == waiting_.end()) return;
    auto const wanted = at->first;
    auto& tasks = at->second;
    auto const task = tasks.front().take_front(1).first;
    if (tasks.front().empty()) tasks.pop_front();
    if (tasks.empty()) waiting_.erase(at);
    --pooled_;
    give(task, wanted, take_ranks(size), out);
  }
}

// Takes the free ranks that lie closest together: they are likely to share hosts.
std::vector<rank_id> team_root::take_ranks(std::size_t count) {
  std::vector<rank_id> const all(free_.begin(), free_.end());
  std::size_t best = 0;
  for (std::size_t i = 1; i + count <= all.size(); ++i)
    if (all[i + count - 1] - all[i] < all[best + count - 1] - all[best]) best = i;
  auto const first = all.begin() + static_cast<std::ptrdiff_t>(best);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

void team_root::give(task_id task, std::uint64_t wanted, std::vector<rank_id> ranks, team_actions& out) {
  job_id const id = ++last_job_;
  auto const old = teams_.find(members_[ranks.front()].team);
  job_id const formed = old != teams_.end() && old->second == ranks ? old->first : id;
  team::run m{id, {task, 1, 1}, formed, {}};
  for (rank_id const r : ranks) append(m.ranks, {static_cast<std::uint64_t>(r), 1, 1});
  for (rank_id const r : ranks) {
    auto& who = members_[r];
    if (who.team != formed) teams_.erase(who.team);
    who.team = formed;
    who.inside = who.held = id;
    free_.erase(r);
    out.push_back(team::send{r, m});
  }
  if (formed == id) teams_[id] = ranks;
  auto& j = jobs_[id];
  j.task = task;
  j.wanted = wanted;
  j.inside = {ranks.begin(), ranks.end()};
  j.ranks = std::move(ranks);
}

// Whether task a is to begin before b, if their teams are of one size.
bool team_root::before(task_id a, task_id b) const {
  if (costs_.empty() || costs_[a] == costs_[b]) return a < b;
  return costs_[a] > costs_[b];
}

void team_root::put_back(task_id task, std::uint64_t wanted) {
  auto& same = waiting_[wanted];
  auto const at = std::lower_bound(same.begin(), same.end(), task,
                                   [&](auto const& r, task_id id) { return before(r.first, id); });
  same.insert(at, {task, 1, 1});
  ++pooled_;
}

// --- the end of a task

void team_root::on(rank_id from, team_message const& m, team_actions& out) {
  if (!members_.has(from)) return;
  if (finished()) {  // the rank has not heard of the end
    if (from != config_.root) {
      call_messages told;
      roll_.say_again(from, told);
      tell(told, out);
    }
    return;
  }
  roll_.heard(from);
  heard(from, out);
  if (auto const* const call = std::get_if<call_message>(&m)) {
    roll_.count(sunk_, handed_out_again_);
    roll(out, &roll_call::on, from, *call);
    if (!std::holds_alternative<hello>(*call) || finished()) return;
    members_[from].hello = true;
    update_free(from);
    if (stopping()) {
      call_messages told;
      roll_.say_again(from, told);
      tell(told, out);
    }
    form(out);
  } else if (auto const* const e = std::get_if<team::ended>(&m)) {
    on_ended(from, *e, out);
  } else if (auto const* const o = std::get_if<team::overran>(&m)) {
    auto const at = jobs_.find(o->job);
    if (at == jobs_.end() || !at->second.inside.contains(from)) return;
    at->second.overran.insert(from);
    fail(at->first, at->second, from, o->text, out);
  }
}

bool team_root::awaits_result(rank_id from, job_id id) const {
  auto const at = jobs_.find(id);
  return !finished() && at != jobs_.end() && at->second.ranks.front() == from &&
         at->second.inside.contains(from);
}

void team_root::on_ended(rank_id from, team::ended const& m, team_actions& out) {
  auto& who = members_[from];
  if (who.inside != m.job) return;
  who.inside.reset();
  auto const at = jobs_.find(m.job);
  if (at == jobs_.end() || !at->second.inside.contains(from)) {  // it was thought lost
    update_free(from);
    form(out);
    return;
  }
  auto& j = at->second;
  j.inside.erase(from);
  if (m.lost) j.doubted.insert(*m.lost);
  if (m.failure)
    fail(m.job, j, from, *m.failure, out);
  else if (m.cancelled)  // perhaps only this rank thinks that another one is lost, and the others wait for it
    cancel(m.job, j, from, "rank " + std::to_string(from) + " has left the task", out);
  else if (from == j.ranks.front())
    j.has_result = true;
  if (j.inside.empty()) settle(m.job, out);
}

void team_root::fail(job_id id, job& j, rank_id rank, std::string text, team_actions& out) {
  if (j.failure) return;
  auto const why = "the task failed on rank " + std::to_string(rank) + ": " + text;
  j.failure = {rank, std::move(text)};
  cancel(id, j, rank, why, out);
}

// The ranks of the team may have got to different places in the task: the same ranks would form a new team.
void team_root::cancel(job_id id, job& j, rank_id because_of, std::string const& text, team_actions& out) {
  if (std::exchange(j.cancelled, true)) return;
  for (rank_id const r : j.ranks) teams_.erase(members_[r].team);
  for (rank_id const r : j.inside) out.push_back(team::send{r, team::cancel{id, because_of, text}});
}

// The task has ended on all ranks of its team, or they are lost.
void team_root::settle(job_id id, team_actions& out) {
  auto const j = std::move(jobs_.extract(id).mapped());
  for (rank_id const r : j.ranks) {
    members_[r].held.reset();
    update_free(r);
  }
  // After a loss, the others may have failed because of it.
  bool const failed = j.failure && std::all_of(j.doubted.begin(), j.doubted.end(),
                                               [&](rank_id r) { return j.overran.contains(r); });
  if (j.has_result && !failed && !stopping()) {
    recorded_.insert(j.task);
    losses_.erase(j.task);
    failures_.erase(j.task);
    out.push_back(team::accept{id, j.task, j.ranks});
    out.push_back(team::forget{j.task});
  } else {
    out.push_back(team::drop{id});
    if (stopping()) return;
    if (failed)
      settle_failure(j, out);
    else
      settle_loss(j);
  }
  form(out);
  maybe_complete(out);
}

void team_root::settle_failure(job const& j, team_actions& out) {
  auto const times = ++failures_[j.task];
  if (times < config_.on_error.times)
    put_back(j.task, j.wanted);
  else
    give_up({j.task, j.failure->first, times, j.failure->second}, out);
}

// The task may have ended the ranks, so it runs again only so often.
void team_root::settle_loss(job const& j) {
  ++handed_out_again_;
  auto& all = losses_[j.task];
  if (!j.lost.empty()) all.push_back(j.lost);
  if (loses_too_often(j.task))
    accused_[j.task] = {j.wanted, 0};
  else
    put_back(j.task, j.wanted);
  roll_.count(sunk_, handed_out_again_);
}

bool team_root::loses_too_often(task_id task) const {
  std::uint64_t halves = 0;
  for (auto const& ranks : losses_.at(task))
    halves +=
        std::all_of(ranks.begin(), ranks.end(), [&](rank_id r) { return lost_.is_from_outside(r); }) ? 1 : 2;
  return config_.most_losses > 0 && halves >= std::uint64_t{2} * config_.most_losses;
}

void team_root::give_up(team::leave_out task, team_actions& out) {
  if (!config_.on_error.collects) {
    if (task.times > 1) task.text += " (the task failed " + std::to_string(task.times) + " times)";
    roll(out, &roll_call::task_failed, task.task, task.rank, std::move(task.text));
    return;
  }
  recorded_.insert(task.task);
  ++left_out_;
  out.push_back(team::forget{task.task});
  out.push_back(std::move(task));
}

// --- losses

void team_root::lost(rank_id rank, team_actions& out) {
  if (!members_.has(rank) || finished() || rank == config_.root || !lost_.lost(rank)) return;
  auto& who = members_[rank];
  who.hello = false;
  update_free(rank);
  count_able();
  // First the job: the run may end with this loss, and its jobs settle before.
  auto const at = who.inside ? jobs_.find(*who.inside) : jobs_.end();
  if (at != jobs_.end()) {
    auto const id = at->first;
    auto& j = at->second;
    j.inside.erase(rank);
    j.doubted.insert(rank);
    j.lost.push_back(rank);
    cancel(id, j, rank, "lost rank " + std::to_string(rank) + " of the team", out);
    if (j.inside.empty()) settle(id, out);
  }
  roll_.count(sunk_, handed_out_again_);
  roll(out, &roll_call::lost, rank);
  form(out);
}

// A rank that speaks is not lost. It may still be inside a task that its team has given up.
void team_root::heard(rank_id rank, team_actions& out) {
  if (!lost_.heard(rank)) return;
  auto& who = members_[rank];
  count_able();
  if (who.inside)
    out.push_back(team::send{rank, team::cancel{*who.inside, rank, "this rank was thought lost"}});
  for (auto& [id, j] : jobs_) std::erase(j.lost, rank);
  for (auto& [task, jobs] : losses_) {
    for (auto& ranks : jobs) std::erase(ranks, rank);
    std::erase_if(jobs, [](auto const& ranks) { return ranks.empty(); });
  }
  for (auto at = accused_.begin(); at != accused_.end();) {
    if (!loses_too_often(at->first)) {
      put_back(at->first, at->second.wanted);
      at = accused_.erase(at);
    } else {
      ++at;
    }
  }
}

void team_root::tick(team_actions& out) {
  if (finished()) return;
  if (stopping()) {
    roll(out, &roll_call::tick);
    return;
  }
  if (!all_here_ && ++ticks_ == longest_wait) form(out);
  std::optional<task_id> guilty;
  for (auto& [task, a] : accused_)
    if (++a.ticks >= blame_patience && !guilty) guilty = task;
  if (guilty) blame(*guilty, out);
}

void team_root::blame(task_id task, team_actions& out) {
  accused_.erase(task);
  std::vector<rank_id> ranks;
  for (auto const& lost : losses_[task]) ranks.insert(ranks.end(), lost.begin(), lost.end());
  losses_.erase(task);
  if (!config_.on_error.collects) {
    roll(out, &roll_call::blame, task, ranks);
    return;
  }
  rank_id const last = ranks.empty() ? 0 : ranks.back();
  auto const times = static_cast<unsigned>(ranks.size());
  give_up({task, last, times, text_of(blamed{task, ranks}), true}, out);
  form(out);
  maybe_complete(out);
}

}  // namespace skel::role
