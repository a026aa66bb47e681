// The user's own MPI calls that a loss has ended.
#pragma once

#include <atomic>
#include <cstdint>

namespace skel::detail {

/// The number of MPI calls of tasks, on communicators of their teams, that have returned an error because a
/// rank was lost (ULFM). The task may have ignored the error, so what it returns does not count.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
inline std::atomic<std::uint64_t> broken_calls{0};

}  // namespace skel::detail
