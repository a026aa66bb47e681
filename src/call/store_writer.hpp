// One process's checkpoints: opened at the start of a run, and written in the background.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint_interval.hpp"
#include "disks/rank_files.hpp"
#include "increments.hpp"
#include "skel/report.hpp"
#include "skel/storage/options.hpp"
#include "skel/storage/repository.hpp"

namespace skel::detail {

class engine;

/// Converts checkpoint options to those of a repository. `what` describes the properties of the
/// call that a checkpoint depends on (types, number of tasks). Throws usage_error for invalid
/// options, in the words of the command line.
[[nodiscard]] storage::repository_options store_options(checkpoint_options const& options,
                                                        std::string_view what, store_places const& where);

/// Reports a problem with a store to the user, as one line on standard error.
void warn_of_store(std::string const& problem);

/// Adds the cost of a save to the report.
void add_cost(checkpoint_report& to, storage::save_cost const& cost);

/// Commits a prepared checkpoint and removes outdated ones. Returns the cost, which is almost
/// entirely waiting for disks.
[[nodiscard]] storage::save_cost commit_and_clear(storage::repository const& to,
                                                  storage::generation_plan const& plan,
                                                  storage::run_history const& history);

/// Calls `ask` with the store at the start of a run. If it throws, rethrows only its text as a
/// usage_error; otherwise reports the store's warnings.
void ask_at_start(storage::repository const& store, bool quiet,
                  std::function<void(storage::repository const&)> const& ask);

/// Whether the run resumes from the store. Throws a usage_error that names a directory or a file if the store
/// holds what the options do not permit.
[[nodiscard]] bool resumes_from(storage::repository const& store, checkpoint_options const& options);

/// At most one checkpoint is in progress at a time. A checkpoint that cannot be written does not
/// end the run: it is reported on standard error and counted, and the previous one stays.
class store_writer {
 public:
  store_writer(engine& of, checkpoint_options const& options, std::string_view what);
  ~store_writer();
  store_writer(store_writer const&) = delete;
  store_writer& operator=(store_writer const&) = delete;

  /// Call first, once. Returns the checkpoint of an earlier run if the options ask to resume.
  /// Throws usage_error, one line that names a directory or a file, if there is none or it cannot
  /// be read, and if there is one but the options do not ask to resume.
  [[nodiscard]] std::optional<std::vector<std::byte>> open();
  /// Writes the first checkpoint of a run and waits for it. Throws usage_error if the store cannot
  /// be written, so that this is known before hours of computation.
  void save_first(std::vector<std::byte> const& content);
  /// The same for content that grows: appends nothing to the checkpoint that open() has returned.
  void append_first();
  /// Whether a checkpoint is due and none is in progress.
  [[nodiscard]] bool due(double now);
  /// Seconds between checkpoints at present.
  [[nodiscard]] double interval() const { return interval_.seconds(); }
  /// Another thread calls `content`, once.
  void save(double now, std::function<std::vector<std::byte>()> content);
  /// Appends to the content instead of replacing it.
  void append(double now, increments::segments const& more);
  /// Waits for the checkpoint in progress.
  void finish();
  /// Call before the last checkpoint of a run that has ended without a crash: checkpoints no longer do what
  /// can be left to a later run.
  void hurry() {
    ended_ = true;
    increments_.hurry();
  }

  [[nodiscard]] checkpoint_report& costs() { return costs_; }

 private:
  struct outcome {
    storage::save_cost cost;
    std::uint64_t bytes = 0, content = 0;  // see increments::saved
    std::string error;
  };
  [[nodiscard]] static outcome write(storage::repository const& to, std::vector<std::byte> const& content,
                                     storage::run_history const& history);
  [[nodiscard]] outcome write_increment(storage::run_history const& history);
  [[nodiscard]] storage::run_history history();
  void save_first(std::function<outcome(storage::repository const&)> const& write);
  void account(outcome const& done);

  checkpoint_options options_;
  bool quiet_;
  store_places places_;
  storage::report_problem report_;
  storage::repository store_;
  increments increments_;
  std::future<outcome> under_way_;
  checkpoint_interval interval_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool ended_ = false;
  double latest_ = 0;
  checkpoint_report costs_;
};

}  // namespace skel::detail
