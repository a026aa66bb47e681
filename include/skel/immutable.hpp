// A value that never changes: copies share it, and a checkpoint need not copy it.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "skel/detail/deferred_packing.hpp"
#include "skel/transfer.hpp"

namespace boost::serialization {
class access;
}

namespace skel {

/// A value of T that never changes. Copies share it; it can only be replaced as a whole:
///
///     struct state { skel::immutable<std::vector<double>> matrix; std::vector<double> sums; };
///     s.matrix = std::move(rows);                     // begin(): made once
///     s.sums[i] += (*s.matrix)[i];                    // step(): read
///
/// It travels wherever T does, with exactly T's bytes. In a checkpoint of skel::bsp it is not
/// copied while the computation stands still: the thread that writes the checkpoint packs it.
/// Therefore
/// - packing a T must read only data that belongs to it, and no data that the program changes;
/// - that thread may hold the last reference and destroy the value.
///
/// A value is packed at once into a vector other than the one that transfer_traits::pack received,
/// and by Boost.Serialization.
template <class T>
class immutable final {
 public:
  static_assert(std::is_object_v<T> && !std::is_const_v<T>, "skel::immutable<T>: T is the bare type");

  immutable()
    requires std::default_initializable<T>
      : immutable(T()) {}
  /// Takes `value`.
  // NOLINTNEXTLINE(google-explicit-constructor): s.matrix = rows
  immutable(T value) : value_(std::make_shared<T const>(std::move(value))) {}
  // No moves: there is always a value.
  immutable(immutable const&) = default;
  immutable& operator=(immutable const&) = default;
  ~immutable() = default;

  /// The value.
  [[nodiscard]] T const& operator*() const { return *value_; }
  /// A member of the value.
  [[nodiscard]] T const* operator->() const { return value_.get(); }
  /// The value, to keep it longer than this object.
  [[nodiscard]] std::shared_ptr<T const> const& share() const { return value_; }

 private:
  friend class boost::serialization::access;
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    if constexpr (Archive::is_saving::value) {
      archive << *value_;
    } else {
      auto value = std::make_shared<T>();
      archive >> *value;
      value_ = std::move(value);
    }
  }

  std::shared_ptr<T const> value_;
};

/// An immutable<T> travels as a T. It has no size(): in a checkpoint, where that matters, its bytes
/// are packed later.
template <transferable T>
struct transfer_traits<immutable<T>> {
  /// Appends T's bytes, or in a checkpoint notes the value to be packed later.
  static void pack(immutable<T> const& value, std::vector<std::byte>& out) {
    if (auto* const later = detail::packing_may_wait::in(out)) {
      later->deferred.push_back({out.size(), value.share(), packed_size(*value), pack_later});
    } else {
      skel::pack(*value, out);
    }
  }
  /// Reads a T.
  static immutable<T> unpack(std::span<std::byte const>& in) { return skel::unpack<T>(in); }

 private:
  static void pack_later(void const* value, std::vector<std::byte>& out) {
    skel::pack(*static_cast<T const*>(value), out);
  }
};

}  // namespace skel
