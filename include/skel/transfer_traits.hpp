// Custom conversion of a type to bytes, for types that the defaults of skel/transfer.hpp do not
// fit.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace skel {

/// Specialise this for types that need their own conversion to bytes:
///
///     template <>
///     struct skel::transfer_traits<picture> {
///       static void pack(picture const& p, std::vector<std::byte>& out) {  // appends
///         skel::pack(p.width(), out);
///         skel::pack(p.pixels(), out);
///       }
///       static picture unpack(std::span<std::byte const>& in) {  // removes what it reads from the front
///         auto const width = skel::unpack<int>(in);
///         return picture(width, skel::unpack<std::vector<float>>(in));
///       }
///     };
///
/// `pack` appends at least one byte, and must not read what `out` held before. To prefix its output
/// by a length, it first packs into a separate vector. `unpack` throws protocol_error for bytes
/// that do not hold a value.
///
/// Four members are optional:
///
///     static void pack_compared(picture const& p, std::vector<std::byte>& out);  // for comparisons of ranks
///     static std::size_t size(picture const& p);  // an estimate of the number of bytes
///     static picture unpack(std::span<std::byte const>& in, std::shared_ptr<void const> const& owner);
///     static constexpr bool compared_on_request = true;  // values that every rank has: see below
///
/// The first appends what two ranks must agree on, without measured times and the like; by default that is
/// what `pack` appends. The third may refer to the bytes of the message instead of copying them. They stay
/// valid, at any alignment, as long as a copy of `owner` exists. Such a value keeps the whole message in
/// memory. divide_and_conquer passes an owner for solutions, multi_host for results; other
/// skeletons call the other `unpack`. The ranks also compare these bytes of each element of a replicated
/// list and of a replicated problem. With compared_on_request they do so only if
/// context_options::checks::inputs is true: for types whose `pack` reads or computes what is not in memory.
template <class T>
struct transfer_traits {};

/// Set this to true for a type whose serialize() function cannot be detected, for instance because
/// it is declared for specific archives only.
template <class T>
inline constexpr bool uses_boost_serialization = false;

}  // namespace skel
