// Stores that a run may start in or resume from, and those that it refuses.
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <stop_token>
#include <thread>
#include <tuple>

#include "catch.hpp"
#include "observe/support.hpp"
#include "repository_support.hpp"
#include "skel/error.hpp"
#include "skel/storage/repository.hpp"
#include "storage/claim.hpp"
#include "storage/memory_files.hpp"
#include "storage/object_writer.hpp"
#include "storage/paths.hpp"

using namespace skel::storage;
using test::error_of, test::shard_path;

TEST_CASE("another program's, version's or problem's checkpoints are refused in one line") {
  auto const o = test::options_for(3, "ida:2,1");
  test::repository_in_memory r(o);
  test::save(r.store, test::random_parts(1, 1));
  auto const refused = [&](identity const& other) {
    auto theirs = o;
    theirs.identity = other;
    repository const store(theirs, {}, r.files);
    auto text = error_of([&] { (void)store.restore(); });
    CHECK(error_of([&] { store.check_at_start(); }) == text);
    return text;
  };
  std::string const front = "usage: /disk0: contains generation 1 of skel-test 1.0";
  CHECK(refused({"skel-other", "1.0", 42}) == front + ", expected skel-other 1.0; use another store");
  CHECK(refused({"skel-test", "", 42}) == front + ", expected skel-test; use another store");
  CHECK(refused({"skel-test", "1.0", 43}) ==
        front + " with other options or input; repeat those of that run, or use another store");
  for (auto const& p : r.files.all_paths())
    if (p.find("/manifest.") != std::string::npos) r.files.remove(p);
  CHECK(refused({"skel-test", "1.1", 42}) ==
        "usage: /disk0: contains generation 1 of another program, version or problem, expected skel-test "
        "1.1; use another store");
}

TEST_CASE("a store of another kind of machine is refused in words") {
  auto const o = test::options_for(3, "ida:2,1");
  test::repository_in_memory r(o);
  auto const state = test::random_parts(2, 1);
  test::save(r.store, state);
  auto const refused = [&](std::uint64_t machine) {
    auto theirs = o;
    theirs.machine = machine;
    repository const store(theirs, {}, r.files);
    auto text = error_of([&] { (void)store.restore(); });
    CHECK(error_of([&] { store.check_at_start(); }) == text);
    CHECK(error_of([&] { (void)store.read(r.store.catalogue().at(0), 0); }) == text);
    return text;
  };
  std::string const front = "usage: /disk0: generation 1 was written on another kind of machine: ";
  std::string const back = "; resume there, or use another store";
  auto const mine = this_machine();
  CHECK(refused(mine ^ (1U << 4U)) == front + "found little-endian, expected big-endian" + back);
  CHECK(refused(mine ^ (0xcU << 12U)) == front + "found 8-byte long, expected 4-byte long" + back);
  CHECK(refused(mine ^ (std::uint64_t{1} << 48U)).starts_with(front + "found "));
  CHECK(refused(0).starts_with(front + "found record 1, "));
  for (unsigned bit = 0; bit < 64; ++bit)  // each property counts
    CHECK(refused(mine ^ (std::uint64_t{1} << bit)).starts_with(front));
  CHECK(r.restore() == state);

  // Maintenance does not interpret the data: a copy on another machine can be repaired.
  auto theirs = o;
  theirs.machine = mine ^ (1U << 4U);
  repository const elsewhere(theirs, {}, r.files);
  r.files.remove(shard_path(r, 1, "0-of-2", 0));
  r.files.remove("/disk1/manifest.1.2-of-2.001.shard");
  for (auto const& path : r.files.all_paths())
    if (path.find("manifest") != std::string::npos) r.files.remove(path);
  auto const found = elsewhere.catalogue();
  REQUIRE(found.size() == 1);
  elsewhere.repair(found[0], elsewhere.verify(found[0]));
  CHECK(r.store.catalogue().at(0).state() == condition::whole);
  CHECK(r.store.catalogue().at(0).manifest);
  CHECK(r.restore() == state);
}

TEST_CASE("shards without a record of the machine are refused") {
  auto o = test::options_for(3, "ida:2,1");
  o.machine = 0;
  test::repository_in_memory r(o);
  test::save(r.store, test::random_parts(1, 1));
  o.machine = this_machine();
  repository const now(o, {}, r.files);
  CHECK(error_of([&] { (void)now.restore(); }) ==
        "usage: /disk0: generation 1 was written on another kind of machine: found no record of it, expected "
        "one; resume there, or use another store");
}

TEST_CASE("only a store without committed or damaged generations is unused") {
  test::repository_in_memory r(3, "ida:2,1");
  auto const unused = [&] { return r.store.unused(); };
  CHECK(unused());
  SECTION("a first save that ended between its parts") {
    auto const plan = r.store.next(2);
    r.store.prepare(plan, 0, "part", test::random_bytes(100, 1));
    CHECK(unused());
    CHECK(r.store.candidates().empty());
    CHECK_FALSE(r.told("generation 1 is lost"));
    r.files.remove(shard_path(r, 1, "0-of-2", 1));
    CHECK(error_of([&] { (void)r.store.candidates(); }) ==
          "/disk0,/disk1,/disk2: no generation can be restored");
    CHECK(error_of(unused).starts_with(
        "usage: /disk0/part.1.0-of-2.000.shard: other shards of part 0 of generation 1 are missing: the run "
        "does not start anew"));
    r.files.create("/disk1/.part.1.0-of-2.001.shard.writing");
    CHECK(unused());
    // The next run overwrites nothing, and removes this one.
    auto const state = test::random_parts(2, 2);
    CHECK(test::save(r.store, state).generation == 2);
    CHECK_FALSE(unused());
    CHECK(r.restore() == state);
    CHECK(r.store.catalogue().size() == 1);
  }
  SECTION("a whole generation without a manifest") {
    test::prepare_all(r.store, test::random_parts(2, 1));
    CHECK_FALSE(unused());
  }
  SECTION("a lost generation with one manifest") {
    test::save(r.store, test::random_parts(2, 1));
    for (auto const& path : r.files.all_paths())
      if (!path.starts_with("/disk2")) r.files.remove(path);
    CHECK_FALSE(unused());
    CHECK(error_of([&] { (void)r.store.restore(); }).starts_with("/disk0,/disk1,/disk2: no generation"));
  }
  SECTION("unreadable shards") {
    r.files.put("/disk1/part.1.0-of-2.000.shard", test::random_bytes(50, 1));
    CHECK(error_of(unused).starts_with("usage: /disk1/part.1.0-of-2.000.shard: not a shard: the run does"));
  }
  SECTION("an unreadable directory") {
    r.files.remove_directory("/disk1");
    CHECK(error_of(unused).starts_with("usage: /disk1: "));
  }
}

TEST_CASE("forged manifests belong to another program's store") {
  test::repository_in_memory r(3, "ida:2,1");
  object_info o;
  o.name = "x";
  o.generation = 2;
  o.code = code("ida:2,1");
  o.length = o.content_length = 5;
  o.belongs_to = {1, 7, 1, 1};  // part 1 of one part
  std::vector<test::byte_vector> shards(3);
  std::vector<byte_sink> sinks;
  sinks.reserve(shards.size());
  for (auto& s : shards)
    sinks.emplace_back([&s](auto bytes) { s.insert(s.end(), bytes.begin(), bytes.end()); });
  object_writer w(o, sinks);
  w.write(test::random_bytes(5, 1));
  w.finish();
  for (std::size_t i = 0; i < 3; ++i) r.files.put("/disk" + std::to_string(i) + "/x.shard", shards[i]);
  CHECK(error_of([&] { (void)r.store.restore(); }) ==
        "usage: the store: contains generation 2 of another program, version or problem, expected skel-test "
        "1.0; use another store");
}

TEST_CASE("the start fails if no directory is writable") {
  test::repository_in_memory r(2, "ida:1,1");
  r.files.remove_directory("/disk0");
  r.files.remove_directory("/disk1");
  CHECK(error_of([&] { r.store.check_at_start(); }) ==
        "usage: /disk0: No such file or directory; create the directory, or name another (--store)");
}

TEST_CASE("an encrypted store needs its key") {
  if (!can_seal()) return;
  auto o = test::options_for(3, "ida:2,1");
  std::array<std::byte, 32> const bytes{std::byte{7}};
  o.seal_with = key(std::span<std::byte const, 32>(bytes));
  test::repository_in_memory r(o);
  auto const state = test::random_parts(3, 1);
  test::save(r.store, state);
  CHECK(r.restore() == state);
  o.seal_with.reset();
  repository const without(o, {}, r.files);
  CHECK(error_of([&] { (void)without.restore(); }) ==
        "usage: /disk0: generation 1 is encrypted: give its key (--key-file)");
  std::array<std::byte, 32> const others{std::byte{8}};
  o.seal_with = key(std::span<std::byte const, 32>(others));
  repository const with_another(o, {}, r.files);
  CHECK(error_of([&] { (void)with_another.restore(); }) ==
        "usage: /disk0: generation 1: wrong key (--key-file), or data was altered");
  // The beginning of the first part is lost, but the generation before it opens.
  test::save(r.store, test::random_parts(3, 2));
  for (std::uint32_t index = 0; index < 2; ++index)
    r.files.content(shard_path(r, 2, "0-of-3", index)).at(200) ^= std::byte{1};
  CHECK(error_of([&] { (void)with_another.restore(); }) ==
        "usage: /disk0: generation 1: wrong key (--key-file), or data was altered");
  CHECK(r.restore() == state);
}

TEST_CASE("a run with a key does not resume from what is not encrypted") {
  if (!can_seal()) return;
  test::repository_in_memory r(3, "ida:2,1");
  auto const plan = test::save(r.store, test::random_parts(2, 1));
  auto o = r.store.options();
  o.seal_with = key(std::array<std::byte, 32>{std::byte{7}});
  repository const sealed(o, {}, r.files);
  std::string const refusal =
      "usage: /disk0: generation 1 is not encrypted, but a key was given (--key-file)";
  CHECK(error_of([&] { (void)sealed.restore(); }) == refusal);
  auto const all = sealed.catalogue();
  REQUIRE(all.size() == 1);
  CHECK(all[0].plan == plan);
  CHECK(error_of([&] { (void)sealed.read(all[0], 0); }) == refusal);
}

TEST_CASE("files in memory behave like those on a disk") {
  memory_files files;
  std::vector<std::byte> content(3'000'001);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::byte>(i % 251);
  {
    auto const f = files.create("memory:1/.a");
    for (std::size_t at = 0; at < content.size(); at += 700'000)
      f->write(std::span(content).subspan(at, std::min<std::size_t>(700'000, content.size() - at)));
    f->sync();
    CHECK(f->size() == content.size());
  }
  auto const before = files.open("memory:1/.a");
  files.rename("memory:1/.a", "memory:1/a");
  files.create("memory:10/b");
  CHECK(files.list("memory:1") == std::vector<std::string>{"a"});
  CHECK(files.list("memory:2").empty());
  files.create("memory:1/a")->write(std::array{std::byte{7}});
  CHECK(files.open("memory:1/a")->size() == 1);
  for (std::size_t const from : {0U, 1'048'575U, 2'999'999U, 3'000'001U, 4'000'000U}) {
    std::vector<std::byte> part(1'100'000);
    part.resize(before->read_at(from, part));
    auto const expected = std::span(content).subspan(std::min<std::size_t>(from, content.size()));
    CHECK(std::ranges::equal(part, expected.first(std::min<std::size_t>(1'100'000, expected.size()))));
  }
  files.remove("memory:1/a");
  CHECK(error_of([&] { std::ignore = files.open("memory:1/a"); }) == "memory:1/a: No such file or directory");
  CHECK(error_of([&] { files.remove("memory:1/a"); }) == "memory:1/a: No such file or directory");
  CHECK(error_of([&] { files.rename("memory:1/a", "b"); }) == "memory:1/a: No such file or directory");
}

TEST_CASE("a directory belongs to one living process at a time") {
  test::temporary_directory const root;
  auto const here = root.file("");
  auto const path = root.file(".skel-claim");
  auto& files = real_file_system();
  std::string const own_host = [&] {
    auto const kept = files.claim(here);
    CHECK(kept);
    auto const words = test::read_file(path);
    CHECK(error_of([&] { std::ignore = files.claim(here); }) ==
          "usage: " + here + ": another job uses this store: " + words +
              "; wait until it ends, or use another store");
    return words.substr(0, words.find(','));
  }();
  CHECK(root.entries() == 0);
  {  // Taken over from one that lives, which then does not end that of its successor.
    auto before = files.claim(here);
    CHECK_THROWS_AS(files.claim(here, own_host + ", process 1"), skel::usage_error);
    auto const after = files.claim(here, skel::storage::claim_owner());
    CHECK(after);
    before.reset();
    CHECK_THROWS_AS(files.claim(here), skel::usage_error);
  }
  CHECK(root.entries() == 0);
  {  // Taken over by another process, after which this one changes nothing there.
    auto const kept = files.claim(here);
    auto const mine = root.file("mine");
    test::write_file(mine, "its content");
    std::filesystem::remove(path);
    test::write_file(path, "elsewhere, process 1, since 2026-05-04 12:00:00");
    auto const lost = skel::storage::directory_of(mine) + ": another process has taken over this store";
    CHECK(error_of([&] { std::ignore = files.create(mine); }) == lost);
    CHECK(error_of([&] { files.rename(mine, root.file("other")); }) == lost);
    CHECK(error_of([&] { files.remove(mine); }) == lost);
    CHECK(files.open(mine)->size() == 11);
    std::filesystem::remove(mine);
    std::filesystem::remove(path);
  }
  // That of a dead process of this host.
  test::write_file(path, own_host + ", process 1, since 2026-05-04 12:00:00");
  CHECK(files.claim(here));
  // That of another host, which touches it, and then no longer.
  std::string const other = "elsewhere, process 1, since 2026-05-04 12:00:00";
  test::write_file(path, other);
  {
    std::jthread const owner([&](std::stop_token const& ends) {
      while (!ends.stop_requested()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now());
      }
    });
    CHECK(error_of([&] { std::ignore = files.claim(here); }).find(other) != std::string::npos);
  }
  auto const begin = std::chrono::steady_clock::now();
  CHECK(files.claim(here));
  CHECK(std::chrono::steady_clock::now() - begin > std::chrono::seconds(5));
}
