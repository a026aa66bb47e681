// Hashes values that each rank holds, to check that all ranks hold the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "skel/hash.hpp"
#include "skel/source.hpp"
#include "skel/transfer.hpp"

namespace skel::detail {

/// Whether contents are compared if an option does not say: in builds with assertions. (Not inline:
/// each file has its own.)
#ifdef NDEBUG
constexpr bool checked_build = false;
#else
constexpr bool checked_build = true;
#endif

// Padding bytes have arbitrary values. If they cannot be cleared, such values are not compared.
template <class T>
inline constexpr bool all_bytes_count =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::has_unique_object_representations_v<T>;
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
#define SKEL_CLEARS_PADDING 1
#endif
#endif

template <class T>
concept list_of_values =
    std::ranges::sized_range<T const> && !raw_bytes<T> && transferable<std::ranges::range_value_t<T const>>;

template <transferable T>
void add_contents(skel::xxh3_hasher& hasher, T const& value) {
  if constexpr (has_transfer_traits<T>) {
    std::vector<std::byte> bytes;
    pack(value, bytes);
    hasher.update(bytes);
  } else if constexpr (raw_bytes<T>) {
    if constexpr (all_bytes_count<T>) {
      hasher.update(std::as_bytes(std::span(&value, 1)));
    } else {
#ifdef SKEL_CLEARS_PADDING
      T copy = value;
      __builtin_clear_padding(&copy);
      hasher.update(std::as_bytes(std::span(&copy, 1)));
#endif
    }
  } else if constexpr (list_of_values<T>) {
    auto const n = static_cast<std::uint64_t>(std::ranges::size(value));
    add_contents(hasher, n);
    for (std::ranges::range_value_t<T const> const& element : value) add_contents(hasher, element);
  } else {
    std::vector<std::byte> bytes;
    pack(value, bytes);
    hasher.update(bytes);
  }
}

template <class R>
inline constexpr bool counts_up = false;
template <class View>
inline constexpr bool counts_up<replicated<View>> = is_counting<View>;
template <>
inline constexpr bool counts_up<task_numbers> = true;

/// Hash of a task list. Returns nothing if `check` disables the comparison (empty: a build without
/// assertions) or the tasks have no comparable bytes. A list of consecutive numbers is always
/// compared, by its first task.
template <class Source>
[[nodiscard]] std::optional<std::uint64_t> list_contents(Source const& list, std::optional<bool> check) {
  using task = source_task<Source>;
  if constexpr (transferable<task>) {
    skel::xxh3_hasher hasher;
    if constexpr (counts_up<Source>) {
      if (list.size() > 0) add_contents(hasher, static_cast<task>(list[0]));
      return hasher.value();
    }
    if (!check.value_or(checked_build)) return std::nullopt;
    for (std::uint64_t i = 0; i < list.size(); ++i) add_contents(hasher, static_cast<task const&>(list[i]));
    return hasher.value();
  } else {
    return std::nullopt;
  }
}

}  // namespace skel::detail
