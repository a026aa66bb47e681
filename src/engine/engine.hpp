// The engine: one per process and transport.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "devices.hpp"
#include "helper.hpp"
#include "skel/context.hpp"

namespace skel::detail {

class remembered_results;

/// The job in which an engine works.
struct job_of_engine {
  bool is_process = false;  ///< this process runs no other one, so all of its contexts belong to one program
  int attempt = 1;          ///< of the program's body
  std::optional<double> ends{};                  ///< when the job ends, as a time of the engine
  std::vector<rank_loss> earlier_losses{};       ///< of earlier attempts
  std::shared_ptr<remembered_results> memory{};  ///< of all attempts; null: the body runs only once
};

struct what_root_observes {
  std::vector<observe::rank_trace> traces{};  ///< of ended runs
  observe::progress_observer observer{};
};

/// Owns the parts, each of which knows only those before it:
///
///     wires       sends and receives packets           links, transport, failure detector
///     call_table  calls in progress, early messages    wires
///     clocks      offsets of the ranks' clocks         wires
///     farewell    the end of the job                   call_table
///     retirement  a rank that leaves before the end    farewell
///     peers       which ranks live                     retirement, disks
///     driver      moves messages between them          all of these
///     helper      threads                              driver
///
/// They share one lock, mutex(). Each class states what it guards.
class engine {
 public:
  engine(std::unique_ptr<transport::transport> carrier, context_options options, std::string host);
  ~engine();
  engine(engine const&) = delete;
  engine& operator=(engine const&) = delete;

  [[nodiscard]] int rank() const { return wires_.rank(); }
  [[nodiscard]] int size() const { return wires_.size(); }
  [[nodiscard]] double now() const { return wires_.now(); }
  [[nodiscard]] bool owns_time() const { return wires_.owns_time(); }
  [[nodiscard]] std::mutex& mutex() { return driver_.mutex(); }
  [[nodiscard]] context_options& options() { return options_; }
  /// Compute threads of this rank.
  [[nodiscard]] int threads() const {
    return owns_time() ? 1 : place.threads(options_.threads, options_.threads_per_device);
  }

  [[nodiscard]] detail::wires& wires() { return wires_; }
  [[nodiscard]] call_table& calls() { return calls_; }
  [[nodiscard]] detail::clocks& clocks() { return clocks_; }
  [[nodiscard]] detail::farewell& farewell() { return farewell_; }
  [[nodiscard]] detail::retirement& retirement() { return retirement_; }
  [[nodiscard]] detail::peers& peers() { return peers_; }
  [[nodiscard]] detail::driver& driver() { return driver_; }
  [[nodiscard]] detail::helper& helper() { return helper_; }
  /// Serves requests of other ranks for this rank's disk, and makes such requests.
  [[nodiscard]] disk_service& disks() { return disks_; }

  // --- with the lock held ---
  void open(run_key key, run& r);
  void close(run_key key);
  /// Before a call: a rank that was asked to retire leaves now, if it may, and spare ranks stand in for lost
  /// ones. Calls then throw view_over.
  void change_ranks(std::unique_lock<std::mutex>& lock);
  /// Every rank measures its clock at the end of a call of all ranks. Waits until the root knows the offsets
  /// of all that live, at most 50 ms.
  void measure_clocks(std::unique_lock<std::mutex>& lock, std::uint32_t call);
  /// Ends this process with code 1 after a second in which other ranks may speak. If it is rank 0, they end,
  /// too, also those inside a task that does not return.
  [[noreturn]] void end_job();

  /// All ranks that the job has lost, in all attempts.
  [[nodiscard]] std::vector<rank_loss> losses();

  // --- without the lock ---
  /// The process is ending by exit() during a call: notifies the other ranks, prints one line, and
  /// exits with 1.
  [[noreturn]] void end_by_exit();
  /// Ends the job of this rank in run_main: exchanges outcomes, prints the failure of the lowest
  /// rank (not without a program name), and returns the exit code. Empty: the others begin again without the
  /// root.
  std::optional<int> say_farewell(departure const& own, std::string const& program);
  /// MPI ends while the context lives on: later calls throw usage_error with this text.
  void close_wires(std::string const& text);
  void say_warnings();

  rank_place place;
  job_of_engine job;
  std::shared_ptr<void> stores;  // otherwise: see checkpoint/store_session.hpp; released with the context
  what_root_observes observed;
  std::vector<std::string> warnings;  // for the user; printed when the next skeleton runs, unless quiet

 private:
  void end_talk();
  void serve_disks_to_the_end(std::unique_lock<std::mutex>& lock);

  context_options options_;
  detail::wires wires_;
  call_table calls_;
  detail::clocks clocks_;
  detail::farewell farewell_;
  detail::retirement retirement_;
  detail::peers peers_;
  detail::driver driver_;
  detail::helper helper_;
  disk_service disks_;  // its thread wakes the helper, so it is destroyed first
};

}  // namespace skel::detail
