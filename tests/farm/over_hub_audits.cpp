// Farms over several ranks in one process that audit their results, with a rank that flips bits.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <limits>

#include "fewer.hpp"
#include "over_hub.hpp"

using namespace farm_test;

namespace {

struct timed_result {
  std::uint64_t value = 0;
  double seconds = 0;  // differs between ranks
};

}  // namespace

template <>
struct skel::transfer_traits<timed_result> {
  static void pack(timed_result const& r, std::vector<std::byte>& out) {
    skel::pack(r.value, out);
    skel::pack(r.seconds, out);
  }
  static void pack_compared(timed_result const& r, std::vector<std::byte>& out) { skel::pack(r.value, out); }
  static timed_result unpack(std::span<std::byte const>& in) {
    auto const value = skel::unpack<std::uint64_t>(in);
    return {value, skel::unpack<double>(in)};
  }
};

namespace {

constexpr std::uint64_t many = test::fewer_if_slow(20000);
constexpr std::uint64_t one_in = test::fewer_if_slow(1000);

// Flips a bit in one of about `one_in` results on rank `liar`.
struct flips {
  int liar = 2;
  static bool hits(std::uint64_t id) { return (work(id) >> 32) % one_in == 1; }
  std::uint64_t operator()(std::uint64_t id, skel::worker_info const& where) const {
    return work(id) ^ (where.rank == liar && hits(id) ? 32U : 0U);
  }
};

bool blames_only(skel::report const& r, int rank) {
  auto const& list = r.audit->at_fault;
  return list.size() == 1 && list[0].rank == rank;
}

std::string refusal(std::function<void(skel::context&)> const& call, int ranks = 3) {
  hub::job job(ranks, 1);
  job.run(call);
  for (int r = 1; r < ranks; ++r) CHECK(job.error(r) == job.error(0));
  return job.error(0);
}

}  // namespace

TEST_CASE(
    "a rank that flips one bit in 1 of 1,000 results is found with every schedule, and nothing is wrong") {
  for (bool concentrated : {false, true}) {
    int const threads = concentrated ? 1 : 2;
    hub::job job(4, threads);
    for (auto const& how : schedules()) {
      INFO(threads << " threads, " << how.to_string() << (concentrated ? ", concentrated" : ""));
      bool const dealt = how.to_string() == "blocks" || how.to_string() == "interleaved";
      skel::farm_options options;
      options.audit = dealt ? 0.75 : 1;  // rank 2 may run few tasks if they are not dealt
      if (concentrated) options.results = skel::results::concentrated();
      std::vector<std::uint64_t> got, in_order;
      skel::report report;
      std::atomic<bool> flipped = false;
      auto const f = [&](std::uint64_t id, skel::worker_info const& where) {
        if (where.rank == 2 && flips::hits(id)) flipped = true;
        return flips{}(id, where);
      };
      job.run_well([&](skel::context& ctx) {
        auto r = skel::farm(ctx, skel::indices(many), f, how, skel::into(got), options).report;
        if (ctx.is_root()) report = std::move(r);
        auto const keep = [&](skel::task_id, std::uint64_t x) { in_order.push_back(x); };
        skel::farm(ctx, skel::indices(many), flips{}, how, skel::ordered(keep), options);
      });
      CHECK(report.tasks == many);
      CHECK((got == expected(many)));
      CHECK((in_order == expected(many)));
      REQUIRE(flipped == blames_only(report, 2));
      CHECK((flipped || !dealt));
      if (flipped) CHECK(report.audit->at_fault[0].in_sink.empty());
    }
  }
}

TEST_CASE("the same tasks are audited in every run") {
  constexpr std::uint64_t tasks = 20000;
  hub::job job(3, 2);
  std::optional<std::uint64_t> checked;
  for (auto const& how : schedules()) {
    INFO(how.to_string());
    std::vector<std::uint64_t> got;
    job.run([&](skel::context& ctx) {
      auto const r =
          skel::farm(ctx, skel::indices(tasks), work, how, skel::into(got), {.audit = 0.01}).report;
      if (!ctx.is_root()) return;
      CHECK(r.audit->at_fault.empty());
      CHECK(r.audit->unchecked == 0);
      CHECK(r.audit->checked == checked.value_or(r.audit->checked));
      checked = r.audit->checked;
    });
    CHECK((got == expected(tasks)));
  }
  CHECK((checked > 150 && checked < 250));
}

TEST_CASE("with check_tasks a result that depends on its rank ends the call") {
  hub::job job(3, 1, std::size_t{1} << 30, {}, {},
               [](int, skel::context_options& o) { o.check.tasks = true; });
  std::vector<int> parts;
  auto const own_part = [](std::uint64_t, skel::worker_info const& where) { return where.rank; };
  job.run([&](skel::context& ctx) {
    skel::farm(ctx, skel::indices(3), own_part, skel::schedule::interleaved{}, skel::into(parts));
  });
  for (int r = 0; r < 3; ++r)
    CHECK(job.error(r).find("all differ: it must be deterministic") != std::string::npos);

  std::vector<std::uint64_t> got;
  std::uint64_t sum = 0;
  skel::report checked, unchecked;
  job.run_well([&](skel::context& ctx) {
    auto r = skel::farm(ctx, skel::indices(100), work, skel::into(got)).report;
    auto const once =
        skel::farm(ctx, skel::indices(3), own_part, skel::into(parts), {.task = {.run_once = true}}).report;
    auto const add = skel::reduced(sum, std::plus<>());
    auto merged = skel::farm(
                      ctx, skel::indices(10), [](std::uint64_t i) { return i; }, add)
                      .report;
    if (ctx.is_root()) {
      checked = std::move(r);
      unchecked = once.audit ? once : std::move(merged);
    }
  });
  CHECK((got == expected(100)));
  CHECK(sum == 45);
  CHECK(checked.audit.value().checked == 100);
  CHECK_FALSE(unchecked.audit);
}

TEST_CASE("the root is found at fault, and serves on") {
  hub::job job(3, 1);
  for (char const* how : {"auto", "blocks", "ring", "first-come"}) {
    INFO(how);
    std::vector<std::uint64_t> got;
    auto const report = job.run_well([&](skel::context& ctx) {
      return skel::farm(ctx, skel::indices(many), flips{0}, skel::any_schedule(how), skel::into(got),
                        {.audit = 1})
          .report;
    });
    CHECK((got == expected(many)));
    CHECK(blames_only(report, 0));
  }
}

TEST_CASE("with a stream or a window, the report names the results of the rank at fault that the sink had") {
  hub::job job(4, 1);
  for (std::string const how : {"auto", "first-come:chunk=3", "guided", "ring", "window"}) {
    INFO(how);
    std::vector<std::uint64_t> got(many);
    auto const report = job.run_well([&](skel::context& ctx) {
      auto const keep = [&](skel::task_id id, std::uint64_t x) { got[id] = x; };
      skel::farm_options options;
      options.audit = 0.5;
      if (how == "window") options.results.window = 50;
      auto r = how == "window"
                   ? skel::farm(ctx, skel::indices(many), flips{}, keep, options)
                   : skel::farm(ctx, counting(many), flips{}, skel::any_schedule(how), keep, options);
      return std::move(r.report);
    });
    CHECK(report.tasks == many);
    for (std::uint64_t id = 0; id < many; ++id) {
      if (got[id] == work(id)) continue;
      CHECK(flips::hits(id));
      if (report.audit->at_fault.empty()) continue;
      auto const& in_sink = report.audit->at_fault[0].in_sink;
      CHECK(std::any_of(in_sink.begin(), in_sink.end(),
                        [&](auto const& i) { return i.first <= id && id <= i.second; }));
    }
  }
}

TEST_CASE("two ranks that differ end the run, and so do three") {
  std::vector<std::uint64_t> got;
  auto const two = refusal(
      [&](skel::context& ctx) {
        skel::farm(
            ctx, skel::indices(4), [](std::uint64_t, skel::worker_info const& w) { return w.rank; },
            [](skel::task_id, int) {}, {.audit = 1});
      },
      2);
  CHECK(two.find("its results on ranks ") != std::string::npos);
  CHECK(two.find(" differ, and there is no third rank that could settle which is right") !=
        std::string::npos);
  auto const three = refusal([&](skel::context& ctx) {
    skel::farm(
        ctx, skel::indices(4), [](std::uint64_t, skel::worker_info const& w) { return w.rank; },
        [](skel::task_id, int) {}, {.audit = 1});
  });
  CHECK(three.find(" all differ: it must be deterministic") != std::string::npos);
}

TEST_CASE("only what the type calls compared is compared") {
  hub::job job(3, 1);
  std::vector<timed_result> got;
  job.run_well([&](skel::context& ctx) {
    auto const f = [](std::uint64_t id, skel::worker_info const& w) {
      return timed_result{work(id), 0.5 + w.rank};
    };
    auto const r = skel::farm(ctx, skel::indices(100), f, skel::into(got), {.audit = 1}).report;
    if (ctx.is_root()) CHECK(r.audit->checked == 100);
  });
  REQUIRE(got.size() == 100);
  for (std::uint64_t id = 0; id < 100; ++id) {
    CHECK(got[id].value == work(id));
    CHECK(got[id].seconds > 0);
  }
}

TEST_CASE("bytes of padding are no difference") {
  struct padded {
    char tag = 0;
    std::uint64_t value = 0;
  };
  hub::job job(3, 1);
  std::vector<padded> got;
  job.run_well([&](skel::context& ctx) {
    auto const f = [](std::uint64_t id, skel::worker_info const& w) {
      padded p;
      std::memset(static_cast<void*>(&p), w.rank, sizeof p);
      p.tag = 'x';
      p.value = work(id);
      return p;
    };
    auto const r = skel::farm(ctx, skel::indices(100), f, skel::into(got), {.audit = 1}).report;
    if (ctx.is_root()) CHECK(r.audit->checked == 100);
    auto const list = [&](std::uint64_t id, skel::worker_info const& w) { return std::vector{f(id, w)}; };
    std::vector<std::vector<padded>> lists;
    auto const again = skel::farm(ctx, skel::indices(100), list, skel::into(lists), {.audit = 1}).report;
    if (ctx.is_root()) CHECK(again.audit->checked == 100);
  });
  CHECK(got.size() == 100);
}

TEST_CASE("audits that cannot be done are refused") {
  std::uint64_t total = 0;
  auto const with = [](skel::farm_options const& o, int ranks = 3) {
    return refusal(
        [&](skel::context& ctx) {
          skel::farm(
              ctx, skel::indices(9), work, [](skel::task_id, std::uint64_t) {}, o);
        },
        ranks);
  };
  CHECK(with({.audit = 0.1}, 1) ==
        "farm: audit repeats tasks on another rank: expected at least 2 ranks that compute, found 1");
  CHECK(with({.root_works = false, .audit = 0.1}, 2) ==
        "farm: audit repeats tasks on another rank: expected at least 2 ranks that compute, found 1");
  CHECK(with({.audit = 1.5}) == "farm: audit is a share of the tasks, expected 0 to 1, found 1.5");
  CHECK(with({.audit = std::numeric_limits<double>::quiet_NaN()}) ==
        "farm: audit is a share of the tasks, expected 0 to 1, found nan");
  CHECK(with({.audit = 0.1, .task = {.run_once = true}}) ==
        "farm: audit runs some tasks twice, but run_once forbids that");
  CHECK(refusal([&](skel::context& ctx) {
          skel::farm(ctx, skel::indices(9), work, skel::reduced(total, std::plus<>()), {.audit = 0.1});
        }) ==
        "farm: audit compares results one by one, but a reduced sink merges them on each rank: use "
        "another sink, or no audit");
  CHECK(refusal([&](skel::context& ctx) {
          auto const f = [](skel::context&, std::uint64_t id) { return work(id); };
          skel::farm(ctx, skel::indices(9), f, [](skel::task_id, std::uint64_t) {},
                     {.audit = 0.1, .task = {.team_size = 2}});
        }) == "farm: audit repeats tasks on another rank, but these run on teams: use no audit");
}
