// Generations of parts are saved, found and restored; damaged ones are reported or repaired.
#include "skel/storage/repository.hpp"

#include <algorithm>

#include "catch.hpp"
#include "repository_support.hpp"
#include "skel/error.hpp"

using namespace skel::storage;
using test::error_of, test::shard_path;

namespace {

std::size_t count_shards(test::repository_in_memory const& r, std::string const& part) {
  auto const paths = r.files.all_paths();
  return static_cast<std::size_t>(
      std::ranges::count_if(paths, [&](auto const& p) { return p.find(part) != std::string::npos; }));
}

}  // namespace

TEST_CASE("an empty store restores nothing and reports nothing") {
  test::repository_in_memory r(4, "ida:2,2");
  r.store.check_at_start();
  CHECK(r.store.catalogue().empty());
  CHECK_FALSE(r.store.restore().has_value());
  CHECK(r.problems.empty());
  CHECK(r.files.all_paths().empty());  // the probe is removed
}

TEST_CASE("saved generations are restored, the newest first, and the previous one stays") {
  for (auto const* const code : {"replicate:1", "replicate:3", "parity:3", "ida:2,2", "ida:3,1"})
    for (std::size_t const n : {1U, 2U, 5U}) {
      test::repository_in_memory r(4, code);
      for (std::uint64_t g = 1; g <= 4; ++g) {
        auto const state = test::random_parts(n, g);
        auto const plan = test::save(r.store, state);
        CHECK(plan.generation == g);
        REQUIRE(r.restore() == state);
        auto const found = r.store.catalogue();
        REQUIRE(found.size() == std::min<std::uint64_t>(g, 2));
        CHECK(found[0].plan == plan);
        CHECK(found[0].state() == condition::whole);
        CHECK(found[0].manifest.has_value());
        CHECK(found[0].written_by == r.store.options().identity);
      }
      CHECK(r.problems.empty());
    }
}

TEST_CASE("shards of a part lie in different directories, and every directory has a manifest") {
  test::repository_in_memory r(5, "ida:3,2");
  test::save(r.store, test::random_parts(3, 1));
  for (auto const& d : test::directories(5)) CHECK(count_shards(r, d + "/") == 3 + 1);
}

TEST_CASE("any two of five directories can be lost") {
  auto const state = test::random_parts(3, 1);
  for (std::size_t a = 0; a < 5; ++a)
    for (std::size_t b = 0; b < a; ++b) {
      test::repository_in_memory r(5, "ida:3,2");
      test::save(r.store, state);
      r.files.remove_directory(test::directories(5)[a]);
      r.files.remove_directory(test::directories(5)[b]);
      CHECK(r.restore() == state);
      // Three more directories make it whole again, though spread differently.
      auto const found = r.store.catalogue().at(0);
      auto const repaired = r.store.repair(found, r.store.verify(found));
      CHECK(repaired.size() == 3 * 2 + 2);
      CHECK(r.store.catalogue().at(0).state() == condition::whole);
      CHECK(r.restore() == state);
    }
}

TEST_CASE("a lost generation is reported and the previous one is restored") {
  test::repository_in_memory r(4, "parity:3");
  auto const old = test::random_parts(2, 1);
  test::save(r.store, old);
  test::save(r.store, test::random_parts(2, 2));
  r.files.remove(shard_path(r, 2, "0-of-2", 0));
  CHECK(r.store.catalogue().at(0).state() == condition::degraded);
  r.files.remove(shard_path(r, 2, "0-of-2", 1));
  CHECK(r.store.catalogue().at(0).state() == condition::lost);
  CHECK(r.restore() == old);
  CHECK(r.told("generation 2 is lost: part 0, part: 2 of 4 shards found, 3 needed"));
  SECTION("a new one has a new number, and the lost one is removed") {
    auto const state = test::random_parts(2, 3);
    CHECK(test::save(r.store, state).generation == 3);
    CHECK(r.restore() == state);
    auto const found = r.store.catalogue();
    REQUIRE(found.size() == 2);  // restorable generations stay
    CHECK(found[1].plan.generation == 1);
  }
  SECTION("if all are lost, that is an error, not an empty store") {
    r.files.remove(shard_path(r, 1, "1-of-2", 0));
    r.files.remove(shard_path(r, 1, "1-of-2", 3));
    CHECK(error_of([&] { (void)r.store.restore(); }) ==
          "/disk0,/disk1,/disk2,/disk3: no generation can be restored");
  }
}

TEST_CASE("damage within the shards falls back to the previous generation too") {
  test::repository_in_memory r(3, "ida:2,1");
  auto const old = test::random_parts(2, 1);
  test::save(r.store, old);
  auto const now = test::random_parts(2, 2);
  test::save(r.store, now);
  auto const damage = [&](int index) {
    auto& content = r.files.content(shard_path(r, 2, "0-of-2", index));
    content.at(content.size() - 48 - 16 - 1) ^= std::byte{1};  // damages the last block
  };
  damage(0);
  CHECK(r.restore() == now);
  CHECK(r.told("hash does not match"));
  damage(1);
  CHECK(r.restore() == old);
}

TEST_CASE("all manifests can be lost: the shards identify the generations") {
  test::repository_in_memory r(4, "ida:2,2");
  auto const state = test::random_parts(3, 1);
  test::save(r.store, state);
  for (auto const& p : r.files.all_paths())
    if (p.find("/manifest.") != std::string::npos) r.files.remove(p);
  auto const found = r.store.catalogue();
  REQUIRE(found.size() == 1);
  CHECK_FALSE(found[0].manifest.has_value());
  CHECK(found[0].state() == condition::whole);
  CHECK(r.restore() == state);
  CHECK(r.store.repair(found[0], r.store.verify(found[0])).size() == 4);
  CHECK(count_shards(r, "/manifest.1.3-of-3.") == 4);
  CHECK(r.store.catalogue().at(0).written_by == r.store.options().identity);
}

TEST_CASE("a manifest tells the history of its run, also when it is repaired") {
  test::repository_in_memory r(4, "ida:2,2");
  auto const plan = test::prepare_all(r.store, test::random_parts(2, 1));
  run_history const past{1234.5, 3, true};
  r.store.commit(plan, past);
  r.files.remove("/disk0/manifest.1.2-of-2.000.shard");
  auto const found = r.store.catalogue().at(0);
  CHECK(found.history == past);
  CHECK_FALSE(r.store.repair(found, r.store.verify(found)).empty());
  CHECK(r.store.catalogue().at(0).history == past);
  CHECK(r.restore() == test::random_parts(2, 1));
  test::save(r.store, test::random_parts(2, 2));
  CHECK_FALSE(r.store.catalogue().at(0).history.has_value());
}

TEST_CASE("misplaced and duplicate shards are tolerated") {
  test::repository_in_memory r(4, "ida:2,2");
  auto const old = test::random_parts(2, 1);
  auto const now = test::random_parts(2, 2);
  test::save(r.store, old);
  test::save(r.store, now);
  auto const a = shard_path(r, 2, "0-of-2", 0), b = shard_path(r, 2, "0-of-2", 1);
  SECTION("swapped") {
    std::swap(r.files.content(a), r.files.content(b));
    CHECK(r.restore() == now);
  }
  SECTION("of another part") {
    std::swap(r.files.content(a), r.files.content(shard_path(r, 2, "1-of-2", 1)));
    CHECK(r.restore() == now);
  }
  SECTION("of another generation") {
    std::swap(r.files.content(a), r.files.content(shard_path(r, 1, "0-of-2", 2)));
    CHECK(r.restore() == now);
  }
  SECTION("duplicated") {
    r.files.put("/disk3/copy.shard", r.files.content(a));
    CHECK(r.restore() == now);
    CHECK(r.store.verify(r.store.catalogue().at(0)).state() == condition::whole);
    CHECK(r.told("second copy of a shard"));
  }
  SECTION("over one another") {
    r.files.content(a) = r.files.content(b);
    CHECK(r.restore() == now);
    CHECK(r.store.catalogue().at(0).state() == condition::degraded);
  }
  SECTION("all of the older generation over the newer") {
    for (auto const& p : r.files.all_paths()) {
      auto const at = p.find(".1.");
      if (at == std::string::npos) continue;
      auto newer = p;
      newer.replace(at, 3, ".2.");
      for (auto const& q : r.files.all_paths())
        if (q.substr(q.rfind('/')) == newer.substr(newer.rfind('/'))) r.files.content(q) = r.files.content(p);
    }
    CHECK(r.restore() == old);
  }
}

TEST_CASE("a shard truncated at any byte degrades its generation") {
  test::repository_in_memory r(3, "ida:2,1");
  auto const now = test::random_parts(2, 2);
  test::save(r.store, now);
  auto const path = shard_path(r, 1, "0-of-2", 0);
  for (auto size = r.files.content(path).size(); size-- > 0;) {
    r.files.content(path).resize(size);
    REQUIRE(r.restore() == now);
    REQUIRE(r.store.catalogue().at(0).state() == condition::degraded);
  }
}

TEST_CASE("a failing directory is reported, and its shards go elsewhere") {
  test::repository_in_memory r(4, "ida:2,2");
  r.files.remove_directory("/disk2");
  r.store.check_at_start();
  CHECK(r.told("/disk2: No such file or directory"));
  auto const state = test::random_parts(3, 1);
  test::save(r.store, state);
  CHECK(r.told("in place of /disk2"));
  CHECK(r.restore() == state);
  CHECK(r.store.catalogue().at(0).state() == condition::whole);
  for (auto const* const d : {"/disk0", "/disk1", "/disk3"})  // spread as evenly as possible
    for (auto const* const part : {"0-of-3", "1-of-3", "2-of-3"}) {
      auto const n = count_shards(r, std::string(d) + "/part.1." + part);
      CHECK(n >= 1);
      CHECK(n <= 2);
    }
}

TEST_CASE("without a quorum of manifests nothing is committed, and nothing removed") {
  auto o = test::options_for(4, "ida:2,2");
  o.keep = 1;
  test::repository_in_memory r(o);
  auto const old = test::random_parts(1, 1);
  test::save(r.store, old);
  auto const plan = test::prepare_all(r.store, test::random_parts(1, 2));
  r.files.remove_directory("/disk1");
  r.files.remove_directory("/disk2");
  CHECK(error_of([&] { r.store.commit(plan); }) ==
        "generation 2 is not committed: 2 of 4 directories stored its manifest, expected at least 3");
  CHECK(error_of([&] {
          r.store.commit({7, 1, 1});
        }) == "generation 7 was not prepared: 0 of 1 parts can be restored");
  CHECK(error_of([&] {
          r.store.remove_old({7, 1, 1});
        }) == "generation 7 is not committed: older ones are kept");
}

TEST_CASE("a generation with a missing part is not committed") {
  test::repository_in_memory r(3, "ida:2,1");
  auto const old = test::random_parts(3, 1);
  test::save(r.store, old);
  auto const plan = r.store.next(3);
  r.store.prepare(plan, 0, "part", old[0]);
  r.store.prepare(plan, 2, "part", old[2]);
  auto const ends_early = [](byte_sink const& to) {
    to(test::random_bytes(50, 1));
    throw skel::error("unreadable");
  };
  CHECK(error_of([&] { r.store.prepare(plan, 1, "part", 100, ends_early); }) == "unreadable");
  CHECK(count_shards(r, ".writing") == 0);
  CHECK(error_of([&] { r.store.commit(plan); }) ==
        "generation 2 was not prepared: 2 of 3 parts can be restored");
  CHECK(error_of([&] { r.store.remove_old(plan); }) == "generation 2 is not committed: older ones are kept");
  CHECK(r.restore() == old);
  // Its number is not reused, and the next commit removes it.
  CHECK(test::save(r.store, old).generation == 3);
  CHECK(count_shards(r, ".2.") == 0);
}

TEST_CASE("parts of two runs that used the same number are not mixed") {
  test::repository_in_memory r(3, "ida:2,1");
  auto const one = test::random_parts(2, 1), two = test::random_parts(2, 2);
  generation_plan const a{5, 1, 2}, b{5, 2, 2};
  r.store.prepare(a, 0, "a", one[0]);  // its run died before part 1
  r.store.prepare(b, 1, "b", two[1]);
  CHECK(r.restore().empty());
  r.store.prepare(b, 0, "b", two[0]);
  CHECK(r.restore() == two);
}

namespace {

// Two runs of the same writer that used one number while neither could reach the other's
// directories.
struct two_runs {
  test::parts const one = test::random_parts(2, 1), two = test::random_parts(2, 2),
                    old = test::random_parts(2, 3);
  repository_options options = test::options_for(6, "ida:2,1");
  test::repository_in_memory r{options};
  generation_plan a{5, 0xaa, 2}, b{5, 0xbb, 2};

  two_runs() {
    auto left = options, right = options;
    left.places.resize(3);
    right.places.erase(right.places.begin(), right.places.begin() + 3);
    save(left, {4, 0x77, 2}, old);
    save(left, a, one);
    save(right, b, two);
  }
  void save(repository_options const& o, generation_plan const& plan, test::parts const& state) {
    repository const store(o, {}, r.files);
    for (std::uint32_t p = 0; p < 2; ++p) store.prepare(plan, p, "part", state[p]);
    store.commit(plan);
  }
  std::optional<repository::restored> restored(std::string const& object) {
    auto o = options;
    o.object = object;
    return repository(
               o, [this](auto const& p) { r.problems.push_back(p); }, r.files)
        .restore();
  }
};

}  // namespace

TEST_CASE("two complete generations of one number are refused unless one is selected") {
  two_runs s;
  CHECK(error_of([&] { (void)s.r.store.restore(); }) ==
        "usage: generation 5 exists more than once, as objects 00000000000000bb and 00000000000000aa: select "
        "one with --resume-object");
  CHECK(s.restored("00000000000000aa")->parts == s.one);
  CHECK(s.restored("00000000000000b")->parts == s.two);
  CHECK(error_of([&] { (void)s.restored("00"); }).starts_with("usage: generation 5 exists more than once"));
  CHECK(error_of([&] { (void)s.restored("cc"); }) ==
        "usage: /disk0,/disk1,/disk2,/disk3,/disk4,/disk5: no checkpoint with object cc");
  // A lost generation is no rival, and older rivals do not prevent resuming.
  for (auto const& p : s.r.files.all_paths())
    if (p.starts_with("/disk3") || p.starts_with("/disk4")) s.r.files.remove(p);
  CHECK(s.r.store.restore()->parts == s.one);
}

TEST_CASE("two complete generations of an older number are reported and ignored") {
  two_runs s;
  auto const newest = test::random_parts(2, 9);
  s.save(s.options, {6, 0xcc, 2}, newest);
  auto const usable = s.r.store.candidates();
  REQUIRE(usable.size() == 2);
  CHECK(usable[0].plan.generation == 6);
  CHECK(usable[1].plan.generation == 4);
  CHECK(s.r.told(
      "generation 5 exists more than once, as objects 00000000000000bb and 00000000000000aa: ignored"));
  CHECK(s.r.store.restore()->parts == newest);
}

TEST_CASE("repairing one of two generations of a number does not change the other") {
  two_runs s;
  s.r.files.remove(shard_path(s.r, 5, "0-of-2", 1));
  s.r.files.remove("/disk3/manifest.5.2-of-2.000.shard");
  for (auto const& g : s.r.store.catalogue()) {
    s.r.store.repair(g, s.r.store.verify(g));
    CHECK(s.r.store.tidy(g.plan).empty());
  }
  for (auto const& g : s.r.store.catalogue()) CHECK(g.state() == condition::whole);
  CHECK(s.restored("00000000000000aa")->parts == s.one);
  CHECK(s.restored("00000000000000bb")->parts == s.two);
}

TEST_CASE("a part with two different contents and no manifest is not chosen at random") {
  test::repository_in_memory r(6, "ida:2,1");
  auto const old = test::random_parts(1, 1);
  test::save(r.store, old);
  auto left = r.store.options(), right = r.store.options();
  left.places.resize(3);
  right.places.erase(right.places.begin(), right.places.begin() + 3);
  generation_plan const plan{2, 1, 1};
  auto const now = test::random_parts(1, 2);
  repository(left, {}, r.files).prepare(plan, 0, "part", now[0]);
  CHECK(r.restore() == now);
  repository(right, {}, r.files).prepare(plan, 0, "part", test::random_bytes(100, 7));
  CHECK(r.restore() == old);
  CHECK(r.told("part 0 of generation 2 exists twice with different data; ignored"));
}

TEST_CASE("tidying a generation removes copies, foreign parts, and remains of other runs") {
  two_runs s;
  auto const copied = shard_path(s.r, 5, "0-of-2", 0);
  s.r.files.put("/disk1/copy.shard", s.r.files.content(copied));
  s.r.files.put("/disk1/manifest-copy.shard", s.r.files.content("/disk0/manifest.5.2-of-2.000.shard"));
  // Complete data that another run saved without committing, in two shards of three.
  test::repository_in_memory elsewhere(3, "ida:2,1");
  elsewhere.store.prepare(s.a, 1, "part", test::random_bytes(77, 5));
  for (int const i : {0, 1})
    s.r.files.put("/disk" + std::to_string(i) + "/stray.shard",
                  elsewhere.files.content(shard_path(elsewhere, 5, "1-of-2", i)));
  CHECK(error_of([&] { s.r.store.tidy({5, 0xdd, 2}); }) == "generation 5 is not whole: nothing is removed");
  for (auto const& p : s.r.files.all_paths())  // the other run's object is lost
    if (p.starts_with("/disk3") || p.starts_with("/disk4")) s.r.files.remove(p);
  auto const removed = s.r.store.tidy(s.a);
  for (auto const* const path :
       {"/disk1/copy.shard", "/disk1/manifest-copy.shard", "/disk0/stray.shard", "/disk1/stray.shard"})
    CHECK(std::ranges::count(removed, path) == 1);
  CHECK(count_shards(s.r, "/disk5/") == 0);
  s.r.problems.clear();
  auto const all = s.r.store.catalogue();
  REQUIRE(all.size() == 2);  // this and the previous generation
  for (auto const& g : all) CHECK(s.r.store.verify(g).state() == condition::whole);
  CHECK(s.r.problems.empty());
  CHECK(s.r.store.restore()->parts == s.one);
}

TEST_CASE("every fifth generation goes to remote directories and survives the loss of all others") {
  auto o = test::options_for(6, "ida:2,1");
  for (std::size_t i = 3; i < 6; ++i) o.places[i].remote = true;
  o.placement.remote_every = 5;
  test::repository_in_memory r(o);
  std::vector<test::parts> states(1);
  for (std::uint64_t g = 1; g <= 9; ++g) {
    states.push_back(test::random_parts(2, g));
    test::save(r.store, states.back());
    CHECK(r.restore() == states.back());
  }
  CHECK(r.store.catalogue().size() == 3);  // generations 9, 8 and 5
  for (auto const* const d : {"/disk0", "/disk1", "/disk2"}) r.files.remove_directory(d);
  CHECK(r.restore() == states[5]);
}

TEST_CASE("the newest generation of each kind is kept, however many came after it") {
  auto o = test::options_for(6, "ida:2,1");
  for (std::size_t i = 3; i < 6; ++i) o.places[i].remote = true;
  o.keep = 1;
  o.placement.remote_every = 2;
  test::repository_in_memory r(o);
  auto const local = test::random_parts(2, 1);
  test::save(r.store, local);
  // Remote ones alone, since the saves between them fail.
  for (std::uint64_t g = 2; g <= 6; g += 2) {
    test::save(r.store, test::random_parts(2, g));
    r.files.put("/disk0/part." + std::to_string(g + 1) + ".0-of-2.000.shard", {});
  }
  auto const all = r.store.catalogue();
  REQUIRE(all.size() == 2);
  CHECK(all[0].plan.generation == 6);
  CHECK(r.store.lies_in(all[0], true));
  CHECK_FALSE(r.store.lies_in(all[0], false));
  CHECK(all[1].plan.generation == 1);
  CHECK(r.store.lies_in(all[1], false));
  for (auto const* const d : {"/disk3", "/disk4", "/disk5"}) r.files.remove_directory(d);
  CHECK(r.restore() == local);
}

TEST_CASE("a generation that ends every resumed run is not tried for ever") {
  test::repository_in_memory r(4, "ida:2,2");
  auto const old = test::random_parts(2, 1), now = test::random_parts(2, 2);
  auto const first = test::save(r.store, old), second = test::save(r.store, now);
  for (int run = 0; run < 3; ++run) {
    CHECK(r.restore() == now);
    r.store.note_attempt(second);
  }
  CHECK(r.restore() == old);
  CHECK(r.told("generation 2: 3 runs resumed from it without saving a newer one; tried last"));
  SECTION("the only generation is still tried") {
    for (int run = 0; run < 3; ++run) r.store.note_attempt(first);
    CHECK(r.restore() == now);
  }
  SECTION("a newer generation ends the count") {
    auto const state = test::random_parts(2, 3);
    test::save(r.store, state);
    CHECK(r.restore() == state);
    CHECK(count_shards(r, "skel-attempt") == 0);
  }
}

TEST_CASE("invalid options are refused") {
  auto const refused = [](auto const& change) {
    auto o = test::options_for(2, "ida:1,1");
    change(o);
    return error_of([&] { repository const r(o); });
  };
  CHECK(refused([](auto& o) { o.places.clear(); }) == "usage: missing directories for checkpoints");
  CHECK(refused([](auto& o) { o.keep = 0; }) == "usage: generations to keep: found 0, expected at least 1");
  CHECK(refused([](auto& o) { o.places[1] = o.places[0]; }) ==
        "usage: /disk0: given twice, expected different directories");
  CHECK(refused([](auto& o) { o.block_size = 0; }) ==
        "usage: block size: expected 1 to 16777216 bytes, found 0");
}
