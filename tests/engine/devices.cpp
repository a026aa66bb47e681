// The accelerators that the environment shows, shared among the ranks and threads of a host.
#include "engine/devices.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "catch.hpp"
#include "skel/skel.hpp"

using skel::detail::count_devices;
using skel::detail::device_of;
using skel::detail::devices_of_rank;
using skel::detail::threads_with_devices;

namespace {

// A context of one process that sees these devices.
skel::context seeing(char const* list, int threads, int per_device = 0) {
  skel::context_options options;
  options.threads = threads;
  options.threads_per_device = per_device;
  ::setenv("CUDA_VISIBLE_DEVICES", list, 1);
  skel::context ctx(options);
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  return ctx;
}

// What tasks saw, and how many were at work on each device at a time.
class sightings {
 public:
  void task(skel::worker_info const& where) const {
    {
      std::lock_guard const guard(lock_);
      threads_.insert(where.threads);
      if (where.thread >= where.threads) threads_.insert(0);
      most_ = std::max(most_, ++now_[where.device.value_or(-1)]);
      devices_.insert(where.device.value_or(-1));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::lock_guard const guard(lock_);
    --now_[where.device.value_or(-1)];
  }
  [[nodiscard]] std::set<unsigned> const& threads() const { return threads_; }
  [[nodiscard]] std::set<int> const& devices() const { return devices_; }
  [[nodiscard]] int most() const { return most_; }

 private:
  mutable std::mutex lock_;
  mutable std::set<unsigned> threads_;
  mutable std::set<int> devices_;  // -1: none
  mutable std::map<int, int> now_;
  mutable int most_ = 0;
};

struct stealing {
  using task = int;
  using result = std::uint64_t;
  sightings const* seen;
  void run(int depth, skel::spawner<int>& more, std::uint64_t& sum, skel::worker_info const& where) const {
    seen->task(where);
    ++sum;
    for (int i = 0; i < 2 && depth > 0; ++i) more(depth - 1);
  }
  [[nodiscard]] std::uint64_t merge(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

struct pieces {
  using carried = int;
  using unit = int;
  using packet = int;
  using result = int;
  sightings const* seen;
  std::uint64_t read(std::uint64_t, int&, int&) const { return 4; }
  [[nodiscard]] int cut(int, std::uint64_t, std::uint64_t) const { return 0; }
  [[nodiscard]] int process(int, std::size_t, skel::worker_info const& where) const {
    seen->task(where);
    return 0;
  }
};

}  // namespace

TEST_CASE("devices are counted up to the first hidden one") {
  CHECK(count_devices("") == 0);
  CHECK(count_devices("0") == 1);
  CHECK(count_devices("2, 3") == 2);
  CHECK(count_devices("GPU-8932f937,GPU-a1b2c3d4,MIG-1") == 3);
  CHECK(count_devices("0.0,0.1,1.0") == 3);  // ZE_AFFINITY_MASK
  CHECK(count_devices("-1") == 0);
  CHECK(count_devices("0,1,-1,2") == 2);
  CHECK(count_devices("0,,1") == 1);
}

TEST_CASE("ranks share the devices of a host evenly") {
  CHECK_FALSE(device_of(0, {0, 1}, 0));
  for (int devices = 1; devices <= 9; ++devices)
    for (int ranks = 1; ranks <= 9; ++ranks) {
      std::multiset<int> used;
      for (int r = 0; r < ranks; ++r) {
        std::set<int> own;
        for (unsigned t = 0; t < 9; ++t) own.insert(device_of(devices, {r, ranks}, t).value());
        used.insert(own.begin(), own.end());
      }
      for (int d = 0; d < devices; ++d) {
        auto const users = static_cast<int>(used.count(d));
        CHECK(users >= std::max(1, ranks / devices));
        CHECK(users <= std::max(1, (ranks + devices - 1) / devices));
      }
      CHECK(*used.rbegin() == devices - 1);
    }
}

TEST_CASE("a rank has as many devices as its threads take turns at") {
  CHECK(devices_of_rank(0, {0, 1}) == 0);
  for (int devices = 1; devices <= 9; ++devices)
    for (int ranks = 1; ranks <= 9; ++ranks)
      for (int r = 0; r < ranks; ++r) {
        std::set<int> own;
        for (unsigned t = 0; t < 9; ++t) own.insert(device_of(devices, {r, ranks}, t).value());
        CHECK(devices_of_rank(devices, {r, ranks}) == static_cast<int>(own.size()));
      }
  CHECK(threads_with_devices(16, 0, 2) == 16);  // not asked for
  CHECK(threads_with_devices(16, 3, 0) == 16);  // no device
  CHECK(threads_with_devices(16, 3, 2) == 6);
  CHECK(threads_with_devices(1, 3, 2) == 6);
}

TEST_CASE("a context has threads for each device, in every skeleton whose tasks see one") {
  struct expected {
    char const* list;
    int per_device;
    unsigned threads;
    std::set<int> devices;
    int most;  // tasks on one device at a time
  };
  for (auto const& e : {expected{"4,7", 0, 5, {0, 1}, 3}, expected{"4,7", 2, 4, {0, 1}, 2},
                        expected{"4", 1, 1, {0}, 1}, expected{"", 2, 5, {-1}, 5}}) {
    CAPTURE(e.list, e.per_device);
    auto ctx = seeing(e.list, 5, e.per_device);
    CHECK(ctx.threads() == static_cast<int>(e.threads));
    std::array<sightings, 3> seen;
    skel::farm(
        ctx, skel::indices(200), [&](std::uint64_t, skel::worker_info const& where) { seen[0].task(where); },
        [](skel::task_id) {});
    CHECK(skel::ring_steal(ctx, skel::replicated(std::vector{7}), stealing{&seen[1]}).value == 255);
    skel::multi_host(ctx, 50, pieces{&seen[2]}, [](std::uint64_t, std::uint64_t, int) {});
    for (auto const& s : seen) {
      CHECK(s.threads() == std::set{e.threads});
      CHECK(s.devices() == e.devices);
      CHECK(s.most() <= e.most);
    }
  }
}

TEST_CASE("threads per device may change between calls and come from the environment") {
  auto ctx = seeing("0,1", 3);
  CHECK(ctx.threads() == 3);
  ctx.set_threads_per_device(2);
  CHECK(ctx.threads() == 4);
  ctx.set_threads_per_device(0);
  CHECK(ctx.threads() == 3);
  ctx.set_threads_per_device(2);
  ctx.set_threads(7);
  CHECK(ctx.threads() == 7);
  for (int const bad : {-1, 4097})
    CHECK_THROWS_WITH(ctx.set_threads_per_device(bad),
                      "a device needs 0 to 4096 compute threads, found " + std::to_string(bad));
  ::setenv("SKEL_THREADS_PER_DEVICE", "3", 1);
  CHECK(skel::context_options::from_environment().threads_per_device == 3);
  for (char const* const bad : {"0", "4097", "two"}) {
    ::setenv("SKEL_THREADS_PER_DEVICE", bad, 1);
    CHECK_THROWS_WITH(
        skel::context_options::from_environment(),
        std::string("SKEL_THREADS_PER_DEVICE must be a number from 1 to 4096, found \"") + bad + "\"");
  }
  ::unsetenv("SKEL_THREADS_PER_DEVICE");
}
