// Content that grows is saved in increments: damage, losses, deaths and merges.
#include "checkpoint/increments.hpp"

#include <algorithm>
#include <optional>
#include <random>

#include "catch.hpp"
#include "fewer.hpp"
#include "skel/error.hpp"
#include "storage/repository_support.hpp"

using namespace skel::storage;
using skel::detail::bases_to_keep;
using skel::detail::increments;
using skel::detail::longest_chain;
using test::byte_vector;
using trouble = test::model_file_system::trouble;

namespace {

// A run that saves its growing content.
struct growing {
  test::repository_in_memory r;
  report_problem report = [this](std::string const& p) { r.problems.push_back(p); };
  std::optional<increments> writer;
  byte_vector content;
  std::vector<byte_vector> history{{}};  // the content after each generation
  std::uint64_t written = 0;

  explicit growing(repository_options const& o = test::options_for(3, "ida:2,1")) : r(o) {
    writer.emplace(r.store, report);
  }
  void grow(std::size_t bytes) {
    auto const more = test::random_bytes(bytes, content.size() + 1);
    content.insert(content.end(), more.begin(), more.end());
    writer->append({std::make_shared<byte_vector const>(more)});
  }
  increments::saved save(std::size_t bytes) {
    grow(bytes);
    auto const done = writer->write();
    written += done.bytes;
    history.push_back(content);
    return done;
  }
  [[nodiscard]] byte_vector restored() const {
    auto const parts = r.restore();
    return parts.empty() ? byte_vector{} : parts.at(0);
  }
  // Another run goes on with what is left.
  void resume() {
    writer.emplace(r.store, report);
    auto const left = r.store.restore();
    REQUIRE(left);
    content = left->parts.at(0);
    writer->resume_from(left->from, content);
  }
  [[nodiscard]] std::vector<std::string> files_of(std::uint64_t generation) const {
    auto all = r.files.all_paths();
    std::erase_if(all, [&](auto const& p) {
      return p.find("results." + std::to_string(generation) + ".") == std::string::npos;
    });
    return all;
  }
  void lose(std::uint64_t generation) {
    for (auto const& p : files_of(generation)) r.files.remove(p);
  }
  void corrupt(std::string const& path) {
    auto& bytes = r.files.content(path);
    bytes.at(bytes.size() - 48 - 16 - 1) ^= std::byte{1};  // the last block
  }
};

}  // namespace

TEST_CASE("checkpoints of growing content write each byte about twice, in short chains") {
  bool const equal = GENERATE(true, false);
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::uint64_t> any(500, 1500);
  std::vector<std::uint64_t> sizes;
  double written = 0, content = 0;
  for (int n = 1; n <= 40000; ++n) {
    auto own = equal ? 1000 : any(random);
    content += static_cast<double>(own);
    auto const keep = bases_to_keep(sizes, own);
    for (auto i = keep; i < sizes.size(); ++i) own += sizes[i];
    sizes.resize(keep);
    sizes.push_back(own);
    written += static_cast<double>(own);
    REQUIRE(sizes.size() <= longest_chain);
    REQUIRE(written <= (equal ? 1.0 : 1.1) * (n <= 2080 ? 2 : 3) * content);
  }
}

TEST_CASE("a small generation is never merged into a much larger one without need") {
  std::vector<std::uint64_t> sizes(longest_chain, 10);
  sizes[0] = 1000000;
  CHECK(bases_to_keep(sizes, 10) == 1);
  sizes.back() = 1000000000;
  CHECK(bases_to_keep(sizes, 10) == 0);
  CHECK(bases_to_keep({}, 10) == 0);
  CHECK(bases_to_keep(std::vector<std::uint64_t>(longest_chain - 1, 10), 10) == longest_chain - 1);
}

TEST_CASE("each increment is restored with its bases, and old ones go when they are merged") {
  growing g;
  std::size_t most_files = 0;
  for (std::size_t i = 0; i < 150; ++i) {
    auto const done = g.save(i % 7 * 13);  // sometimes nothing is new
    CHECK(done.content == g.content.size());
    most_files = std::max(most_files, g.r.files.all_paths().size());
    if (i % 10 == 0 || i > 140) REQUIRE(g.restored() == g.content);
  }
  CHECK(g.written < 2 * g.content.size());
  CHECK(most_files <= 6 * (2 * longest_chain + 2));
  CHECK(g.r.problems.empty());
  SECTION("a later run continues the chain") {
    g.resume();
    CHECK(g.save(100).bytes == 100);
    CHECK(g.restored() == g.content);
  }
}

TEST_CASE("a lost increment: an older complete chain is restored, never a part of the content") {
  std::uint64_t const lost = GENERATE(1U, 2U, 3U, 4U, 5U, 6U);
  bool const blocks = GENERATE(false, true);
  INFO("generation " << lost << (blocks ? ", two shards are damaged" : ", all shards are lost"));
  growing g;
  for (int i = 0; i < 6; ++i) g.save(100);
  if (blocks) {
    auto const files = g.files_of(lost);
    g.corrupt(files.at(0));
    g.corrupt(files.at(1));
  } else {
    g.lose(lost);
  }
  REQUIRE(g.restored() == g.history.at(lost - 1));
  if (lost == 1) return;
  g.resume();
  g.save(50);
  CHECK(g.restored() == g.content);
  CHECK(g.content.size() == g.history.at(lost - 1).size() + 50);
}

TEST_CASE("if the first generation of all chains is lost, the store is refused") {
  growing g;
  for (int i = 0; i < 6; ++i) g.save(100);
  g.lose(1);
  CHECK_THROWS_WITH(g.r.store.restore(), "/disk0,/disk1,/disk2: no generation can be restored");
  CHECK(g.r.told("generation 2 is lost: it builds on generation 1, which is lost"));
  CHECK_FALSE(g.r.told("generation 3 is lost"));  // the first of them speaks for all
  auto plan = g.r.store.next(1);
  plan.append_to(g.r.store.catalogue().at(0).plan);
  g.r.store.prepare(plan, 0, "results", byte_vector(10));
  CHECK_THROWS_WITH(g.r.store.commit(plan),
                    "generation 7 is not committed: it builds on generation 6, which is lost");
}

TEST_CASE("a damaged chain is written anew while the run goes on") {
  growing g;
  for (int i = 0; i < 6; ++i) g.save(100);
  g.r.files.remove(g.files_of(3).at(0));
  auto const done = g.save(100);
  CHECK(done.bytes == 500);  // generations 1 and 2 stay
  auto const newest = g.r.store.catalogue().at(0);
  CHECK(newest.plan.base == 2);
  CHECK(newest.state() == condition::whole);
  CHECK(g.restored() == g.content);
}

TEST_CASE("what is lost during a run is left out, and the rest survives") {
  bool const blocks = GENERATE(false, true);
  growing g;
  for (int i = 0; i < 6; ++i) g.save(100);
  byte_vector rest(g.content.begin(), g.content.begin() + 200);
  rest.insert(rest.end(), g.content.begin() + 300, g.content.end());
  if (blocks) {  // found when it is merged, because generation 2 is degraded
    g.corrupt(g.files_of(3).at(0));
    g.corrupt(g.files_of(3).at(1));
    g.r.files.remove(g.files_of(2).at(0));
  } else {
    g.lose(3);
  }
  g.content = rest;
  std::string const found = blocks ? "generation 3, which holds earlier results, cannot be read"
                                   : "generation 3, which holds earlier results, is lost";
  CHECK_THROWS_WITH(g.save(100), Catch::StartsWith(found));  // its disk may come back
  CHECK(g.restored() == test::byte_vector(rest.begin(), rest.begin() + 200));
  g.save(0);
  CHECK(g.r.told(found));
  CHECK(g.r.told("; a later run computes them again"));
  CHECK(g.restored() == g.content);
  CHECK(g.r.store.catalogue().at(0).state() == condition::whole);
  g.save(100);
  CHECK(g.restored() == g.content);
}

TEST_CASE("a process killed at any call of a checkpoint, with every prefix of the unsynced operations") {
  bool const merges = GENERATE(false, true);
  std::uint64_t before = 0, after = 0;
  constexpr std::uint64_t step = 9 - test::fewer_if_slow(8);
  for (std::uint64_t n = 1;; n += step) {
    growing g;
    for (int i = 0; i < 3; ++i) g.save(60);
    if (merges) g.r.files.remove(g.files_of(2).at(0));
    auto const old = g.content;
    g.grow(60);
    g.r.files.at_call(n, trouble::kill);
    bool done = false;
    try {
      std::ignore = g.writer->write();
      done = true;
    } catch (test::killed const&) {
    }
    INFO("call " << n << (merges ? ", merging" : ""));
    auto const check = [&](byte_vector const& restored) {
      REQUIRE((restored == g.content || (!done && restored == old)));
      ++(restored == old ? before : after);
    };
    for (std::size_t prefix = 0; prefix <= g.r.files.unsynced(); ++prefix) {
      test::repository_in_memory again(g.r.store.options());
      for (auto const& [path, bytes] : g.r.files.after_power_loss([&](std::size_t i) { return i < prefix; }))
        again.files.put(path, bytes);
      check(again.restore().at(0));
    }
    g.r.files.restart(false);
    check(g.restored());
    g.resume();
    g.save(20);  // the store stays usable
    REQUIRE(g.restored() == g.content);
    for (auto const& path : g.r.files.all_paths()) REQUIRE(path.find(".writing") == std::string::npos);
    if (done) break;
  }
  CHECK(before > 50);
  CHECK(after > 50);
}

TEST_CASE("what a failing call keeps from the disks is in the next checkpoint") {
  std::uint64_t failed = 0;
  for (std::uint64_t n = 1;; ++n) {
    growing g(test::options_for(2, "ida:1,1"));
    for (int i = 0; i < 3; ++i) g.save(60);
    if (n % 2 == 0) g.r.files.remove(g.files_of(2).at(0));  // merges
    g.grow(60);
    g.r.files.at_call(n, trouble::error);
    try {
      std::ignore = g.writer->write();
    } catch (skel::error const&) {
      ++failed;
    }
    bool const reached_it = g.r.files.calls() >= n;
    g.r.files.restart(false);
    INFO("call " << n);
    g.save(60);
    REQUIRE(g.restored() == g.content);
    if (!reached_it) break;
  }
  CHECK(failed > 0);
}

TEST_CASE("in a hurry nothing is merged, and a merge stops") {
  int reads = 0;
  growing g;
  for (std::size_t i = 0; i < longest_chain; ++i) g.save(10);
  SECTION("before it") { g.writer->hurry(); }
  SECTION("during it") {
    g.r.files.refuse([&](std::string const& call, std::string const& path) {
      if (call == "read_at" && path.find("results.9.") != std::string::npos && ++reads > 3) g.writer->hurry();
      return false;
    });
  }
  SECTION("except what is damaged") {
    g.writer->hurry();
    g.r.files.remove(g.files_of(64).at(0));
    CHECK(g.save(10).bytes == 20);
    CHECK(g.restored() == g.content);
    return;
  }
  CHECK(g.save(10).bytes == 10);
  CHECK(g.restored() == g.content);
}

TEST_CASE("local and remote checkpoints are chains of their own") {
  auto o = test::options_for(6, "ida:2,1");
  for (std::size_t i = 3; i < 6; ++i) o.places[i].remote = true;
  o.placement.remote_every = 5;
  growing g(o);
  for (int i = 0; i < 13; ++i) g.save(100);
  CHECK(g.written == 1300 + 1000);  // the local ones, and generations 5 and 10
  auto const without = [&](std::size_t from) {
    for (auto i = from; i < from + 3; ++i) g.r.files.remove_directory("/disk" + std::to_string(i));
  };
  SECTION("the local ones are lost") {
    without(0);
    CHECK(g.restored() == g.history.at(10));
  }
  SECTION("the remote ones are lost") {
    without(3);
    CHECK(g.restored() == g.history.at(13));
  }
  SECTION("a later run's remote checkpoint holds everything") {
    g.resume();
    g.save(100);
    auto const then = g.save(100).bytes;
    CHECK(then == 1500);
    without(0);
    CHECK(g.restored() == g.history.back());
  }
}
