// Shared by the tests of whole farms in one process.
#pragma once

#include <chrono>
#include <cstdint>
#include <ranges>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "skel/farm.hpp"
#include "transport/hub_transport.hpp"

namespace farm_test {

inline std::vector<skel::any_schedule> schedules() {
  std::vector<skel::any_schedule> all;
  for (char const* name :
       {"blocks", "interleaved", "first-come", "first-come:chunk=3,threshold=2", "guided", "guided:min=2",
        "hybrid", "hybrid:cut=10,threshold=0", "ring", "ring:take=one,order=predecessors",
        "ring:order=doubling", "ring:copies=yes", "auto"})
    all.emplace_back(name);
  return all;
}

inline std::uint64_t work(std::uint64_t i) { return (i + 1) * 0x9e3779b97f4a7c15U; }

inline std::vector<std::uint64_t> expected(std::uint64_t n) {
  std::vector<std::uint64_t> all(n);
  for (std::uint64_t i = 0; i < n; ++i) all[i] = work(i);
  return all;
}

// Takes long enough that every rank gets tasks.
inline std::uint64_t slow_work(std::uint64_t i) {
  std::this_thread::sleep_for(std::chrono::microseconds(300));
  return work(i);
}

inline auto counting(std::uint64_t n) {
  return skel::on_root([n] { return std::views::iota(std::uint64_t{0}, n); });
}

}  // namespace farm_test
