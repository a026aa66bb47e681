// One rank's side of the checkpoints of a bsp run: writes its part in the background, and reads it
// back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bsp/role/action.hpp"
#include "checkpoint/store_writer.hpp"
#include "skel/detail/deferred_packing.hpp"

namespace skel::detail {

/// Never calls the transport: the run polls and reports to the root. Every rank calls prepare() and
/// read() for its part; the other functions of the second half are the root's.
class bsp_store : public call_store {
 public:
  bsp_store(engine& of, checkpoint_options const& options, call_description what);
  ~bsp_store();
  bsp_store(bsp_store const&) = delete;
  bsp_store& operator=(bsp_store const&) = delete;

  // --- every rank ---
  struct written {
    std::uint64_t generation = 0;
    std::string error;  // empty: the part is durable
    storage::save_cost cost{};
  };
  /// The memory of the previous part, reused for the next: fresh pages would cost more than filling
  /// them.
  [[nodiscard]] std::vector<std::byte> buffer() { return std::exchange(packed_, {}); }
  void give_buffer(std::vector<std::byte> memory) { packed_ = std::move(memory); }
  /// Completes and writes a part in the background; no other write may be in progress. With a
  /// single part, it is committed immediately, because a lone rank has no other thread to drive
  /// communication while it computes.
  void write(storage::generation_plan const& plan, std::uint32_t part, deferred_bytes bytes);
  /// Returns the outcome of each write() once, when it is done.
  [[nodiscard]] std::optional<written> poll();
  /// Reads a part of a generation, into `memory`. Throws skel::error if it is missing or unreadable.
  [[nodiscard]] std::vector<std::byte> read(std::uint64_t generation, std::uint64_t stamp, std::uint32_t part,
                                            std::vector<std::byte> memory);
  [[nodiscard]] std::uint32_t parts_of(std::uint64_t generation, std::uint64_t stamp);
  /// Notes what reading the state of a superstep took on this rank, and says so in another attempt.
  void restored(std::uint64_t step, double taken);

  // --- the root ---
  /// Opens the store and returns the generations to resume from, in order of preference; empty if
  /// the run starts from the beginning. Throws usage_error like store_writer::open().
  /// `again`: see store_writer::open(). `parts`: the number that a generation must have; empty: any.
  [[nodiscard]] std::vector<storage::generation_plan> open(bool again, std::optional<std::uint32_t> parts);
  /// The stamp of this run's generations, and the number below theirs.
  [[nodiscard]] std::uint64_t stamp() const { return stamp_; }
  [[nodiscard]] std::uint64_t newest() const { return newest_; }
  /// Whether the checkpoint interval is over since the latest begun().
  [[nodiscard]] bool due(double now);
  void begun(double now) { latest_ = now; }
  /// Commits a generation of this run as the newest checkpoint, in the background.
  void act(role::bsp::commit const& a);
  void act(role::bsp::abandon const& /*a*/) { ++costs_.failed; }
  /// A rank is lost, and the run falls back to the last checkpoint.
  void lost_rank() { interval_.failed(); }
  /// Returns the outcome of each commit() once, when it is done.
  [[nodiscard]] std::optional<written> poll_commit();
  /// Reports it. If the run was resumed from the bad generation, records that too, in the background.
  void act(role::bsp::fall_back const& a);
  void wait();
  /// The costs of saving on this rank up to now, for the root; and those that another rank has stated last.
  void pack_costs(std::vector<std::byte>& out) const;
  void add_costs(int rank, std::span<std::byte const> in);
  /// After the call, on the root: of all ranks.
  [[nodiscard]] checkpoint_report costs_of_all();
  /// The call has its result, so what was saved of later calls stays valid when this one is resumed.
  void complete();

 private:
  using seconds = std::array<double, 6>;  // the costs that ranks report to the root
  struct done {
    written what;
    storage::generation_plan plan;
    deferred_bytes part;
    std::vector<std::byte> complete;
    double complete_seconds = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] storage::stored_generation const& find(std::uint64_t generation, std::uint64_t stamp);

  call_description what_;
  std::optional<store_writer> log_;  // on the root: which generations hold parts of this call
  std::future<done> writing_;
  std::vector<std::byte> packed_, complete_;  // memory of the previous part
  std::future<written> committing_;
  std::optional<written> committed_;  // together with its only part
  bool has_failed_ = false;           // a part could not be written: said once
  std::vector<std::future<void>> noting_;
  std::uint64_t stamp_ = 0, newest_ = 0;
  std::optional<storage::stored_generation> found_;  // the generation read last
  std::vector<storage::generation_plan> at_start_;   // generations that could be resumed from
  std::map<int, seconds> costs_of_;                  // of the other ranks
  double start_ = 0, latest_ = 0;                    // 0: not yet
};

}  // namespace skel::detail
