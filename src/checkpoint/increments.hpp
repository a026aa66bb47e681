// Checkpoints of content that only grows: each writes what is new and names its predecessor as its base.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "skel/storage/repository.hpp"

namespace skel::detail {

/// Returns how many of a chain's generations the next one, with `fresh` bytes, leaves as its bases; the
/// others are merged into it. `sizes`: their bytes, the oldest first. A chain has at most longest_chain
/// generations before it is merged, and but for the newest, no generation is merged unless those after it
/// hold twice its bytes: n checkpoints of equal size write at most twice the content for n <= 2080 and
/// three times for n <= 40000.
[[nodiscard]] std::size_t bases_to_keep(std::span<std::uint64_t const> sizes, std::uint64_t fresh);
inline constexpr std::size_t longest_chain = 64;

/// Increments in a repository, and what has not been written yet. There are two chains if every n-th
/// checkpoint goes to remote places: each kind must be restorable without the other.
class increments {
 public:
  using segments = std::vector<std::shared_ptr<std::vector<std::byte> const>>;

  /// `report` receives warnings. Both must outlive this object.
  increments(storage::repository const& to, storage::report_problem const& report);

  /// Continues the chain of a generation with this content.
  void resume_from(storage::stored_generation const& from, std::vector<std::byte> const& content);
  /// Another call begins, whose bytes are told apart from those of the `earlier` calls, if there are any.
  void begin_call(bool earlier);
  /// Bytes of the next checkpoint. Not during write().
  void append(segments const& more);
  /// They replace all bytes since begin_call().
  void replace(segments const& all);

  struct saved {
    storage::save_cost cost;
    std::uint64_t bytes = 0;    ///< written, before coding
    std::uint64_t content = 0;  ///< of the whole chain
  };
  /// Writes and commits the next generation. If it throws, the next call writes the same bytes again.
  /// Generations of the chain that are degraded are written anew. A generation that is found lost for the
  /// first time is an error, since its disks may come back; the second time its content is left out, and
  /// reported.
  [[nodiscard]] saved write(storage::run_history const& history = {});
  /// The same in both chains, for content that must not wait until each has its turn.
  [[nodiscard]] saved write_both(storage::run_history const& history);
  /// The next generation's number leaves out those that ranks of an earlier attempt may still write, if they
  /// only hang.
  void leave_out_numbers() { left_out_ = 1000; }
  /// Whether the next write() may merge generations, which takes longer than to write what is new.
  [[nodiscard]] bool merges() const;
  /// From any thread: write() no longer merges generations unless they are damaged, so that it ends soon.
  void hurry() { hurried_ = true; }

  /// What a later writer to the same store needs.
  struct state {
    struct chain {
      std::vector<storage::generation_plan> generations;  // the oldest first
      segments unsaved;
      std::size_t fixed = 0, fixed_unsaved = 0;  // of these, those with bytes of earlier calls
    };
    std::array<chain, 2> chains;
    std::set<std::uint64_t> found_lost;
  };
  [[nodiscard]] state take() { return std::move(state_); }
  void resume_from(state left) { state_ = std::move(left); }

 private:
  using chain = state::chain;
  struct link;
  [[nodiscard]] chain& chain_of(storage::generation_plan const& plan);
  [[nodiscard]] std::vector<link> find(chain const& c, std::vector<storage::stored_generation> const& all);
  [[nodiscard]] saved write(storage::generation_plan plan, storage::run_history const& history);
  void give_up(std::uint64_t generation, std::string const& why);
  [[nodiscard]] storage::save_cost prepare(storage::generation_plan const& plan, std::uint64_t length,
                                           std::span<link const> merged, segments const& fresh,
                                           bool may_stop);

  storage::repository const& store_;
  storage::report_problem const& report_;
  bool both_ = false;  // local and remote generations
  bool replaces_ = false;
  std::uint64_t left_out_ = 0;
  state state_;
  std::atomic<bool> hurried_{false};
};

}  // namespace skel::detail
