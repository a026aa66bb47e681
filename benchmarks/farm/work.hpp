// The work of both programs of the farm benchmark: a dependent xorshift loop of calibrated length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "clock.hpp"

namespace farm_bench {

/// Each step depends on the previous one, so neither the compiler nor the processor can shorten the
/// loop.
inline std::uint64_t spin(std::uint64_t value, std::uint64_t iterations) {
  for (std::uint64_t i = 0; i != iterations; ++i) {
    value ^= value << 13;
    value ^= value >> 7;
    value ^= value << 17;
  }
  return value;
}

/// Iterations of `spin` per microsecond: the maximum of many short measurements, since other load
/// can only slow them down. Programs must be compared with the same figure.
inline double iterations_per_microsecond() {
  constexpr std::uint64_t iterations = 400'000;
  double best = 0;
  std::uint64_t value = 1;
  for (int i = 0; i != 40; ++i) {
    auto const start = bench::seconds();
    value = spin(value, iterations);
    auto const rate = iterations / ((bench::seconds() - start) * 1e6);
    best = rate > best ? rate : best;
  }
  return value == 0 ? 0 : best;  // value is never 0; the compiler does not know that and must keep the loop
}

/// Runs one task: computes, then fills a result of `bytes` bytes (a multiple of 16) with the task's
/// number and the computed value, repeatedly, so that a misplaced result is detected.
inline void run_task(std::uint64_t task, std::uint64_t iterations, std::byte* result, std::size_t bytes) {
  std::uint64_t const words[2] = {task, spin(task * 0x9e3779b97f4a7c15u + 1, iterations)};
  for (std::size_t at = 0; at != bytes; at += sizeof words) std::memcpy(result + at, words, sizeof words);
}

/// Whether `result` is the output of `run_task` for this task; the value is only compared with
/// itself.
inline bool right_result(std::uint64_t task, std::byte const* result, std::size_t bytes) {
  return std::memcmp(result, &task, sizeof task) == 0 && std::memcmp(result, result + bytes - 16, 16) == 0;
}

}  // namespace farm_bench
