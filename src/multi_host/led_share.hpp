// The share of units that this rank leads in a multi_host call.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "cargo.hpp"
#include "multi_host/role/action.hpp"
#include "skel/detail/function_reference.hpp"

namespace skel::detail {

/// Keeps the units of the share, the state that is carried between them, the results that have come back, and
/// the jobs that wait for a compute thread. Called under the engine's lock, except read(). A job keeps the
/// data that it needs, so the share may close while a thread is at it.
class led_share {
  struct data {
    role::term_id term = 0;
    std::unique_ptr<host_state> carried;
    std::map<std::uint64_t, std::shared_ptr<host_unit>> units;
    std::map<std::uint64_t, unit_of_results> kept;
  };

 public:
  struct read_job {
    std::shared_ptr<data> of;
    std::shared_ptr<host_unit> into;
    std::uint64_t unit = 0;
    bool fresh = false;
    bool alone = false;
    [[nodiscard]] role::term_id term() const { return of->term; }
  };
  struct sink_job {
    std::shared_ptr<data> of;
    std::uint64_t unit = 0;
    [[nodiscard]] role::term_id term() const { return of->term; }
    [[nodiscard]] unit_of_results take() const { return std::move(of->kept[unit]); }
  };

  explicit led_share(group_work& work) : work_(work) {}

  /// Queues a unit to be read; the first one opens the share.
  void add(role::group_act::read const& r);
  /// Queues a unit for the sink on this rank.
  void add(role::group_act::deliver const& d) { deliveries_.push_back({data_, d.unit}); }
  /// Moves the results of `fresh` out of a message that carries at least these, in their order.
  void keep(role::piece_run const& fresh, group_cargo& with);
  [[nodiscard]] std::shared_ptr<host_packet const> cut(role::piece_run const& pieces) const;
  /// Drops a unit and returns its results; none if the sink on this rank has taken them.
  [[nodiscard]] unit_of_results remove(std::uint64_t unit);
  /// This rank stops leading.
  void close();

  /// Returns the unit to read next. `quiet`: nothing else runs or waits on this rank.
  [[nodiscard]] std::optional<read_job> next_read(bool quiet);
  /// Returns the unit to give to the sink next: one at a time, until delivered().
  [[nodiscard]] std::optional<sink_job> next_delivery();
  void delivered() { delivering_ = false; }

  /// Reads a unit, without the lock; returns the number of its pieces.
  [[nodiscard]] std::uint64_t read(read_job const& j,
                                   function_reference<void(std::uint64_t)> const& ready) const {
    return work_.read(j.unit, j.fresh, *j.of->carried, *j.into, ready);
  }
  /// Units that a job reads, history included.
  [[nodiscard]] std::uint64_t units_of(read_job const& j) const {
    return 1 + (j.fresh ? work_.history(j.unit) : 0);
  }

 private:
  group_work& work_;
  std::shared_ptr<data> data_;  // none: this rank leads no group
  std::deque<read_job> reads_;
  std::deque<sink_job> deliveries_;
  bool delivering_ = false;
};

}  // namespace skel::detail
