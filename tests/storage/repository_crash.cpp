// Kills a commit at each of its calls to the file system, on disks that keep everything, forget
// unsynced data, or keep any part of it; and lets disks fail or fill up at any call. Afterwards the
// newest whole generation must be restored, and never wrong bytes.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <random>

#include "catch.hpp"
#include "fewer.hpp"
#include "observe/support.hpp"
#include "repository_support.hpp"
#include "skel/error.hpp"

using namespace skel::storage;
using trouble = test::model_file_system::trouble;

namespace {

test::parts const old_parts = test::random_parts(2, 1), new_parts = test::random_parts(2, 2);

repository_options small_store(std::size_t places, std::string const& code) {
  auto o = test::options_for(places, code);
  o.keep = 1;  // the older generation is removed as soon as possible
  return o;
}

enum class commit_state : std::uint8_t { nothing, committed, all };

commit_state write(repository const& store, test::parts const& state) {
  auto done = commit_state::nothing;
  try {
    auto const plan = test::prepare_all(store, state);
    store.commit(plan);
    done = commit_state::committed;
    store.remove_old(plan);
    done = commit_state::all;
  } catch (test::killed const&) {
  } catch (skel::error const&) {
  }
  return done;
}

void check_restored(test::parts const& restored, commit_state done, test::parts const& before,
                    test::parts const& after) {
  if (done == commit_state::nothing)
    REQUIRE((restored == before || restored == after));
  else
    REQUIRE(restored == after);
}

// One generation exists; the process is killed at call n while saving the second.
struct crash {
  test::repository_in_memory r;
  commit_state done;
  crash(repository_options const& o, test::parts const& before, test::parts const& after, std::uint64_t n)
      : r(o), done((test::save(r.store, before), r.files.at_call(n, trouble::kill), write(r.store, after))) {}

  void check_after_loss(test::parts const& before, test::parts const& after,
                        std::function<bool(std::size_t)> const& survives) const {
    test::repository_in_memory again(r.store.options());
    for (auto const& [path, content] : r.files.after_power_loss(survives)) again.files.put(path, content);
    check_restored(again.restore(), done, before, after);
  }
};

// Real files, whose process kills itself before a call or in the middle of a write.
class deadly_files final : public file_system {
 public:
  deadly_files(std::uint64_t last, bool within) : last_(last), within_(within) {}

  std::unique_ptr<file> create(std::string const& path) override {
    call();
    return std::make_unique<deadly_file>(*this, real_file_system().create(path));
  }
  std::unique_ptr<file> open(std::string const& path) override {
    call();
    return std::make_unique<deadly_file>(*this, real_file_system().open(path));
  }
  void rename(std::string const& from, std::string const& to) override {
    call();
    real_file_system().rename(from, to);
  }
  void remove(std::string const& path) override {
    call();
    real_file_system().remove(path);
  }
  std::vector<std::string> list(std::string const& directory) override {
    call();
    return real_file_system().list(directory);
  }
  void sync_directory(std::string const& directory) override {
    call();
    real_file_system().sync_directory(directory);
  }

 private:
  class deadly_file final : public file {
   public:
    deadly_file(deadly_files& all, std::unique_ptr<file> real) : all_(all), real_(std::move(real)) {}
    void write(std::span<std::byte const> bytes) override {
      if (all_.calls_ + 1 == all_.last_ && all_.within_) real_->write(bytes.first(bytes.size() / 2));
      all_.call();
      real_->write(bytes);
    }
    std::size_t read_at(std::uint64_t offset, std::span<std::byte> bytes) override {
      all_.call();
      return real_->read_at(offset, bytes);
    }
    std::uint64_t size() override { return real_->size(); }
    void sync() override {
      all_.call();
      real_->sync();
    }

   private:
    deadly_files& all_;
    std::unique_ptr<file> real_;
  };
  void call() {
    if (++calls_ == last_) ::raise(SIGKILL);
  }
  std::uint64_t calls_ = 0, last_;
  bool within_;
};

}  // namespace

TEST_CASE("a commit killed at any call, with every prefix of the unsynced operations") {
  auto const o = small_store(4, "ida:2,1");
  std::uint64_t old_ones = 0, new_ones = 0, losses = 0;
  for (std::uint64_t n = 1;; n += test::longer_if_slow(5)) {
    crash c(o, old_parts, new_parts, n);
    INFO("call " << n);
    for (std::size_t prefix = 0; prefix <= c.r.files.unsynced(); ++prefix) {
      INFO("the first " << prefix << " of " << c.r.files.unsynced() << " unsynced operations survive");
      c.check_after_loss(old_parts, new_parts, [&](std::size_t i) { return i < prefix; });
      ++losses;
    }
    c.r.files.restart(false);  // only the process was killed
    auto const restored = c.r.restore();
    check_restored(restored, c.done, old_parts, new_parts);
    ++(restored == old_parts ? old_ones : new_ones);
    auto const three = test::random_parts(3, n);
    test::save(c.r.store, three);  // the store stays usable
    REQUIRE(c.r.restore() == three);
    for (auto const& path : c.r.files.all_paths()) REQUIRE(path.find(".writing") == std::string::npos);
    if (c.done == commit_state::all) break;
  }
  CHECK(old_ones > test::fewer_if_slow(50));
  CHECK(new_ones > test::fewer_if_slow(50));
  CHECK(losses > test::fewer_if_slow(2000));
}

TEST_CASE("a commit killed at any call, with every subset of the unsynced operations") {
  auto const o = small_store(2, "replicate:2");
  test::parts const before{test::random_bytes(30, 1)}, after{test::random_bytes(35, 2)};
  std::uint64_t losses = 0;
  std::mt19937_64 random(1);
  for (std::uint64_t n = 1;; n += test::longer_if_slow(5)) {
    crash const c(o, before, after, n);
    auto const unsynced = c.r.files.unsynced();
    constexpr std::size_t all_subsets = 8;
    auto const subsets = std::uint64_t{1} << std::min(unsynced, all_subsets);
    for (std::uint64_t s = 0; s < subsets; ++s) {
      auto const survivors = unsynced <= all_subsets ? s : random();
      INFO("call " << n << ", survivors " << survivors << " of " << unsynced);
      c.check_after_loss(before, after, [&](std::size_t i) { return ((survivors >> i) & 1U) != 0; });
      ++losses;
    }
    if (c.done == commit_state::all) break;
  }
  CHECK(losses > test::fewer_if_slow(1000));
}

TEST_CASE("after a single failing call the commit continues elsewhere, or the old generation stays") {
  auto const o = small_store(4, "ida:2,1");
  std::uint64_t survived = 0, n = 1;
  for (;; ++n) {
    test::repository_in_memory r(o);
    test::save(r.store, old_parts);
    r.files.at_call(n, trouble::error);
    auto const done = write(r.store, new_parts);
    bool const reached_it = r.files.calls() >= n;
    r.files.restart(false);
    INFO("call " << n);
    check_restored(r.restore(), done, old_parts, new_parts);
    survived += done == commit_state::nothing ? 0 : 1;
    if (!reached_it) break;
  }
  CHECK(10 * survived >= 9 * n);  // a failing call prevents the commit only if no directory can replace it
}

TEST_CASE("a directory fills up, or becomes read-only, at any call: the others take its shards") {
  auto const o = small_store(4, "ida:2,1");
  for (bool const full : {true, false})
    for (std::uint64_t n = 1;; ++n) {
      test::repository_in_memory r(o);
      test::save(r.store, old_parts);
      r.files.at_call(1, trouble::none);
      r.files.refuse([&](std::string const& call, std::string const& path) {
        bool const affected =
            full ? call == "write" : call == "create" || call == "rename" || call == "remove";
        return r.files.calls() >= n && affected && path.starts_with("/disk1/");
      });
      auto const done = write(r.store, new_parts);
      bool const reached_it = r.files.calls() >= n;
      r.files.restart(false);
      INFO("call " << n);
      REQUIRE(done == commit_state::all);
      REQUIRE(r.restore() == new_parts);
      if (!reached_it) break;
    }
}

TEST_CASE("if all directories are full the old generation stays") {
  auto const o = small_store(3, "ida:2,1");
  test::repository_in_memory r(o);
  test::save(r.store, old_parts);
  r.files.refuse([](std::string const& call, std::string const&) { return call == "write"; });
  CHECK_THROWS_WITH(test::save(r.store, new_parts), Catch::Contains("No space left on device"));
  CHECK_THROWS_AS(r.store.check_at_start(), skel::usage_error);
  r.files.restart(false);
  CHECK(r.restore() == old_parts);
  for (auto const& path : r.files.all_paths()) CHECK(path.find(".writing") == std::string::npos);
}

TEST_CASE("a process killed by SIGKILL at every call of a commit to real files") {
  // Uses memory if possible: no power is lost here, and the syncs would take a minute on a disk.
  test::temporary_directory const where(std::filesystem::is_directory("/dev/shm")
                                            ? std::filesystem::path("/dev/shm")
                                            : std::filesystem::temp_directory_path());
  auto o = small_store(2, "ida:1,1");
  for (int i = 0; i < 2; ++i) {
    o.places[static_cast<std::size_t>(i)].directory = where.file("disk" + std::to_string(i));
    std::filesystem::create_directory(o.places[static_cast<std::size_t>(i)].directory);
  }
  repository const store(o);
  auto current = test::parts{test::random_bytes(70, 1)};
  test::save(store, current);
  bool killed = true;
  std::uint64_t n = 1;
  for (; killed; n += test::longer_if_slow(7))
    for (bool const within : {false, true}) {
      test::parts const next{test::random_bytes(50 + n, n)};
      auto const child = ::fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        deadly_files files(n, within);
        std::_Exit(write(repository(o, {}, files), next) == commit_state::all ? 0 : 1);
      }
      int status = 0;
      REQUIRE(::waitpid(child, &status, 0) == child);
      killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
      INFO("call " << n << (within ? ", within a write" : ""));
      REQUIRE((killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0)));
      auto const restored = store.restore();
      REQUIRE(restored.has_value());
      REQUIRE((restored->parts == next || (killed && restored->parts == current)));
      current = restored->parts;
      test::save(store, current);  // the store stays usable; remains of dead writers are removed
    }
  CHECK(n > 60);
}
