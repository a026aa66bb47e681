// Loops on several threads.
#include "bsp/loop_threads.hpp"

#include <atomic>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"

using skel::detail::loop_threads;

TEST_CASE("a loop covers each index once, for any number of threads") {
  for (unsigned threads : {1U, 2U, 3U, 8U}) {
    loop_threads loops(threads);
    for (std::uint64_t n : {0U, 1U, 2U, 7U, 100U, 1001U}) {
      std::vector<std::atomic<int>> seen(n);
      loops.run(n, [&](std::uint64_t i, std::uint64_t end) {
        for (; i < end; ++i) ++seen[i];
      });
      for (auto const& s : seen) CHECK(s == 1);
    }
  }
}

TEST_CASE("several threads take part") {
  loop_threads loops(3);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  std::atomic<int> inside = 0;
  loops.run(3, [&](std::uint64_t, std::uint64_t) {
    {
      std::lock_guard const lock(mutex);
      ids.insert(std::this_thread::get_id());
    }
    ++inside;
    while (inside < 3) std::this_thread::yield();  // each thread has one
  });
  CHECK(ids.size() == 3);
}

TEST_CASE("the exception of the lowest index is thrown, and the next loop runs") {
  for (unsigned threads : {1U, 2U, 4U}) {
    loop_threads loops(threads);
    for (int run = 0; run < 50; ++run) {
      std::string text;
      try {
        loops.run(1000, [&](std::uint64_t i, std::uint64_t end) {
          for (; i < end; ++i)
            if (i % 100 == 37) throw std::runtime_error(std::to_string(i));
        });
      } catch (std::runtime_error const& e) {
        text = e.what();
      }
      CHECK(text == "37");
    }
  }
}

TEST_CASE("a loop within a loop runs on the calling thread") {
  loop_threads loops(4);
  std::atomic<std::uint64_t> sum = 0;
  loops.run(20, [&](std::uint64_t first, std::uint64_t end) {
    for (auto i = first; i < end; ++i) {
      auto const me = std::this_thread::get_id();
      loops.run(10, [&](std::uint64_t a, std::uint64_t b) {
        CHECK(std::this_thread::get_id() == me);
        for (; a < b; ++a) sum += a;
      });
    }
  });
  CHECK(sum == 20 * 45);
}
