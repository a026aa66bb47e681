// What ranks that steal from each other say. Tasks and results are not part of it: the engine attaches their
// bytes to `loan`, `paid` and `finish`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "skel/protocol/message.hpp"

namespace skel::protocol {

/// Kinds begin where those of the farm cannot be: ranks that make different calls notice.
enum class loan_message_kind : std::uint8_t {
  hello = 64,   ///< to the root: I am in this run. number: hash of the call
  ask,          ///< thief to victim: have you tasks for me?
  nothing,      ///< victim to thief: no. number: 0, or 1 + a rank that may have some
  loan,         ///< victim to thief: these tasks. number: the loan
  paid,         ///< thief to victim: the result of loan `number`, all that its tasks spawned included
  held,         ///< lender to borrower: do you still hold the loans `ids`?
  not_held,     ///< borrower to lender: not these
  revoke,       ///< lender to borrower: loan `number` is void, drop it
  failed,       ///< to the root: a task threw. number: which of this rank's; text
  please_stop,  ///< to the root: end the run early
  stop,         ///< root to all: start nothing more; tell me when nothing runs
  stopped,      ///< to the root: nothing runs (the rank's report travels with it)
  finish,       ///< root to all: the run is over; the outcome (the result travels with it)
  abort,        ///< root to all: the run cannot go on; text says why
};
inline constexpr int loan_message_kinds = 14;

[[nodiscard]] char const* to_string(loan_message_kind kind);

struct loan_message {
  loan_message_kind kind = loan_message_kind::hello;
  std::uint64_t number = 0;
  std::vector<std::uint64_t> ids{};
  std::string text{};
  std::optional<outcome> result{};  ///< finish only
  friend bool operator==(loan_message const&, loan_message const&) = default;
};

/// Appends the message to `out`.
void encode(loan_message const& m, std::vector<std::byte>& out);

/// Reads one message from the front of `bytes` and removes it. Throws protocol_error for anything that
/// encode() cannot have written.
[[nodiscard]] loan_message decode_loan_message(std::span<std::byte const>& bytes);

}  // namespace skel::protocol
