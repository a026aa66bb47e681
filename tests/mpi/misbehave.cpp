// A program that misbehaves as its argument requests: misbehave ACT [RANK]. contract.cpp starts it and checks
// its output and exit codes.
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <ranges>
#include <string>
#include <thread>
#include <vector>

#include "engine/context_access.hpp"
#include "engine/engine.hpp"
#include "skel/mpi.hpp"
#include "skel/serialization.hpp"
#include "skel/skel.hpp"

namespace {

using namespace std::chrono_literals;

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// A user's function that does not return.
void hang() { sleep_ms(3'600'000); }

// Its packing does not return on one rank.
struct hanging_number {
  std::uint64_t value = 0;
  bool hangs = false;
  std::string name{};  // so that it is packed by serialize()
  template <class Archive>
  void serialize(Archive& archive, unsigned /*version*/) {
    if (hangs) hang();
    archive& value;
  }
};

}  // namespace

template <>
inline constexpr bool skel::exact_merge<hanging_number> = true;

namespace {

skel::report farm_of(skel::context& ctx, std::uint64_t tasks, int ms, char const* how = "guided") {
  return skel::farm(
             ctx, skel::indices(tasks),
             [=](std::uint64_t i) {
               sleep_ms(ms);
               return i;
             },
             skel::any_schedule(how), [](skel::task_id, std::uint64_t) {})
      .report;
}

double cpu_seconds() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  auto const of = [](timeval t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return of(u.ru_utime) + of(u.ru_stime);
}

// One long task on one rank: measures the CPU time of the idle others.
void idle(skel::context& ctx) {
  double const before = cpu_seconds();
  auto const start = std::chrono::steady_clock::now();
  skel::farm(
      ctx, skel::indices(1),
      [](std::uint64_t i) {
        sleep_ms(2000);
        return i;
      },
      skel::schedule::interleaved{}, [](skel::task_id, std::uint64_t) {});
  double const wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("rank %d cpu %.1f %%\n", ctx.rank(), 100 * (cpu_seconds() - before) / wall);
}

// The root runs one task of 2 s: counts the tasks that the others receive from it and begin in that time.
void busy_root(skel::context& ctx) {
  using clock = std::chrono::steady_clock;  // common to all processes of a machine
  std::atomic<int> done_here = 0;
  std::atomic<std::int64_t> woke = 0;
  std::vector<std::int64_t> begun_elsewhere;
  skel::farm(
      ctx, skel::indices(4001),
      [&](std::uint64_t, skel::worker_info const& where) -> std::int64_t {
        if (where.rank != 0) {
          auto const began = clock::now().time_since_epoch().count();
          std::this_thread::sleep_for(100us);
          return began;
        }
        if (done_here++ == 0) {
          sleep_ms(2000);
          woke = clock::now().time_since_epoch().count();
        }
        return 0;
      },
      skel::schedule::first_come{},
      [&](skel::task_id, std::int64_t began) {
        if (began != 0) begun_elsewhere.push_back(began);
      });
  if (ctx.is_root())
    std::printf("others began %d\n",
                static_cast<int>(std::count_if(begun_elsewhere.begin(), begun_elsewhere.end(),
                                               [&](auto began) { return began < woke; })));
}

void disagree(skel::context& ctx, bool me, std::string const& about) {
  if (about == "schedule") farm_of(ctx, 10, 0, me ? "blocks" : "guided");
  if (about == "tasks") farm_of(ctx, me ? 11 : 10, 0);
  if (about == "types") {
    if (me)
      skel::farm(
          ctx, skel::indices(10), [](std::uint64_t i) { return std::to_string(i); }, skel::schedule::guided{},
          [](skel::task_id, std::string) {});
    else
      farm_of(ctx, 10, 0);
  }
}

// Calls exit() inside the user's functions.
void exit_in(skel::context& ctx, std::string const& where) {
  auto const leave = [&](char const* here) {
    if (where == here) std::exit(0);
  };
  std::uint64_t total = 0;
  if (where == "merge")
    skel::farm(
        ctx, skel::indices(20), [](std::uint64_t i) { return i; }, skel::schedule::guided{},
        skel::reduced(total, [&](std::uint64_t a, std::uint64_t b) {
          leave("merge");
          return a + b;
        }));
  else
    skel::farm(
        ctx, skel::indices(20),
        [&](std::uint64_t i) {
          sleep_ms(5);
          if (i == 15) leave("task");
          return i;
        },
        skel::schedule::guided{}, [&](skel::task_id, std::uint64_t) { leave("sink"); });
}

// Calls hang() inside the user's functions, on one rank.
void hang_in(skel::context& ctx, bool me, std::string const& where, skel::farm_options const& options = {}) {
  auto const maybe = [&](char const* here) {
    if (me && where == here) hang();
  };
  auto const task = [&](std::uint64_t i) {
    maybe("task");
    return i;
  };
  hanging_number sum;
  if (where == "packing")
    skel::farm(
        ctx, skel::indices(100),
        [me](std::uint64_t i) {
          return hanging_number{i, me, {}};
        },
        skel::schedule::interleaved{}, skel::reduced(sum, [](hanging_number a, hanging_number const& b) {
          a = {a.value + b.value, a.hangs || b.hangs, a.name};
          return a;
        }));
  else
    skel::farm(
        ctx, skel::indices(100), task, skel::schedule::interleaved{},
        [&](skel::task_id, std::uint64_t) { maybe("sink"); }, options);
}

// A task stops its process for 4 seconds, and then runs for 0.3 s.
void stop_in_task(skel::context& ctx) {
  std::uint64_t sum = 0;
  auto const task = [](std::uint64_t i) {
    if (i == 1) {
      auto const self = ::getpid();
      if (::fork() == 0) {
        ::sleep(4);
        ::kill(self, SIGCONT);
        ::_exit(0);
      }
      std::raise(SIGSTOP);
      sleep_ms(300);
    }
    return i;
  };
  skel::farm(ctx, skel::indices(3), task, [&](skel::task_id, std::uint64_t i) { sum += i; },
             {.task = {.time_limit_seconds = 1.5}});
  if (sum != 3) throw std::logic_error("wrong");
}

// The source waits for the result of a task that it has produced, for ever on one thread.
void hang_in_source(skel::context& ctx) {
  auto const next = [](std::uint64_t i) {
    if (i > 0) hang();
    return i;
  };
  skel::farm(
      ctx, skel::on_root([next] {
        return std::views::iota(std::uint64_t{0}, std::uint64_t{10}) | std::views::transform(next);
      }),
      [](std::uint64_t i) { return i; }, [](skel::task_id, std::uint64_t) {});
}

// Two teams of two ranks; one rank dies, and the other one of its team waits for it inside MPI.
void hang_in_team(skel::context& ctx, bool me) {
  skel::farm(
      ctx, skel::indices(2),
      [me](skel::context& team, std::uint64_t i) {
        MPI_Comm const members = skel::communicator_of(team);
        sleep_ms(100);
        if (me) std::raise(SIGKILL);
        MPI_Barrier(members);
        return i;
      },
      [](skel::task_id, std::uint64_t) {}, {.task = {.team_size = 2}});
}

// The root is killed. Meanwhile one rank is inside a task or its own code for hours, the others are not.
void lose_root(skel::context& ctx, bool me, std::string const& where) {
  std::thread([root = ctx.is_root()] {
    sleep_ms(300);
    if (root) std::raise(SIGKILL);
  }).detach();
  if (me && where == "own code") hang();
  skel::farm(
      ctx, skel::indices(1'000'000),
      [me](std::uint64_t i) {
        if (me) hang();
        sleep_ms(1);
        return i;
      },
      skel::schedule::guided{}, [](skel::task_id, std::uint64_t) {});
}

using act = std::function<void(skel::context&, bool me)>;

std::map<std::string, act> const acts{
    {"well", [](auto& ctx, bool) { farm_of(ctx, 20, 1); }},
    {"threads", [](auto& ctx, bool) { std::printf("rank %d threads %d\n", ctx.rank(), ctx.threads()); }},
    {"idle", [](auto& ctx, bool) { idle(ctx); }},
    {"busy-root", [](auto& ctx, bool) { busy_root(ctx); }},
    // One rank reports bad usage. The others are in a farm, in their own code before a farm, or never in one.
    {"usage",
     [](auto& ctx, bool me) {
       if (me) throw skel::usage_error("rank " + std::to_string(ctx.rank()) + " says no");
       farm_of(ctx, 1000, 10);
     }},
    {"usage-later",
     [](auto& ctx, bool me) {
       farm_of(ctx, 20, 1);
       if (me) {
         sleep_ms(200);
         throw skel::usage_error("rank " + std::to_string(ctx.rank()) + " says no");
       }
       farm_of(ctx, 100'000, 1);
     }},
    {"usage-own-code",
     [](auto& ctx, bool me) {
       if (me) throw skel::usage_error("rank " + std::to_string(ctx.rank()) + " says no");
       sleep_ms(500);
       farm_of(ctx, 1000, 10);
     }},
    {"usage-no-farm",
     [](auto& ctx, bool me) {
       if (me) throw skel::usage_error("rank " + std::to_string(ctx.rank()) + " says no");
     }},
    {"usage-all",
     [](auto& ctx, bool) { throw skel::usage_error("rank " + std::to_string(ctx.rank()) + " says no"); }},
    {"usage-but-root",
     [](auto& ctx, bool) {
       if (!ctx.is_root()) throw skel::usage_error("rank " + std::to_string(ctx.rank()) + " says no");
     }},
    {"excluded",
     [](auto& ctx, bool) {
       skel::farm(
           ctx, skel::on_root([] { return std::vector<int>{1}; }), [](int i) { return i; },
           skel::schedule::blocks{}, [](skel::task_id, int) {});
     }},
    {"escape",
     [](auto& ctx, bool me) {
       if (me) throw std::runtime_error("it rains");
       farm_of(ctx, 1000, 10);
     }},
    {"escape-int",
     [](auto& ctx, bool me) {
       if (me) throw 42;
       farm_of(ctx, 1000, 10);
     }},
    {"task",
     [](auto& ctx, bool) {
       skel::farm(
           ctx, skel::indices(100),
           [](std::uint64_t i) {
             if (i == 37) throw std::runtime_error("bad scene");
             return i;
           },
           skel::schedule::guided{}, [](skel::task_id, std::uint64_t) {});
     }},
    {"mpi",
     [](auto& ctx, bool me) {
       if (me)
         skel::detail::context_access::engine_of(ctx).wires().carrier().send(1000, {});
       else
         farm_of(ctx, 1000, 10);
     }},
    {"exit-in-task", [](auto& ctx, bool) { exit_in(ctx, "task"); }},
    {"exit-in-sink", [](auto& ctx, bool) { exit_in(ctx, "sink"); }},
    {"exit-in-merge", [](auto& ctx, bool) { exit_in(ctx, "merge"); }},
    {"exit-in-body", [](auto&, bool) { std::exit(0); }},
    {"finalize",
     [](auto& ctx, bool) {
       farm_of(ctx, 10, 0);
       MPI_Finalize();
       farm_of(ctx, 10, 0);
     }},
    {"init",
     [](auto& ctx, bool) {
       farm_of(ctx, 10, 0);
       MPI_Init(nullptr, nullptr);
       farm_of(ctx, 10, 0);
     }},
    {"nested",
     [](auto& ctx, bool) {
       skel::farm(
           ctx, skel::indices(20),
           [&](std::uint64_t i) {
             farm_of(ctx, 5, 0);
             return i;
           },
           skel::schedule::guided{}, [](skel::task_id, std::uint64_t) {});
     }},
    {"schedule", [](auto& ctx, bool me) { disagree(ctx, me, "schedule"); }},
    {"tasks", [](auto& ctx, bool me) { disagree(ctx, me, "tasks"); }},
    {"types", [](auto& ctx, bool me) { disagree(ctx, me, "types"); }},
    {"one-call-less",
     [](auto& ctx, bool me) {
       farm_of(ctx, 10, 0);
       if (!me) farm_of(ctx, 10, 0);
     }},
    {"one-call-less-early",  // its farewell arrives between the calls of the others
     [](auto& ctx, bool me) {
       farm_of(ctx, 10, 0);
       if (me) return;
       sleep_ms(1000);
       farm_of(ctx, 10, 0);
     }},
    {"one-call-more",
     [](auto& ctx, bool me) {
       farm_of(ctx, 10, 0);
       if (me) farm_of(ctx, 10, 0);
     }},
    {"hang-outside",
     [](auto& ctx, bool me) {
       if (me) hang();
       farm_of(ctx, 100, 1);
     }},
    {"hang-outside-teams",
     [](auto& ctx, bool me) {
       if (me) hang();
       skel::farm(
           ctx, skel::indices(10), [](skel::context&, std::uint64_t i) { return i; },
           [](skel::task_id, std::uint64_t) {}, {.task = {.team_size = 2}});
     }},
    {"hang-in-task", [](auto& ctx, bool me) { hang_in(ctx, me, "task"); }},
    {"hang-in-sink", [](auto& ctx, bool me) { hang_in(ctx, me, "sink"); }},
    {"hang-in-packing", [](auto& ctx, bool me) { hang_in(ctx, me, "packing"); }},
    {"hang-in-source", [](auto& ctx, bool) { hang_in_source(ctx); }},
    {"hang-in-team", [](auto& ctx, bool me) { hang_in_team(ctx, me); }},
    {"overrun", [](auto& ctx, bool me) { hang_in(ctx, me, "task", {.task = {.time_limit_seconds = 0.5}}); }},
    {"stopped", [](auto& ctx, bool) { stop_in_task(ctx); }},
    {"lose-root-in-task", [](auto& ctx, bool me) { lose_root(ctx, me, "task"); }},
    {"lose-root-in-own-code", [](auto& ctx, bool me) { lose_root(ctx, me, "own code"); }},
};

// With an MPI of its own, over ranks in reverse order. The first `losses` attempts lose their roots.
int survive(int argc, char** argv, int losses) {
  int given = MPI_THREAD_SINGLE, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  int const code = skel::survive(reversed, [&](skel::context& ctx) {
    std::uint64_t sum = 0;
    int heard = 0, ranks = 0;
    auto const [report] = skel::farm(
        ctx, skel::indices(1000), [](std::uint64_t i) { return i * i; },
        [&](skel::task_id, std::uint64_t square) {
          sum += square;
          if (++heard == 300 && ctx.attempt() <= losses) std::raise(SIGKILL);
        });
    int const one = 1;
    MPI_Allreduce(&one, &ranks, 1, MPI_INT, MPI_SUM, skel::communicator_of(ctx));
    if (ctx.is_root())
      std::printf("%llu on %d ranks, attempt %d, rank %d\n", static_cast<unsigned long long>(sum), ranks,
                  report.attempt, rank);
    return 7;
  });
  std::printf("returned %d\n", code);
  MPI_Comm_free(&reversed);
  MPI_Finalize();
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  std::string const what = argc > 1 ? argv[1] : "well";
  int const who = argc > 2 ? std::atoi(argv[2]) : 0;
  if (what == "survive") return survive(argc, argv, who);
  if (what == "init-before") MPI_Init(&argc, &argv);
  auto const body = [&](skel::context& ctx) -> int {
    bool const me = ctx.rank() == who;
    if (what == "return") return me ? std::atoi(argv[3]) : 0;
    if (what == "return-rank") return 10 + ctx.rank();
    if (what == "return-early") {
      if (me) return 4;
      farm_of(ctx, 10, 0);
    } else if (what == "return-and-fail") {
      if (!me) return 4;
      throw std::runtime_error("it rains");
    } else if (acts.contains(what)) {
      acts.at(what)(ctx, me);
    }
    return 0;
  };
  int const code = skel::run_main(argc, argv, body);
  if (what == "init-before") MPI_Finalize();
  return what == "twice" && code == 0 ? skel::run_main(argc, argv, body) : code;
}
