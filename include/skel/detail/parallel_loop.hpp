// Loops over indices on all compute threads of a rank.
#pragma once

#include <cstdint>

#include "skel/detail/function_reference.hpp"

namespace skel::detail {

class parallel_loop {
 public:
  parallel_loop() = default;
  parallel_loop(parallel_loop const&) = delete;
  parallel_loop& operator=(parallel_loop const&) = delete;
  virtual ~parallel_loop() = default;
  /// Calls body(first, end) for parts that cover [0, n) once. If parts throw, rethrows the exception of the
  /// lowest one. Within a body, runs the loop on the calling thread.
  using body = function_reference<void(std::uint64_t, std::uint64_t)>;
  virtual void run(std::uint64_t n, body const& part) = 0;
};

}  // namespace skel::detail
