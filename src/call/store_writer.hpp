// One process's checkpoints: opened at the start of a run, written in the background while it goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "disks/rank_files.hpp"
#include "skel/report.hpp"
#include "skel/storage/options.hpp"
#include "skel/storage/repository.hpp"

namespace skel::detail {

class engine;

/// What a repository is told; `what` says what the call itself depends on (its types, its number of tasks).
/// usage_error for options that make no sense, as the command line would say them.
[[nodiscard]] storage::repository_options store_options(checkpoint_options const& options,
                                                        std::string_view what, store_places const& where);

/// Tells the user of what is wrong with a store, a line on standard error.
void warn_of_store(std::string const& problem);

/// What a save took, for the report.
void add_cost(checkpoint_report& to, storage::save_cost const& cost);

/// Commits what has been prepared and removes what is too old; what that took. Waiting for disks is nearly
/// all of it.
[[nodiscard]] storage::save_cost commit_and_clear(storage::repository const& to,
                                                  storage::generation_plan const& plan);

/// Calls `ask` with the store at the start of a run. Where it throws, its text alone is told, as a
/// usage_error; otherwise what was reported on the way.
void ask_at_start(storage::repository const& store, bool quiet,
                  std::function<void(storage::repository const&)> const& ask);

/// At most one checkpoint is on its way at a time. A checkpoint that cannot be written stops nothing but is
/// told on standard error and counted: the run goes on, the one before stays.
class store_writer {
 public:
  store_writer(engine& of, checkpoint_options const& options, std::string_view what);
  ~store_writer();
  store_writer(store_writer const&) = delete;
  store_writer& operator=(store_writer const&) = delete;

  /// Once, first: what an earlier run has left, where the options ask for it. usage_error, one line that
  /// names a directory or a file, where there is none or it cannot be read, and where there is one that
  /// nobody asks for.
  [[nodiscard]] std::optional<std::vector<std::byte>> open();
  /// Writes and waits; usage_error where the store takes nothing: the first checkpoint of a run, so that
  /// nobody computes for hours to find out then.
  void save_first(std::vector<std::byte> const& content);
  /// Whether a checkpoint is due and none is on its way.
  [[nodiscard]] bool due(double now);
  /// `content` is called by another thread, once.
  void save(double now, std::function<std::vector<std::byte>()> content);
  /// Waits for what is on its way.
  void finish();

  [[nodiscard]] checkpoint_report& costs() { return costs_; }

 private:
  struct outcome {
    storage::save_cost cost;
    std::uint64_t bytes = 0;
    std::string error;
  };
  [[nodiscard]] static outcome write(storage::repository const& to, std::vector<std::byte> const& content);
  void account(outcome const& done);

  checkpoint_options options_;
  bool quiet_;
  store_places places_;
  storage::repository store_;
  std::future<outcome> under_way_;
  double latest_ = 0;
  checkpoint_report costs_;
};

}  // namespace skel::detail
