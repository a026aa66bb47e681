// Contexts over MPI, and run_main under mpiexec.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/format.hpp"
#include "base/job_end.hpp"
#include "engine/attempts.hpp"
#include "engine/broken_calls.hpp"
#include "engine/context_access.hpp"
#include "engine/cores.hpp"
#include "engine/engine.hpp"
#include "engine/environment.hpp"
#include "engine/exit_status.hpp"
#include "engine/process_end.hpp"
#include "engine/team.hpp"
#include "engine/warnings.hpp"
#include "guards.hpp"
#include "host_processes.hpp"
#include "launcher.hpp"
#include "mpi_lifetime.hpp"
#include "mpi_transport.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"
#include "skel/mpi.hpp"
#include "skel/run_main.hpp"

namespace skel {

namespace {

// A hash of this process's program; 0 if it cannot be read.
std::uint64_t read_program_hash() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  xxh3_hasher hasher;
  std::vector<std::byte> block(std::size_t{1} << 20);
  bool any = false;
  while (file.read(reinterpret_cast<char*>(block.data()), static_cast<std::streamsize>(block.size())),
         file.gcount() > 0) {
    hasher.update(std::span(block).first(static_cast<std::size_t>(file.gcount())));
    any = true;
  }
  return any ? hasher.value() : 0;
}

void check_same_program(MPI_Comm comm, int size) {
  static std::uint64_t const mine = read_program_hash();
  std::vector<std::uint64_t> all(static_cast<std::size_t>(size));
  MPI_Allgather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, comm);
  for (int r = 1; r < size; ++r)
    if (all[static_cast<std::size_t>(r)] != all[0])
      throw usage_error("rank " + std::to_string(r) +
                        " runs another program than rank 0: all ranks of a job need the same "
                        "executable");
}

// Collective: only the root writes the trace, and all ranks must learn that it cannot.
void check_trace_of_root(MPI_Comm comm, int rank, context_options const& options) {
  std::string text;
  if (rank == 0) try {
      detail::check_trace_file(options);
    } catch (usage_error const& bad) {
      text = bad.what();
    }
  auto length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, comm);
  if (length == 0) return;
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, 0, comm);
  throw usage_error(text);
}

struct placement {
  int ranks_here = 1;
  int rank_here = 0;
  int host_cores = 1;  // shared by the ranks of this host
};

/// What tells this rank that the processes of others have ended.
struct ends_of_processes {
  std::unique_ptr<detail::host_processes> here{};
  std::unique_ptr<transport::idle_connections> elsewhere{};
};

// Finds the number of ranks on this host and the number of cores that they share. Disjoint affinity
// masks (each rank bound to its own cores) add up; otherwise the cores are the same.
// The last `spares` ranks wait, and do not share in the cores unless they are alone.
placement find_placement(MPI_Comm comm, int own_cores, int spares, ends_of_processes* ends) {
  placement p;
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  MPI_Comm_rank(here, &p.rank_here);
  MPI_Comm_size(here, &p.ranks_here);
  int const works = rank < size - spares ? 1 : 0;
  int working = 0;
  MPI_Allreduce(&works, &working, 1, MPI_INT, MPI_SUM, here);
  if (working > 0 && spares > 0) {
    p.ranks_here = working;
    p.rank_here %= working;  // in the order of ranks, so these are the first
  }
  p.host_cores = detail::cores_of_all(here, own_cores);
  if (ends != nullptr) {
    ends->here = std::make_unique<detail::host_processes>(comm, here);
    ends->elsewhere = detail::connect_neighbours(comm, *ends->here);
  }
  MPI_Comm_free(&here);
  return p;
}

}  // namespace

namespace detail {

namespace {

// Checks the current state of MPI. A context over a communicator without a running MPI would end
// the process with the library's own text.
void check_communicator(MPI_Comm comm) {
  auto const state = mpi_state();
  if (state == mpi::not_started)
    throw usage_error(
        "a context over a communicator needs MPI: call MPI_Init_thread before, or use run_main");
  if (state == mpi::ended) throw usage_error(after_mpi);
  if (comm == MPI_COMM_NULL)
    throw usage_error("a context needs a communicator that this rank belongs to, found MPI_COMM_NULL");
  int between_groups = 0;
  MPI_Comm_test_inter(comm, &between_groups);
  if (between_groups)
    throw usage_error("a context needs a communicator of one group, found an intercommunicator");
}

void check_thread(int level) {
  int is_main = 1;
  if (level < MPI_THREAD_SERIALIZED) MPI_Is_thread_main(&is_main);
  if (!is_main)
    throw usage_error(
        "a context needs MPI_THREAD_SERIALIZED, or the thread that has started MPI: no other thread may call "
        "it");
}

// All that the ranks of a communicator find out together before their first engine.
struct mpi_start {
  std::unique_ptr<transport::mpi_transport> wires{};
  context_options options{};
  std::string host{};
  rank_place place{};
  std::vector<std::string> warnings{};
  ends_of_processes ends{};
};

// The number of spare ranks is that of the root. Returns why there can be none; empty: there can.
std::string agree_on_spares(MPI_Comm comm, int size, bool can_renew, int& spares) {
  MPI_Bcast(&spares, 1, MPI_INT, 0, comm);
  if (spares >= size)
    throw usage_error(
        detail::format("{} spare ranks of {}: at least one must work (SKEL_SPARES)", spares, size));
  if (spares == 0) return {};
  if (!can_renew)
    return std::exchange(spares, 0),
           "no spare ranks, all work: the program runs its body only once, or with a "
           "thread level of MPI below MPI_THREAD_SERIALIZED";
  if (!launcher_survives_losses())
    return std::exchange(spares, 0),
           "no spare ranks, all work: mpiexec would end the job with a rank; start it with skel-mpiexec";
  return {};
}

// How many compute threads the ranks of a host have for its cores.
struct host_use {
  int threads = 0, cores = 0, ranks = 0;
};

// Returns those of all ranks, on the root.
std::vector<host_use> gather_uses(MPI_Comm comm, int size, host_use const& mine) {
  std::vector<host_use> all(static_cast<std::size_t>(size));
  static_assert(sizeof(host_use) == 3 * sizeof(int));
  MPI_Gather(&mine, 3, MPI_INT, all.data(), 3, MPI_INT, 0, comm);
  // A rank leaves a gather before the others have entered, but a barrier only afterwards. A rank
  // that dies up to here is therefore left to the guards of the start, on every rank.
  MPI_Barrier(comm);
  return all;
}

// `one_of`: the cores that this rank may use, if MPI's thread level leaves it one thread.
std::vector<std::string> warnings_at_start(std::string const& no_spares, std::vector<host_use> const& uses,
                                           std::optional<int> one_of) {
  auto warnings = unknown_variables(environ);
  if (!no_spares.empty()) warnings.push_back(no_spares);
  auto const crowded = std::ranges::find_if(uses, [](host_use const& u) { return u.threads > u.cores; });
  if (crowded != uses.end())
    warnings.push_back(detail::format(
        "{} ranks with {} compute threads share {} cores of one host: expect no gain from more",
        crowded->ranks, crowded->threads, crowded->cores));
  if (one_of)
    warnings.push_back(detail::format(
        "MPI was started with a thread level below MPI_THREAD_SERIALIZED, so each rank computes with one "
        "thread: ask for that level, or set SKEL_THREADS (this rank may use {} cores)",
        *one_of));
  return warnings;
}

std::string processor_name() {
  char host[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  MPI_Get_processor_name(host, &length);
  return {host, static_cast<std::size_t>(length)};
}

// `watches`: whether the ends of the ranks' processes are looked for. `restarts`: whether the body can run
// again.
mpi_start start_mpi(MPI_Comm comm, context_options options, bool watches, bool restarts) {
  check_communicator(comm);
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  check_thread(level);
  auto wires = std::make_unique<transport::mpi_transport>(comm, level);
  MPI_Comm const own = wires->communicator();
  int const size = wires->size();
  check_same_program(own, size);
  check_trace_of_root(own, wires->rank(), options);
  int const cores = usable_cores();
  if (!watches) options.again.spares = 0;
  auto const no_spares =
      agree_on_spares(own, size, watches && restarts && wires->any_thread(), options.again.spares);
  ends_of_processes ends;
  auto const place = find_placement(own, cores, options.again.spares, watches ? &ends : nullptr);
  // If mpiexec ends the job when a rank dies, a silent rank is most probably waiting for a core.
  constexpr double patience_in_vain = 60;
  if (!options.suspect_after_seconds && wires->any_thread() && !launcher_survives_losses())
    options.suspect_after_seconds = patience_in_vain;
  int const share = default_threads(cores, place.host_cores, place.ranks_here);
  // A program that wants only one thread to call MPI may not be prepared for tasks on several threads.
  bool const one_thread = options.threads == 0 && !wires->any_thread();
  if (options.threads == 0) options.threads = one_thread ? 1 : share;
  host_place const on_host{place.rank_here, place.ranks_here};
  int const threads = threads_with_devices(options.threads, options.threads_per_device,
                                           devices_of_rank(count_visible_devices(), on_host));
  host_use const mine{place.ranks_here * threads, place.host_cores, place.ranks_here};
  auto const uses = gather_uses(own, size, mine);
  std::vector<std::string> warnings;
  if (wires->rank() == 0)
    warnings = warnings_at_start(
        no_spares, uses, one_thread && threads == 1 && share > 1 ? std::optional(share) : std::nullopt);
  mpi_start made{std::move(wires),    std::move(options), processor_name(), {},
                 std::move(warnings), std::move(ends)};
  made.place.on_host = on_host;
  made.place.cores = share;
  made.place.has_cores = mine.threads <= mine.cores;
  return made;
}

// The number of the body that this process runs. Contexts that the body makes belong to it.
int attempt_of_process = 1;

std::shared_ptr<engine> engine_over(std::unique_ptr<transport::transport> wires, mpi_start& from) {
  static auto const kept = std::make_shared<kept_disks>();
  wires->kept() = kept;
  auto made = std::make_shared<engine>(std::move(wires), from.options, from.host);
  made->warnings = std::exchange(from.warnings, {});
  made->place.on_host = from.place.on_host;
  made->place.cores = from.place.cores;
  made->place.has_cores = from.place.has_cores;
  made->job.is_process = true;
  made->job.attempt = attempt_of_process;
  if (auto const end = end_of_job())
    made->job.ends =
        made->now() + std::chrono::duration<double>(*end - std::chrono::steady_clock::now()).count();
  watch_finalize(made);
  return made;
}

}  // namespace

std::shared_ptr<engine> make_mpi_engine(MPI_Comm comm, context_options options) {
  auto start = start_mpi(comm, std::move(options), false, false);
  return engine_over(std::move(start.wires), start);
}

namespace {

// The environment may differ between ranks, so all ranks must learn of an error on one of them
// before the first collective call. The lowest such rank prints it; then no rank gets options.
std::optional<context_options> options_of_all(std::string const& program, int size) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::optional<context_options> options;
  std::string error;
  try {
    options = context_options::from_environment();
  } catch (usage_error const& e) {
    error = e.what();
  }
  int const mine = options ? size : rank;
  int lowest = size;
  MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (lowest == size) return options;
  if (rank == lowest) say(program, error);
  return std::nullopt;
}

// Open MPI writes to the TCP connections of lost ranks, which must not end this one by a signal. Programs
// that it starts do not inherit a handler, unlike SIG_IGN. A handler of its own stays.
void survive_broken_pipes() {
  struct sigaction now {};
  if (::sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) std::signal(SIGPIPE, [](int) {});
}

// Ends the user's own MPI calls when the body begins again: they would wait for ever for ranks that have
// begun. Requires the engine's lock.
struct users_calls {
  engine* of = nullptr;
  std::function<void()> revoke{};
  void end_with_view() {
    if (revoke && of != nullptr && of->farewell().view_ended() && !of->retirement().done())
      std::exchange(revoke, {})();
  }
} users;

// Runs the body over the wires of `start`, in as many attempts as it takes. Returns its code, unless ranks
// were lost: this skips what waits for them, MPI_Finalize and destructors.
int run_or_leave(mpi_start& start, std::string const& program, int rank,
                 function_reference<int(context&)> body, bool restarts) {
  if (start.wires->size() > 1) survive_broken_pipes();
  double const patience = patience_of(*start.wires, start.options);
  auto* const neighbours = start.ends.elsewhere.get();
  std::function<std::vector<int>()> elsewhere;
  if (neighbours != nullptr) elsewhere = [neighbours] { return neighbours->ended(); };
  auto const here = [&] {
    users.end_with_view();
    return start.ends.here->ended();
  };
  auto const job = std::make_shared<job_wires>(std::move(start.wires), patience, restarts,
                                               ended_processes(here, elsewhere), start.options.again.spares);
  auto const engine_of = [&](auto wires) {
    attempt_of_process = static_cast<int>(job->now().number);
    users = {};  // the engine before is gone
    auto made = engine_over(std::move(wires), start);
    std::lock_guard const lock(made->mutex());
    users.of = made.get();
    return made;
  };
  auto const end = run_attempts(job, engine_of, program, body, launcher_survives_losses());
  if (end.retired) {  // as any loss, which every launcher that gets here survives
    disk_service::release_claims();
    std::fflush(nullptr);
    std::raise(SIGKILL);
  }
  bool abruptly = end.left_out || end.abrupt, by_loss = false;
  {
    std::unique_lock<std::mutex> lock;  // a helper thread may look at the connections, and hear of the end
    if (end.last) {
      lock = std::unique_lock(end.last->mutex());
      abruptly = job->now().number > 1 || end.last->farewell().leaves_abruptly();
      by_loss = end.last->farewell().ended_by_loss();
    }
    if (neighbours != nullptr) neighbours->leave();
  }
  if (abruptly) {
    disk_service::release_claims();
    end_process(rank, end.code, by_loss ? loss_ended_the_job : "");
  }
  if (end.last.use_count() > 1) end.last->close_wires(after_mpi);  // a context is kept, and uses `start`
  return end.code;
}

struct ended {
  int code = 0;
  bool finalizes = true;
};

// Runs the part between MPI_Init and MPI_Finalize. Each phase has its own guard. Starts under the
// guard of the start and returns under the guard of the end.
ended run_ranks(std::string const& program, int rank, std::unique_ptr<watch>& guard,
                function_reference<int(context&)> body, bool restarts) {
  auto const leave_with = [&](int code, std::optional<double> suspect_after = {}) {
    guard = watch_end(program, rank, code, suspect_after);
    return ended{code};
  };
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (auto const mismatch = launcher_mismatch(size); !mismatch.empty()) {
    say(program, mismatch);
    return leave_with(2);
  }
  auto const options = options_of_all(program, size);
  if (!options) return leave_with(2);
  try {
    auto start = start_mpi(MPI_COMM_WORLD, *options, true, restarts);
    auto const suspect_after = start.options.suspect_after_seconds;
    guard = watch_calls(program, rank, suspect_after);
    return leave_with(run_or_leave(start, program, rank, body, restarts), suspect_after);
  } catch (usage_error const& e) {
    if (rank == 0) say(program, e.what());
    return leave_with(2);
  } catch (std::exception const& e) {  // the transport has failed: the other ranks cannot be notified
    say(program, e.what());
    return {1, false};
  }
}

}  // namespace

int run_main_mpi(int argc, char** argv, function_reference<int(context&)> body, bool restarts) {
  std::string const program = program_name(argc, argv);
  if (auto const unfit = mpi_state(); unfit != mpi::not_started) {
    say(program, unfit == mpi::ended
                     ? "run_main starts MPI, which has already ended: call it once, and not after "
                       "MPI_Finalize"
                     : "run_main starts MPI, which is already running: make a skel::context over "
                       "a communicator instead");
    return 2;
  }
  auto guard = watch_start(program);
  // MULTIPLE: between skeleton calls, while the user's code may call MPI, a rank sends heartbeats.
  int given = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given) != MPI_SUCCESS) {
    say(program, "MPI_Init_thread failed");
    return 1;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  note_end_of(rank);
  auto const [code, finalizes] = run_ranks(program, rank, guard, body, restarts);
  if (!finalizes) end_process(rank, code);  // MPI_Finalize would wait for the lost ranks
  report_exit_status(rank, code);
  std::fflush(nullptr);
  crash_guard const against_mpi(program, code);
  MPI_Finalize();
  return code;
}

int survive_mpi(MPI_Comm comm, function_reference<int(context&)> body, context_options options) {
  auto start = start_mpi(comm, std::move(options), true, true);
  std::string const program = program_invocation_short_name;
  int rank = 0;  // under the launcher
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto const guard = watch_calls(program, rank, start.options.suspect_after_seconds);
  int const code = run_or_leave(start, program, rank, body, true);
  report_exit_status(rank, code);
  return code;
}

namespace {

// Handles errors of the user's calls on a team's communicator. They are also returned, but may be ignored:
// after a loss no data of this rank may reach the others, and its result must not count.
void on_user_error(MPI_Comm* comm, int* code, ...) {  // NOLINT(cert-dcl50-cpp): as MPI wants it
  if (!transport::ulfm::means_loss(*code)) return;
  ++broken_calls;
  transport::ulfm::active()->revoke(*comm);
}

using shared_communicator = std::shared_ptr<users_communicator const>;
shared_communicator shared(MPI_Comm made) {
  return std::make_shared<users_communicator const>(users_communicator::owning(made));
}

// Only the ranks of the team take part, and several teams may do so at once.
shared_communicator team_communicator(MPI_Comm whole, transport::transport const& wires, team const& ranks,
                                      std::uint64_t id) {
  MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  std::vector<int> wire;
  wire.reserve(static_cast<std::size_t>(ranks.size()));
  for (int r = 0; r < ranks.size(); ++r) wire.push_back(wires.in_job(ranks.to_wire(r)));
  MPI_Comm_group(whole, &all);
  MPI_Group_incl(all, ranks.size(), wire.data(), &some);
  constexpr std::uint64_t tags = 32768;  // the number guaranteed by MPI
  // Open MPI 5 with ULFM refuses this once any rank of `whole` is lost.
  int const failed = MPI_Comm_create_group(whole, some, static_cast<int>(id % tags), &made);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  if (failed != MPI_SUCCESS)
    throw mpi_error("MPI_Comm_create_group", failed, "no communicator for the team",
                    wires.in_job(wires.rank()));
  return shared(made);
}

// Unless errors on the communicator end the job.
void revoke_with_view(engine& asked, std::weak_ptr<users_communicator const> weak) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(weak.lock()->plain(), &handler);
  bool const fatal = handler == MPI_ERRORS_ARE_FATAL;
  if (handler != MPI_ERRHANDLER_NULL) MPI_Errhandler_free(&handler);
  std::lock_guard const lock(asked.mutex());
  if (users.of != &asked || fatal) return;
  users.revoke = [weak = std::move(weak)] {
    if (auto const c = weak.lock()) transport::ulfm::active()->revoke(c->plain());
  };
}

// With ULFM, MPI makes no communicator of a group from one with a lost rank, but shrinks it.
shared_communicator communicator_of_survivors(transport::mpi_transport const& whole,
                                              transport::transport const& wires) {
  auto all = shared(whole.shrink(whole.of_user().plain()));
  int size = 0;
  MPI_Comm_size(all->plain(), &size);
  if (size != wires.size())
    throw mpi_error("MPIX_Comm_shrink", MPI_ERR_OTHER, "another rank was lost", wires.rank());
  return all;
}

}  // namespace

users_communicator const& context_access::communicator_of(context const& ctx) {
  auto& carrier = ctx.engine_->wires().carrier();
  auto const* const wires = dynamic_cast<transport::mpi_transport const*>(&carrier.below());
  if (wires == nullptr) throw usage_error("this context runs without MPI and has no communicator");
  auto const& whole = wires->of_user();
  bool const all = !ctx.is_team_ && carrier.size() == wires->size();
  if (all && !wires->ulfm_active()) return whole;
  auto& made = ctx.communicator_;
  if (made) return *made;
  if (!ctx.is_team_ && wires->ulfm_active()) {
    made =
        all ? std::make_shared<users_communicator const>(whole) : communicator_of_survivors(*wires, carrier);
    revoke_with_view(*ctx.engine_, made);
    return *made;
  }
  made = team_communicator(whole.plain(), carrier, *ctx.team_, ctx.id_);
  if (wires->ulfm_active()) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(on_user_error, &handler);
    MPI_Comm_set_errhandler(made->plain(), handler);
    MPI_Errhandler_free(&handler);
    std::lock_guard const lock(ctx.engine_->mutex());
    ctx.engine_->calls().on_cancel(ctx.id_, [weak = std::weak_ptr(made)] {
      if (auto const c = weak.lock()) transport::ulfm::active()->revoke(c->plain());
    });
  }
  return *made;
}

}  // namespace detail

MPI_Comm communicator_of(context const& ctx) { return detail::context_access::communicator_of(ctx).plain(); }

}  // namespace skel
