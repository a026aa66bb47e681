// A hand-written master-worker over MPI's C interface, the farm's opponent.
//
// Optimised for speed. Rank 0 only receives and sends; each worker has `--window` chunks of
// `--chunk` tasks in flight, so it never waits for an answer. A worker finishes its chunks in the
// order of their grants, and MPI keeps the messages of one sender in order. With each grant the
// master can therefore post the receive for its results directly into the final array. A grant is
// 16 bytes; a result message contains only results. The loop does not allocate.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "work.hpp"

namespace {

struct options {
  std::int64_t tasks = 100'000;
  std::int64_t chunk = 1;
  int window = 4;
  double microseconds = 0;
  int bytes = 16;
  int repetitions = 20;
  double iterations_per_us = 0;  // 0: measure
};

struct grant {
  std::int64_t first;
  std::int64_t count;  // 0: no more work, leave
};
constexpr int grant_tag = 1;
constexpr int result_tag = 2;

std::uint64_t iterations_per_task(options const& o) {
  return static_cast<std::uint64_t>(std::llround(o.microseconds * o.iterations_per_us));
}

class master {
 public:
  master(options const& o, int ranks)
      : o_(o),
        workers_(ranks - 1),
        results_(static_cast<std::size_t>(o.tasks * o.bytes)),
        open_(static_cast<std::size_t>(workers_ * o.window), MPI_REQUEST_NULL),
        done_(open_.size()) {}

  double run_once() {
    auto const start = bench::seconds();
    next_ = 0;
    for (int i = 0; i != o_.window; ++i)
      for (int worker = 0; worker != workers_; ++worker) hand_out(worker * o_.window + i);
    for (;;) {
      int count = 0;
      MPI_Waitsome(static_cast<int>(open_.size()), open_.data(), &count, done_.data(), MPI_STATUSES_IGNORE);
      if (count == MPI_UNDEFINED) break;
      for (int i = 0; i != count; ++i) hand_out(done_[static_cast<std::size_t>(i)]);
    }
    return bench::seconds() - start;
  }

  void stop() {
    grant const none{0, 0};
    for (int rank = 1; rank <= workers_; ++rank)
      MPI_Send(&none, sizeof none, MPI_BYTE, rank, grant_tag, MPI_COMM_WORLD);
  }

  bool right() const {
    for (std::int64_t task = 0; task != o_.tasks; ++task)
      if (!farm_bench::right_result(static_cast<std::uint64_t>(task), results_.data() + task * o_.bytes,
                                    static_cast<std::size_t>(o_.bytes)))
        return false;
    return true;
  }
  void forget() { std::fill(results_.begin(), results_.end(), std::byte{0xff}); }

 private:
  // Sends the next chunk to the worker whose place in the window has become free; the receive is
  // posted first.
  void hand_out(int place) {
    if (next_ == o_.tasks) return;
    grant const g{next_, std::min(o_.chunk, o_.tasks - next_)};
    next_ += g.count;
    int const rank = place / o_.window + 1;
    MPI_Irecv(results_.data() + g.first * o_.bytes, static_cast<int>(g.count) * o_.bytes, MPI_BYTE, rank,
              result_tag, MPI_COMM_WORLD, &open_[static_cast<std::size_t>(place)]);
    MPI_Send(&g, sizeof g, MPI_BYTE, rank, grant_tag, MPI_COMM_WORLD);
  }

  options o_;
  int workers_;
  std::vector<std::byte> results_;
  std::vector<MPI_Request> open_;  // one per worker and place in its window
  std::vector<int> done_;
  std::int64_t next_ = 0;
};

void work(options const& o) {
  auto const window = static_cast<std::size_t>(o.window);
  auto const bytes = static_cast<std::size_t>(o.bytes);
  auto const chunk_bytes = static_cast<std::size_t>(o.chunk) * bytes;
  auto const iterations = iterations_per_task(o);
  std::vector<grant> grants(window);
  std::vector<std::byte> results(window * chunk_bytes);
  std::vector<MPI_Request> receives(window);
  std::vector<MPI_Request> sends(window, MPI_REQUEST_NULL);
  for (std::size_t i = 0; i != window; ++i) {
    MPI_Recv_init(&grants[i], sizeof(grant), MPI_BYTE, 0, grant_tag, MPI_COMM_WORLD, &receives[i]);
    MPI_Start(&receives[i]);
  }
  for (std::size_t at = 0;; at = at + 1 == window ? 0 : at + 1) {
    MPI_Wait(&receives[at], MPI_STATUS_IGNORE);
    grant const g = grants[at];
    MPI_Start(&receives[at]);
    if (g.count == 0) break;
    MPI_Wait(&sends[at],
             MPI_STATUS_IGNORE);  // until then the buffer still belongs to the last result sent from it
    auto* const out = results.data() + at * chunk_bytes;
    for (std::int64_t i = 0; i != g.count; ++i)
      farm_bench::run_task(static_cast<std::uint64_t>(g.first + i), iterations,
                           out + static_cast<std::size_t>(i) * bytes, bytes);
    MPI_Isend(out, static_cast<int>(g.count) * o.bytes, MPI_BYTE, 0, result_tag, MPI_COMM_WORLD, &sends[at]);
  }
  MPI_Waitall(o.window, sends.data(), MPI_STATUSES_IGNORE);
  for (auto& receive : receives) {
    MPI_Cancel(&receive);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Request_free(&receive);
  }
}

void measure(options const& o, int ranks) {
  master m(o, ranks);
  m.run_once();  // warm-up: pages, connections
  for (int i = 0; i != o.repetitions; ++i) {
    m.forget();
    auto const seconds = m.run_once();
    if (!m.right()) {
      std::fprintf(stderr, "skel-bench-master-worker: wrong results\n");
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    std::printf(
        "program=master-worker ranks=%d chunk=%lld window=%d us=%g bytes=%d tasks=%lld repetition=%d "
        "seconds=%.9f tasks_per_second=%.6g\n",
        ranks, static_cast<long long>(o.chunk), o.window, o.microseconds, o.bytes,
        static_cast<long long>(o.tasks), i, seconds, static_cast<double>(o.tasks) / seconds);
  }
  m.stop();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  options o;
  bool calibrate = false;
  CLI::App app("Hand-written MPI master-worker: the farm benchmark's opponent");
  app.add_option("--tasks", o.tasks, "number of tasks")->check(CLI::PositiveNumber);
  app.add_option("--chunk", o.chunk, "tasks per message")->check(CLI::Range(1, 1 << 16));
  app.add_option("--window", o.window, "chunks in flight per worker")->check(CLI::Range(1, 1024));
  app.add_option("--us", o.microseconds, "microseconds per task")->check(CLI::NonNegativeNumber);
  app.add_option("--bytes", o.bytes, "bytes per result, a multiple of 16")->check(CLI::Range(16, 1 << 14));
  app.add_option("--repetitions", o.repetitions, "measured repetitions")->check(CLI::PositiveNumber);
  app.add_option("--iterations-per-us", o.iterations_per_us, "length of the work loop; 0: measure it here");
  app.add_flag("--calibrate", calibrate, "print the iterations per microsecond and exit");
  int status = 0;
  try {
    app.parse(argc, argv);
    if (o.bytes % 16 != 0) throw CLI::ValidationError("--bytes", "must be a multiple of 16");
    if (ranks < 2 && !calibrate) throw CLI::ValidationError("mpiexec", "needs at least 2 ranks");
  } catch (CLI::ParseError const& error) {
    status = rank == 0 ? app.exit(error) : error.get_exit_code();
    MPI_Finalize();
    return status == 0 ? 0 : 2;
  }
  if (rank == 0 && o.iterations_per_us <= 0) o.iterations_per_us = farm_bench::iterations_per_microsecond();
  MPI_Bcast(&o.iterations_per_us, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (calibrate) {
    if (rank == 0) std::printf("iterations_per_us=%.1f\n", o.iterations_per_us);
  } else if (rank == 0) {
    measure(o, ranks);
  } else {
    work(o);
  }
  MPI_Finalize();
  return 0;
}
