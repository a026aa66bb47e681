// The root finds out which ranks make another call than it does.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include "call_description.hpp"
#include "engine/run.hpp"
#include "entry.hpp"

namespace skel::detail {

/// Asks a rank for its call if it sends what this call cannot have sent. If the descriptions differ, or all
/// ranks in doubt have answered, the call fails on all ranks. Requires the engine's lock.
class call_doubts final : public described_call {
 public:
  /// `over`: the call has ended here, so nothing is in doubt any more.
  call_doubts(call_entry const& entry, call_description const& own, std::atomic<bool> const& over)
      : entry_(entry), own_(own), over_(over) {}

  /// On the root: whether a rank's hello has the hash of another call.
  [[nodiscard]] bool of_another_call(int rank, std::uint64_t hash);
  /// A message of this rank cannot be decoded.
  void cannot_read(int from, std::string const& text);
  /// Whether its messages must be ignored: the call is about to fail and must not succeed before.
  [[nodiscard]] bool has(int rank) const { return asked_.contains(rank); }

  [[nodiscard]] std::string description() const override { return own_.text(); }
  void on_description(int wire_rank, std::string const& theirs) override;
  void on_doubt(int wire_rank, int wire_about, std::string const& text) override;

 private:
  void ask(int rank, std::string const& why);
  [[nodiscard]] call_table& calls() const { return context_access::engine_of(entry_.ctx).calls(); }

  call_entry const& entry_;
  call_description const& own_;
  std::atomic<bool> const& over_;
  struct question {
    std::string why;
    bool answered = false;
  };
  std::map<int, question> asked_;
};

}  // namespace skel::detail
