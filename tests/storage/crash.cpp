// Fails or kills the process at every call to the file system, with and without loss of power.
// Afterwards the newest whole generation must be restored, and never wrong bytes.
#include "catch.hpp"
#include "skel/error.hpp"
#include "store_support.hpp"

using namespace skel::storage;
using trouble = test::model_file_system::trouble;

namespace {

test::byte_vector const old_bytes = test::random_bytes(200, 1), new_bytes = test::random_bytes(300, 2);

put_options const small_blocks{{}, {}, 40};

// Writes the second generation and removes the first once the second is whole. Returns how far the writer
// got.
enum class reached : std::uint8_t { nothing, second, all };

reached write_second(test::store_in_memory& s) {
  auto done = reached::nothing;
  try {
    auto const made = s.put("ida:3,2", new_bytes, small_blocks);
    done = reached::second;
    s.store.remove_older_than("state", made.object.generation);
    done = reached::all;
  } catch (test::killed const&) {
  } catch (skel::error const&) {
  }
  return done;
}

}  // namespace

// A call that only fails leaves no temporary files.
TEST_CASE("a writer killed, or refused once, at any call leaves the old generation or the new one") {
  for (auto const what : {trouble::error, trouble::kill})
    for (bool const power_lost : {false, true}) {
      std::uint64_t last = 0, old_ones = 0, new_ones = 0;
      for (std::uint64_t n = 1;; ++n) {
        test::store_in_memory s(5);
        s.put("ida:3,2", old_bytes, small_blocks);
        s.files.at_call(n, what);
        auto const done = write_second(s);
        last = s.files.calls();
        if (what == trouble::error)
          for (auto const& path : s.files.all_paths()) REQUIRE(path.find(".writing") == std::string::npos);
        s.files.restart(power_lost);
        auto const restored = s.restore();
        INFO("call " << n << ", killed: " << (what == trouble::kill) << ", power lost: " << power_lost);
        REQUIRE((restored == new_bytes || (done == reached::nothing && restored == old_bytes)));
        ++(restored == old_bytes ? old_ones : new_ones);
        // The store stays usable.
        auto const three = test::random_bytes(100, n);
        s.put("ida:3,2", three, small_blocks);
        REQUIRE(s.restore() == three);
        if (last < n) break;  // no such call
      }
      CHECK(last > 60);  // creates, writes, syncs, renames, syncs of directories, and the first one's removal
      CHECK(old_ones > 30);
      CHECK(new_ones >= 1);
    }
}

namespace {

// Shards are damaged and missing; before a repair that tidies there are also a copy, which is better than its
// shard, and one of another writer.
stored_object damaged_object(test::store_in_memory& s, bool untidy) {
  auto const o = s.put("ida:3,2", new_bytes, small_blocks);
  if (untidy) {
    test::store_in_memory t(5);
    auto const other = t.put("ida:3,2", old_bytes, small_blocks);
    s.files.put("/disk1/copy.shard", s.files.content(o.shards.at(0)));
    s.files.put("/disk2/other.shard", t.files.content(other.shards.at(2)));
    s.files.content(o.shards.at(0)).at(200) ^= std::byte{1};
  } else {
    s.files.content(o.shards.at(1)).back() ^= std::byte{1};
  }
  s.files.remove(o.shards.at(4));
  return s.store.scan("state").at(0);
}

}  // namespace

TEST_CASE("a repair killed at any call, also one that tidies, loses nothing") {
  for (bool const tidies : {false, true})
    for (bool const power_lost : {false, true})
      for (std::uint64_t n = 1;; ++n) {
        test::store_in_memory s(5);
        auto const found = damaged_object(s, tidies);
        auto const whole = s.store.verify(found);
        s.files.at_call(n, trouble::kill);
        bool done = false;
        try {
          s.store.repair(found, whole);
          if (tidies) s.store.tidy(found);
          done = true;
        } catch (test::killed const&) {
        }
        s.files.restart(power_lost);
        INFO("call " << n << ", power lost: " << power_lost << ", tidies: " << tidies);
        REQUIRE(s.restore() == new_bytes);
        if (!done) continue;
        s.problems.clear();
        auto const all = s.store.scan("state");
        REQUIRE(all.size() == 1);
        REQUIRE(s.store.verify(all[0]).shards.size() == 5);
        REQUIRE(s.problems.empty());
        break;
      }
}
