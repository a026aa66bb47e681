// Fails or kills the process at every call to the file system, with and without loss of power.
// Afterwards the newest whole generation must be restored, and never wrong bytes.
#include "catch.hpp"
#include "skel/error.hpp"
#include "store_support.hpp"

using namespace skel::storage;
using trouble = test::model_file_system::trouble;

namespace {

test::byte_vector const old_bytes = test::random_bytes(200, 1), new_bytes = test::random_bytes(300, 2);

put_options small_blocks() {
  put_options o;
  o.block_size = 40;
  return o;
}

// Writes the second generation and removes the first once the second is whole. Returns how far the writer
// got.
enum class reached : std::uint8_t { nothing, second, all };

reached write_second(test::store_in_memory& s) {
  auto done = reached::nothing;
  try {
    auto const made = s.put("ida:3,2", new_bytes, small_blocks());
    done = reached::second;
    s.store.remove_older_than("state", made.object.generation);
    done = reached::all;
  } catch (test::killed const&) {
  } catch (skel::error const&) {
  }
  return done;
}

}  // namespace

TEST_CASE("a writer killed at any call leaves the old generation or the new one") {
  for (bool const power_lost : {false, true}) {
    std::uint64_t last = 0, old_ones = 0, new_ones = 0;
    for (std::uint64_t n = 1;; ++n) {
      test::store_in_memory s(5);
      s.put("ida:3,2", old_bytes, small_blocks());
      s.files.at_call(n, trouble::kill);
      auto const done = write_second(s);
      last = s.files.calls();
      s.files.restart(power_lost);
      auto const restored = s.restore();
      INFO("call " << n << ", power lost: " << power_lost);
      if (done == reached::nothing) {
        REQUIRE((restored == old_bytes || restored == new_bytes));
        ++(restored == old_bytes ? old_ones : new_ones);
      } else {
        REQUIRE(restored == new_bytes);
      }
      // The store stays usable.
      auto const three = test::random_bytes(100, n);
      s.put("ida:3,2", three, small_blocks());
      REQUIRE(s.restore() == three);
      if (done == reached::all) break;
    }
    CHECK(last > 60);  // creates, writes, syncs, renames, syncs of directories, and the first one's removal
    CHECK(old_ones > 30);
    CHECK(new_ones >= 1);
  }
}

TEST_CASE("a call that fails leaves the old generation or the whole new one, and no temporary files") {
  for (std::uint64_t n = 1;; ++n) {
    test::store_in_memory s(5);
    s.put("ida:3,2", old_bytes, small_blocks());
    s.files.at_call(n, trouble::error);
    auto const done = write_second(s);
    s.files.restart(false);
    auto const restored = s.restore();
    INFO("call " << n);
    if (done == reached::nothing)
      REQUIRE((restored == old_bytes || restored == new_bytes));
    else
      REQUIRE(restored == new_bytes);
    for (auto const& path : s.files.all_paths()) REQUIRE(path.find(".writing") == std::string::npos);
    if (done == reached::all) break;
  }
}

TEST_CASE("a repair that tidies, killed at any call, loses nothing") {
  for (bool const power_lost : {false, true}) {
    for (std::uint64_t n = 1;; ++n) {
      test::store_in_memory s(5), t(5);
      auto const o = s.put("ida:3,2", new_bytes, small_blocks());
      auto const other = t.put("ida:3,2", old_bytes, small_blocks());
      s.files.put("/disk1/copy.shard", s.files.content(o.shards.at(0)));
      s.files.put("/disk2/other.shard", t.files.content(other.shards.at(2)));
      s.files.content(o.shards.at(0)).at(200) ^= std::byte{1};  // makes the copy the better one
      s.files.remove(o.shards.at(4));
      auto const found = s.store.scan("state").at(0);
      auto const whole = s.store.verify(found);
      s.files.at_call(n, trouble::kill);
      bool done = false;
      try {
        s.store.repair(found, whole);
        s.store.tidy(found);
        done = true;
      } catch (test::killed const&) {
      }
      s.files.restart(power_lost);
      INFO("call " << n << ", power lost: " << power_lost);
      REQUIRE(s.restore() == new_bytes);
      if (done) {
        s.problems.clear();
        auto const all = s.store.scan("state");
        REQUIRE(all.size() == 1);
        REQUIRE(s.store.verify(all[0]).shards.size() == 5);
        REQUIRE(s.problems.empty());
        break;
      }
    }
  }
}

TEST_CASE("a repair killed at any call loses nothing") {
  for (bool const power_lost : {false, true}) {
    for (std::uint64_t n = 1;; ++n) {
      test::store_in_memory s(5);
      auto const o = s.put("ida:3,2", new_bytes, small_blocks());
      s.files.content(o.shards.at(1)).back() ^= std::byte{1};
      s.files.remove(o.shards.at(4));
      auto const found = s.store.scan("state").at(0);
      auto const whole = s.store.verify(found);
      s.files.at_call(n, trouble::kill);
      bool done = false;
      try {
        s.store.repair(found, whole);
        done = true;
      } catch (test::killed const&) {
      }
      s.files.restart(power_lost);
      INFO("call " << n << ", power lost: " << power_lost);
      REQUIRE(s.restore() == new_bytes);
      if (done) {
        s.problems.clear();
        REQUIRE(s.store.verify(s.store.scan("state").at(0)).shards.size() == 5);
        break;
      }
    }
  }
}
