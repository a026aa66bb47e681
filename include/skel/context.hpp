// Where skeletons run: the ranks, this rank's compute threads, and what is observed.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "skel/observe/progress.hpp"
#include "skel/observe/trace.hpp"
#include "skel/report.hpp"

namespace boost::mpi {
class communicator;
}

namespace skel {

class context;

namespace detail {
class engine;
class team;
struct context_access;

/// A skeleton call's place in the engine, from its beginning until everything of it is gone. Throws
/// usage_error while another call is in progress on the context.
class call_slot {
 public:
  explicit call_slot(context const& ctx);
  call_slot(call_slot const&) = delete;
  call_slot& operator=(call_slot const&) = delete;
  ~call_slot();
  /// Which call on this context it is, from 1.
  [[nodiscard]] std::uint32_t number() const { return number_; }
  /// Throws usage_error where a call was made inside of this one. For calls without a run in the engine.
  void throw_if_nested() const;

 private:
  engine& engine_;
  std::uint64_t context_;
  std::uint32_t number_;
};
}  // namespace detail

/// How a context behaves. Environment variables (SKEL_THREADS, SKEL_PROGRESS, SKEL_TRACE, SKEL_WATCHDOG,
/// SKEL_SUSPECT_AFTER, SKEL_HOST) give the defaults.
struct context_options {
  int threads = 0;  ///< compute threads of this rank; 0: this rank's share of the cores it may use
  observe::progress_mode progress = observe::progress_mode::never;
  bool trace = false;      ///< keep spans of what happens when (see context::traces)
  std::string trace_file;  ///< written by the root at the end, tried at once (usage_error); implies trace
  double watchdog_seconds = 0;  ///< end the run when nothing moves for so long; 0: never
  /// A rank that is silent for so long is taken for lost, until it is heard of again; 0: never. Empty: 5 s,
  /// 60 s where mpiexec ends the job anyway; never below SERIALIZED: there a rank at work is silent.
  std::optional<double> suspect_after_seconds{};
  /// The name of this rank's host, %r in it for the rank; empty: what the system says. Ranks of one host
  /// share its disk (docs/checkpoint.md); another name lets one machine stand for several.
  std::string host{};
  bool quiet = false;                                  ///< no warnings on standard error
  std::size_t largest_message = std::size_t{1} << 30;  ///< bytes; longer messages travel in pieces
  [[nodiscard]] static context_options from_environment();
};

/// A set of ranks that make the same skeleton calls in the same order. Cheap to move, not copyable. Skeleton
/// calls on one context are collective: every rank of it makes them, from one thread at a time.
class context {
 public:
  /// One process without MPI: rank 0 of 1, with threads.
  explicit context(context_options options = context_options::from_environment());
  /// The ranks of a communicator of an MPI program that is already running (collective). MPI is left alone:
  /// it is neither started nor ended. With a thread level below MPI_THREAD_SERIALIZED only the calling thread
  /// makes progress. Throws usage_error on every rank when the ranks do not run the same program. (In
  /// skel::mpi.)
  explicit context(boost::mpi::communicator const& communicator,
                   context_options options = context_options::from_environment());
  context(context&&) noexcept;
  context& operator=(context&&) noexcept;
  ~context();

  [[nodiscard]] int rank() const noexcept;
  [[nodiscard]] int size() const noexcept;
  [[nodiscard]] bool is_root() const noexcept { return rank() == 0; }
  /// Compute threads of this rank.
  [[nodiscard]] int threads() const noexcept;
  [[nodiscard]] std::string const& host() const noexcept;
  /// The communicator the context was made from, MPI_COMM_WORLD under run_main; of a team, one of exactly its
  /// ranks in their order, made at the first call (collective over the team). The context's own messages
  /// travel on a duplicate, so all tags are free; but make no MPI calls while a skeleton call runs, unless
  /// MPI was started with MPI_THREAD_MULTIPLE. (In skel::mpi; throws usage_error for a context without MPI.)
  [[nodiscard]] boost::mpi::communicator const& communicator() const;

  /// A context of some of this one's ranks: rank i of it is rank `ranks[i]` of this one, ranks[0] is its
  /// root. Called by these ranks only, with the same list; no message travels, so forming a team costs
  /// microseconds. Teams of different ranks work side by side: every skeleton runs on a team as on the whole,
  /// and numbers its ranks from 0. A list makes the same team again whenever it is given. Throws usage_error
  /// for a list that is empty, names a rank twice or one that does not exist, or lacks the calling rank.
  ///
  ///     auto pair = ctx.team({2 * (ctx.rank() / 2), 2 * (ctx.rank() / 2) + 1});  // on an even number of
  ///     ranks
  ///
  /// The loss of a rank means for a team what it means for the whole: skeletons go on without it; when it is
  /// the team's root, their calls on that team throw lost_rank_error. Teams neither show progress nor leave a
  /// trace.
  [[nodiscard]] context team(std::span<int const> ranks) const;
  [[nodiscard]] context team(std::initializer_list<int> ranks) const {
    return team(std::span(ranks.begin(), ranks.size()));
  }
  /// One team for each color; within it ranks are ordered by key, then by their rank here (MPI_Comm_split).
  /// Collective. Ranks that are lost before they have said their color are in no team.
  ///
  ///     auto half = ctx.split(ctx.rank() % 2);
  [[nodiscard]] context split(int color, int key = 0);

  /// Changes how later runs are observed; the same on every rank.
  void set_progress(observe::progress_mode mode);
  void set_trace(bool on);
  void set_threads(int threads);
  void set_quiet(bool quiet);
  /// Ends running and later skeleton calls early (see farm_options::stop), e.g. from a signal handler's
  /// watcher.
  void request_stop() noexcept;
  [[nodiscard]] bool stop_requested() const noexcept;

  /// On the root: the spans of all ranks in all runs since the last call. Empties the store.
  [[nodiscard]] std::vector<observe::rank_trace> traces();

  /// Another context over the same ranks, for calls that one other thread makes while this context's go on:
  /// the next data travel while the present are worked on. Collective; this one must outlive its calls. They
  /// have one compute thread, and neither show progress nor leave a trace. Throws usage_error where only the
  /// thread that made the context may call MPI, and in a simulation.
  [[nodiscard]] context beside();
  /// Whether beside() is there, or throws. The same on every rank.
  [[nodiscard]] bool has_beside() const noexcept;

  /// Throws usage_error on every rank unless `bytes` are the same on all of them: options, input, whatever
  /// the ranks compute from and each has for itself. The error names `name` and the lowest rank that differs
  /// from the root. Only a digest (XXH3) travels. Collective, like a skeleton call.
  ///
  ///     ctx.require_same("--angle", std::to_string(angle));
  ///     ctx.require_same("scene.nff", std::as_bytes(std::span(scene_text)));
  void require_same(std::string_view name, std::span<std::byte const> bytes);
  void require_same(std::string_view name, std::string_view text);

  /// Ends the process with this exit code without MPI_Finalize, which would hang after the loss of a rank.
  [[noreturn]] void leave(int code);

 private:
  friend struct detail::context_access;
  explicit context(std::shared_ptr<detail::engine> engine);

  std::shared_ptr<detail::engine> engine_;
  std::shared_ptr<detail::team const> team_;
  int rank_ = 0;  // in the team
  std::uint64_t id_ = 1;
  bool beside_ = false;
  bool is_team_ = false;                                                  // of team() or split()
  mutable std::shared_ptr<boost::mpi::communicator const> communicator_;  // of a team, once it was asked for
};

}  // namespace skel
