// Decides which rank gets which tasks, and when: a load balancer as four independent choices, and presets
// with the names that the literature has for them.
//
//     skel::schedule::adaptive{}                            // the default: by measured speed
//     skel::schedule::guided{}                              // shrinking grants, from the root
//     skel::schedule::ring{.order = skel::schedule::ring_order::doubling}  // static deal, then work stealing
//     skel::any_schedule("hybrid:threshold=2")              // chosen at run time
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skel {

namespace schedule {

/// The tasks that each worker starts with.
enum class start_with : std::uint8_t {
  nothing,      ///< none
  contiguous,   ///< an equal, contiguous part of the list
  interleaved,  ///< every N-th task
  weighted      ///< interleaved, in proportion to the rank's power, up to farm_policy::cut
};
/// The ranks that a worker asks for more tasks.
enum class more_from : std::uint8_t {
  nowhere,  ///< it keeps what it started with
  root,     ///< it asks the root
  ring,     ///< it steals from other ranks
  /// The root grants; then idle ranks take from those that hold most, as the root tells them.
  root_then_ranks
};
/// How many tasks a grant of the root holds.
enum class grant_size : std::uint8_t {
  fixed,      ///< farm_policy::chunk
  shrinking,  ///< in proportion to what is left, at least farm_policy::chunk
  adaptive    ///< shrinking, in proportion to the measured speed of the rank
};
/// How many of its waiting tasks a victim on the ring gives away. [Lee97, §3] has one.
enum class steal_size : std::uint8_t {
  one,  ///< one task
  half  ///< half of them
};
/// Which of its waiting tasks a victim gives away. [Lee97, §3] does not say.
enum class steal_end : std::uint8_t {
  last,  ///< those that it would run last
  next   ///< those that it would run next
};
/// The order in which a thief visits the ring.
enum class ring_order : std::uint8_t {
  successors,    ///< i+1, i+2, ... [Lee97, §3, step 2]
  predecessors,  ///< i-1, i-2, ... as [Lee97] prints its case 2
  doubling       ///< at the distances 1, 2, 4, ..., or the next that live: a search ends after log2 N visits
};
/// The ranks that run the tasks a lost rank left unfinished.
enum class takeover : std::uint8_t {
  everybody,   ///< all ranks, in even parts
  predecessor  ///< the live rank before it on the ring [Lee97, §3]
};

/// The words that any_schedule reads: one, half.
[[nodiscard]] std::string_view to_string(steal_size take);
/// successors, predecessors, doubling.
[[nodiscard]] std::string_view to_string(ring_order order);

/// The end of the first, dealt part of a hybrid schedule: a number of tasks, or a share of all.
struct cut_at {
  std::optional<std::uint64_t> tasks;  ///< the number of tasks; empty: `share` decides
  double share = 0.8;                  ///< of all tasks, 0 to 1
  constexpr cut_at() = default;
  /// After this many tasks.
  constexpr cut_at(std::uint64_t n) : tasks(n) {}  // NOLINT(google-explicit-constructor)
  /// After this many tasks.
  constexpr cut_at(int n) : tasks(static_cast<std::uint64_t>(n)) {}  // NOLINT(google-explicit-constructor)
  /// After `p` percent of all tasks, 0 to 100.
  static constexpr cut_at percent(double p) {
    cut_at c;
    c.share = p / 100;
    return c;
  }
  /// The number of dealt tasks of `n` in all.
  [[nodiscard]] constexpr std::uint64_t of(std::uint64_t n) const {
    auto const c = tasks ? *tasks : static_cast<std::uint64_t>(share * static_cast<double>(n));
    return c < n ? c : n;
  }
  friend bool operator==(cut_at const&, cut_at const&) = default;
};

}  // namespace schedule

/// The choices as values; the fourth, when results travel, is a results_policy. Every preset
/// converts to it.
struct farm_policy {
  std::string name = "custom";                                 ///< in the report
  schedule::start_with start = schedule::start_with::nothing;  ///< the tasks that each worker starts with
  schedule::more_from more = schedule::more_from::root;        ///< source of further tasks
  schedule::grant_size size = schedule::grant_size::fixed;     ///< how many at a time
  std::uint64_t chunk = 1;  ///< tasks per grant; shrinking: the smallest grant; at least 1
  /// A worker sends its next request when this many tasks are left in its queue. Empty: as many as
  /// cover a round trip.
  std::optional<std::uint64_t> threshold{};
  /// Whether a request may leave while the last tasks still run. False: only an idle worker asks,
  /// one request at a time, as in the scheme of [Lee97, §2].
  bool early = true;
  schedule::cut_at cut{};       ///< weighted: the end of the dealt part
  std::vector<double> power{};  ///< weighted: relative power per rank; empty: measured by a short probe
  schedule::steal_size take = schedule::steal_size::half;         ///< ring: how many tasks a thief gets
  schedule::steal_end give = schedule::steal_end::last;           ///< ring: which tasks it gets
  schedule::ring_order order = schedule::ring_order::successors;  ///< ring: whom it asks
  schedule::takeover after_loss =
      schedule::takeover::everybody;  ///< ranks that run lost tasks, unless the root grants them
  /// Ring and root_then_ranks: an idle rank that finds no work may run a copy of a task that still
  /// runs elsewhere. The first result counts, and the end of the run does not wait for the others.
  bool copies = false;

  /// This policy.
  [[nodiscard]] farm_policy policy() const { return *this; }
  /// Throws usage_error for choices that exclude each other.
  void check() const;
  friend bool operator==(farm_policy const&, farm_policy const&) = default;
};

/// Presets: combinations of the choices that have names in the literature.
namespace schedule {

/// The default, which needs no parameter: grants shrink and follow the speed of each rank, which its
/// results tell (adaptive weighted factoring [Banicescu00], after factoring [HSF92]). When all tasks are
/// granted, the root sends idle ranks to those that have most waiting. When none waits, an idle rank runs a
/// copy of the running task that gains most by it in expectation; a very late task is copied before. Not so
/// if farm_options::per_task::run_once forbids it, tasks state their needs or the sink is reduced.
struct adaptive {
  /// Returns the policy that this schedule stands for.
  [[nodiscard]] farm_policy policy() const;
};
/// Worker i gets the i-th contiguous part: the simplest static distribution [Storm95, §4.1].
struct blocks {
  /// Returns the policy that this schedule stands for.
  [[nodiscard]] farm_policy policy() const;
};
/// Task i goes to worker i mod N [Lee97, §2], the scattered decomposition of [Storm95, §4.1].
struct interleaved {
  /// Returns the policy that this schedule stands for.
  [[nodiscard]] farm_policy policy() const;
};
/// Self-scheduling, also called master-slave: a free worker asks the root [Lee97, §2; Storm95,
/// §4.2].
struct first_come {
  std::uint64_t chunk = 1;                   ///< tasks per grant, at least 1
  std::optional<std::uint64_t> threshold{};  ///< as farm_policy::threshold
  bool early = true;                         ///< as farm_policy::early
  /// Returns the policy that this schedule stands for.
  [[nodiscard]] farm_policy policy() const;
};
/// Self-scheduling with shrinking grants: remaining tasks / (2 N), at least `min`.
struct guided {
  std::uint64_t min = 1;  ///< the smallest grant in tasks, at least 1
  /// Returns the policy that this schedule stands for.
  [[nodiscard]] farm_policy policy() const;
};
/// Deals the tasks up to `cut` interleaved, in proportion to the ranks' power, and grants the rest
/// on demand. A worker asks when `threshold` tasks are left, so that the request travels while it
/// computes [Lee97, §2].
struct hybrid {
  cut_at cut{};                 ///< the end of the dealt part, default: 80 %
  std::uint64_t threshold = 1;  ///< as farm_policy::threshold
  std::vector<double> power{};  ///< relative power per rank; empty: measured by a short probe
  /// Returns the policy that this schedule stands for.
  [[nodiscard]] farm_policy policy() const;
};

/// GDC, global distributed control: task i goes to worker i mod N, then idle ranks steal along the
/// ring [Lee97, §3]. With an on_root source, whose length is unknown, the first phase is guided
/// self-scheduling, and stealing begins when the source has ended.
struct ring {
  steal_size take = steal_size::half;         ///< how many tasks a thief gets
  steal_end give = steal_end::last;           ///< which tasks it gets
  ring_order order = ring_order::successors;  ///< whom it asks
  takeover after_loss = takeover::everybody;  ///< ranks that run a lost rank's tasks
  bool copies = false;                        ///< as farm_policy::copies
  /// Returns the policy that this schedule stands for.
  [[nodiscard]] farm_policy policy() const;
};

/// The balancing of ring_steal. Its tasks all begin on the root, so a thief searches at growing distances; a
/// farm's ring begins with a deal, and finds work nearby (docs/reference/ring-steal.md).
struct stealing {
  steal_size take = steal_size::half;       ///< number of waiting tasks that a thief gets
  ring_order order = ring_order::doubling;  ///< order in which a thief asks other ranks
};

}  // namespace schedule

/// Satisfied by the presets of namespace schedule, farm_policy and any_schedule.
template <class S>
concept farm_schedule = requires(S const& s) {
  { s.policy() } -> std::same_as<farm_policy>;
};

/// The names that any_schedule reads, each with its keys: "blocks, ..., guided[:min=N], ...".
[[nodiscard]] std::string known_schedules();

/// A schedule that is chosen at run time. Default: adaptive ("auto").
class any_schedule {
 public:
  any_schedule() = default;
  /// From one of the known_schedules(): "guided", "ring:take=one,give=next". An unknown name or key
  /// throws a usage_error that lists the known ones.
  explicit any_schedule(std::string_view spec);
  /// From a preset or a farm_policy.
  template <farm_schedule S>
  explicit any_schedule(S const& s) : policy_(s.policy()) {}
  /// Returns the policy that this schedule stands for.
  [[nodiscard]] farm_policy policy() const { return policy_; }
  /// The text from which the constructor makes this schedule.
  [[nodiscard]] std::string to_string() const;

 private:
  farm_policy policy_ = schedule::adaptive{}.policy();
};

/// The text from which any_schedule makes this policy.
[[nodiscard]] std::string to_string(farm_policy const& policy);

/// When results travel: as they are computed, or once at the end ("scattered" and "concentrated" in
/// [Storm95, §4.3]).
struct results_policy {
  bool concentrated = false;  ///< once at the end
  std::uint64_t batch = 0;    ///< streamed: results per message; 0: about 100 us of work
  /// An upper bound on the tasks that have been handed out and whose results the sink has not
  /// received. With one task per thread or more, no thread waits for a place that another one holds. 0:
  /// as many as `window_bytes` allows, and at most 65,536, or 32 per rank if that is more, where the
  /// schedule allows a bound.
  std::uint64_t window = 0;
  /// The same bound in bytes of results, and of tasks of an on_root source, as estimated from those that
  /// have come; at least one task per thread. Not for into() and reduced(). 0: a quarter of the memory that
  /// the root has left when the farm begins, unless `window` is given.
  std::uint64_t window_bytes = 0;
  friend bool operator==(results_policy const&, results_policy const&) = default;
};
/// The two results policies.
namespace results {
/// Results travel as they are computed, `batch` per message (0: about 100 us of work).
[[nodiscard]] constexpr results_policy streamed(std::uint64_t batch = 0) { return {false, batch}; }
/// Each rank keeps its results until its tasks are done.
[[nodiscard]] constexpr results_policy concentrated() { return {true}; }
}  // namespace results
/// From "streamed[:batch=N]" or "concentrated". Another text throws usage_error.
[[nodiscard]] results_policy parse_results(std::string_view spec);
/// The text from which parse_results() makes this policy.
[[nodiscard]] std::string to_string(results_policy const& results);

}  // namespace skel
