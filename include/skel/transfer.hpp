// How tasks and results become bytes: as they are where that is right, through Boost.Serialization elsewhere.
#pragma once

// Boost 1.74's containers use a type that only this header defines.
#include <boost/serialization/library_version_type.hpp>
// clang-format off
#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/array.hpp>
#include <boost/serialization/deque.hpp>
#include <boost/serialization/list.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/set.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/unordered_map.hpp>
#include <boost/serialization/unordered_set.hpp>
#include <boost/serialization/utility.hpp>
#include <boost/serialization/vector.hpp>
// clang-format on

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <streambuf>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "skel/bytes.hpp"
#include "skel/detail/addresses.hpp"
#include "skel/error.hpp"

namespace skel {

/// Specialise for types that you do not own, with
///
///   static void pack(T const&, std::vector<std::byte>& out);  // appends
///   static T unpack(std::span<std::byte const>& in);          // removes what it reads from the front
///
/// and, where it is worth it,
///
///   static std::size_t size(T const&);  // of the bytes, about
///   static T unpack(std::span<std::byte const>& in, std::shared_ptr<void const> const& owner);
///
/// `pack` only appends: it may not look at `out`. One that writes a length before what it packs packs that
/// into a vector of its own first.
///
/// The bytes of a message, at any address in it, stay as long as `owner`: a value that keeps it may refer to
/// them instead of copying them. All of the message stays with it, and its memory serves no other one
/// meanwhile. divide_and_conquer passes an owner for solutions, multi_host for results; elsewhere the other
/// `unpack` is called.
template <class T>
struct transfer_traits {};

namespace detail {

template <class T>
concept has_transfer_traits =
    requires(T const& value, std::vector<std::byte>& out, std::span<std::byte const>& in) {
      transfer_traits<T>::pack(value, out);
      { transfer_traits<T>::unpack(in) } -> std::convertible_to<T>;
    };

template <class T>
concept tells_size = requires(T const& value) {
  { transfer_traits<T>::size(value) } -> std::convertible_to<std::size_t>;
};

template <class T>
concept refers_to_message =
    requires(std::span<std::byte const>& in, std::shared_ptr<void const> const& owner) {
      { transfer_traits<T>::unpack(in, owner) } -> std::convertible_to<T>;
    };

template <class T>
inline constexpr bool is_vector = false;
template <class T, class A>
inline constexpr bool is_vector<std::vector<T, A>> = true;

// A member named serialize, also a private one with `friend class boost::serialization::access`: naming it
// becomes ambiguous with the one of the second base.
struct has_serialize {
  int serialize;
};
template <class T>
struct also_serialize : T, has_serialize {};
template <class T>
concept member_serialize =
    std::is_class_v<T> && !std::is_final_v<T> && !requires { &also_serialize<T>::serialize; };
template <class T>
concept public_member_serialize =
    requires(T& value, boost::archive::binary_oarchive& archive) { value.serialize(archive, 0U); };
template <class T>
concept free_serialize = std::is_class_v<T> && requires(T& value, boost::archive::binary_oarchive& archive) {
  serialize(archive, value, 0U);
};
// A free function in namespace boost::serialization, which is searched because of version_type. Its own
// template takes every type and archive, so it is a worse match than ours, which takes this archive only; one
// that takes T only is as good as ours, and the call becomes ambiguous.
struct any_archive {};
template <class T>
void serialize(any_archive&, T&, unsigned);
template <class T>
concept boost_serialize =
    std::is_class_v<T> && !requires(T& value, any_archive& archive, boost::serialization::version_type v) {
      serialize(archive, value, v);
    };

template <class T>
concept own_serialize = member_serialize<T> || public_member_serialize<T> || free_serialize<T>;

// Types whose bytes must not be sent: those that hold addresses, and classes that cannot be looked into but
// say how they travel.
template <class T>
concept more_than_bytes =
    holds_address<T> || (std::is_class_v<T> && !std::is_aggregate_v<T> && own_serialize<T>);

template <class T>
concept raw_bytes = std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> &&
                    !std::is_reference_v<T> && !more_than_bytes<T>;

template <class T>
concept raw_vector =
    is_vector<T> && raw_bytes<typename T::value_type> && !has_transfer_traits<typename T::value_type> &&
    !std::is_same_v<typename T::value_type, bool>;

template <class T>
struct serialised_by_boost;

// What Boost.Serialization knows nothing of, element by element.
template <class T>
concept vector_of_traits = is_vector<T> && has_transfer_traits<typename T::value_type> &&
                           !serialised_by_boost<typename T::value_type>::value;

}  // namespace detail

/// Set to true for a type whose Boost.Serialization functions cannot be found by looking at the type (made
/// for single archives, say).
template <class T>
inline constexpr bool uses_boost_serialization = false;

/// Satisfied by types that can travel: transfer_traits, then bytes (trivially copyable, vectors of it), then
/// Boost.Serialization (member or free `serialize`, also in namespace boost::serialization, standard
/// containers, pairs, arrays of transferable types). Accepted: double, std::vector<int>, std::string, struct
/// with serialize(). Rejected: int*, std::unique_ptr<int>, std::string_view, struct with a pointer in it.
/// An address in a private member cannot be seen: give such a class a serialize().
template <class T>
concept transferable = detail::has_transfer_traits<T> || detail::raw_bytes<T> || detail::raw_vector<T> ||
                       detail::vector_of_traits<T> || detail::serialised_by_boost<T>::value;

namespace detail {

template <class T>
struct serialised_by_boost
    : std::bool_constant<uses_boost_serialization<T> || own_serialize<T> || boost_serialize<T>> {};
template <class C, class Tr, class A>
struct serialised_by_boost<std::basic_string<C, Tr, A>> : std::true_type {};
template <class A, class B>
struct serialised_by_boost<std::pair<A, B>>
    : std::bool_constant<transferable<std::remove_const_t<A>> && transferable<std::remove_const_t<B>>> {};
template <class T, std::size_t N>
struct serialised_by_boost<std::array<T, N>> : std::bool_constant<transferable<T>> {};
// Standard containers (one template argument decides; maps see a pair).
template <template <class...> class C, class T, class... More>
  requires requires {
    typename C<T, More...>::value_type;
    typename C<T, More...>::allocator_type;
  }
struct serialised_by_boost<C<T, More...>>
    : std::bool_constant<uses_boost_serialization<C<T, More...>> ||
                         transferable<typename C<T, More...>::value_type>> {};

class append_buffer final : public std::streambuf {
 public:
  explicit append_buffer(std::vector<std::byte>& out) : out_(out) {}

 protected:
  std::streamsize xsputn(char const* text, std::streamsize n) override {
    auto const* const bytes = reinterpret_cast<std::byte const*>(text);
    out_.insert(out_.end(), bytes, bytes + n);
    return n;
  }
  int_type overflow(int_type c) override {
    out_.push_back(static_cast<std::byte>(c));
    return c;
  }

 private:
  std::vector<std::byte>& out_;
};

class span_buffer final : public std::streambuf {
 public:
  explicit span_buffer(std::span<std::byte const> in) {
    auto* const begin =
        const_cast<char*>(reinterpret_cast<char const*>(in.data()));  // read only; the interface is old
    setg(begin, begin, begin + in.size());
  }
};

// Whether T can travel, if it has to, and a sentence about why not.
template <class T, bool Travels = true>
constexpr bool can_travel() {
  static_assert(!Travels || transferable<T> || !holds_address<T>,
                "skel: this type holds an address (pointer, reference, view, iterator), which means nothing "
                "on another rank: send the values, as std::string or std::vector, say, give the type a "
                "serialize() that does so, or specialise skel::transfer_traits.");
  return !Travels || transferable<T>;
}

inline constexpr unsigned archive_flags =
    boost::archive::no_header | boost::archive::no_codecvt | boost::archive::no_xml_tag_checking;

}  // namespace detail

/// Appends the bytes of `value`.
template <transferable T>
void pack(T const& value, std::vector<std::byte>& out) {
  if constexpr (detail::has_transfer_traits<T>) {
    transfer_traits<T>::pack(value, out);
  } else if constexpr (detail::raw_bytes<T>) {
    bytes::put_raw(out, value);
  } else if constexpr (detail::raw_vector<T>) {
    bytes::put_varint(out, value.size());
    auto const bytes = std::as_bytes(std::span(value));
    out.insert(out.end(), bytes.begin(), bytes.end());
  } else if constexpr (detail::vector_of_traits<T>) {
    bytes::put_varint(out, value.size());
    for (auto const& element : value) skel::pack(element, out);
  } else {
    std::vector<std::byte> body;  // archives do not say how much they will read, so the length goes first
    {
      detail::append_buffer buffer(body);
      boost::archive::binary_oarchive archive(buffer, detail::archive_flags);
      archive << value;
    }
    bytes::put_varint(out, body.size());
    out.insert(out.end(), body.begin(), body.end());
  }
}

/// About how many bytes pack() appends, as far as that is known without packing: memory for them is then
/// taken at once. 0: nobody knows.
template <transferable T>
[[nodiscard]] std::size_t packed_size(T const& value) {
  if constexpr (detail::tells_size<T>)
    return transfer_traits<T>::size(value);
  else if constexpr (detail::raw_bytes<T> && !detail::has_transfer_traits<T>)
    return sizeof(T);
  else if constexpr (detail::raw_vector<T> && !detail::has_transfer_traits<T>)
    return bytes::most_varint + value.size() * sizeof(typename T::value_type);
  else
    return 0;
}

/// Reads one value from the front of `in` and removes it. Throws protocol_error when the bytes do not hold
/// one.
template <transferable T>
[[nodiscard]] T unpack(std::span<std::byte const>& in) {
  if constexpr (detail::has_transfer_traits<T>) {
    return transfer_traits<T>::unpack(in);
  } else if constexpr (detail::raw_bytes<T>) {
    return bytes::get_raw<T>(in);
  } else if constexpr (detail::raw_vector<T>) {
    using element = typename T::value_type;
    auto const n = bytes::get_varint(in);
    if (n > in.size() / sizeof(element)) throw protocol_error("message holds a shorter vector than it says");
    auto const bytes = bytes::get_bytes(in, n * sizeof(element));
    T value(n);
    if (n > 0) std::memcpy(static_cast<void*>(value.data()), bytes.data(), bytes.size());
    return value;
  } else if constexpr (detail::vector_of_traits<T>) {
    T value;
    for (auto n = bytes::get_varint(in); n > 0; --n)
      value.push_back(skel::unpack<typename T::value_type>(in));
    return value;
  } else {
    auto const body = bytes::get_bytes(in, bytes::get_varint(in));
    detail::span_buffer buffer(body);
    try {
      boost::archive::binary_iarchive archive(buffer, detail::archive_flags);
      T value{};
      archive >> value;
      return value;
    } catch (boost::archive::archive_exception const& e) {
      throw protocol_error(std::string("cannot read a value from a message: ") + e.what());
    }
  }
}

/// The same from bytes that stay as long as `owner`: some types then need no copy of them.
template <transferable T>
[[nodiscard]] T unpack(std::span<std::byte const>& in, std::shared_ptr<void const> const& owner) {
  if constexpr (detail::refers_to_message<T>)
    return transfer_traits<T>::unpack(in, owner);
  else
    return skel::unpack<T>(in);
}

}  // namespace skel
