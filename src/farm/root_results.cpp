#include "root_results.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace skel::detail {

std::vector<role::task_version> root_results::versions(result_batch const& batch,
                                                       function_reference<bool(task_id)> const& compares) {
  std::vector<role::task_version> found;
  auto rest = batch.packed.bytes();
  std::uint64_t index = 0, passed = 0;  // results before this one, and those that were skipped
  for (auto const& range : batch.ranges)
    for (std::uint64_t i = 0; i < range.count; ++i, ++index) {
      if (!compares(range[i])) continue;
      std::vector<std::byte> bytes;
      if (batch.local) {
        work_.pack_local(1, index, *batch.local, bytes);
      } else {
        work_.skip_packed(index - passed, rest);
        auto const from = rest;
        work_.skip_packed(1, rest);
        bytes.assign(from.begin(), from.end() - static_cast<std::ptrdiff_t>(rest.size()));
        passed = index + 1;
      }
      auto compared = work_.compared(bytes);
      auto& all = versions_[range[i]];
      auto const at = std::find_if(all.begin(), all.end(),
                                   [&](known_version const& v) { return v.compared == compared; });
      found.push_back({range[i], static_cast<std::uint64_t>(at - all.begin())});
      if (at == all.end()) all.push_back({std::move(compared), std::move(bytes)});
    }
  return found;
}

// The other versions are forgotten.
void root_results::on(role::farm::accept const& a) {
  auto const at = versions_.find(a.task);
  result_batch one;
  one.ranges = {{a.task, 1, 1}};
  one.packed = transport::packet::received(std::move(at->second.at(a.version).packed));
  versions_.erase(at);
  sink_.push(std::move(one), {{a.task, 1, 1}});
}

void root_results::on(role::farm::discard const& a) {
  for (auto& h : held_[a.rank])
    if (h.batch.is_packed()) engine_.wires().recycle(std::move(h.batch.packed).release());
  held_.erase(a.rank);
  if (a.rank == sender_) accepted_.clear();
}

void root_results::arrived(result_batch batch) {
  auto accepted = std::exchange(accepted_, {});
  if (accepted.empty()) return;
  if (audits_)
    held_[sender_].push_back({std::move(batch), std::move(accepted)});
  else
    sink_.push(std::move(batch), accepted);
}

void root_results::decided(std::uint64_t recorded) {
  if (!audits_ || !accepted_.empty()) return;  // the latter are not held yet
  recorded_ = recorded;
  for (int const rank : std::exchange(released_, {}))
    for (auto& h : std::exchange(held_[rank], {})) sink_.push(std::move(h.batch), h.accepted);
}

audit_report root_results::report(role::farm_audits const& from) const {
  audit_report a;
  a.checked = from.checked();
  a.unchecked = from.unchecked();
  for (auto const& f : from.faults()) {
    if (engine_.options().check.tasks.value_or(false) && !engine_.options().quiet)
      std::fprintf(
          stderr,
          "skel: farm: task %llu has another result on rank %d than on two other ranks: a task must not "
          "depend on the rank that runs it\n",
          static_cast<unsigned long long>(work_.task_at(f.task)), f.rank);
    a.at_fault.push_back({f.rank, work_.task_at(f.task), f.again, {}});
    std::vector<task_id> tasks;
    for (auto const& r : f.released)
      for (std::uint64_t i = 0; i < r.count; ++i) tasks.push_back(work_.task_at(r[i]));
    std::sort(tasks.begin(), tasks.end());
    auto& in_sink = a.at_fault.back().in_sink;
    for (task_id const id : tasks) {
      if (in_sink.empty() || in_sink.back().second + 1 != id) in_sink.emplace_back(id, id);
      in_sink.back().second = id;
    }
  }
  return a;
}

}  // namespace skel::detail
