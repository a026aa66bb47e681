// Ensures that skeleton calls on one context follow one another.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace skel::detail {

/// Identifies a context on all of its ranks. 0 is the engine's own, 1 the one over all ranks.
using context_id = std::uint64_t;

struct run_key {
  context_id context = 0;
  std::uint32_t number = 0;
  friend auto operator<=>(run_key const&, run_key const&) = default;
};

/// A call that cannot continue on any rank, for a reason outside its protocol.
struct call_failure {
  enum class kind : std::uint8_t { usage, protocol, lost_root };
  run_key call;
  kind what = kind::usage;
  std::string text{};
  bool out_of_step = false;  ///< the ranks cannot agree on later calls on this context either
};

/// The calls in progress on the contexts of one rank. Does not use the engine's lock, because a
/// merge that holds it may try to call a skeleton.
class call_gate {
 public:
  call_gate(int rank, int size) : rank_(rank), size_(size) {}

  /// Begins a call and numbers it. Throws usage_error while another call is in progress on the
  /// context. That other call fails on all ranks if the new call is nested, or if there are several
  /// ranks, which may have paired the calls of different threads. `nested`: the caller is one of
  /// the engine's own threads.
  std::uint32_t enter(context_id context, bool nested);
  void leave(context_id context);
  /// Calls on the context throw `why`, starting with call number `first`.
  void shut(context_id context, std::uint32_t first, std::exception_ptr why);
  /// All calls, also on contexts that are made later, throw `why`.
  void shut_all(std::exception_ptr why);
  /// Whether the calling thread is making a call on this context.
  [[nodiscard]] bool is_caller(context_id context);

  [[nodiscard]] bool has_failures() const { return has_failures_.load(std::memory_order_relaxed); }
  /// Calls that have failed here and are unknown to the other ranks.
  [[nodiscard]] std::vector<call_failure> take_failures();
  /// The same for one call.
  [[nodiscard]] std::vector<call_failure> take_failures(run_key of);

 private:
  struct state {
    std::uint32_t calls = 0;
    bool busy = false;
    std::thread::id caller{};
    std::exception_ptr shut{};  // what calls from number first_shut on throw; null: they can begin
    std::uint32_t first_shut = 0;
  };
  std::mutex mutex_;
  int rank_, size_;
  std::map<context_id, state> contexts_;
  std::exception_ptr all_shut_{};
  std::vector<call_failure> failures_;
  std::atomic<bool> has_failures_{false};
};

}  // namespace skel::detail
