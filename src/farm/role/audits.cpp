#include "farm/role/audits.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "protocol/digest.hpp"

namespace skel::role {

namespace {

constexpr auto largest_hash = std::numeric_limits<std::uint64_t>::max();

// Neighbouring tasks often run on the same rank, so the choice must not follow their order.
std::uint64_t scattered(task_id task) { return digest().add(task).add(task).value(); }

}  // namespace

farm_audits::farm_audits(double share, rank_id ranks) {
  if (share <= 0) return;
  limit_ = share >= 1 ? largest_hash : static_cast<std::uint64_t>(share * 0x1p64);
  ranks_ = by_rank<rank_state>(ranks);
}

bool farm_audits::chooses(task_id task) const {
  return on() && (limit_ == largest_hash || scattered(task) < limit_);
}

// --- audited tasks

void farm_audits::answered(task_id task, rank_id rank, std::uint64_t version) {
  auto& a = open_[task];
  if (a.answers.empty()) waiting_.insert(task);
  if (a.holder == rank) take_back(task, a);
  if (std::any_of(a.answers.begin(), a.answers.end(), [&](answer const& x) { return x.rank == rank; }))
    return;
  a.answers.push_back({rank, version});
  ++ranks_[rank].open;
}

void farm_audits::threw(task_id task, rank_id rank) {
  auto& a = open_.at(task);
  if (a.holder == rank) take_back(task, a);
  if (std::find(a.threw.begin(), a.threw.end(), rank) == a.threw.end()) a.threw.push_back(rank);
}

std::optional<std::uint64_t> farm_audits::agreed(task_id task) const {
  auto const& all = answers(task);
  for (auto x = all.begin(); x != all.end(); ++x)
    for (auto y = std::next(x); y != all.end(); ++y)
      if (x->version == y->version) return x->version;
  return std::nullopt;
}

std::vector<farm_audits::answer> farm_audits::close(task_id task, bool checked) {
  auto& a = open_.at(task);
  if (a.holder) take_back(task, a);
  waiting_.erase(task);
  auto all = std::move(a.answers);
  open_.erase(task);
  for (auto const& x : all) --ranks_[x.rank].open;
  if (!checked) append(ranks_[all.front().rank].released, {task, 1, 1});  // should it be at fault
  ++(checked ? checked_ : unchecked_);
  return all;
}

// --- repetitions

bool farm_audits::may_repeat(task_id task, rank_id rank) const {
  auto const& a = open_.at(task);
  return std::none_of(a.answers.begin(), a.answers.end(), [&](answer const& x) { return x.rank == rank; }) &&
         std::find(a.threw.begin(), a.threw.end(), rank) == a.threw.end();
}

void farm_audits::given(task_id task, rank_id rank) {
  open_.at(task).holder = rank;
  ++ranks_[rank].holds;
  waiting_.erase(task);
}

void farm_audits::take_back(task_id task, audit& a) {
  --ranks_[*a.holder].holds;
  a.holder.reset();
  waiting_.insert(task);
}

void farm_audits::lost(rank_id rank) {
  if (!on() || ranks_[rank].holds == 0) return;
  for (auto& [id, a] : open_)
    if (a.holder == rank) take_back(id, a);
}

range_list farm_audits::release(rank_id rank) {
  auto tasks = std::exchange(ranks_[rank].held, {});
  for (auto const& r : tasks) append(ranks_[rank].released, r);
  return tasks;
}

// --- ranks at fault

range_list farm_audits::blame(rank_id rank, task_id task) {
  lost(rank);
  auto& r = ranks_[rank];
  r.at_fault = true;
  auto again = std::exchange(r.held, {});
  for (auto at = open_.begin(); at != open_.end();) {
    auto& a = at->second;
    std::erase_if(a.answers, [&](answer const& x) { return x.rank == rank; });
    if (!a.answers.empty()) {
      ++at;
      continue;
    }
    if (a.holder) --ranks_[*a.holder].holds;
    waiting_.erase(at->first);
    append(again, {at->first, 1, 1});
    at = open_.erase(at);
  }
  r.open = 0;
  faults_.push_back({rank, task, count_tasks(again), std::exchange(r.released, {})});
  return again;
}

}  // namespace skel::role
