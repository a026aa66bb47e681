// A value that never changes: copies share it, and a checkpoint does not copy it.
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

/// A constant value of type T. Copies share it, and it can only be replaced as a whole:
///
///     struct state { skel::immutable<std::vector<double>> matrix; std::vector<double> sums; };
///     s.matrix = std::move(rows);                     // begin(): made once
///     s.sums[i] += (*s.matrix)[i];                    // step(): read
///
/// It travels wherever T does, with exactly T's bytes. A checkpoint of skel::bsp does not copy it
/// while the computation is paused: the thread that writes the checkpoint packs it later. Therefore
/// - packing a T must read only data that belongs to it, and no data that the program changes;
/// - that thread may hold the last reference and destroy the value.
///
/// Two cases pack the value immediately: Boost.Serialization, and packing into a vector other than
/// the one that transfer_traits::pack received.
template <class T>
class immutable final {
 public:
  static_assert(std::is_object_v<T> && !std::is_const_v<T>, "skel::immutable<T>: T is the bare type");

  immutable()
    requires std::default_initializable<T>
      : immutable(T()) {}
  /// Stores `value`.
  // NOLINTNEXTLINE(google-explicit-constructor): s.matrix = rows
  immutable(T value) : value_(std::make_shared<T const>(std::move(value))) {}
  // No moves, so there is always a value.
  immutable(immutable const&) = default;
  immutable& operator=(immutable const&) = default;
  ~immutable() = default;

  /// The value.
  [[nodiscard]] T const& operator*() const { return *value_; }
  /// A member of the value.
  [[nodiscard]] T const* operator->() const { return value_.get(); }
  /// Shares ownership of the value beyond the life of this object.
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

/// An immutable<T> travels as a T. It has no size(): its bytes are packed later in a checkpoint,
/// the only place where size() matters.
template <transferable T>
struct transfer_traits<immutable<T>> {
  /// Appends T's bytes; in a checkpoint, records the value for later packing.
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
