// What a call leaves for another attempt at the job's body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "call_description.hpp"
#include "engine/remembered_results.hpp"
#include "entry.hpp"

namespace skel::detail {

/// What this rank remembers of the same call in an earlier attempt, and keeps for the next one; see
/// remembered_results. Off if the job does not remember, and for calls of teams and beside
/// others. Requires the engine's lock.
class call_memory {
 public:
  /// `call` need not be complete yet.
  call_memory(call_entry const& entry, call_description const& call);

  explicit operator bool() const { return job_ != nullptr; }
  /// The call begins. Required also of a call that keeps nothing, because calls are counted.
  void begin() {
    if (job_ != nullptr && !id_) id_ = job_->begins(call_.hash());
  }
  [[nodiscard]] std::vector<remembered_results::piece const*> pieces() { return job_->of(id()); }
  /// Keeps a copy of results, unless they are as quickly computed again. `seconds`: in which they were.
  void keep(range_list const& ranges, std::span<std::byte const> bytes, double seconds) {
    if (remembered_results::pays(bytes.size(), seconds)) job_->add(id(), ranges, bytes);
  }
  /// The tasks that ran on roots when these were lost.
  [[nodiscard]] auto ran_on_roots() { return job_->ran_on_roots(id()); }
  void root_runs(range_list running, int root_in_job, bool overrun) {
    if (job_ != nullptr) job_->root_runs({id(), std::move(running), root_in_job, false, overrun});
  }
  /// Of how many tasks it has the results.
  [[nodiscard]] std::uint64_t tasks() { return job_->tasks_of(id()); }
  /// On the root: the call ends, of which another attempt need not repeat these seconds.
  void ended(double kept) {
    if (job_ != nullptr) job_->keep_seconds(kept);
  }

  /// The call has this value on all ranks of the job. Keeps a copy, unless the call took so little time that
  /// it may as well run again. `tasks`: of which it is the value.
  void keep_value(std::uint64_t tasks, std::span<std::byte const> value);
  /// Whether keep_value() would keep that many bytes.
  [[nodiscard]] bool keeps_value(std::size_t bytes) const;
  /// The value in an earlier attempt, or null.
  [[nodiscard]] remembered_results::piece const* value();
  /// The call ends with that value, and thus without running its tasks.
  void use(remembered_results::piece const& value) { restored_ = count_tasks(value.ranges); }
  [[nodiscard]] std::uint64_t restored_tasks() const { return restored_; }

 private:
  [[nodiscard]] remembered_results::call id() { return begin(), *id_; }

  call_description const& call_;
  engine& engine_;
  remembered_results* job_;
  bool is_root_;
  double began_;
  std::optional<remembered_results::call> id_;
  std::uint64_t restored_ = 0;
};

}  // namespace skel::detail
