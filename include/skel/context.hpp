// The context in which skeletons run: the ranks, the compute threads of this rank, and what is
// observed of their runs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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
class users_communicator;
struct context_access;

/// Makes a context over a plain MPI communicator. skel/mpi.hpp specialises it for MPI_Comm.
template <class Communicator>
struct plain_mpi;

/// Registers a skeleton call with the engine until all of its resources are released. Throws
/// usage_error while another call is in progress on the context.
class call_slot {
 public:
  explicit call_slot(context const& ctx);
  call_slot(call_slot const&) = delete;
  call_slot& operator=(call_slot const&) = delete;
  ~call_slot();
  /// The number of this call on its context, from 1.
  [[nodiscard]] std::uint32_t number() const { return number_; }
  /// Throws usage_error if another call was made inside this one. For calls without a run in the
  /// engine.
  void throw_if_nested() const;

 private:
  engine& engine_;
  std::uint64_t context_;
  std::uint32_t number_;
};
}  // namespace detail

/// How a context behaves. The environment variables SKEL_THREADS, SKEL_THREADS_PER_DEVICE,
/// SKEL_PROGRESS, SKEL_TRACE, SKEL_WATCHDOG, SKEL_SUSPECT_AFTER, SKEL_REMEMBER, SKEL_SPARES, SKEL_HOST,
/// SKEL_CLUSTER, SKEL_HOST_LOAD, SKEL_CHECK_INPUTS and SKEL_CHECK_TASKS set the defaults.
struct context_options {
  /// The timeline of a run.
  struct tracing {
    bool on = false;   ///< records spans of each thread's activity, see context::traces()
    std::string file;  ///< output file of the root; implies `on`; empty: none
  };
  /// The machine on which a rank runs.
  struct machine {
    /// The name of this rank's host; %r stands for the rank. Empty: the system's name. Ranks of one
    /// host share its disk (docs/reference/checkpoint.md), so different names let one machine act as several.
    std::string name{};
    /// The cluster of this rank's host. A store of the ranks' disks can keep to one cluster, and every
    /// n-th checkpoint elsewhere (docs/reference/checkpoint.md). Empty: none.
    std::string cluster{};
    /// Threads that want to run on this rank's host, per core: shards go to hosts with little load if
    /// there is a choice. Empty: the system's average over a minute.
    std::optional<double> load{};
  };
  /// The body of run_main runs again on other ranks after the loss of the root, or if spare ranks stand in.
  struct repetition {
    /// Bytes of results that this rank remembers for that; the oldest ones go first. Results that take less
    /// than a hundred times as long to compute as to keep are not kept. Empty: a twentieth of the free
    /// memory, shared by the ranks of the host. 0: none.
    std::optional<std::uint64_t> remember_bytes{};
    /// The last so many ranks of the job wait, and stand in for ranks that are lost or retire
    /// (docs/how-to/spare-ranks.md). That of rank 0 counts.
    int spares = 0;
  };
  /// Comparisons of what ranks hold and compute.
  struct checks {
    /// Whether the ranks compare the contents of replicated lists and problems, by a hash; they always
    /// compare a list's length. Empty: except lists whose elements are computed when they are read, and
    /// elements that are trivially copyable classes with private members or bases, which may be addresses; of
    /// elements with serialize(), 10,000 of each list. Builds with assertions (NDEBUG undefined) compare
    /// these as well.
    std::optional<bool> inputs{};
    /// Finds tasks whose result depends on the rank that runs them. True: farms run every task on two ranks
    /// and compare the results, as with farm_options::audit = 1, unless they have an audit or cannot have
    /// one. Empty: in builds with assertions (NDEBUG undefined) the root runs a short task of each of up to
    /// eight other ranks again, after the farm, and warns of a difference in one line.
    std::optional<bool> tasks{};
  };

  /// Compute threads of this rank, which call task functions concurrently. 0: its share of the cores it may
  /// use, or one in a program that has started MPI with a thread level below MPI_THREAD_SERIALIZED.
  int threads = 0;
  /// Compute threads for each accelerator of this rank (worker_info::device), whatever `threads` says:
  /// the number of tasks that use a device at a time. A rank without one has `threads`. 0: every rank
  /// has `threads`, since the environment also shows devices to programs that do not use them.
  int threads_per_device = 0;
  observe::progress_mode progress = observe::progress_mode::never;  ///< whether the root shows progress
  tracing trace{};                                                  ///< whether the run is traced
  double watchdog_seconds = 0;  ///< ends a run that makes no progress for this long; 0: never
  /// A rank that is silent for this many seconds is declared dead until it is heard from again. 0:
  /// never. Empty: 5 s; 60 s if mpiexec ends the job when a rank dies; never with a thread level
  /// below MPI_THREAD_SERIALIZED, because a rank is then silent while it computes.
  std::optional<double> suspect_after_seconds{};
  repetition again{};                                  ///< how the body of run_main runs again
  machine host{};                                      ///< where this rank runs
  checks check{};                                      ///< whether the ranks compare what they hold
  bool quiet = false;                                  ///< no warnings on standard error
  std::size_t largest_message = std::size_t{1} << 30;  ///< bytes; longer messages travel in pieces
  /// Reads the defaults from the environment. Throws usage_error for a variable that cannot be
  /// parsed.
  [[nodiscard]] static context_options from_environment();
};

/// A set of ranks that make the same skeleton calls in the same order. Cheap to move, not copyable.
/// Skeleton calls on one context are collective: every rank of it makes them, from one thread at a
/// time.
class context {
 public:
  /// A context of one process without MPI: rank 0 of 1, with compute threads. Throws usage_error
  /// for a trace file that cannot be written.
  explicit context(context_options options = context_options::from_environment());
  /// A context over the ranks of a communicator, in a program that already runs MPI. Collective.
  /// Neither starts nor ends MPI. With a thread level below MPI_THREAD_SERIALIZED, only the calling
  /// thread drives communication. Throws usage_error on every rank if the ranks do not run the same
  /// program. Requires linking skel::mpi, built with Boost.MPI (SKEL_BOOST_MPI).
  explicit context(boost::mpi::communicator const& communicator,
                   context_options options = context_options::from_environment());
  /// The same over an MPI_Comm, in a program without Boost.MPI. Requires skel/mpi.hpp, which must be
  /// included before the call.
  template <class Communicator>
    requires(sizeof(detail::plain_mpi<Communicator>) > 0)  // NOLINT(bugprone-sizeof-expression)
  explicit context(Communicator communicator, context_options options = context_options::from_environment())
      : context(detail::plain_mpi<Communicator>::make_engine(communicator, std::move(options))) {}
  context(context&&) noexcept;
  context& operator=(context&&) noexcept;
  ~context();

  /// This rank, 0 to size() - 1; 0 is the root.
  [[nodiscard]] int rank() const noexcept;
  /// The number of ranks, lost ones included.
  [[nodiscard]] int size() const noexcept;
  /// Whether this is rank 0, which receives results.
  [[nodiscard]] bool is_root() const noexcept { return rank() == 0; }
  /// 1 when the body of run_main runs for the first time. After the loss of the root it runs again on the
  /// ranks that are left, which are numbered anew (skel/run_main.hpp).
  [[nodiscard]] int attempt() const noexcept;
  /// The number of compute threads of this rank, at least 1.
  [[nodiscard]] int threads() const noexcept;
  /// The name of this rank's host, see context_options::machine.
  [[nodiscard]] std::string const& host() const noexcept;
  /// This rank's number among the ranks of its host, 0 to local_size() - 1, in the order of their
  /// ranks. A team counts all ranks of the context that it was made from.
  [[nodiscard]] int local_rank() const noexcept;
  /// The number of ranks on this rank's host, at least 1. It does not change when a rank is lost.
  /// MPI decides which ranks share a host, not context_options::machine.
  [[nodiscard]] int local_size() const noexcept;
  /// The communicator of this context: MPI_COMM_WORLD under run_main, otherwise the one given to
  /// the constructor. For a team, a communicator of exactly its ranks in their order; the first
  /// call creates it and is collective over the team. The context's own messages travel on a
  /// duplicate, so all tags are free. Make no MPI calls while a skeleton call runs, unless MPI was
  /// started with MPI_THREAD_MULTIPLE. Throws usage_error for a context without MPI. Requires
  /// linking skel::mpi, built with Boost.MPI (SKEL_BOOST_MPI); communicator_of() does not need it.
  [[nodiscard]] boost::mpi::communicator const& communicator() const;

  /// A context of some of this context's ranks: rank i of the team is rank `ranks[i]` here, and
  /// ranks[0] is its root. Only these ranks call it, with the same list. No message travels, so
  /// forming a team takes microseconds. Every skeleton runs on a team; teams of different ranks work
  /// side by side. The same list always gives the same team. Throws usage_error for a list that is
  /// empty, repeats a rank, names a rank that does not exist, or lacks the calling rank.
  ///
  ///     int const first = ctx.rank() / 2 * 2;
  ///     auto pair = ctx.team({first, first + 1});  // on an even number of ranks
  ///
  /// When a team loses its root, its calls throw lost_rank_error. It survives other losses like the
  /// whole context. Teams show neither progress nor traces.
  [[nodiscard]] context team(std::span<int const> ranks) const;
  /// The same for a braced list.
  [[nodiscard]] context team(std::initializer_list<int> ranks) const {
    return team(std::span(ranks.begin(), ranks.size()));
  }
  /// Splits the context into one team per color, like MPI_Comm_split; ranks of a team are ordered by
  /// key, then by their rank here. Collective. Ranks that are lost before they have named their
  /// color are in no team.
  ///
  ///     auto half = ctx.split(ctx.rank() % 2);
  [[nodiscard]] context split(int color, int key = 0);

  /// Sets context_options::progress for later runs; the same on every rank.
  void set_progress(observe::progress_mode mode);
  /// On the root: calls `observer` at the start of later runs, then at most once per second, and at
  /// their end, from one thread at a time. Meanwhile the root may receive no messages, so it must
  /// return soon. It must neither throw nor make calls on this context. An empty function ends this.
  void set_observer(observe::progress_observer observer);
  /// Sets context_options::tracing::on for later runs; the same on every rank.
  void set_trace(bool on);
  /// Sets context_options::threads for later runs, and threads_per_device to 0.
  void set_threads(int threads);
  /// Sets context_options::threads_per_device for later runs. Throws usage_error unless `threads` is 0
  /// to 4096.
  void set_threads_per_device(int threads);
  /// Sets context_options::quiet for later runs.
  void set_quiet(bool quiet);
  /// Ends running and later skeleton calls early, like farm_options::stop. May be called from any
  /// thread, for instance one that waits for signals.
  void request_stop() noexcept;
  /// Whether request_stop() was called on this rank.
  [[nodiscard]] bool stop_requested() const noexcept;

  /// This rank leaves the job before the others, because its host is needed elsewhere. It ends the tasks that
  /// it runs, hands back the others, and its process ends; no task is lost or runs twice. From some calls it
  /// leaves only at their end, with a checkpoint, or if it is not the root (docs/how-to/retire.md). Without
  /// the root the others begin the body again, as after its loss. A rank that cannot leave says so in one
  /// line on standard error: the last one, and those that mpiexec would end the job with (use skel-mpiexec).
  /// May be called from any thread.
  void retire() noexcept;

  /// On the root: removes and returns the spans of all ranks in all runs since the previous call.
  [[nodiscard]] std::vector<observe::rank_trace> traces();

  /// Creates another context over the same ranks. One other thread may make calls on it while calls
  /// on this context run, for instance to transfer the next data set while the current one is
  /// processed. Collective. This context must outlive those calls. They have one compute thread and
  /// show neither progress nor traces. Throws usage_error in a simulation, and if only the thread
  /// that made the context may call MPI.
  [[nodiscard]] context beside();
  /// Whether beside() works here. The same on every rank.
  [[nodiscard]] bool has_beside() const noexcept;

  /// Throws usage_error on every rank unless `bytes` are the same on all of them: options, input,
  /// or other data that each rank holds and computes from. The error names `name` and the lowest
  /// rank that differs from the root. Only a digest (XXH3) travels. Collective, like a skeleton
  /// call.
  ///
  ///     ctx.require_same("--angle", std::to_string(angle));
  ///     ctx.require_same("scene.nff", std::as_bytes(std::span(scene_text)));
  void require_same(std::string_view name, std::span<std::byte const> bytes);
  /// The same for text.
  void require_same(std::string_view name, std::string_view text);

  /// Ends the process with exit code `code`. Skips MPI_Finalize, which would hang after the loss of
  /// a rank.
  [[noreturn]] void leave(int code);

 private:
  friend struct detail::context_access;
  explicit context(std::shared_ptr<detail::engine> engine);
  [[nodiscard]] context make_team(std::span<int const> ranks, std::uint64_t number) const;

  std::shared_ptr<detail::engine> engine_;
  std::shared_ptr<detail::team const> team_;
  int rank_ = 0;  // in the team
  std::uint64_t id_ = 1;
  bool beside_ = false;
  bool is_team_ = false;                                                    // of team() or split()
  mutable std::shared_ptr<detail::users_communicator const> communicator_;  // of a team; created on first use
};

}  // namespace skel
