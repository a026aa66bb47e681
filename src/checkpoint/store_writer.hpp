// One call's checkpoints: opened at its start, and written in the background.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "call/call_description.hpp"
#include "call_store.hpp"
#include "increments.hpp"
#include "store_session.hpp"

namespace skel::detail {

/// At most one checkpoint is in progress at a time. A checkpoint that cannot be written does not
/// end the run: it is reported on standard error and counted, and the previous one stays.
class store_writer : public call_store {
 public:
  /// `what` describes the properties of the call on which its checkpoints depend: types, contents.
  store_writer(engine& of, checkpoint_options const& options, call_description what);
  ~store_writer();
  store_writer(store_writer const&) = delete;
  store_writer& operator=(store_writer const&) = delete;

  /// Call first, once. Returns what an earlier run saved of this call, the n-th of the program in this store.
  /// Throws usage_error, one line that names a directory or a file, if the options ask to resume and there is
  /// no checkpoint or one of another call, if it cannot be read, and if there is one but the options do not
  /// ask to resume.
  /// In a later attempt of the program, resumes from what there is: a call that cannot starts anew, with a
  /// warning. `again`: this call repeats the previous one, whose checkpoints are its own; returns nothing.
  [[nodiscard]] std::optional<std::vector<std::byte>> open(bool again = false);
  /// The first call of a run writes a checkpoint and waits for it. Throws usage_error if the store cannot be
  /// written, so that this is known before hours of computation. A later call merges a long log, which its
  /// end must not wait for. `more` is appended to the content (see call_record), here and in remote places.
  void begin_saving(std::vector<std::byte> const& more = {}, bool keeps_later = false);
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

  /// For bsp: the stamps of the generations with this call's parts.
  [[nodiscard]] std::set<std::uint64_t>& stamps() { return session_->stamps[number_]; }
  /// Whether these are parts of another call.
  [[nodiscard]] bool is_of_another_call(std::uint64_t stamp) const;

  /// Whether the latest checkpoint has failed.
  [[nodiscard]] bool owes() const { return !failure_.empty(); }
  /// After the last checkpoint, which may have failed again: says so.
  void report_failure();

 private:
  struct outcome {
    increments::saved what;
    std::string error;
  };
  void open_store();
  void resume(storage::repository::restored const& found);
  [[nodiscard]] outcome write_increment(storage::run_history const& history, bool both = false);
  [[nodiscard]] storage::run_history history();
  [[nodiscard]] std::shared_ptr<std::vector<std::byte> const> head(std::uint64_t at, std::uint64_t length,
                                                                   bool keeps_later = false);
  void account(outcome const& done);

  increments increments_;
  call_description what_;
  std::shared_ptr<store_session> session_;
  std::uint64_t number_ = 0, length_ = 0;  // of the call, and of its content
  bool restored_ = false, begun_ = false;
  std::future<outcome> under_way_;
  std::string failure_;  // of the latest checkpoint; empty: it is saved
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool ended_ = false;
  double latest_ = 0;
};

}  // namespace skel::detail
