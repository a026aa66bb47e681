// How the processes of lost ranks have ended.
#pragma once

#include <cstdint>

namespace skel::detail {

enum class process_end : std::uint8_t { unknown, by_itself, from_outside };

/// Notes beside the file named by SKEL_EXIT_STATUS_FILE, if set, that this rank runs on this host, and later
/// that a signal of its own making ends it: SIGSEGV, SIGABRT and the like. What handled these signals before
/// then does so.
void note_end_of(int rank);

/// By itself: such a signal has ended it, or memory ran out on this host. From outside: a rank of this host
/// has ended otherwise, so it was killed. Unknown: no note can be seen, or it was on another host.
[[nodiscard]] process_end how_ended(int rank);

}  // namespace skel::detail
