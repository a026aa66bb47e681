// The farm as compiled code sees it: work over bytes and type-erased results. skel/farm.hpp
// implements it for the user's types.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "skel/context.hpp"
#include "skel/detail/erased.hpp"
#include "skel/detail/task_range.hpp"
#include "skel/report.hpp"
#include "skel/schedule.hpp"
#include "skel/worker.hpp"

namespace skel {

struct farm_options;
class needs_of_task;
struct task_needs;

namespace detail {

class steered_book;

/// One task that did not come from a replicated list.
struct task_payload {
  std::shared_ptr<void const> keep;    // owns what the others point into
  void const* typed = nullptr;         // the task itself, on the root
  std::span<std::byte const> bytes{};  // the task packed, elsewhere
};

/// Results that stay on the rank that computed them, as objects.
struct local_results : erased {};

/// Thrown in place of an exception of the user's merge. It is no failure of a task: merged results
/// may be lost.
struct merge_failure {
  std::exception_ptr why;
};

struct farm_traits {
  std::optional<std::uint64_t> tasks;  // of a replicated list
  bool ordered = false;
  bool merged = false;
  bool in_place = false;  // the root can compute results where they will stay
  bool takes_team = false;
  bool hears_failures = false;  // the sink is called for tasks that are left out, too
  bool checked = false;         // compiled with assertions
  bool comparable = true;       // equal results are sure to have equal contents
  std::uint64_t window = 0;
  std::size_t task_bytes = 0;
  std::size_t result_bytes = 0;                          // of one result as an object
  bool result_is_raw = false;                            // which is all that it takes
  std::optional<std::uint64_t> steered{};                // the window of a steered source
  [[nodiscard]] bool payload() const { return !tasks; }  // tasks travel
};

/// The source of an on_root farm. pull(): one thread at a time, without the engine's lock. The others: under
/// the engine's lock.
class task_feed {
 public:
  virtual ~task_feed() = default;
  struct pulled_tasks {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;  // as far as they are known without packing
    bool ended = false;       // the source has no more
  };
  // Says how many tasks are ready to be accepted, `most` or those of `most_bytes`.
  virtual pulled_tasks pull(std::uint64_t most, std::uint64_t most_bytes) = 0;
  virtual void accept_pulled() = 0;
  // How many tasks the present pull() has got so far. For other threads: the source may block.
  [[nodiscard]] std::uint64_t pulled_now() const { return pulled_now_.load(std::memory_order_relaxed); }
  [[nodiscard]] virtual task_payload payload_of(task_id id) const = 0;
  virtual void pack_task(task_id id, std::vector<std::byte>& out) const = 0;
  virtual void forget(task_range const& range) = 0;
  // If the source is steered: pull() takes the number of threads that wait for a task.
  [[nodiscard]] virtual steered_book* book() { return nullptr; }

 protected:
  std::atomic<std::uint64_t> pulled_now_{0};
};

/// The numbers of tasks below are positions in the order in which tasks begin: begin_in(), or that of the
/// list. Only the user's code sees the numbers of the list.
class farm_work : public user_work {
 public:
  /// Tasks begin in this order of their numbers.
  void begin_in(std::vector<task_id> order) { order_ = std::move(order); }
  [[nodiscard]] bool reordered() const { return !order_.empty(); }
  [[nodiscard]] task_id task_at(std::uint64_t position) const {
    return position < order_.size() ? order_[position] : position;
  }
  [[nodiscard]] virtual farm_traits traits() const = 0;

  // Compute threads, concurrently. Runs tasks range[at] ... range[end - 1]; `at` is advanced after
  // each, so that it names the task that threw. `payloads[i]` belongs to range[i] (empty for a
  // replicated list).
  virtual void run_packed(task_range const& range, std::uint64_t& at, std::uint64_t end,
                          std::span<task_payload const> payloads, worker_info const& where,
                          std::vector<std::byte>& out) const = 0;
  [[nodiscard]] virtual std::unique_ptr<local_results> make_local() const = 0;
  virtual void run_local(task_range const& range, std::uint64_t& at, std::uint64_t end,
                         std::span<task_payload const> payloads, worker_info const& where,
                         local_results& out) const = 0;

  [[nodiscard]] virtual task_needs needs_of(task_id id, task_payload const& from,
                                            needs_of_task const& known) const = 0;

  // Functions that take a team only. alone_teams(): the team of this rank alone for each compute thread,
  // before the functions above. run_team(): on every rank of `team`; one of them passes `out`.
  virtual void alone_teams(std::vector<context> teams) = 0;
  virtual void run_team(context& team, task_id id, task_payload const& from,
                        std::vector<std::byte>* out) const = 0;

  // Results with a place of their own on the root, of replicated lists: make_places() once before,
  // then as above, each task by one thread.
  virtual void make_places() = 0;
  virtual void run_in_place(task_range const& range, std::uint64_t& at, std::uint64_t end,
                            worker_info const& where) const = 0;
  virtual void pack_in_place(task_range const& range, std::vector<std::byte>& out) const = 0;

  // Merged results only: both hold one value for all their tasks.
  virtual void merge(local_results& into, local_results& from) const = 0;
  virtual void pack_merged(local_results& from, std::vector<std::byte>& out) const = 0;
  virtual void merge_packed(std::vector<std::byte>& into, std::span<std::byte const> more) const = 0;

  // The sink: on the root, one call at a time. `done` counts results given; false: the sink wants
  // the run to end.
  virtual bool sink_local(task_range const& piece, std::uint64_t& done, std::uint64_t index,
                          local_results& from) = 0;
  virtual bool sink_packed(task_range const& piece, std::uint64_t& done,
                           std::span<std::byte const>& from) = 0;
  // A task without result: `why.task` is its number in the list.
  virtual bool sink_failed(task_failure const& why) = 0;
  // Results that stay objects, as bytes: `count` from `index` on.
  virtual void pack_local(std::uint64_t count, std::uint64_t index, local_results const& from,
                          std::vector<std::byte>& out) const = 0;
  // The bytes of one packed result that two ranks must agree on.
  [[nodiscard]] virtual std::vector<std::byte> compared(std::span<std::byte const> packed) const = 0;
  virtual void skip_packed(std::uint64_t count, std::span<std::byte const>& from) const = 0;

  // Null for a replicated list.
  [[nodiscard]] virtual task_feed* feed() = 0;

 private:
  std::vector<task_id> order_;  // empty: that of the list
};

[[nodiscard]] report run_farm(context& ctx, farm_work& work, farm_policy const& policy,
                              farm_options const& options);

}  // namespace detail
}  // namespace skel
