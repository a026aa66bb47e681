// Saving beside the computation.
#include "skel/checkpoint/background_saver.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "catch.hpp"
#include "repository_support.hpp"

using namespace skel::storage;

namespace {

// Files in memory of which none can be created until the gate is open.
class gated_files final : public file_system {
 public:
  explicit gated_files(std::vector<std::string> const& directories) : files_(directories) {}
  void open_gate() {
    {
      std::scoped_lock const held(lock_);
      is_open_ = true;
    }
    opened_.notify_all();
  }
  std::unique_ptr<file> create(std::string const& path) override {
    std::unique_lock held(lock_);
    opened_.wait(held, [&] { return is_open_; });
    return files_.create(path);
  }
  std::unique_ptr<file> open(std::string const& path) override { return files_.open(path); }
  void rename(std::string const& from, std::string const& to) override { files_.rename(from, to); }
  void remove(std::string const& path) override { files_.remove(path); }
  std::vector<std::string> list(std::string const& directory) override { return files_.list(directory); }
  void sync_directory(std::string const& directory) override { files_.sync_directory(directory); }

 private:
  test::model_file_system files_;
  std::mutex lock_;
  std::condition_variable opened_;
  bool is_open_ = false;
};

}  // namespace

TEST_CASE("parts are saved in the background, in order, and their outcome is given back") {
  test::repository_in_memory r(4, "ida:2,2");
  auto const state = test::random_parts(3, 1);
  auto const plan = r.store.next(3);
  {
    background_saver saver(r.store);
    CHECK_FALSE(saver.wait().has_value());
    CHECK(saver.buffer().empty());
    for (std::uint32_t i = 0; i < 3; ++i) saver.start(plan, i, "part", state[i]);
    for (std::uint32_t i = 0; i < 3; ++i) {
      auto const done = saver.wait();
      REQUIRE(done.has_value());
      CHECK(done->part == i);
      CHECK(done->plan == plan);
      CHECK_FALSE(done->error.has_value());
      CHECK(done->problems.empty());
    }
    CHECK_FALSE(saver.wait().has_value());
    CHECK(saver.buffer().capacity() != 0);  // memory that was used comes back
    CHECK_FALSE(r.store.catalogue().at(0).manifest.has_value());
    saver.start_commit(plan);
    saver.start_commit({9, 9, 1});
    auto const committed = saver.wait();
    CHECK(committed->part == 3);
    CHECK_FALSE(committed->error.has_value());
    CHECK(saver.wait()->error == "generation 9 was not prepared: 0 of 1 parts can be given back");
  }
  CHECK(r.store.catalogue().at(0).manifest.has_value());
  CHECK(r.restore() == state);
}

TEST_CASE("while one part is written and another waits, a third waits for the first") {
  auto const options = test::options_for(2, "ida:1,1");
  gated_files files(test::directories(2));
  repository const store(options, {}, files);
  auto const state = test::random_parts(3, 1);
  generation_plan const plan{1, 7, 3};
  background_saver saver(store);
  saver.start(plan, 0, "part", state[0]);
  saver.start(plan, 1, "part", state[1]);
  CHECK_FALSE(saver.poll().has_value());
  std::atomic<bool> started = false;
  std::thread third([&] {
    saver.start(plan, 2, "part", state[2]);
    started = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  CHECK_FALSE(started);
  files.open_gate();
  third.join();
  for (std::uint32_t i = 0; i < 3; ++i) CHECK(saver.wait()->part == i);
  store.commit(plan);
  CHECK(store.restore()->parts == state);
}

TEST_CASE("what goes wrong in the background is an outcome, and the next part is saved all the same") {
  test::repository_in_memory r(2, "ida:1,1");
  auto const plan = r.store.next(1);
  background_saver saver(r.store);
  r.files.refuse([](std::string const& call, std::string const&) { return call == "write"; });
  saver.start(plan, 0, "part", test::random_bytes(100, 1));
  auto const failed = saver.wait();
  REQUIRE(failed.has_value());
  CHECK(failed->error == "/disk1/.part.1.0-of-1.001.shard.writing: No space left on device");
  CHECK(failed->problems.size() == 2);
  CHECK(r.problems.empty());  // the thread calls nobody
  r.files.restart(false);
  saver.start(plan, 0, "part", test::random_bytes(100, 1));
  CHECK_FALSE(saver.wait()->error.has_value());
}

TEST_CASE("the end waits for what is on its way") {
  test::repository_in_memory r(2, "ida:1,1");
  auto const state = test::random_parts(1, 1);
  auto const plan = r.store.next(1);
  { background_saver(r.store).start(plan, 0, "part", state[0]); }
  r.store.commit(plan);
  CHECK(r.restore() == state);
}
