// The stores of bulk synchronous programs: damaged, of another program, on the ranks' own disks.
#include <atomic>
#include <map>
#include <stop_token>

#include "over_hub.hpp"
#include "skel/farm.hpp"

using namespace bsp_test;

TEST_CASE("a single rank commits while it computes") {
  store const where;
  bool committed = false;
  circle p;
  p.event = [&](int, std::uint64_t n) {
    if (n == 5) committed = where.wait_for_checkpoint();  // during the superstep
  };
  auto const e = run(1, p, where.options(false));
  CHECK(committed);
  CHECK(e.whole == expected());
  REQUIRE(e.run.checkpoint);
  CHECK(e.run.checkpoint->saved > 0);
  CHECK(e.run.checkpoint->failed == 0);
}

TEST_CASE("a run resumes after losing one directory and with a flipped bit in another") {
  store const where;
  run_until(3, circle{}, where, 20);
  std::filesystem::remove_all(where.directories[1]);
  std::filesystem::create_directory(where.directories[1]);
  int turned = 0;
  for (auto const& f : std::filesystem::directory_iterator(where.directories[2])) {
    auto bytes = test::read_file(f.path().string());
    if (bytes.size() < 100) continue;
    char& one = bytes[bytes.size() - 100];
    one = static_cast<char>(one ^ 4);
    test::write_file(f.path().string(), bytes);
    ++turned;
  }
  CHECK(turned > 0);
  auto const e = run(3, circle{}, where.options(true));
  for (auto const& text : e.errors) CHECK(text.empty());
  CHECK(e.whole == expected());
}

TEST_CASE("a run resumes from the ranks' own disks on the same, fewer or more ranks") {
  for (int const after : {3, 2, 5}) {
    INFO(after);
    store const where(3);
    run_until(3, splitting_circle{}, where, 20);
    auto const e = run(after, splitting_circle{}, where.options(true));
    for (auto const& text : e.errors) CHECK(text.empty());
    CHECK(e.whole == expected());
    REQUIRE(e.run.checkpoint);
    CHECK(e.run.checkpoint->restored_generation > 0);
  }
}

TEST_CASE("a damaged generation is reported and noted, and the previous one is resumed") {
  store const where;
  auto const two_manifests = [&] {
    auto const files = std::filesystem::directory_iterator(where.directories[0]);
    return std::count_if(begin(files), end(files), [](auto const& f) {
             auto const name = f.path().filename().string();
             return name.starts_with("manifest.") && name.find(".3-of-3.") != std::string::npos;
           }) >= 2;
  };
  auto first = where.options(false);
  std::stop_source stop;
  first.stop = stop.get_token();
  circle slow;
  slow.event = [&](int, std::uint64_t n) {
    if (n < 25) return std::this_thread::sleep_for(20ms);
    for (int i = 0; i == 0 || (i < 5 && !two_manifests()); ++i) std::this_thread::sleep_for(300ms);
    if (two_manifests()) stop.request_stop();  // the supersteps that follow last long enough
  };
  CHECK(run(3, slow, first).run.stopped_early);
  std::map<std::uint64_t, int> shards;  // by generation
  auto const generation_of = [](std::filesystem::path const& p, std::string const& part) {
    auto const name = p.filename().string();
    return name.starts_with("rank.") && name.find(part + "-of-3.") != std::string::npos
               ? std::stoull(name.substr(5))
               : 0;
  };
  for (auto const& d : where.directories)
    for (auto const& f : std::filesystem::directory_iterator(d))
      if (auto const g = generation_of(f.path(), "")) ++shards[g];
  // The run may have been stopped before all parts of its last generation were written.
  std::erase_if(shards, [](auto const& s) { return s.second < 3 * 4; });
  REQUIRE(shards.size() >= 2);
  auto const newest = shards.rbegin()->first, before = std::next(shards.rbegin())->first;
  for (auto const& d : where.directories)
    for (auto const& f : std::filesystem::directory_iterator(d)) {
      if (generation_of(f.path(), ".1") > newest) std::filesystem::remove(f.path());
      if (generation_of(f.path(), ".1") != newest) continue;
      auto bytes = test::read_file(f.path().string());  // both headers stay intact, so the shard looks valid
      char& one = bytes[bytes.size() - 100];
      one = static_cast<char>(one ^ 4);
      test::write_file(f.path().string(), bytes);
    }
  auto options = where.options(true);
  options.checkpoint->every_seconds = 1000;  // writes no checkpoint of its own
  auto const e = run(3, circle{}, options);
  for (auto const& text : e.errors) CHECK(text.empty());
  CHECK(e.whole == expected());
  REQUIRE(e.run.checkpoint);
  CHECK(e.run.checkpoint->restored_generation == before);
  int noted = 0;
  for (auto const& f : std::filesystem::directory_iterator(where.directories[0]))
    noted += f.path().filename().string().find("attempt") != std::string::npos ? 1 : 0;
  CHECK(noted == 2);
}

TEST_CASE("a run that cannot resume is refused even if the root can read its own part") {
  store const where;
  run_until(3, circle{}, where, 20);
  for (auto const& d : where.directories)
    for (auto const& f : std::filesystem::directory_iterator(d)) {
      if (f.path().filename().string().find(".1-of-3.") == std::string::npos) continue;
      auto bytes = test::read_file(f.path().string());  // both headers stay intact, so the shard looks valid
      char& one = bytes[bytes.size() - 100];
      one = static_cast<char>(one ^ 4);
      test::write_file(f.path().string(), bytes);
    }
  std::atomic<bool> began_anew{false};
  circle p;
  p.event = [&](int, std::uint64_t n) { began_anew = began_anew || n == 0; };
  auto const e = run(3, p, where.options(true));
  INFO(e.errors[0]);
  CHECK(e.errors[0].find("0 of 4 blocks") != std::string::npos);
  CHECK_FALSE(began_anew);
}

TEST_CASE("a run that was killed during its first checkpoint starts anew") {
  using resume = skel::checkpoint_options::resume_mode;
  for (auto const mode : {resume::if_there, resume::yes}) {
    store const where;
    run_until(3, splitting_circle{}, where, 20);
    // Leaves the log of calls and one part of a generation, which no run has committed.
    std::uint64_t oldest = ~std::uint64_t{0};
    for (bool const removes : {false, true})
      for (auto const& d : where.directories)
        for (auto const& f : std::filesystem::directory_iterator(d)) {
          auto const name = f.path().filename().string();
          if (name.starts_with(".") || name.find("-of-3.") == std::string::npos) continue;
          auto const number = std::stoull(name.substr(name.find('.') + 1));
          oldest = std::min<std::uint64_t>(oldest, number);
          if (removes &&
              (number != oldest || !name.starts_with("rank.") || name.find(".0-of-3.") == std::string::npos))
            std::filesystem::remove(f.path());
        }
    std::atomic<bool> began_anew{false};
    splitting_circle p;
    p.event = [&](int, std::uint64_t n) { began_anew = began_anew || n == 0; };
    auto options = where.options(true);
    options.checkpoint->resume = mode;
    auto const e = run(1, p, options);  // one rank: several would wait for one that is refused
    for (auto const& text : e.errors) CHECK(text.empty());
    CHECK(began_anew);
    CHECK(e.whole == expected());
    REQUIRE(e.run.checkpoint);
    CHECK(e.run.checkpoint->restored_generation == 0);
  }
}

TEST_CASE("a store of another program, version or problem is refused in one line") {
  store const where;
  run_until(2, circle{}, where, 20);
  auto const refusal = [&](auto const& change) {
    auto options = where.options(true);
    change(*options.checkpoint);
    return run(1, circle{}, options).errors[0];  // one rank: several need run_main to end together
  };
  auto const holds = where.directories[0] + ": contains generation ";
  for (auto const& text :
       {refusal([](auto& c) { c.program.name = "other"; }), refusal([](auto& c) { c.program.version = "2"; }),
        refusal([](auto& c) { c.problem = "square"; })}) {
    INFO(text);
    CHECK(text.starts_with(holds));
    CHECK(text.find(" of test_bsp 1") != std::string::npos);
    CHECK(text.ends_with(" use another store"));
  }
}

namespace {

// The same types, another result.
struct shifted_circle : circle {
  [[nodiscard]] state begin(int rank, int size) const {
    auto s = circle::begin(rank, size);
    for (auto& c : s.cells) ++c;
    return s;
  }
};

// Two bsp calls with a farm between them, which share a store.
struct three_calls {
  std::vector<std::uint64_t> first, second;
  std::atomic<int> tasks{0};
  bool stopped = false;

  three_calls(circle const& program, skel::bsp_options const& options) {
    hub::job job(3, 1);
    job.run_well([&](skel::context& ctx) {
      auto a = skel::bsp(ctx, program, options);
      std::uint64_t sum = 0;
      skel::farm_options farm;
      farm.checkpoint = options.checkpoint;
      skel::farm(
          ctx, skel::indices(50), [&](std::uint64_t i) { return ++tasks, i; },
          skel::reduced(sum, std::plus<>()), farm);
      auto later = options;
      later.stop = {};
      auto b = skel::bsp(ctx, shifted_circle{}, later);
      if (!ctx.is_root()) return;
      CHECK(sum == 50 * 49 / 2);
      stopped = a.report.stopped_early;
      first = a.value.whole;
      second = b.value.whole;
    });
  }
};

}  // namespace

TEST_CASE("bsp calls and farms that share a store have their own results") {
  store const where;
  auto options = where.options(false);
  options.checkpoint->resume = skel::checkpoint_options::resume_mode::if_there;
  std::vector<std::uint64_t> second;
  for (bool const again : {false, true, true}) {
    INFO(again);
    three_calls const calls(circle{}, options);
    CHECK(calls.first == expected());
    CHECK(calls.second != expected());
    if (again) CHECK(calls.second == second);
    CHECK(calls.tasks == (again ? 0 : 50));
    second = calls.second;
  }
}

TEST_CASE("what was saved of later calls is void when a bsp call goes on") {
  store const where;
  auto options = where.options(false);
  options.checkpoint->resume = skel::checkpoint_options::resume_mode::if_there;
  std::stop_source stop;
  auto stopping = options;
  stopping.stop = stop.get_token();
  circle program;
  program.event = [&](int, std::uint64_t n) {
    if (n == 12) stop.request_stop();
    linger(n);
  };
  three_calls const first(program, stopping);
  CHECK(first.stopped);
  CHECK(first.tasks == 50);
  three_calls const second(circle{}, options);
  CHECK(second.first == expected());
  CHECK(second.tasks == 50);
  CHECK(second.second == first.second);
}
