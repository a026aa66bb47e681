// Hashes values that each rank holds, to check that all ranks hold the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "skel/detail/conversion.hpp"
#include "skel/detail/fields.hpp"
#include "skel/hash.hpp"
#include "skel/source.hpp"
#include "skel/transfer.hpp"

namespace skel::detail {

/// Whether everything is compared if an option does not say: in builds with assertions. Other builds
/// compare what is surely_comparable(). (Not inline: each file has its own.)
#ifdef NDEBUG
constexpr bool checked_build = false;
#else
constexpr bool checked_build = true;
#endif

#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
#define SKEL_CLEARS_PADDING 1
#endif
#endif
#ifdef SKEL_CLEARS_PADDING
inline constexpr bool clears_padding = true;
#else
inline constexpr bool clears_padding = false;
#endif

// Whether equal values have equal bytes: no byte is padding.
template <class T>
constexpr bool find_all_bytes_count();
template <class T>
inline constexpr bool all_bytes_count = find_all_bytes_count<T>();
template <class T, class Fields>
inline constexpr bool fields_fill = false;
template <class T, class... F>
inline constexpr bool fields_fill<T, field_list<F...>> =
    (all_bytes_count<F> && ...) && (sizeof(F) + ...) == sizeof(T);
template <class T>
constexpr bool find_all_bytes_count() {
  if constexpr (std::is_array_v<T>)
    return all_bytes_count<std::remove_extent_t<T>>;
  else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> ||
                     (std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>))
    return true;
  else if constexpr (std::is_trivially_copyable_v<T> && plain_struct<T>)
    return fields_fill<T, fields_of<T>>;
  else
    return false;
}

// Classes that are known to hold numbers only, such as std::complex and std::chrono::duration.
template <class T>
concept numbers_only = requires(T const& t) {
  { t.real() } -> std::same_as<typename T::value_type>;
  { t.imag() } -> std::same_as<typename T::value_type>;
} || requires(T const& t) {
  typename T::period;
  { t.count() } -> std::same_as<typename T::rep>;
};

/// Whether values that the program takes for equal are sure to have equal hashes, and packing them costs
/// little. Unsure are classes that travel as their bytes and whose members cannot be seen, since one may be
/// an address, and unions.
template <class T, class... Within>
constexpr bool surely_comparable();
template <class T, class... Within>
inline constexpr bool parts_surely_comparable = true;
template <template <class...> class C, class... T, class... Within>
inline constexpr bool parts_surely_comparable<C<T...>, Within...> =
    (surely_comparable<std::remove_const_t<T>, Within...>() && ...);
template <class T, class... Within>
constexpr bool surely_comparable() {
  if constexpr (std::is_array_v<T>) {
    return surely_comparable<std::remove_extent_t<T>, Within...>();
  } else if constexpr (requires { requires transfer_traits<T>::compared_on_request; }) {
    return false;
  } else if constexpr ((std::is_same_v<T, Within> || ...) || has_transfer_traits<T> || numbers_only<T> ||
                       std::is_arithmetic_v<T> || std::is_enum_v<T>) {  // NOLINT(bugprone-branch-clone)
    return true;
  } else if constexpr (is_pair<T> || is_tuple<T> || is_optional<T> || is_variant<T>) {
    return parts_surely_comparable<T, Within...>;
  } else if constexpr (is_container<T> || is_array<T>) {
    return surely_comparable<std::remove_const_t<typename T::value_type>, Within...>();
  } else if constexpr (route_of<T> == route::archive) {
    return true;
  } else if constexpr (plain_struct<T>) {
    return parts_surely_comparable<fields_of<T>, Within..., T>;
  } else {
    return raw_bytes<T> && sizeof(T) < sizeof(void*);  // NOLINT(bugprone-sizeof-expression)
  }
}

/// Collects small values before they are hashed.
class contents_hasher {
 public:
  void add(std::span<std::byte const> bytes) {
    if (bytes.size() > buffer_.size() - used_) {
      flush();
      if (bytes.size() > buffer_.size()) return hasher_.update(bytes);
    }
    std::memcpy(buffer_.data() + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
  }
  template <class T>
  void add_bytes_of(T const& value) {
    add(std::as_bytes(std::span(&value, 1)));
  }
  template <class Pack>
  void add_packed(Pack const& pack) {
    packed_.clear();
    pack(packed_);
    add(packed_);
  }
  [[nodiscard]] std::uint64_t value() {
    flush();
    return hasher_.value();
  }

 private:
  void flush() {
    hasher_.update(std::span(buffer_.data(), used_));
    used_ = 0;
  }
  skel::xxh3_hasher hasher_;
  std::array<std::byte, 2048> buffer_;
  std::size_t used_ = 0;
  std::vector<std::byte> packed_;
};

/// The same interface, keeps the bytes.
struct contents_bytes {
  std::vector<std::byte> all;
  void add(std::span<std::byte const> bytes) { all.insert(all.end(), bytes.begin(), bytes.end()); }
  template <class T>
  void add_bytes_of(T const& value) {
    add(std::as_bytes(std::span(&value, 1)));
  }
  template <class Pack>
  void add_packed(Pack const& pack) {
    pack(all);
  }
};

template <class T>
concept hashed_as_bytes = raw_bytes<T> && !has_transfer_traits<T> && all_bytes_count<T>;

template <class Hasher, class T>
void add_contents(Hasher& hasher, T const& value);

template <class Hasher, class It>
void add_elements(Hasher& hasher, It first, std::uint64_t count) {
  using element = std::iter_value_t<It>;
  if constexpr (std::contiguous_iterator<It> && hashed_as_bytes<element>) {
    if (count > 0) hasher.add(std::as_bytes(std::span(std::to_address(first), count)));
  } else {
    for (; count > 0; --count, ++first) add_contents(hasher, static_cast<element const&>(*first));
  }
}

template <class Hasher, class T>
void add_contents(Hasher& hasher, T const& value) {
  if constexpr (has_transfer_traits<T>) {
    hasher.add_packed([&](std::vector<std::byte>& bytes) {
      if constexpr (requires { transfer_traits<T>::pack_compared(value, bytes); })
        transfer_traits<T>::pack_compared(value, bytes);
      else
        pack(value, bytes);
    });
  } else if constexpr (std::is_array_v<T>) {
    add_elements(hasher, std::begin(value), std::size(value));
  } else if constexpr (is_optional<T>) {
    hasher.add_bytes_of(value.has_value());
    if (value) add_contents(hasher, *value);
  } else if constexpr (is_variant<T>) {
    hasher.add_bytes_of(value.index());
    if (!value.valueless_by_exception()) std::visit([&](auto const& v) { add_contents(hasher, v); }, value);
  } else if constexpr (is_pair<T> || is_tuple<T>) {
    std::apply([&](auto const&... part) { (add_contents(hasher, part), ...); }, value);
  } else if constexpr (hashed_as_bytes<T>) {
    hasher.add_bytes_of(value);
  } else if constexpr (route_of<T> == route::archive) {
    hasher.add_packed([&](std::vector<std::byte>& bytes) { pack(value, bytes); });
  } else if constexpr (std::ranges::sized_range<T const> && (is_container<T> || is_array<T>)) {
    auto const n = static_cast<std::uint64_t>(std::ranges::size(value));
    hasher.add_bytes_of(n);
    if constexpr (requires { typename T::hasher; }) {
      std::uint64_t sum = 0;  // equal sets may be stored in another order
      for (auto const& element : value) {
        contents_hasher own;
        add_contents(own, element);
        sum += own.value();
      }
      hasher.add_bytes_of(sum);
    } else {
      add_elements(hasher, std::ranges::begin(value), n);
    }
  } else if constexpr (plain_struct<T>) {
    visit_fields<field_count<T>>(value, [&](auto const&... f) { (add_contents(hasher, f), ...); });
  } else {
    static_assert(raw_bytes<T>);
#ifdef SKEL_CLEARS_PADDING  // otherwise padding bytes have arbitrary values, so such values are not compared
    T copy = value;
    __builtin_clear_padding(&copy);
    hasher.add_bytes_of(copy);
#endif
  }
}

/// Whether the contents of a packed value are its packed bytes.
template <class T>
inline constexpr bool compared_as_sent = [] {
  if constexpr (has_transfer_traits<T>)
    return !requires(T const& value, std::vector<std::byte>& out) {
      transfer_traits<T>::pack_compared(value, out);
    };
  else
    return hashed_as_bytes<T> || route_of<T> == route::archive ||
           (raw_bytes<T> && !plain_struct<T> && !clears_padding);
}();

template <class R>
inline constexpr bool is_contiguous = false;
template <class R>
inline constexpr bool is_contiguous<replicated<R>> =
    std::contiguous_iterator<std::ranges::iterator_t<R const>>;

/// Hash of a value that every rank has. Returns nothing if it has no comparable bytes, if `check` disables
/// the comparison, or if `check` is empty and a difference might not be one (see surely_comparable).
template <class T>
[[nodiscard]] std::optional<std::uint64_t> value_contents(T const& value, std::optional<bool> check) {
  if constexpr (transferable<T>) {
    if (check.value_or(checked_build || surely_comparable<T>())) {
      contents_hasher hasher;
      add_contents(hasher, value);
      return hasher.value();
    }
  }
  return static_cast<void>(value), static_cast<void>(check), std::nullopt;
}

// Packing through an archive takes about 2 us, so only some elements of long lists are compared by default.
inline constexpr std::uint64_t most_archives = 10'000;

/// Hash of a task list, likewise. Lists whose elements are computed when they are read, such as
/// std::views::transform, are compared only on request, since that may take as long as the tasks. A list of
/// consecutive numbers is always compared, by its first task.
template <class Source>
[[nodiscard]] std::optional<std::uint64_t> list_contents(Source const& list, std::optional<bool> check) {
  using task = source_task<Source>;
  if constexpr (transferable<task>) {
    contents_hasher hasher;
    auto const n = list.size();
    if constexpr (counts_up<Source>) {
      if (n > 0) add_contents(hasher, static_cast<task>(list[0]));
      return hasher.value();
    } else {
      constexpr bool stored = std::is_lvalue_reference_v<decltype(list[0])>;
      if (!check.value_or(checked_build || (stored && surely_comparable<task>()))) return std::nullopt;
      bool const some =
          route_of<task> == route::archive && !check.value_or(checked_build) && n > most_archives;
      if (some) {
        for (std::uint64_t i = 0; i < most_archives; ++i)
          add_contents(hasher, static_cast<task const&>(list[i * (n - 1) / (most_archives - 1)]));
      } else if constexpr (is_contiguous<Source>) {
        if (n > 0) add_elements(hasher, std::addressof(list[0]), n);
      } else {
        for (std::uint64_t i = 0; i < n; ++i) add_contents(hasher, static_cast<task const&>(list[i]));
      }
      return hasher.value();
    }
  } else {
    return static_cast<void>(check), std::nullopt;
  }
}

/// Hash of a function object's members, for checkpoints. Returns nothing for lambdas and other classes whose
/// members cannot be seen, since one of these may be an address.
template <class F>
[[nodiscard]] std::optional<std::uint64_t> members_of(F const& f) {
  if constexpr (std::is_class_v<F> && !std::is_empty_v<F>)
    if constexpr (transferable<F> && surely_comparable<F>()) return value_contents(f, true);
  return static_cast<void>(f), std::nullopt;
}

}  // namespace skel::detail
