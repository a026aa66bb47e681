// Tests the ranks' own disks over several ranks in one process: files, repositories and whole runs,
// with losses.
#include "disks/rank_files.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "catch.hpp"
#include "checkpoint/call_store.hpp"
#include "checkpoint/increments.hpp"
#include "engine/context_access.hpp"
#include "observe/support.hpp"
#include "skel/error.hpp"
#include "skel/farm.hpp"
#include "skel/storage/repository.hpp"
#include "transport/hub_transport.hpp"

namespace {

using skel::detail::find_places;
using namespace std::chrono_literals;

std::vector<std::byte> some_bytes(std::size_t n) {
  std::vector<std::byte> b(n);
  for (std::size_t i = 0; i < n; ++i) b[i] = static_cast<std::byte>((i * 2654435761U) >> 11U);
  return b;
}

std::string as_text(std::vector<std::byte> const& b) {
  return {reinterpret_cast<char const*>(b.data()), b.size()};
}

skel::checkpoint_options at(std::vector<std::string> store) {
  skel::checkpoint_options c;
  c.code = "ida:2,2";
  c.store = std::move(store);
  c.program = {"test_rank_files", "1"};
  return c;
}

// Runs `what` on rank 0 while the other ranks only exchange messages, as in any skeleton call.
void on_root(hub::job& job, std::function<void(skel::detail::engine&)> const& what) {
  std::atomic<bool> done{false};
  job.run([&](skel::context& ctx) {
    auto& e = skel::detail::context_access::engine_of(ctx);
    if (!ctx.is_root()) {
      while (!done) {
        {
          std::lock_guard const lock(e.mutex());
          e.driver().progress();
        }
        std::this_thread::sleep_for(20us);
      }
      return;
    }
    try {
      what(e);
    } catch (...) {
      done = true;
      throw;
    }
    done = true;
  });
  CHECK(job.error(0).empty());
}

std::vector<std::string> files_in(std::string const& directory) {
  return skel::storage::real_file_system().list(directory);
}

// Numbers of the ranks whose disk holds a shard of the results of this generation.
std::vector<int> holders(test::temporary_directory const& root, int ranks, std::uint64_t generation) {
  std::vector<int> found;
  for (int r = 0; r < ranks; ++r)
    for (auto const& f : files_in(root.file("host" + std::to_string(r))))
      if (f.starts_with("results." + std::to_string(generation) + ".")) found.push_back(r);
  return found;
}

// Ranks of two clusters; that of the root has the first `in_first`.
hub::job clusters(int ranks, int in_first, std::string const& first, std::string const& second) {
  return hub::job(ranks, 1, std::size_t{1} << 30, {}, "", [=](int rank, skel::context_options& o) {
    o.host.cluster = rank < in_first ? first : second;
  });
}

std::string error_of(std::function<void()> const& what) { return test::error_text<skel::error>(what); }

}  // namespace

TEST_CASE("each host has one place, and a rank's name may be part of it") {
  test::temporary_directory const root;
  {
    hub::job job(3);
    on_root(job, [&](auto& e) {
      auto const s = find_places(e.disks(), at({"ranks:" + root.file("%h/%r") + "/", "/given"}));
      REQUIRE(s.places.size() == 4);
      for (int r = 0; r < 3; ++r) {
        auto const n = std::to_string(r);
        auto const& p = s.places[static_cast<std::size_t>(r)];
        CHECK(p.host == "host" + n);
        CHECK(p.directory == "host" + n + ":" + root.file("host" + n + "/" + n));
        CHECK(std::filesystem::is_directory(root.file("host" + n + "/" + n)));
      }
      CHECK(s.places[3] == skel::storage::place{"/given", "", false});
      CHECK(s.home == "host0");
    });
  }
  hub::job job(3, 1, std::size_t{1} << 30, {}, "one");
  on_root(job, [&](auto& e) {
    CHECK(find_places(e.disks(), at({"ranks:" + root.file("same")})).places.size() == 1);
    CHECK(find_places(e.disks(), at({"ranks:" + root.file("of-%r")})).places.size() == 3);
    CHECK(error_of([&] { std::ignore = find_places(e.disks(), at({"ranks:"})); }) ==
          "\"ranks:\": missing directory, expected ranks:DIR");
    CHECK(error_of([&] { std::ignore = find_places(e.disks(), at({"ranks:/x/%d"})); }) ==
          "\"/x/%d\": expected %h (host), %r (rank) or %%");
  });
}

TEST_CASE("one rank's host alone can have a place") {
  test::temporary_directory const root;
  hub::job job(3);
  on_root(job, [&](auto& e) {
    for (std::string const n : {"0", "2"}) {
      auto const s = find_places(e.disks(), at({"rank:" + n + ":" + root.file("of-%r"), "/given"}));
      REQUIRE(s.places.size() == 2);
      CHECK(s.places[0] == skel::storage::place{"host" + n + ":" + root.file("of-" + n), "host" + n, false});
      CHECK(s.places[1] == skel::storage::place{"/given", "", false});
    }
    CHECK_FALSE(std::filesystem::exists(root.file("of-1")));
    for (std::string const bad :
         {"rank:", "rank:/x", "rank:1", "rank:-1:/x", "rank:3:/x", "rank:99999999999:/x"})
      CHECK(error_of([&] { std::ignore = find_places(e.disks(), at({bad})); }) ==
            "\"" + bad + "\": expected rank:N:DIR with N from 0 to 2");
    CHECK(error_of([&] { std::ignore = find_places(e.disks(), at({"rank:1:"})); }) ==
          "\"rank:1:\": missing directory, expected rank:1:DIR");
  });
}

TEST_CASE("the root's disk takes the place of that of a lost rank") {
  test::temporary_directory const root;
  auto const options = at({"rank:1:" + root.file("%h")});
  hub::job job(3);
  on_root(job, [&](auto& e) {
    job.kill(1);
    auto const s = find_places(e.disks(), options);
    CHECK(s.places == std::vector{skel::storage::place{"host0:" + root.file("host0"), "host0", false}});
    CHECK(s.warning == "rank 1 is lost, and with its disk all checkpoints: rank 0 stores the next ones");
  });
}

TEST_CASE("a rank that has lost the root, and with it the store's only disk, says the former") {
  test::temporary_directory const root;
  for (std::string const n : {"0", "1"}) {
    hub::job job(3);
    job.run([&](skel::context& ctx) {
      if (ctx.rank() != 2) return;
      for (int const lost : {0, 1}) job.suspect(2, lost);
      auto& e = skel::detail::context_access::engine_of(ctx);
      std::ignore = find_places(e.disks(), at({"rank:" + n + ":" + root.file("%h")}));
    });
    REQUIRE(job.exception(2));
    CHECK_THROWS_AS(std::rethrow_exception(job.exception(2)), skel::lost_rank_error);
    CHECK(job.error(2) == "lost the root (rank 0)");
  }
}

TEST_CASE("a file on another rank's host has the bytes that were written, for any length") {
  test::temporary_directory const root;
  hub::job job(2);
  on_root(job, [&](auto& e) {
    auto const s = find_places(e.disks(), at({"ranks:" + root.file("%h")}));
    auto& files = *s.files;
    for (std::size_t const size : {0U, 1U, 47U, 8192U, 8193U, 262144U, 3000001U}) {
      INFO(size);
      auto const bytes = some_bytes(size);
      auto const hidden = "host1:" + root.file("host1/.x"), shown = "host1:" + root.file("host1/x");
      {
        auto const f = files.create(hidden);
        for (std::size_t at = 0; at < size; at += 100003)
          f->write(std::span(bytes).subspan(at, std::min<std::size_t>(100003, size - at)));
        f->sync();
        CHECK(f->size() == size);
      }
      files.rename(hidden, shown);
      files.sync_directory("host1:" + root.file("host1"));
      CHECK(test::read_file(root.file("host1/x")) == as_text(bytes));
      CHECK(files.list("host1:" + root.file("host1")) == std::vector<std::string>{"x"});
      auto const f = files.open(shown);
      CHECK(f->size() == size);
      std::vector<std::byte> back(size + 10);
      CHECK(f->read_at(0, back) == size);
      back.resize(size);
      CHECK(back == bytes);
      std::array<std::byte, 5> few{};
      CHECK(f->read_at(size / 2, few) == std::min<std::size_t>(5, size - size / 2));
      CHECK(f->read_at(size, few) == 0);
      files.remove(shown);
    }
    CHECK(files_in(root.file("host0")).empty());  // a host that received no request
    CHECK(files.transfer_seconds() > 0);
    CHECK(error_of([&] { std::ignore = files.open("host1:/nowhere/x"); }) ==
          "host1:/nowhere/x: No such file or directory");
  });
}

TEST_CASE("errors on another host name the host") {
  test::temporary_directory const root;
  hub::job job(2);
  on_root(job, [&](auto& e) {
    auto const s = find_places(e.disks(), at({"ranks:" + root.file("%h")}));
    auto& files = *s.files;
    for (std::string const host : {"host0", "host1"}) {
      auto const x = host + ":" + root.file(host + "/x");
      CHECK(error_of([&] { std::ignore = files.open(x); }) == x + ": No such file or directory");
      CHECK(error_of([&] { files.remove(x); }) == x + ": No such file or directory");
      CHECK(error_of([&] { std::ignore = files.list(x); }) == x + ": No such file or directory");
    }
  });
}

TEST_CASE("a waiting call fails when the rank is lost, and its directory is gone") {
  test::temporary_directory const root;
  hub::job job(3);
  on_root(job, [&](auto& e) {
    auto const s = find_places(e.disks(), at({"ranks:" + root.file("%h")}));
    auto const there = "host1:" + root.file("host1");
    auto const f = s.files->create(there + "/x");
    CHECK_FALSE(s.files->gone(there));
    f->write(some_bytes(1000));
    job.kill(1);
    CHECK(error_of([&] { f->sync(); }) == "host1: rank 1 is lost");
    CHECK(s.files->gone(there));
    CHECK_FALSE(s.files->gone("host2:" + root.file("host2")));
    CHECK_FALSE(s.files->gone("/anywhere"));
    CHECK(error_of([&] { std::ignore = s.files->list(there); }) == there + ": rank 1 is lost");
  });
}

TEST_CASE("a repository on the ranks' disks survives the loss of hosts") {
  test::temporary_directory const root;
  auto const bytes = some_bytes(777777), later = some_bytes(99);
  hub::job job(4);
  on_root(job, [&](auto& e) {
    auto const options = at({"ranks:" + root.file("%h")});
    auto const s = find_places(e.disks(), options);
    std::vector<std::string> problems;
    skel::storage::repository const store(
        skel::detail::store_options(options, skel::detail::store_content::parts, s),
        [&](auto const& p) { problems.push_back(p); }, *s.files);
    auto const save = [&](std::vector<std::byte> const& what) {
      auto const plan = store.next(1);
      auto const cost = store.prepare(plan, 0, "rank", what);
      CHECK(cost.transfer > 0);
      store.commit(plan);
      store.remove_old(plan);
    };
    save(bytes);
    for (int r = 0; r < 4; ++r) {  // the first shard on the writer's host, one on each host
      auto const n = std::to_string(r);
      CHECK(files_in(root.file("host" + n)) == std::vector<std::string>{"manifest.1.1-of-1.00" + n + ".shard",
                                                                        "rank.1.0-of-1.00" + n + ".shard"});
    }
    job.kill(1);
    job.kill(3);
    auto back = store.restore();
    REQUIRE(back);
    CHECK(back->parts[0] == bytes);
    save(later);  // the two remaining hosts of four
    CHECK(problems.empty());
    CHECK(files_in(root.file("host1")).size() == 2);
    back = store.restore();
    REQUIRE(back);
    CHECK(back->from.plan.generation == 2);
    CHECK(back->parts[0] == later);
  });
  // After the loss of the whole job: another job looks at all disks, one of which was emptied.
  std::filesystem::remove_all(root.file("host0"));
  hub::job other(3);
  on_root(other, [&](auto& e) {
    auto const options = at({"ranks:" + root.file("%h")});
    auto const s = find_places(e.disks(), options);
    skel::storage::repository const store(
        skel::detail::store_options(options, skel::detail::store_content::parts, s), {}, *s.files);
    auto const back = store.restore();
    REQUIRE(back);
    CHECK(back->parts[0] == later);
  });
}

TEST_CASE("a farm whose store is on the ranks' disks resumes although a rank was lost") {
  test::temporary_directory const root;
  constexpr std::uint64_t tasks = 300;
  auto const run = [&](hub::job& job, bool resume, int last) {
    std::uint64_t sum = 0;
    std::atomic<int> done{0};
    auto const costs = job.on_root([&](skel::context& ctx) {
      auto where = at({"ranks:" + root.file("%h")});
      where.every_seconds = 0;
      where.resume =
          resume ? skel::checkpoint_options::resume_mode::yes : skel::checkpoint_options::resume_mode::no;
      auto const r = skel::farm(
                         ctx, skel::indices(tasks),
                         [&](std::uint64_t i) {
                           std::this_thread::sleep_for(500us);
                           if (++done == last / 2) job.kill(2);
                           return i;
                         },
                         skel::schedule::first_come{},
                         [&](skel::task_id, std::uint64_t i) {
                           sum += i;
                           return done >= last ? skel::results::flow::stop : skel::results::flow::go_on;
                         },
                         {.checkpoint = where})
                         .report;
      return r.checkpoint;
    });
    REQUIRE(costs);
    CHECK(costs->failed == 0);
    return std::pair(sum, *costs);
  };
  {
    hub::job first(4);
    auto const [sum, costs] = run(first, false, 150);
    CHECK(costs.saved > 1);
    CHECK(costs.transfer_seconds > 0);
  }
  hub::job second(2);
  auto const [sum, costs] = run(second, true, 100000);
  CHECK(sum == tasks * (tasks - 1) / 2);
  CHECK(costs.restored_tasks > 0);
}

TEST_CASE("shards go to the least loaded hosts, if there are more hosts than shards") {
  using loads = std::vector<double>;
  for (auto const& [load, where] : {std::pair(loads{1, 9, 1, 0, 1}, std::vector{0, 2, 3}),
                                    std::pair(loads{9, 1, 9, 9, 1}, std::vector{0, 1, 4}),
                                    std::pair(loads{1, 1, 1, 1, 1}, std::vector{0, 1, 2}),
                                    std::pair(loads{1, 9, 0}, std::vector{0, 1, 2})}) {
    test::temporary_directory const root;
    auto const ranks = static_cast<int>(load.size());
    hub::job job(ranks, 1, std::size_t{1} << 30, {}, "",
                 [&](int rank, auto& o) { o.host.load = load[static_cast<std::size_t>(rank)]; });
    on_root(job, [&, expected = where](auto& e) {
      auto options = at({"ranks:" + root.file("%h")});
      options.code = "ida:2,1";
      auto const s = find_places(e.disks(), options);
      skel::storage::repository const store(
          skel::detail::store_options(options, skel::detail::store_content::parts, s), {}, *s.files);
      auto const plan = store.next(1);
      store.prepare(plan, 0, "results", some_bytes(1000));
      store.commit(plan);
      CHECK(holders(root, ranks, 1) == expected);
    });
  }
}

TEST_CASE("load and room are those of the system, and a missing or lost disk has no room") {
  test::temporary_directory const root;
  hub::job job(3);
  on_root(job, [&](auto& e) {
    auto const s = find_places(e.disks(), at({"ranks:" + root.file("%h"), root.file("")}));
    std::vector<std::string> directories;
    for (auto const& p : s.places) directories.push_back(p.directory);
    std::filesystem::remove(root.file("host1"));
    job.kill(2);
    auto const use = s.files->use_of(directories);
    REQUIRE(use.size() == 4);
    double load = 0;
    REQUIRE(getloadavg(&load, 1) == 1);
    CHECK(use[0].load >= 0);
    CHECK(use[0].load <= load + 1);
    CHECK(use[0].free > 0);
    CHECK(use[0].free < std::filesystem::space(root.file("")).capacity);
    CHECK(use[1].free == 0);
    CHECK(use[2].free == 0);
    CHECK(use[3].free > 0);
    CHECK_FALSE(use[3].load);
  });
}

TEST_CASE("a store of a cluster has the hosts of others as remote ones") {
  test::temporary_directory const root;
  auto const places_of = [&](hub::job& job, std::vector<std::string> const& store,
                             std::vector<std::string> const& remote = {}) {
    auto options = at(store);
    options.remote.store = remote;
    std::pair<std::string, std::string> found;  // which are remote, and the warning
    on_root(job, [&](auto& e) {
      try {
        auto const s = find_places(e.disks(), options);
        for (auto const& p : s.places) found.first += p.remote ? 'r' : 'l';
        found.second = s.warning;
      } catch (skel::usage_error const& bad) {
        found.second = std::string("error: ") + bad.what();
      }
    });
    return found;
  };
  using result = std::pair<std::string, std::string>;
  auto const dir = "ranks:" + root.file("%h");
  auto two = clusters(5, 2, "paris", "lyon");
  CHECK(places_of(two, {dir}) == result("lllll", ""));
  CHECK(places_of(two, {dir + "@paris"}) == result("llrrr", ""));
  CHECK(places_of(two, {dir + "/@lyon"}) == result("rrlll", ""));
  CHECK(places_of(two, {dir + "@lyon", "/shared"}, {"/far"}) == result("rrllllr", ""));
  CHECK(places_of(two, {dir + "@x@lyon"}) == result("rrlll", ""));  // only the last one counts
  CHECK(places_of(two, {dir + "@lyon/"}) == result("lllll", ""));   // directories named host0@lyon
  CHECK(std::filesystem::is_directory(root.file("host0@lyon")));
  CHECK(places_of(two, {dir + "@Paris"}) == result("rrrrr", dir + "@Paris: no rank is of this cluster"));
  CHECK(places_of(two, {dir + "@"}) ==
        result("", "error: \"" + dir + "@\": missing cluster, expected ranks:DIR@CLUSTER"));
  CHECK(places_of(two, {"ranks:@paris"}) ==
        result("", "error: \"ranks:@paris\": missing directory, expected ranks:DIR"));
  CHECK(places_of(two, {dir}, {dir + "2@paris"}) ==
        result("", "error: \"" + dir + "2@paris\": remote directories have no cluster, expected ranks:DIR"));
  auto one = clusters(3, 2, "paris", "paris");
  CHECK(places_of(one, {dir + "@paris"}) ==
        result("lll", dir + "@paris: all ranks are of this cluster, so no checkpoint is kept elsewhere"));
  CHECK(places_of(one, {dir + "@paris"}, {"/far"}) == result("lllr", ""));
  auto partly = clusters(3, 2, "paris", "");
  CHECK(places_of(partly, {dir + "@paris"}) == result("llr", ""));
  hub::job none(2);
  CHECK(places_of(none, {dir + "@paris"}) ==
        result("", "error: \"" + dir + "@paris\": no rank has a cluster, set SKEL_CLUSTER"));
}

TEST_CASE("increments of a cluster that is lost during the run are not missed") {
  test::temporary_directory const root;
  auto options = at({"ranks:" + root.file("%h") + "@paris"});
  options.remote.every = 3;
  auto const content = [](std::uint64_t bytes) { return some_bytes(bytes); };
  auto job = clusters(5, 2, "lyon", "paris");
  on_root(job, [&](auto& e) {
    auto const s = find_places(e.disks(), options);
    std::vector<std::string> problems;
    skel::storage::report_problem const report = [&](auto const& p) { problems.push_back(p); };
    skel::storage::repository const store(
        skel::detail::store_options(options, skel::detail::store_content::parts, s), report, *s.files);
    skel::detail::increments writer(store, report);
    std::uint64_t length = 0;
    auto const save = [&] {
      auto const all = content(length + 1000);
      writer.append({std::make_shared<std::vector<std::byte> const>(
          all.begin() + static_cast<std::ptrdiff_t>(length), all.end())});
      length += 1000;
      CHECK(writer.write().content == length);
    };
    for (int g = 1; g <= 4; ++g) save();
    for (std::uint64_t const g : {1, 2, 4}) CHECK(holders(root, 5, g) == std::vector{2, 2, 3, 4});
    CHECK(holders(root, 5, 3) == std::vector{0, 0, 1, 1});
    for (int const r : {2, 3, 4}) job.kill(r);
    CHECK(store.restore()->parts[0] == content(3000));
    for (int g = 5; g <= 8; ++g) {  // in lyon, from now on
      save();
      CHECK(store.restore()->parts[0] == content(length));
      CHECK(store.restore()->from.plan.generation == static_cast<std::uint64_t>(g) - 1);
    }
    CHECK(problems.empty());
  });
}

TEST_CASE("SKEL_CLUSTER and SKEL_HOST_LOAD describe the host") {
  auto const load = [](char const* value) {
    setenv("SKEL_HOST_LOAD", value, 1);
    auto const options = skel::context_options::from_environment();
    unsetenv("SKEL_HOST_LOAD");
    return options.host.load;
  };
  CHECK(load("0.5") == 0.5);
  CHECK(load("0") == 0);
  CHECK(load("") == std::nullopt);
  for (auto const* const bad : {"-1", "nan", "inf", "1x", "x"})
    CHECK_THROWS_WITH(load(bad),
                      std::string("SKEL_HOST_LOAD must be a number of at least 0, found \"") + bad + '"');
  unsetenv("SKEL_HOST_LOAD");
  setenv("SKEL_CLUSTER", "paris", 1);
  CHECK(skel::context_options::from_environment().host.cluster == "paris");
  unsetenv("SKEL_CLUSTER");
}

TEST_CASE("malformed requests are refused") {
  using namespace skel::detail;
  auto const whole = encode(7, disk_request{.what = disk_call::rename, .file = 300, .path = "a", .to = "b"});
  auto const bytes = whole.bytes();
  auto const [number, r] = decode_request(bytes);
  CHECK(number == 7);
  CHECK(r.what == disk_call::rename);
  CHECK(r.file == 300);
  CHECK(r.path == "a");
  CHECK(r.to == "b");
  for (std::size_t n = 0; n < bytes.size(); ++n)
    CHECK_THROWS_AS(decode_request(bytes.first(n)), skel::protocol_error);
  std::vector<std::byte> unknown(bytes.begin(), bytes.end());
  unknown[2] = std::byte{200};
  CHECK_THROWS_AS(decode_request(unknown), skel::protocol_error);
  auto const answer = encode(
      9, disk_answer{
             .error = "no", .seconds = 1.5, .content = skel::transport::packet::received(some_bytes(3))});
  auto const front_of_answer = [&](std::size_t n) {
    auto const front = answer.bytes().first(n);
    return skel::transport::packet::received({front.begin(), front.end()});
  };
  for (std::size_t n = 0; n < answer.size(); ++n)
    CHECK_THROWS_AS(decode_answer(front_of_answer(n)), skel::protocol_error);
  CHECK(decode_answer(front_of_answer(answer.size())).second.error == "no");
  CHECK(std::ranges::equal(decode_answer(front_of_answer(answer.size())).second.content.bytes(),
                           some_bytes(3)));
  auto const use = content_of(skel::storage::disk_use{1.5, 300});
  CHECK(read_content<skel::storage::disk_use>(use).load == 1.5);
  CHECK(read_content<skel::storage::disk_use>(use).free == 300);
  for (std::size_t n = 0; n < use.size(); ++n)
    CHECK_THROWS_AS(read_content<skel::storage::disk_use>(std::span(use).first(n)), skel::protocol_error);
  CHECK_THROWS_AS(kind_of({}), skel::protocol_error);
  CHECK_THROWS_AS(kind_of(std::array{std::byte{5}}), skel::protocol_error);
  CHECK_THROWS_AS(read_content<std::vector<std::string>>(std::array{std::byte{5}}), skel::protocol_error);
}
