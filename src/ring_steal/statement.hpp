// The value of a loan, a debt or a whole ring_steal run: a partial result and the remaining tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace skel::detail {

/// Running the remaining tasks and everything they spawn, and merging their results into the sum,
/// gives the result of the whole. Holds bytes only, since the types are the user's.
struct steal_statement {
  std::uint64_t tasks = 0;           ///< tasks whose results are in the sum
  std::vector<std::byte> sum{};      ///< one packed result; empty if there is none
  std::uint64_t bags = 0;            ///< number of bags of remaining tasks:
  std::vector<std::byte> waiting{};  ///< packed, one after the other
};

/// Appends the statement's bytes.
void encode(steal_statement const& s, std::vector<std::byte>& out);
/// Reads a statement from the front of `in` and removes it. Throws protocol_error if the bytes do
/// not hold one.
[[nodiscard]] steal_statement decode_statement(std::span<std::byte const>& in);

}  // namespace skel::detail
