// Contexts over communicators of an MPI program that is already running. Argument: the thread level.
#include <boost/mpi.hpp>
#include <boost/mpi/collectives.hpp>
#include <cstdio>
#include <functional>
#include <optional>
#include <ranges>
#include <thread>

#include "check.hpp"
#include "skel/skel.hpp"

namespace {

namespace mpi = boost::mpi;
using test::check;
using test::check_equal;

skel::context_options options(int threads = 1) {
  skel::context_options o;
  o.threads = threads;
  o.quiet = true;
  return o;
}

std::uint64_t sum_of(skel::context& ctx, std::uint64_t n, std::string const& schedule = "guided") {
  std::uint64_t total = 0;
  skel::farm(
      ctx, skel::indices(n), [](std::uint64_t i) { return i; }, skel::any_schedule(schedule),
      skel::reduced(total, [](std::uint64_t a, std::uint64_t b) { return a + b; }));
  return total;
}

void over_the_world(mpi::communicator const& world) {
  for (int const threads : {1, 2}) {
    skel::context ctx(world, options(threads));
    check_equal(ctx.rank(), world.rank(), "rank");
    check_equal(ctx.size(), world.size(), "size");
    for (auto const* how : {"blocks", "interleaved", "first-come", "guided", "hybrid"}) {
      auto const total = sum_of(ctx, 5000, how);
      if (ctx.is_root()) check_equal(total, 12497500U, how);
    }
  }
}

// The user's messages, with any tag, arrive unchanged while farms run.
void messages_of_the_user(mpi::communicator const& world) {
  int const next = (world.rank() + 1) % world.size();
  int const before = (world.rank() + world.size() - 1) % world.size();
  skel::context ctx(world, options());
  for (auto const& c : {world, ctx.communicator()}) {
    std::vector<mpi::request> sent;
    std::vector<int> values(20);  // MPI may read them until the requests are complete
    for (int tag = 0; tag < 20; ++tag) {
      auto& value = values[static_cast<std::size_t>(tag)] = 1000 * tag + world.rank();
      sent.push_back(c.isend(next, tag, value));
    }
    auto const total = sum_of(ctx, 3000);
    if (ctx.is_root()) check_equal(total, 4498500U, "farm with the user's messages under way");
    for (int tag = 19; tag >= 0; --tag) {
      int got = 0;
      c.recv(before, tag, got);
      check_equal(got, 1000 * tag + before, "user's message");
    }
    mpi::wait_all(sent.begin(), sent.end());
  }
}

// A team has one communicator, whose copies a user may keep.
void communicator_of_a_team(mpi::communicator const& world) {
  mpi::communicator kept;
  {
    skel::context ctx(world, options());
    auto half = ctx.split(ctx.rank() % 2);
    kept = half.communicator();
    check(&half.communicator() == &half.communicator(), "one communicator");
    check_equal(kept.size(), half.size(), "size of a team");
    check_equal(kept.rank(), half.rank(), "rank in a team");
  }
  check_equal(mpi::all_reduce(kept, 1, std::plus<>()), kept.size(), "a sum after the context");
}

// Only the even ranks form a context; the odd ones use MPI for something else at the same time.
void over_a_part(mpi::communicator const& world) {
  bool const even = world.rank() % 2 == 0;
  auto const part = world.split(even ? 0 : 1);
  if (even) {
    skel::context ctx(part, options());
    check_equal(ctx.rank(), world.rank() / 2, "rank among the even ones");
    auto const total = sum_of(ctx, 2000);
    if (ctx.is_root()) check_equal(total, 1999000U, "farm of the even ranks");
  } else {
    int sum = 0;
    mpi::all_reduce(part, 1, sum, std::plus<>());
    check_equal(sum, world.size() / 2, "all_reduce of the odd ranks");
  }
}

// Rank 0 of the communicator is the root, whatever its rank in the world.
void ranks_in_another_order(mpi::communicator const& world) {
  auto const reversed = world.split(0, world.size() - world.rank());
  skel::context ctx(reversed, options());
  check_equal(ctx.is_root(), world.rank() == world.size() - 1, "the last rank of the world is the root");
  auto const total = sum_of(ctx, 2000);
  if (ctx.is_root()) check_equal(total, 1999000U, "farm with ranks reversed");
}

void two_contexts_at_once(mpi::communicator const& world) {
  skel::context one(world, options());
  skel::context two(world.split(0, -world.rank()), options(2));
  for (std::uint64_t i = 1; i < 20; ++i) {
    auto const a = sum_of(one, 100 * i);
    auto const b = sum_of(two, 10 * i);
    if (one.is_root()) check_equal(a, 100 * i * (100 * i - 1) / 2, "first context");
    if (two.is_root()) check_equal(b, 10 * i * (10 * i - 1) / 2, "second context");
  }
}

// With MPI_THREAD_SERIALIZED two threads may run farms, each on its own context.
void two_threads(mpi::communicator const& world) {
  if (mpi::environment::thread_level() < mpi::threading::serialized) return;
  skel::context one(world, options());
  skel::context two(world, options());
  std::exception_ptr failed;
  std::thread other([&] {
    try {
      for (int i = 0; i < 20; ++i) {
        auto const total = sum_of(two, 1000);
        if (two.is_root()) check_equal(total, 499500U, "farm in the other thread");
      }
    } catch (...) {
      failed = std::current_exception();
    }
  });
  for (int i = 0; i < 20; ++i) {
    auto const total = sum_of(one, 2000);
    if (one.is_root()) check_equal(total, 1999000U, "farm beside another thread's");
  }
  other.join();
  if (failed) std::rethrow_exception(failed);
}

// Messages longer than the limit are sent in pieces: results, tasks, and more pieces than may be
// unacknowledged.
void messages_in_pieces(mpi::communicator const& world) {
  for (std::size_t const largest : {1, 100, 4096}) {
    auto o = options();
    o.largest_message = largest;
    skel::context ctx(world, o);
    std::size_t const length = largest == 1 ? 60 : 10000;
    auto open = [&] {
      return std::views::iota(0, 20) |
             std::views::transform([&](int i) { return std::vector<int>(length, i); });
    };
    std::vector<std::vector<int>> got;
    auto const r = skel::farm(ctx, skel::on_root(open), [](std::vector<int> const& v) { return v; },
                              skel::schedule::first_come{}, skel::into(got), {.root_works = false})
                       .report;
    if (!ctx.is_root()) continue;
    for (int i = 0; i < 20; ++i)
      check(got.at(static_cast<std::size_t>(i)) == std::vector<int>(length, i), "a message in pieces");
    if (ctx.size() > 1) check(r.messages > 2 * 20 * 4 * length / (largest + 1), "pieces are small");
  }
}

void errors_leave_all_usable(mpi::communicator const& world) {
  skel::context ctx(world, options());
  auto const e = test::thrown_by<skel::task_error>(
      [&] {
        skel::farm(
            ctx, skel::indices(100),
            [](std::uint64_t i) {
              if (i == 99) throw std::runtime_error("last");
              return i;
            },
            skel::schedule::blocks{}, [](skel::task_id, std::uint64_t) {});
      },
      "a throwing task");
  check_equal(e.rank(), world.size() - 1, "rank of the last task");
  auto const total = sum_of(ctx, 100);
  if (ctx.is_root()) check_equal(total, 4950U, "farm after an error");
}

// A mismatch between ranks ends the call on all of them, and the context remains usable for the next call.
void ranks_that_disagree(mpi::communicator const& world) {
  if (world.size() == 1) return;
  skel::context ctx(world, options());
  auto const e = test::thrown_by<skel::protocol_error>(
      [&] { sum_of(ctx, world.rank() == world.size() - 1 ? 11 : 10); }, "ranks that disagree");
  check(test::contains(e.what(), "rank " + std::to_string(world.size() - 1) + " made another skeleton call"),
        e.what());
  auto const total = sum_of(ctx, 10);
  if (ctx.is_root()) check_equal(total, 45U, "farm after a mismatch");
}

// A context over MPI_COMM_NULL is refused.
void no_communicator(mpi::communicator const& world) {
  mpi::communicator const nothing(MPI_COMM_NULL, mpi::comm_attach);
  auto const e = test::thrown_by<skel::usage_error>([&] { skel::context const ctx(nothing, options()); },
                                                    "a context without a communicator");
  check(test::contains(e.what(), "found MPI_COMM_NULL"), e.what());
  check_equal(mpi::all_reduce(world, 1, std::plus<>()), world.size(), "MPI is usable afterwards");
}

// Calls MPI_Finalize before the context is destroyed.
void after_the_end(skel::context& ctx) {
  auto const e = test::thrown_by<skel::usage_error>([&] { sum_of(ctx, 10); }, "a farm after MPI_Finalize");
  check_equal(e.what(), "MPI has ended: skeleton calls must come before MPI_Finalize", "text");
  auto const again = test::thrown_by<skel::usage_error>(
      [&] { skel::context const other(mpi::communicator(), options()); }, "a context after MPI_Finalize");
  check_equal(again.what(), e.what(), "text");
}

void before_the_beginning() {
  auto const e = test::thrown_by<skel::usage_error>(
      [&] { skel::context const ctx(mpi::communicator(), options()); }, "a context before MPI_Init");
  check(test::contains(e.what(), "call MPI_Init_thread before"), e.what());
}

// A program that wants one thread to call MPI computes with one, unless it asks for more.
void threads_by_level(mpi::communicator const& world) {
  bool const any = mpi::environment::thread_level() >= mpi::threading::serialized;
  auto o = options(0);
  int most = 0;
  {
    skel::context const ctx(world, o);
    most = ctx.threads();
    if (!any) check_equal(most, 1, "threads by default");
  }
  o.threads = 3;
  check_equal(skel::context(world, o).threads(), 3, "threads on request");
  if (any) return;
  std::string text;
  std::thread([&] {
    try {
      skel::context const ctx(world, options());
    } catch (skel::usage_error const& e) {
      text = e.what();
    }
  }).join();
  check(test::contains(text, "or the thread that has started MPI"), "a context on another thread");
}

void run(mpi::communicator const& world) {
  threads_by_level(world);
  no_communicator(world);
  over_the_world(world);
  messages_of_the_user(world);
  communicator_of_a_team(world);
  over_a_part(world);
  ranks_in_another_order(world);
  two_contexts_at_once(world);
  two_threads(world);
  messages_in_pieces(world);
  errors_leave_all_usable(world);
  ranks_that_disagree(world);
  std::optional<skel::context> moved(skel::context(world, options()));
  skel::context target = std::move(*moved);
  moved.reset();
  if (target.is_root()) static_cast<void>(0);
  check_equal(mpi::all_reduce(world, 1, std::plus<>()), world.size(), "MPI is usable afterwards");
}

}  // namespace

int main(int argc, char** argv) {
  std::string const level = argc > 1 ? argv[1] : "single";
  auto const asked = level == "serialized" ? mpi::threading::serialized
                     : level == "funneled" ? mpi::threading::funneled
                     : level == "multiple" ? mpi::threading::multiple
                                           : mpi::threading::single;
  try {
    before_the_beginning();
    std::optional<mpi::environment> environment(std::in_place, argc, argv, asked);
    std::optional<skel::context> outlives;
    try {
      mpi::communicator const world;
      run(world);
      outlives.emplace(world, options());
      auto const total = sum_of(*outlives, 10);
      if (outlives->is_root()) check_equal(total, 45U, "farm before MPI_Finalize");
    } catch (std::exception const& e) {
      std::fprintf(stderr, "%s: %s\n", level.c_str(), e.what());
      mpi::environment::abort(1);
    }
    environment.reset();
    after_the_end(*outlives);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s: %s\n", level.c_str(), e.what());
    return 1;
  }
  return 0;
}
