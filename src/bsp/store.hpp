// One rank's side of the checkpoints of a bsp run: its part is written in the background, and read again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "call/store_writer.hpp"
#include "skel/detail/deferred_packing.hpp"
#include "skel/report.hpp"
#include "skel/storage/repository.hpp"

namespace skel::detail {

/// Nothing here calls the transport: the run polls, and tells the root. Beside prepare() and read(), which
/// every rank calls for its part, all is the root's.
class bsp_store {
 public:
  bsp_store(engine& of, checkpoint_options const& options, std::uint64_t type_hash);
  ~bsp_store();
  bsp_store(bsp_store const&) = delete;
  bsp_store& operator=(bsp_store const&) = delete;

  // --- every rank ---
  struct written {
    std::uint64_t generation = 0;
    std::string error;  // empty: durable
    storage::save_cost cost{};
  };
  [[nodiscard]] bool writing() const { return writing_.valid(); }
  /// The memory into which the part before was packed, for the next: fresh pages would cost more than filling
  /// them.
  [[nodiscard]] std::vector<std::byte> buffer() { return std::exchange(packed_, {}); }
  /// Completes and writes a part in the background, when none is being written. The only part is committed at
  /// once: one rank has nobody to move its messages while it computes.
  void write(storage::generation_plan const& plan, std::uint32_t part, deferred_bytes bytes);
  /// Once for each write(), when it is done.
  [[nodiscard]] std::optional<written> poll();
  /// skel::error where the generation or this part of it cannot be had.
  [[nodiscard]] std::vector<std::byte> read(std::uint64_t generation, std::uint32_t part);
  [[nodiscard]] std::uint32_t parts_of(std::uint64_t generation);
  [[nodiscard]] checkpoint_report& costs() { return costs_; }

  // --- the root ---
  /// Looks at the store: what can be resumed from, in the order in which it is to be tried; nothing where the
  /// run begins anew. usage_error as of store_writer::open().
  [[nodiscard]] std::vector<storage::generation_plan> open();
  /// The generation begun last; before the first, the number under which this run's begin.
  [[nodiscard]] storage::generation_plan const& newest() const { return newest_; }
  /// Whether the time between checkpoints is over.
  [[nodiscard]] bool due(double now);
  void begun(storage::generation_plan const& plan, double now);
  /// Makes `plan` the newest checkpoint, in the background.
  void commit(storage::generation_plan const& plan);
  /// Once for each commit(), when it is done.
  [[nodiscard]] std::optional<written> poll_commit();
  /// Tells that generation `bad` could not be read and the run goes on from `instead` (0: the beginning);
  /// where the run was resumed from `bad`, notes that too, in the background.
  void fall_back(std::uint64_t bad, std::uint64_t instead);
  void wait();

 private:
  struct done {
    written what;
    storage::generation_plan plan;
    double complete_seconds = 0;
    std::uint64_t bytes = 0;
    deferred_bytes part;
    std::vector<std::byte> complete;
  };
  void write_now(done& d, std::uint32_t part) const;
  [[nodiscard]] storage::stored_generation const& find(std::uint64_t generation);

  checkpoint_options options_;
  bool quiet_;
  store_places places_;
  storage::repository store_;
  std::future<done> writing_;
  std::vector<std::byte> packed_, complete_;  // memory of the part before
  std::future<written> committing_;
  std::optional<written> committed_;  // with its only part
  std::vector<std::future<void>> noting_;
  storage::generation_plan newest_;
  std::optional<storage::stored_generation> found_;  // what was read from last
  std::vector<storage::generation_plan> at_start_;   // what could be resumed from
  double latest_ = 0;
  checkpoint_report costs_;
};

}  // namespace skel::detail
