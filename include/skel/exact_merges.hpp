// Results that merge exactly, in any order: minima and maxima, histograms, maps.
//
//     skel::minimum<double> best;
//     skel::farm(
//         ctx, skel::indices(1000), [](std::uint64_t i) { return skel::minimum<double>(error_of(i), i); },
//         skel::reduced(best));
//     if (ctx.is_root() && best.has_value()) use(best.task(), best.value());
//
// Exact sums of floating-point numbers: skel/reproducible_sum.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "skel/bytes.hpp"
#include "skel/error.hpp"
#include "skel/sink.hpp"
#include "skel/transfer_traits.hpp"

namespace skel {

/// The first of any number of values in the order of Before, and its task: see minimum and maximum.
template <class T, class Before>
  requires std::integral<T> || std::floating_point<T>
class extreme {
 public:
  using value_type = T;  ///< the type of the values
  /// Holds no value.
  extreme() = default;
  /// Holds one value, and the task that it belongs to. A NaN counts as no value.
  explicit extreme(T value, task_id task = 0) {
    if constexpr (std::floating_point<T>)
      if (std::isnan(value)) return;
    value_ = value;
    task_ = task;
  }
  /// Whether there was a value.
  [[nodiscard]] bool has_value() const { return task_ != no_task; }
  /// The extreme value. Requires has_value().
  [[nodiscard]] T value() const { return value_; }
  /// The task that has this value, the lowest if there are several. Requires has_value().
  [[nodiscard]] task_id task() const { return task_; }
  /// Takes the values of another one in.
  extreme& operator+=(extreme const& other) {
    if (other.precedes(*this)) *this = other;
    return *this;
  }
  /// The extreme of both.
  [[nodiscard]] friend extreme operator+(extreme a, extreme const& b) { return a += b; }
  /// Whether value and task are the same.
  [[nodiscard]] friend bool operator==(extreme const&, extreme const&) = default;

 private:
  static constexpr task_id no_task = std::numeric_limits<task_id>::max();
  [[nodiscard]] bool precedes(extreme const& other) const {
    if (!has_value() || !other.has_value()) return has_value();
    if (Before{}(value_, other.value_)) return true;
    if (Before{}(other.value_, value_)) return false;
    if (task_ != other.task_) return task_ < other.task_;
    if constexpr (std::floating_point<T>) return std::signbit(value_) && !std::signbit(other.value_);
    return false;
  }

  T value_{};
  task_id task_ = no_task;
};

/// The least of any number of values, and the first task that has it.
template <class T>
using minimum = extreme<T, std::less<T>>;
/// The greatest of any number of values, and the first task that has it.
template <class T>
using maximum = extreme<T, std::greater<T>>;

/// Counts numbers in bins of equal width, and those that are in none.
class histogram {
 public:
  /// Without bins. Can be merged with any other.
  histogram() = default;
  /// `bins` bins from `low` to `high`: [low, low + width), ... Throws usage_error unless the ends are finite,
  /// low < high, and 1 <= bins.
  histogram(double low, double high, std::size_t bins);
  /// Counts a number `times` times.
  void add(double x, std::uint64_t times = 1);
  /// Takes the counts of another one in. Throws usage_error unless it has the same bins, or one of them has
  /// none.
  histogram& operator+=(histogram const& other);

  /// The lower end of the first bin.
  [[nodiscard]] double low() const { return low_; }
  /// The upper end of the last bin.
  [[nodiscard]] double high() const { return high_; }
  /// How many numbers are in each bin.
  [[nodiscard]] std::vector<std::uint64_t> const& counts() const { return counts_; }
  /// How many numbers are less than low().
  [[nodiscard]] std::uint64_t below() const { return outside_[0]; }
  /// How many numbers are at least high().
  [[nodiscard]] std::uint64_t above() const { return outside_[1]; }
  /// How many numbers are NaN.
  [[nodiscard]] std::uint64_t nans() const { return outside_[2]; }

  /// The counts of both.
  [[nodiscard]] friend histogram operator+(histogram a, histogram const& b) { return std::move(a += b); }
  /// Whether bins and counts are the same.
  [[nodiscard]] friend bool operator==(histogram const&, histogram const&) = default;

 private:
  friend struct transfer_traits<histogram>;
  [[nodiscard]] bool has_ends() const { return std::isfinite(low_) && std::isfinite(high_) && low_ < high_; }
  [[nodiscard]] std::string bins_text() const {
    return std::to_string(counts_.size()) + " from " + std::to_string(low_) + " to " + std::to_string(high_);
  }

  double low_ = 0, high_ = 0;
  std::vector<std::uint64_t> counts_;
  std::array<std::uint64_t, 3> outside_{};
};

/// A map whose merge has the keys of both, and merges the values that belong to the same key by `+`. With
/// std::uint64_t as Value it counts: `words[word] += 1`. Equal keys must not differ in anything.
template <class Key, class Value>
  requires(exact_merge<Value> && !std::floating_point<Key>)
struct merged_map {
  std::map<Key, Value> entries{};  ///< in the order of their keys
  /// The value of a key, at first a Value{}.
  Value& operator[](Key const& key) { return entries[key]; }
  /// Takes the entries of another map in.
  merged_map& operator+=(merged_map other) {
    if (entries.size() < other.entries.size()) entries.swap(other.entries);
    entries.merge(other.entries);
    for (auto& [key, value] : other.entries) {  // those whose key is in both
      auto& mine = entries.find(key)->second;
      mine = static_cast<Value>(std::move(mine) + std::move(value));
    }
    return *this;
  }
  /// The entries of both.
  [[nodiscard]] friend merged_map operator+(merged_map a, merged_map b) {
    return std::move(a += std::move(b));
  }
  /// Whether keys and values are the same.
  [[nodiscard]] friend bool operator==(merged_map const&, merged_map const&) = default;
};

/// Ties go to the lowest task.
template <class T, class Before>
inline constexpr bool exact_merge<extreme<T, Before>> = true;
/// Counts are integers.
template <>
inline constexpr bool exact_merge<histogram> = true;
/// Their values merge exactly.
template <class Key, class Value>
inline constexpr bool exact_merge<merged_map<Key, Value>> = true;

/// Small counts take one byte each.
template <>
struct transfer_traits<histogram> {
  /// Appends bins and counts.
  static void pack(histogram const& h, std::vector<std::byte>& out);
  /// Reads a histogram. Throws protocol_error for bytes that are none.
  [[nodiscard]] static histogram unpack(std::span<std::byte const>& in);
};

inline histogram::histogram(double low, double high, std::size_t bins)
    : low_(low), high_(high), counts_(bins) {
  if (!has_ends() || bins == 0)
    throw usage_error("histogram: expected finite ends, low < high, and at least one bin, found " +
                      bins_text());
}

inline void histogram::add(double x, std::uint64_t times) {
  if (std::isnan(x)) {
    outside_[2] += times;
  } else if (x < low_) {
    outside_[0] += times;
  } else if (x >= high_) {
    outside_[1] += times;
  } else {
    // Halves, because the range may overflow.
    auto const share = (x / 2 - low_ / 2) / (high_ / 2 - low_ / 2);
    auto const bin = static_cast<std::size_t>(share * static_cast<double>(counts_.size()));
    counts_[std::min(bin, counts_.size() - 1)] += times;
  }
}

inline histogram& histogram::operator+=(histogram const& other) {
  if (counts_.empty() && !other.counts_.empty()) {
    low_ = other.low_;
    high_ = other.high_;
    counts_.resize(other.counts_.size());
  }
  if (!other.counts_.empty() &&
      (low_ != other.low_ || high_ != other.high_ || counts_.size() != other.counts_.size()))
    throw usage_error("histograms with other bins: expected " + bins_text() + ", found " + other.bins_text());
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  for (std::size_t i = 0; i < outside_.size(); ++i) outside_[i] += other.outside_[i];
  return *this;
}

inline void transfer_traits<histogram>::pack(histogram const& h, std::vector<std::byte>& out) {
  bytes::put_raw(out, h.low_);
  bytes::put_raw(out, h.high_);
  for (auto const n : h.outside_) bytes::put_varint(out, n);
  bytes::put_varint(out, h.counts_.size());
  for (auto const n : h.counts_) bytes::put_varint(out, n);
}

inline histogram transfer_traits<histogram>::unpack(std::span<std::byte const>& in) {
  histogram h;
  h.low_ = bytes::get_raw<double>(in);
  h.high_ = bytes::get_raw<double>(in);
  for (auto& n : h.outside_) n = bytes::get_varint(in);
  auto const bins = bytes::get_varint(in);
  if (bins > in.size()) throw protocol_error("a histogram with fewer counts than bins");
  h.counts_.resize(bins);
  for (auto& n : h.counts_) n = bytes::get_varint(in);
  if (bins > 0 ? !h.has_ends() : h.low_ != 0 || h.high_ != 0)
    throw protocol_error("a histogram with wrong ends of its bins");
  return h;
}

}  // namespace skel
