// What the roles of a run say to each other. Payloads (tasks, results) are not part of it: the engine
// attaches the bytes that belong to the ranges of a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "role/outcome.hpp"
#include "skel/detail/task_range.hpp"

namespace skel::role {

enum class message_kind : std::uint8_t {
  hello,    ///< worker to root: I am in this run. number: hash of the call; extra: compute threads; power
  ask,      ///< worker to root: number tasks, please
  grant,    ///< root to worker: ranges are yours (payloads travel with it); extra: 1 if it may hold some of
            ///< them already, 2 if they are suspects
  nothing,  ///< root to worker: the pool is empty for good; results kept back may travel
  results,  ///< worker to root: ranges are done; number: tasks asked for with it (0: none); running: what was
            ///< begun since the last message
  failed,   ///< worker to root: task `number` threw; text
  take_stock,  ///< root to worker: what do you hold? number: round; extra: 1 if hello has not been heard
  stock,  ///< worker to root: number: round; extra: tasks finished; ranges: what I was given and have not
          ///< returned
  please_stop,  ///< worker to root: end the run early
  stop,         ///< root to worker: start nothing more; tell me when nothing runs
  stopped,      ///< worker to root: nothing runs (the rank's report travels with it)
  finish,       ///< root to worker: the run is over; the outcome
  abort,        ///< either way: the run cannot go on; text says why
  steal,        ///< worker to worker: I am idle; a task, please (gdc section 3, phase 2)
  give,  ///< worker to worker: ranges are yours now (payloads travel with it); extra: 1 if you may hold some
         ///< of them already
  none,  ///< worker to worker: I have nothing to give; extra: 1 + a rank that had some, or 0
  begins,  ///< worker to root: I have begun something; running: all that I run
};
inline constexpr int message_kinds = 17;

/// Values of grant's extra, which may be added. A suspect was running on a rank that was lost: it is run
/// alone, not given to a thief, and `begins` tells the root before it runs.
inline constexpr std::uint64_t may_be_held = 1, are_suspects = 2;

[[nodiscard]] char const* to_string(message_kind kind);
/// Whether the root's ledger is to hear of it; all else is for workers, abort for both.
[[nodiscard]] bool for_ledger(message_kind kind);
/// Whether payloads travel with it where tasks do.
[[nodiscard]] bool carries_tasks(message_kind kind);

struct message {
  message_kind kind = message_kind::hello;
  std::uint64_t number = 0;
  std::uint64_t extra = 0;
  double power = 0;
  range_list ranges{};
  range_list running{};  ///< results and begins only
  std::string text{};
  std::optional<outcome> result{};  ///< finish only
  friend bool operator==(message const&, message const&) = default;
};

/// Appends the message to `out`. Numbers are varints, so a grant of one range takes about six bytes.
void encode(message const& m, std::vector<std::byte>& out);

/// Reads one message from the front of `bytes` and removes it. Throws protocol_error for anything that
/// encode() cannot have written; never allocates more than the bytes present justify.
[[nodiscard]] message decode(std::span<std::byte const>& bytes);

}  // namespace skel::role
