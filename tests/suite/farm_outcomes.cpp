// Sinks that take outcomes: the result of a task, or why it has none.
#include <algorithm>

#include "suite.hpp"

namespace suite::outcomes {

namespace {

constexpr std::uint64_t tasks = 200;
bool fails(std::uint64_t i) { return i % 7 == 3 || i == tasks - 1; }
std::string text_of(std::uint64_t i) { return "no result of " + std::to_string(i); }

auto const partly = [](std::uint64_t i) {
  if (fails(i)) throw std::runtime_error(text_of(i));
  return mix(i);
};
skel::farm_options const collecting{.on_error = skel::on_error::collect{}};

// What the sink of this object receives, by task.
struct table {
  std::vector<skel::outcome<std::uint64_t>> all = std::vector<skel::outcome<std::uint64_t>>(tasks);
  std::vector<skel::task_id> order{};
  void operator()(skel::task_id i, skel::outcome<std::uint64_t> o) {
    all.at(i) = std::move(o);
    order.push_back(i);
  }
};

void check_all(std::vector<skel::outcome<std::uint64_t>> const& all, skel::report const& r) {
  std::uint64_t failed = 0;
  for (std::uint64_t i = 0; i < tasks; ++i) {
    CHECK(all.at(i).has_value() == !fails(i));
    if (!fails(i)) {
      CHECK(*all[i] == mix(i));
      continue;
    }
    auto const& why = all[i].error();
    auto const& same = r.failed_tasks.at(failed++);
    CHECK(why.task == i);
    CHECK(why.text == text_of(i));
    CHECK(why.rank == same.rank);
    CHECK(why.times == 1);
    CHECK(same.task == i);
    CHECK(contains(thrown_by<skel::task_error>([&] { static_cast<void>(all[i].value()); }).what(), why.text));
  }
  CHECK(failed == r.failed_tasks.size());
  CHECK(r.tasks == tasks - failed);
}

}  // namespace

TEST_CASE("a sink hears of results and of failures, each task once", "[farm][outcomes]") {
  for (auto const* name : schedules) {
    INFO(name);
    skel::any_schedule const how(name);
    on_ranks([&](skel::context& ctx) {
      table any, in_order;
      auto const r = skel::farm(ctx, skel::indices(tasks), partly, how, any, collecting).report;
      auto const s =
          skel::farm(ctx, skel::indices(tasks), partly, how, skel::ordered(in_order), collecting).report;
      CHECK(any.order.size() == (ctx.is_root() ? tasks : 0));
      CHECK(in_order.order.size() == any.order.size());
      CHECK(std::is_sorted(in_order.order.begin(), in_order.order.end()));
      if (!ctx.is_root()) return;
      check_all(any.all, r);
      check_all(in_order.all, s);
    });
  }
}

TEST_CASE("a vector holds outcomes", "[farm][outcomes]") {
  on_ranks([](skel::context& ctx) {
    std::vector<skel::outcome<std::uint64_t>> all;
    auto const r = skel::farm(ctx, skel::indices(tasks), partly, skel::into(all), collecting).report;
    if (ctx.is_root()) check_all(all, r);
  });
}

TEST_CASE("a sink that throws on the last failure ends the run with an error", "[farm][outcomes]") {
  on_ranks([](skel::context& ctx) {
    auto const only_last = [](std::uint64_t i) {
      if (i == tasks - 1) {
        spend(std::chrono::milliseconds(20));  // the others have ended
        throw std::runtime_error("bad");
      }
      return i;
    };
    auto const throws = [](skel::task_id, skel::outcome<std::uint64_t> const& o) {
      if (!o) throw std::runtime_error("no result, no table");
    };
    auto const e = thrown_by<skel::sink_error>(
        ctx, [&] { skel::farm(ctx, skel::indices(tasks), only_last, throws, collecting); });
    CHECK(e.task() == tasks - 1);
    CHECK(e.text() == "no result, no table");
    usable(ctx);
  });
}

TEST_CASE("a failure may end the run", "[farm][outcomes]") {
  on_ranks([](skel::context& ctx) {
    std::uint64_t heard = 0;
    auto const until = [&](skel::task_id i, skel::outcome<std::uint64_t> const& o) {
      ++heard;
      CHECK(o.has_value() == (i < 3));
      return o ? skel::results::flow::go_on : skel::results::flow::stop;
    };
    auto const r = skel::farm(ctx, skel::indices(tasks), partly, skel::ordered(until), collecting).report;
    CHECK(r.stopped_early);
    if (!ctx.is_root()) return;
    CHECK(heard == 4);
    CHECK(r.tasks == 3);
  });
}

}  // namespace suite::outcomes
