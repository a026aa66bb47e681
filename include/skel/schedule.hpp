// A load balancer as four independent choices, and the names that the literature has for points among them.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skel {

/// What each worker starts with.
enum class start_with : std::uint8_t { nothing, contiguous, interleaved, weighted };
/// Where it gets more; from the ring: from ranks that still have some.
enum class more_from : std::uint8_t { nowhere, root, ring };
/// How much at a time.
enum class grant_size : std::uint8_t { fixed, shrinking };
/// How much a victim on the ring gives of what waits in its queue (gdc section 3: one task).
enum class steal_size : std::uint8_t { one, half };
/// Which of them: what it would come to last, or next (gdc section 3 does not say).
enum class steal_end : std::uint8_t { last, next };
/// In which order a thief visits the ring: its successors i+1, i+2, ... (gdc section 3, step 2), its
/// predecessors i-1, i-2, ... (as the paper's case 2 prints it), or at distances 1, 2, 4, ... and no others,
/// so that a search ends after log N visits.
enum class ring_order : std::uint8_t { successors, predecessors, doubling };
/// Who gets what a lost rank has left unfinished: everybody an even part, or the live rank before it on the
/// ring (gdc section 3, fault tolerance).
enum class takeover : std::uint8_t { everybody, predecessor };

/// Where the first, dealt part of a hybrid ends: a number of tasks, or a share of all.
struct cut_at {
  std::optional<std::uint64_t> tasks;
  double share = 0.8;
  constexpr cut_at() = default;
  constexpr cut_at(std::uint64_t n) : tasks(n) {}                    // NOLINT(google-explicit-constructor)
  constexpr cut_at(int n) : tasks(static_cast<std::uint64_t>(n)) {}  // NOLINT(google-explicit-constructor)
  static constexpr cut_at percent(double p) {
    cut_at c;
    c.share = p / 100;
    return c;
  }
  [[nodiscard]] constexpr std::uint64_t of(std::uint64_t n) const {
    auto const c = tasks ? *tasks : static_cast<std::uint64_t>(share * static_cast<double>(n));
    return c < n ? c : n;
  }
  friend bool operator==(cut_at const&, cut_at const&) = default;
};

/// The four choices as values (when results travel is the fourth, see results_policy). Every preset converts
/// to it.
struct farm_policy {
  std::string name = "custom";
  start_with start = start_with::nothing;
  more_from more = more_from::root;
  grant_size size = grant_size::fixed;
  std::uint64_t chunk = 1;  ///< tasks per grant; the smallest grant where they shrink
  /// Tasks left in the queue when the next request leaves; empty: as many as cover a round trip.
  std::optional<std::uint64_t> threshold{};
  /// Whether a request may leave while the last tasks still run; false: one request at a time, by an idle
  /// worker (the master-slave scheme as gdc section 2 has it).
  bool early = true;
  cut_at cut{};                 ///< where the weighted first part ends
  std::vector<double> power{};  ///< relative power per rank for `weighted`; empty: measured by a short probe
  steal_size take = steal_size::half;         ///< ring only
  steal_end give = steal_end::last;           ///< ring only
  ring_order order = ring_order::successors;  ///< ring only
  takeover after_loss = takeover::everybody;  ///< for tasks that nobody will ask for
  /// Ring only: a rank that finds no work may run a copy of a task that runs elsewhere; the first result
  /// wins. And whoever is inside a task whose result is there already is not waited for at the end.
  bool copies = false;

  [[nodiscard]] farm_policy policy() const { return *this; }
  /// Throws usage_error for choices that exclude each other.
  void check() const;
  friend bool operator==(farm_policy const&, farm_policy const&) = default;
};

/// The points among the four choices that have names in the literature.
namespace schedule {

/// Worker i gets the i-th contiguous part (stormview 4.1: the simplest static distribution).
struct blocks {
  [[nodiscard]] farm_policy policy() const;
};
/// Task i to worker i mod N (gdc section 2; scattered decomposition in stormview 4.1).
struct interleaved {
  [[nodiscard]] farm_policy policy() const;
};
/// Master-slave, self-scheduling: whoever is free asks the root (gdc section 2, stormview 4.2).
struct first_come {
  std::uint64_t chunk = 1;
  std::optional<std::uint64_t> threshold{};
  bool early = true;  ///< false: ask when there is nothing left to do, and wait
  [[nodiscard]] farm_policy policy() const;
};
/// Self-scheduling with grants that shrink with what is left: remaining / (2 N), at least `min`.
struct guided {
  std::uint64_t min = 1;
  [[nodiscard]] farm_policy policy() const;
};
/// The first part up to `cut` is dealt interleaved in proportion to relative power, the rest on demand, asked
/// for when `threshold` tasks are left, so that the request travels while the worker computes (gdc section
/// 2).
struct hybrid {
  cut_at cut{};
  std::uint64_t threshold = 1;
  std::vector<double> power{};
  [[nodiscard]] farm_policy policy() const;
};

/// GDC, global distributed control: task i to worker i mod N, then idle ranks take from others along the ring
/// (gdc section 3). With an on_root source, whose length nobody knows, the first phase is guided
/// self-scheduling, and stealing begins when the source has ended.
struct ring {
  steal_size take = steal_size::half;
  steal_end give = steal_end::last;
  ring_order order = ring_order::successors;
  takeover after_loss = takeover::everybody;
  bool copies = false;  ///< idle ranks run copies of what still runs elsewhere
  [[nodiscard]] farm_policy policy() const;
};

}  // namespace schedule

/// Satisfied by the presets of namespace schedule, farm_policy and any_schedule.
template <class S>
concept farm_schedule = requires(S const& s) {
  { s.policy() } -> std::same_as<farm_policy>;
};

/// The names that any_schedule reads, each with its options: "blocks, ..., guided[:min=N], ...".
[[nodiscard]] std::string known_schedules();

/// A schedule chosen at run time, by one of the known_schedules(): "guided", "ring:take=one,give=next". An
/// unknown name or key throws a usage_error that lists what is known.
class any_schedule {
 public:
  any_schedule() = default;
  explicit any_schedule(std::string_view spec);
  template <farm_schedule S>
  explicit any_schedule(S const& s) : policy_(s.policy()) {}
  [[nodiscard]] farm_policy policy() const { return policy_; }
  /// The same text that the constructor reads.
  [[nodiscard]] std::string to_string() const;

 private:
  farm_policy policy_ = schedule::guided{}.policy();
};

[[nodiscard]] std::string to_string(farm_policy const& policy);

/// When results travel: as they come, or once at the end (stormview 4.3: scattered and concentrated).
struct results_policy {
  bool concentrated = false;
  std::uint64_t batch = 0;  ///< streamed: results per message; 0: about every 100 microseconds of work
  /// Most tasks given out whose results the sink has not had; 0: 65,536 where the schedule allows a bound.
  std::uint64_t window = 0;
  friend bool operator==(results_policy const&, results_policy const&) = default;
};
/// The two results policies.
namespace results {
[[nodiscard]] constexpr results_policy streamed(std::uint64_t batch = 0) { return {false, batch, 0}; }
[[nodiscard]] constexpr results_policy concentrated() { return {true, 0, 0}; }
}  // namespace results
/// "streamed[:batch=N]" or "concentrated"; anything else throws usage_error.
[[nodiscard]] results_policy parse_results(std::string_view spec);
[[nodiscard]] std::string to_string(results_policy const& results);

}  // namespace skel
