// Skeleton calls on one context come one after the other: this is where that is checked.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace skel::detail {

/// Names a context on all of its ranks. 0 is the engine's own, 1 the one over all ranks.
using context_id = std::uint64_t;

struct run_key {
  context_id context = 0;
  std::uint32_t number = 0;
  friend auto operator<=>(run_key const&, run_key const&) = default;
};

/// A call that cannot go on, on any rank, by no message of its own protocol.
struct call_failure {
  enum class kind : std::uint8_t { usage, protocol };
  run_key call;
  kind what = kind::usage;
  std::string text{};
  bool out_of_step = false;  ///< the ranks cannot agree on later calls on this context either
};

/// The calls in progress on the contexts of one rank. Needs no lock of the engine: a merge calls skeletons
/// with that lock held.
class call_gate {
 public:
  call_gate(int rank, int size) : rank_(rank), size_(size) {}

  /// Begins a call and numbers it. Throws usage_error while another one is in progress on the context. That
  /// one fails on all ranks: after a nested call, and where several ranks may have taken different threads'
  /// calls for the same one. `nested`: the caller is one of the engine's own threads.
  std::uint32_t enter(context_id context, bool nested);
  void leave(context_id context);
  /// Calls on the context throw usage_error, from the one with the number `first` on.
  void shut(context_id context, std::uint32_t first, std::string text);
  [[nodiscard]] bool busy();
  /// Whether the caller's thread makes a call on this context just now.
  [[nodiscard]] bool is_caller(context_id context);

  [[nodiscard]] bool has_failures() const { return has_failures_.load(std::memory_order_relaxed); }
  /// Calls that have failed here and that the other ranks do not know of.
  [[nodiscard]] std::vector<call_failure> take_failures();
  /// Those of one call only.
  [[nodiscard]] std::vector<call_failure> take_failures(run_key of);

 private:
  struct state {
    std::uint32_t calls = 0;
    bool busy = false;
    std::thread::id caller{};
    std::string shut{};  // why no call from number first_shut on can begin; empty: all can
    std::uint32_t first_shut = 0;
  };
  std::mutex mutex_;
  int rank_, size_;
  std::map<context_id, state> contexts_;
  std::vector<call_failure> failures_;
  std::atomic<bool> has_failures_{false};
};

}  // namespace skel::detail
