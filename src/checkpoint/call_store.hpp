// The store in which a call saves, on one rank.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>

#include "disks/rank_files.hpp"
#include "interval.hpp"
#include "skel/error.hpp"
#include "skel/report.hpp"
#include "skel/storage/options.hpp"
#include "skel/storage/repository.hpp"

namespace skel::detail {

class engine;

/// What a store holds: a log of the calls (store_session.hpp), and the parts of bsp calls.
enum class store_content : std::uint8_t { calls, parts };

/// Converts checkpoint options to those of a repository. Throws usage_error for invalid options, in the words
/// of the command line.
[[nodiscard]] storage::repository_options store_options(checkpoint_options const& options, store_content what,
                                                        store_places const& where);

/// Reports a problem with a store to the user, as one line on standard error.
void warn_of_store(std::string const& problem);

/// Commits a prepared checkpoint and removes outdated ones. Returns the cost, which is almost
/// entirely waiting for disks.
[[nodiscard]] storage::save_cost commit_and_clear(storage::repository const& to,
                                                  storage::generation_plan const& plan,
                                                  storage::run_history const& history);

/// Returns the outcome of a save once, when it is done.
template <class Outcome>
std::optional<Outcome> outcome_of(std::future<Outcome>& save) {
  if (!save.valid() || save.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return {};
  return save.get();
}

class call_store {
 public:
  /// The costs of the checkpoints, for the report.
  [[nodiscard]] checkpoint_report& costs() { return costs_; }
  /// Whether the program had saved in this store when it lost a root, so that its calls go on from what was
  /// saved whatever its options say.
  [[nodiscard]] bool in_later_attempt() const;

 protected:
  /// `apart`: see repository_options. Throws usage_error for invalid options.
  call_store(engine& of, checkpoint_options const& options, store_content what,
             std::function<bool(storage::generation_plan const&)> apart = {});

  /// Announces to all ranks that this one has claimed the store, or is about to save in it. When this
  /// returns, the packets have left this process, unless the network takes more than a second.
  void announce(bool saves) const;
  /// In a later attempt, before the store is claimed.
  void ask_what_is_opened() const;
  /// One that this job has lost.
  [[nodiscard]] std::optional<int> lost_rank() const;
  /// Calls `ask` with the store at the start of a run. If it throws, rethrows only its text as a
  /// usage_error, or as a lost_rank_error if the job has lost ranks; otherwise reports the store's warnings.
  void ask_at_start(std::function<void(storage::repository const&)> const& ask) const;
  [[nodiscard]] std::string name() const;
  void add_cost(storage::save_cost const& cost);
  /// Returns what `read` returns. In another attempt of the program, or if this call is made `again`, nothing
  /// but a store that can be read saves it from being computed again: if `read` throws an error other than
  /// usage_error, reports it and returns nothing.
  template <class Read>
  auto read_back(Read const& read, bool again = false) const -> decltype(read()) {
    try {
      return read();
    } catch (usage_error const&) {
      throw;
    } catch (error const& lost) {
      if (!again && !in_later_attempt()) throw;
      report_(lost.what() + std::string(": the call starts anew"));
      return {};
    }
  }

  engine& engine_;
  checkpoint_options options_;
  store_places places_;
  storage::report_problem report_;  // warns the user, unless warnings are off
  storage::repository store_;
  checkpoint_interval interval_;
  checkpoint_report costs_;
};

}  // namespace skel::detail
