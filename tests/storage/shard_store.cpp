// Tests objects in directories: every length and loss, damage that is found and named, generations
// that are not mixed.
#include "storage/shard_store.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "catch.hpp"
#include "fewer.hpp"
#include "skel/error.hpp"
#include "store_support.hpp"

using namespace skel::storage;

namespace {

bool any_contains(std::vector<std::string> const& lines, std::string const& text) {
  return std::ranges::any_of(lines, [&](auto const& l) { return l.find(text) != std::string::npos; });
}

put_options blocks_of(std::uint32_t size) { return {{}, {}, size}; }
put_options numbered(std::uint64_t number) { return {number, {}}; }

}  // namespace

TEST_CASE("objects of every length are restored, also after losses") {
  for (auto const* const spec : {"ida:5,3", "ida:3,2,matrix=cauchy", "parity:4", "replicate:3", "ida:1,1"}) {
    code const c(spec);
    auto const m = c.data_shards();
    std::vector<std::size_t> lengths{0,          1,      m - 1,      m,          m + 1, 17,
                                     16 * m - 1, 16 * m, 16 * m + 1, 3 * 16 * m, 1001};
    for (auto const length : lengths) {
      test::store_in_memory s(c.shards());
      auto const data = test::random_bytes(length, length);
      s.put(spec, data, blocks_of(16));
      INFO(spec << ", " << length << " bytes");
      CHECK(s.restore() == data);
      for (std::size_t lost = 0; lost < c.parity_shards(); ++lost)
        s.files.content("/disk" + std::to_string(lost) + "/state.1.00" + std::to_string(lost) + ".shard")
            .clear();
      CHECK(s.restore() == data);
    }
  }
}

TEST_CASE("any set of m directories is enough, and no smaller one") {
  test::store_in_memory s(6);
  auto const data = test::random_bytes(1234, 1);
  auto const o = s.put("ida:4,2", data, blocks_of(64));
  for (unsigned set = 0; set < 64; ++set) {
    auto some = o;
    std::erase_if(some.shards, [&](auto const& shard) { return ((set >> shard.first) & 1U) == 0; });
    if (std::popcount(set) >= 4) {
      CHECK(s.get(some) == data);
    } else {
      CHECK_THROWS_WITH(s.get(some), "state, generation 1: " + std::to_string(std::popcount(set)) +
                                         " of 6 shards are readable, 4 needed");
    }
  }
}

// Flips single bits of a shard: the damage is found and the shard named, and with a spare shard the
// data is still restored.
TEST_CASE("of 64 and of 256 directories any half may be lost, and is repaired") {
  std::mt19937_64 random(2026);
  for (std::size_t const n : {64U, 256U}) {
    auto const spec = "ida:" + std::to_string(n / 2) + "," + std::to_string(n / 2);
    auto const data = test::random_bytes(300 * n + 5, n);
    for (int round = 0; round < 4; ++round) {
      test::store_in_memory s(n);
      auto const o = s.put(spec, data, blocks_of(130));
      std::vector<std::uint32_t> order(n);
      std::iota(order.begin(), order.end(), 0U);
      if (round > 0) std::ranges::shuffle(order, random);
      order.resize(n / 2);
      std::vector<test::byte_vector> lost;
      for (auto const i : order) {
        lost.push_back(s.files.content(o.shards.at(i)));
        s.files.remove(o.shards.at(i));
      }
      auto const found = s.store.scan("state").at(0);
      REQUIRE(found.shards.size() == n / 2);
      CHECK(s.get(found) == data);
      s.store.repair(found, s.store.verify(found));
      for (std::size_t i = 0; i < order.size(); ++i)
        if (s.files.content(o.shards.at(order[i])) != lost[i]) FAIL("shard " << order[i] << " differs");
      s.files.remove(o.shards.at(order[0]));
      auto few = s.store.scan("state").at(0);
      for (std::size_t i = 1; i < order.size(); ++i) few.shards.erase(order[i]);
      few.shards.erase(few.shards.begin());
      CHECK_THROWS_AS(s.get(few), skel::error);
    }
  }
}

TEST_CASE("no bit of a shard can change unnoticed") {
  test::store_in_memory s(3);
  auto const data = test::random_bytes(150, 1);
  auto const o = s.put("ida:2,1", data, blocks_of(32));
  for (auto const& [index, path] : o.shards) {
    auto const good = s.files.content(path);
    for (std::size_t bit = 0; bit < 8 * good.size(); bit += test::fewer_if_slow(8) == 8 ? 1 : 7) {
      s.files.content(path)[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      s.problems.clear();
      auto const whole = s.store.verify(o);
      if (s.restore() != data || whole.shards.contains(index) || !any_contains(s.problems, path))
        FAIL(path << ", bit " << bit);
      s.files.content(path) = good;
    }
  }
  s.problems.clear();
  CHECK(s.store.verify(o).shards == o.shards);
  CHECK(s.problems.empty());
}

TEST_CASE("a bad block costs one block: each stripe may lose different ones") {
  test::store_in_memory s(5);
  auto const data = test::random_bytes(3 * 5 * 100, 1);
  auto const o = s.put("ida:3,2", data, blocks_of(100));
  auto const header = shard_header{o.object, 0}.encode().size();
  // Two different blocks per stripe, so that all five shards are damaged.
  for (std::size_t stripe = 0; stripe < 5; ++stripe)
    for (std::size_t const shard : {stripe % 5, (stripe + 2) % 5})
      s.files.content(o.shards.at(static_cast<std::uint32_t>(shard)))[header + stripe * 116 + 50] ^=
          std::byte{1};
  CHECK(s.restore() == data);
  CHECK(any_contains(s.problems, "/disk3/state.1.003.shard: block 4 of 5: hash does not match"));
  auto const whole = s.store.verify(o);
  CHECK(whole.shards.empty());
  CHECK(s.store.repair(o, whole).size() == 5);
  s.problems.clear();
  CHECK(s.store.verify(o).shards == o.shards);
  CHECK(s.problems.empty());
  s.files.content(o.shards.at(0))[header] ^= std::byte{1};
  s.files.content(o.shards.at(1))[header] ^= std::byte{1};
  s.files.content(o.shards.at(2))[header] ^= std::byte{1};
  CHECK_THROWS_WITH(s.get(o), "state, generation 1: 2 of 5 blocks of stripe 1 are good, expected 3");
}

TEST_CASE("truncated, swapped, duplicated and renamed shards are recognised") {
  test::store_in_memory s(4);
  auto const data = test::random_bytes(777, 1);
  auto const o = s.put("ida:2,2", data, blocks_of(64));
  auto const path = [&](std::uint32_t i) { return o.shards.at(i); };
  auto const first = s.files.content(path(0)), second = s.files.content(path(1));
  s.files.content(path(0)).pop_back();
  CHECK(s.restore() == data);
  CHECK(any_contains(s.problems, path(0) + ": " + std::to_string(first.size() - 1) +
                                     " bytes long, expected " + std::to_string(first.size())));
  s.files.content(path(0)) = second;  // swapped: the header is authoritative
  s.files.content(path(1)) = first;
  CHECK(s.restore() == data);
  s.files.content(path(1)) = second;  // a duplicate of the second
  CHECK(s.restore() == data);
  auto const found = s.store.scan("state");
  REQUIRE(found.size() == 1);
  CHECK(found[0].shards.size() == 3);
  CHECK(found[0].duplicates == std::vector{path(1)});
  s.files.put("/disk2/another-name.shard", first);
  CHECK(s.store.scan("state")[0].shards.size() == 4);
  s.files.put("/disk2/rubbish.shard", test::random_bytes(100, 3));
  s.problems.clear();
  CHECK(s.restore() == data);
  CHECK(any_contains(s.problems, "/disk2/rubbish.shard: not a shard"));
}

// The bytes behind the blocks cost no block.
TEST_CASE("a wrong length or a damaged footer costs what it damages") {
  auto const data = test::random_bytes(777, 1);
  for (std::string const code : {"ida:2,1", "replicate:2"}) {
    INFO(code);
    for (int damage = 0; damage < 3; ++damage) {
      INFO(damage);
      test::store_in_memory s(code == "ida:2,1" ? 3 : 2);
      auto const o = s.put(code, data, blocks_of(64));
      auto& bytes = s.files.content(o.shards.at(0));
      auto const before = bytes;
      if (damage == 0) bytes.push_back(std::byte{7});
      if (damage == 1) bytes.pop_back();
      if (damage == 2) bytes[bytes.size() - 20] ^= std::byte{1};
      s.files.remove(o.shards.at(1));
      CHECK(s.restore() == data);
      CHECK(any_contains(s.problems,
                         damage == 2 ? "hash of the footer does not match" : "bytes long, expected"));
      auto const found = s.store.scan("state");
      REQUIRE(found.size() == 1);
      CHECK(found[0].hash == o.hash);
      auto const whole = s.store.verify(found[0]);
      CHECK_FALSE(whole.shards.contains(0));
      s.store.repair(found[0], whole);
      CHECK(s.files.content(o.shards.at(0)) == before);
      CHECK(s.files.content(o.shards.at(1)).size() == before.size());
    }
  }
}

TEST_CASE("a truncated shard gives back the blocks that are left") {
  test::store_in_memory s(3);
  auto const data = test::random_bytes(2 * 64 * 10, 1);
  auto const o = s.put("ida:2,1", data, blocks_of(64));
  auto const header = shard_header{o.object, 0}.encode().size();
  s.files.content(o.shards.at(0)).resize(header + 5 * 80);  // the first five of ten blocks
  s.files.content(o.shards.at(1))[header + 1] ^= std::byte{1};
  CHECK(s.restore() == data);
  s.files.content(o.shards.at(1))[header + 7 * 80] ^= std::byte{1};
  CHECK(s.restore().empty());
}

TEST_CASE("a shard without a footer is not given to one of two objects") {
  test::store_in_memory s(6);
  auto const ours = test::random_bytes(300, 1), theirs = test::random_bytes(300, 2);
  shard_store first(test::directories(3), {}, s.files);
  shard_store second({"/disk3", "/disk4", "/disk5"}, {}, s.files);
  for (auto* const store : {&first, &second})
    store->put("state", code("ida:2,1"), 300, [&](auto const& to) { to(store == &first ? ours : theirs); });
  s.files.content("/disk0/state.1.000.shard").pop_back();
  for (auto const& o : s.store.scan("state")) CHECK((s.get(o) == ours || s.get(o) == theirs));
  s.files.remove("/disk1/state.1.001.shard");  // one of ours is left, with the one without a footer
  auto const found = s.store.scan("state");
  REQUIRE(found.size() == 2);
  CHECK(s.get(found[0]) == theirs);
  CHECK(found[1].shards.size() == 1);
}

TEST_CASE("a block of another object with the same header costs its shard, not the object") {
  for (std::string const code : {"ida:3,2", "ida:1,1"}) {
    std::size_t const n = code == "ida:3,2" ? 5 : 2;
    test::store_in_memory s(n), t(n);
    auto const data = test::random_bytes(3000, 1);
    auto const o = s.put(code, data, blocks_of(64));
    t.put(code, test::random_bytes(3000, 2), blocks_of(64));
    auto const path = o.shards.at(0);
    auto const header = shard_header{o.object, 0}.encode().size();
    auto const intact = s.files.content(path);
    std::copy_n(t.files.content(path).begin() + static_cast<std::ptrdiff_t>(header), 80,
                s.files.content(path).begin() + static_cast<std::ptrdiff_t>(header));
    CHECK(s.restore() == data);
    auto const whole = s.store.verify(o);
    CHECK(whole.shards.size() == n - 1);
    CHECK_FALSE(whole.shards.contains(0));
    CHECK(any_contains(s.problems, path + ": hashes of the blocks do not match the shard's"));
    s.store.repair(o, whole);
    CHECK(s.files.content(path) == intact);
  }
}

TEST_CASE("a block with its own hash is not accepted in another place") {
  test::store_in_memory s(3);
  auto const data = test::random_bytes(32 * 2 * 3, 1);
  auto const o = s.put("ida:2,1", data, blocks_of(32));
  auto const header = shard_header{o.object, 0}.encode().size();
  auto& bytes = s.files.content(o.shards.at(0));
  auto const block = bytes.begin() + static_cast<std::ptrdiff_t>(header);
  std::swap_ranges(block, block + 48, block + 48);  // two blocks change places
  CHECK(s.restore() == data);
  CHECK(any_contains(s.problems, "block 1 of 3: hash does not match"));
}

TEST_CASE("generations and attempts are not mixed") {
  test::store_in_memory s(4);
  auto const one = test::random_bytes(500, 1), two = test::random_bytes(500, 2),
             other = test::random_bytes(500, 3);
  s.put("ida:2,2", one);
  s.put("ida:2,2", two);
  CHECK(s.restore() == two);
  // Another attempt of generation 2 died between its renames and left half of the shards.
  test::store_in_memory t(4);
  auto const o = t.put("ida:2,2", other, numbered(2));
  for (std::uint32_t const i : {0U, 1U}) s.files.put(o.shards.at(i), t.files.content(o.shards.at(i)));
  auto const found = s.store.scan("state");
  REQUIRE(found.size() == 3);
  auto const restored = s.restore();
  CHECK((restored == two || restored == other));
  s.files.put(o.shards.at(2), t.files.content(o.shards.at(2)));
  CHECK(s.restore() == other);
  for (std::uint32_t const i : {0U, 1U, 2U, 3U}) s.files.content(o.shards.at(i)).clear();
  CHECK(s.restore() == one);
  CHECK_THROWS_AS(s.put("ida:2,2", one, numbered(1)), skel::usage_error);
  s.put("ida:2,2", other);
  s.store.remove_older_than("state", 2);
  CHECK(s.store.scan("state").size() == 1);
}

TEST_CASE("objects of one name and generation have ids, and rivals are the restorable ones") {
  test::store_in_memory s(3), t(3);
  auto const a = s.put("ida:2,1", test::random_bytes(50, 1)), b = t.put("ida:2,1", test::random_bytes(50, 2));
  CHECK(a.id().size() == 16);
  CHECK(a.id() != b.id());
  for (auto const& [index, path] : b.shards) s.files.put(path + ".other.shard", t.files.content(path));
  auto found = s.store.scan("state");
  REQUIRE(found.size() == 2);
  CHECK(rivals_of(found[0], found).size() == 1);
  CHECK(rivals_of(found[0], found)[0].id() == found[1].id());
  s.put("ida:2,1", test::random_bytes(50, 3));
  CHECK(rivals_of(s.store.scan("state").at(0), s.store.scan("state")).empty());  // another generation
  for (std::uint32_t const i : {0U, 1U}) s.files.remove(b.shards.at(i) + ".other.shard");
  found = s.store.scan("state");
  for (auto const& o : found) CHECK(rivals_of(o, found).empty());
}

namespace {

// `ours` has all of its shards, with copies of three; another writer's object has one of the two
// that it needs.
struct untidy_store : test::store_in_memory {
  test::byte_vector const data = test::random_bytes(300, 1);
  stored_object ours;
  untidy_store() : store_in_memory(4) {
    ours = put("ida:2,2", data, blocks_of(64));
    for (std::uint32_t const i : {0U, 1U, 2U})
      files.put("/disk3/copy" + std::to_string(i) + ".shard", files.content(ours.shards.at(i)));
    test::store_in_memory other(4);
    auto const theirs = other.put("ida:2,2", test::random_bytes(300, 2), blocks_of(64));
    files.put("/disk1/other.shard", other.files.content(theirs.shards.at(1)));
    files.put("/disk2/rubbish.shard", test::random_bytes(100, 3));
  }
  stored_object found() { return store.scan("state").at(0); }
};

}  // namespace

TEST_CASE("tidying removes second copies and remains of other writers, and nothing else") {
  untidy_store s;
  CHECK(s.store.tidy(s.found()) == std::vector<std::string>{"/disk1/other.shard", "/disk3/copy0.shard",
                                                            "/disk3/copy1.shard", "/disk3/copy2.shard"});
  auto const left = s.files.all_paths();
  CHECK(left.size() == 5);
  CHECK(std::ranges::count(left, "/disk2/rubbish.shard") == 1);  // unknown content
  CHECK(s.restore() == s.data);
  auto const found = s.found();
  s.problems.clear();
  CHECK(s.store.verify(found).shards == found.shards);
  CHECK(s.problems.empty());
  auto const calls = s.files.calls();
  CHECK(s.store.tidy(found).empty());
  CHECK(s.files.calls() - calls < 30);  // nothing is read if there is nothing to remove
}

TEST_CASE("tidying keeps the copy in a directory of its own") {
  test::store_in_memory s(3);
  auto const o = s.put("ida:2,1", test::random_bytes(300, 1));
  s.files.put("/disk0/a-copy.shard", s.files.content(o.shards.at(2)));  // found first
  CHECK(s.store.tidy(s.store.scan("state").at(0)) == std::vector<std::string>{"/disk0/a-copy.shard"});
  s.files.put("/disk0/a-copy.shard", s.files.content(o.shards.at(2)));
  s.files.content(o.shards.at(2)).at(200) ^= std::byte{1};
  CHECK(s.store.tidy(s.store.scan("state").at(0)) == std::vector{o.shards.at(2)});  // but never a damaged one
}

TEST_CASE("nothing is removed unless the remaining shards are whole") {
  untidy_store s;
  auto const before = s.files.all_paths();
  s.files.content(s.ours.shards.at(3)).at(200) ^= std::byte{1};
  CHECK_THROWS_WITH(s.store.tidy(s.found()),
                    "state, generation 1: not all shards are whole: nothing is removed");
  CHECK(s.files.all_paths() == before);
}

TEST_CASE("a complete object of another writer is neither removed nor overwritten") {
  test::store_in_memory s(4), t(4);
  auto const ours = test::random_bytes(300, 1), theirs = test::random_bytes(300, 2);
  s.put("ida:2,2", ours);
  t.put("ida:2,2", theirs);
  auto const name = [](int i) {
    auto const n = std::to_string(i);
    return "/disk" + n + "/state.1.00" + n + ".shard";
  };
  for (int const i : {2, 3}) s.files.put(name(i), t.files.content(name(i)));  // two shards of each object
  auto const found = s.store.scan("state");
  REQUIRE(found.size() == 2);
  auto const mine = s.get(found[0]) == ours ? found[0] : found[1];
  auto const other = s.get(found[0]) == ours ? found[1] : found[0];
  // Shards 2 and 3 are written, but do not replace the other writer's files of these names.
  CHECK(s.store.repair(mine, s.store.verify(mine)) ==
        std::vector<std::string>{"/disk3/state.1.002.shard", "/disk2/state.1.003.shard"});
  CHECK(s.get(mine) == ours);
  CHECK(s.get(other) == theirs);
  s.store.tidy(s.put("ida:2,2", ours, numbered(7)));
  CHECK(s.get(other) == theirs);  // another generation
  // With enough directories both become whole.
  test::store_in_memory wide(8);
  for (int i = 0; i < 4; ++i) wide.files.put(name(i), (i < 2 ? s : t).files.content(name(i)));
  shard_store turned({"/disk4", "/disk5", "/disk6", "/disk7", "/disk0", "/disk1", "/disk2", "/disk3"}, {},
                     wide.files);
  for (auto const& o : turned.scan("state")) {
    CHECK(turned.repair(o, turned.verify(o)).size() == 2);
    CHECK(turned.tidy(o).empty());
  }
  for (auto const& o : turned.scan("state")) CHECK(o.shards.size() == 4);
}

TEST_CASE("an empty directory in the place of a lost one is filled by repair") {
  test::store_in_memory s(5);
  auto const data = test::random_bytes(5000, 1);
  auto const o = s.put("ida:3,2", data);
  auto const before = s.files.content(o.shards.at(2));
  s.files.remove(o.shards.at(2));
  s.files.remove(o.shards.at(4));
  auto const found = s.store.scan("state").at(0);
  auto const whole = s.store.verify(found);
  CHECK(any_contains(s.problems, "state, generation 1: shard 2 is missing"));
  CHECK(s.store.repair(found, whole) ==
        std::vector<std::string>{"/disk2/state.1.002.shard", "/disk4/state.1.004.shard"});
  CHECK(s.files.content(o.shards.at(2)) == before);
  s.files.remove_directory("/disk1");
  s.problems.clear();
  CHECK(s.restore() == data);
  CHECK(any_contains(s.problems, "/disk1: No such file or directory"));
}

TEST_CASE("inconsistent arguments are refused in one line") {
  test::store_in_memory s(3);
  auto const data = test::random_bytes(10, 1);
  CHECK_THROWS_WITH(s.put("ida:3,1", data), "ida:3,1 makes 4 shards, expected one directory each, found 3");
  CHECK_THROWS_WITH(s.put("ida:2,1", data, blocks_of(0)),
                    "block size: expected 1 to 16777216 bytes, found 0");
  CHECK_THROWS_AS(shard_store({"/a", "/b", "/a/"}), skel::usage_error);
  auto const liar = [&](std::uint64_t length) {
    s.store.put("state", code("ida:2,1"), length, [&](auto const& to) { to(data); });
  };
  CHECK_THROWS_WITH(liar(11), "state: length changed while it was read");
  CHECK_THROWS_WITH(liar(9), "state: length changed while it was read");
  CHECK(s.files.all_paths().empty());  // failed attempts leave no files
}
