// What a loan, a debt or a whole ring_steal run is worth: a result so far, and tasks that are left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace skel::detail {

/// Whoever runs the tasks, with all that they spawn, and merges their results into the sum, has the result of
/// the whole. Only bytes: the types are the user's.
struct steal_statement {
  std::uint64_t tasks = 0;           ///< whose results are in the sum
  std::vector<std::byte> sum{};      ///< one packed result; empty where there are none
  std::uint64_t bags = 0;            ///< of tasks that are left:
  std::vector<std::byte> waiting{};  ///< packed, one after the other
};

/// Appends the statement's bytes.
void encode(steal_statement const& s, std::vector<std::byte>& out);
/// Reads one from the front of `in` and removes it. Throws protocol_error where the bytes are none.
[[nodiscard]] steal_statement decode_statement(std::span<std::byte const>& in);

}  // namespace skel::detail
