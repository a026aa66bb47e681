// How tasks and results are converted to the bytes of messages and checkpoints.
//
// Most types need no preparation. Trivially copyable types travel as their bytes. std::string,
// std::optional, std::variant, pairs, tuples, arrays and containers of types that travel do so part
// by part, and so do plain structs of them. Types with a serialize() function travel through
// Boost.Serialization: include skel/serialization.hpp where they are sent. For other types specialise
// skel::transfer_traits.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "skel/detail/route.hpp"
#include "skel/transfer_traits.hpp"

namespace skel {

/// Satisfied by types that can travel: types with transfer_traits; trivially copyable types;
/// std::string, std::optional, std::variant, pairs, tuples, arrays and containers of types that
/// travel; types with a member or free serialize(), also in namespace boost::serialization; plain
/// structs of types that travel: aggregates without base class, of up to 32 members, none of them a union,
/// a bit-field, a reference or const.
///
/// Accepted: double, std::vector<int>, std::map<std::string, point>, struct { int n; std::string s; },
/// class with serialize().
/// Rejected: int*, std::unique_ptr<int>, std::string_view, struct with a pointer in it. A pointer
/// in a private member of a trivially copyable class cannot be seen: give such a class a
/// serialize().
template <class T>
concept transferable = detail::route_of<T> != detail::route::none;

/// Appends the bytes of `value` to `out`. Throws the exceptions of the type's own transfer_traits
/// or serialize().
template <transferable T>
void pack(T const& value, std::vector<std::byte>& out);

/// Estimates the number of bytes that pack() appends, for reserving memory. 0: unknown without
/// packing.
template <transferable T>
[[nodiscard]] std::size_t packed_size(T const& value);

/// Reads one value from the front of `in` and removes its bytes. Throws protocol_error if they do
/// not hold one.
template <transferable T>
[[nodiscard]] T unpack(std::span<std::byte const>& in);

/// Same for bytes that stay valid as long as a copy of `owner` exists: see transfer_traits.
template <transferable T>
[[nodiscard]] T unpack(std::span<std::byte const>& in, std::shared_ptr<void const> const& owner);

}  // namespace skel

#include "skel/detail/pack.hpp"
