// A value that never changes once it is made: its copies share it, and a checkpoint need not copy it.
#pragma once

#include <boost/serialization/access.hpp>
#include <boost/serialization/level.hpp>
#include <boost/serialization/split_member.hpp>
#include <boost/serialization/tracking.hpp>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "skel/detail/deferred_packing.hpp"
#include "skel/transfer.hpp"

namespace skel {

/// A value of T that nobody changes any more. A copy shares it; another value takes its place as a whole:
///
///     struct state { skel::immutable<std::vector<double>> matrix; std::vector<double> sums; };
///     s.matrix = std::move(rows);                     // begin(): made once
///     s.sums[i] += (*s.matrix)[i];                    // step(): read
///
/// It travels wherever T does, with exactly T's bytes. In a checkpoint of skel::bsp it is not copied while
/// the computation stands still: the thread that writes the checkpoint packs it. So
/// - what packing a T reads must belong to it: no pointer to what the program changes;
/// - that thread may be the last to have it, and destroy it.
/// Packed into a vector of its own, as by a `pack` of the user's that wants to know a length, or by
/// Boost.Serialization, it is packed at once.
template <class T>
class immutable final {
 public:
  static_assert(std::is_object_v<T> && !std::is_const_v<T>, "skel::immutable<T>: T is the bare type");

  immutable()
    requires std::default_initializable<T>
      : immutable(T()) {}
  // NOLINTNEXTLINE(google-explicit-constructor): s.matrix = rows
  immutable(T value) : value_(std::make_shared<T const>(std::move(value))) {}
  // No moves: there is always a value.
  immutable(immutable const&) = default;
  immutable& operator=(immutable const&) = default;
  ~immutable() = default;

  [[nodiscard]] T const& operator*() const { return *value_; }
  [[nodiscard]] T const* operator->() const { return value_.get(); }
  /// The value, for whoever keeps it longer.
  [[nodiscard]] std::shared_ptr<T const> const& share() const { return value_; }

 private:
  friend class boost::serialization::access;
  template <class Archive>
  void save(Archive& archive, unsigned) const {
    archive << *value_;
  }
  template <class Archive>
  void load(Archive& archive, unsigned) {
    auto value = std::make_shared<T>();
    archive >> *value;
    value_ = std::move(value);
  }
  BOOST_SERIALIZATION_SPLIT_MEMBER()

  std::shared_ptr<T const> value_;
};

/// No size(): where that counts, in a checkpoint, the bytes are not packed at once.
template <transferable T>
struct transfer_traits<immutable<T>> {
  static void pack(immutable<T> const& value, std::vector<std::byte>& out) {
    if (auto* const later = detail::packing_may_wait::in(out)) {
      later->deferred.push_back({out.size(), value.share(), packed_size(*value), pack_later});
    } else {
      skel::pack(*value, out);
    }
  }
  static immutable<T> unpack(std::span<std::byte const>& in) { return skel::unpack<T>(in); }

 private:
  static void pack_later(void const* value, std::vector<std::byte>& out) {
    skel::pack(*static_cast<T const*>(value), out);
  }
};

}  // namespace skel

namespace boost::serialization {

// Nothing but T's bytes: neither the class nor the object is noted in the archive.
template <class T>
struct implementation_level_impl<skel::immutable<T> const> {
  using tag = mpl::integral_c_tag;
  using type = mpl::int_<object_serializable>;
  static constexpr int value = type::value;
};
template <class T>
struct tracking_level<skel::immutable<T>> {
  using tag = mpl::integral_c_tag;
  using type = mpl::int_<track_never>;
  static constexpr int value = type::value;
};

}  // namespace boost::serialization
