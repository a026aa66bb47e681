// How tasks and results become the bytes of messages and checkpoints.
//
// Most types need nothing: trivially copyable types travel as their bytes; std::string,
// std::optional, std::variant, pairs, tuples, arrays and containers of types that travel do so part
// by part. Types with a serialize() function travel through Boost.Serialization: include
// skel/serialization.hpp where they are sent. For other types specialise skel::transfer_traits.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace skel {

/// Specialise this for types that travel in a way of their own:
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
/// `pack` appends at least one byte, and must not read what `out` held before. To write a length in
/// front of what it packs, it packs that into a vector of its own first. `unpack` throws
/// protocol_error for bytes that hold no value.
///
/// Two members are optional:
///
///     static std::size_t size(picture const& p);  // an estimate of the number of bytes
///     static picture unpack(std::span<std::byte const>& in, std::shared_ptr<void const> const& owner);
///
/// The second may refer to the bytes of the message instead of copying them: they stay valid, at
/// any alignment, as long as a copy of `owner` exists. Such a value keeps the whole message in
/// memory. divide_and_conquer passes an owner for solutions, multi_host for results; elsewhere the
/// other `unpack` is called.
template <class T>
struct transfer_traits {};

/// Set this to true for a type whose serialize() function cannot be found by looking at the type,
/// for instance since it is declared for single archives only.
template <class T>
inline constexpr bool uses_boost_serialization = false;

}  // namespace skel

#include "skel/detail/route.hpp"

namespace skel {

/// Satisfied by types that can travel: types with transfer_traits; trivially copyable types;
/// std::string, std::optional, std::variant, pairs, tuples, arrays and containers of types that
/// travel; types with a member or free serialize(), also in namespace boost::serialization.
///
/// Accepted: double, std::vector<int>, std::map<std::string, point>, struct with serialize().
/// Rejected: int*, std::unique_ptr<int>, std::string_view, struct with a pointer in it. A pointer
/// in a private member of a trivially copyable class cannot be seen: give such a class a
/// serialize().
template <class T>
concept transferable = detail::route_of<T> != detail::route::none;

/// Appends the bytes of `value` to `out`. Throws what the type's own transfer_traits or serialize()
/// throws.
template <transferable T>
void pack(T const& value, std::vector<std::byte>& out);

/// An estimate of the number of bytes that pack() appends, to reserve memory for them. 0: unknown
/// without packing.
template <transferable T>
[[nodiscard]] std::size_t packed_size(T const& value);

/// Reads one value from the front of `in` and removes its bytes. Throws protocol_error when they
/// hold none.
template <transferable T>
[[nodiscard]] T unpack(std::span<std::byte const>& in);

/// As above, for bytes that stay valid as long as a copy of `owner` exists: see transfer_traits.
template <transferable T>
[[nodiscard]] T unpack(std::span<std::byte const>& in, std::shared_ptr<void const> const& owner);

}  // namespace skel

#include "skel/detail/pack.hpp"
