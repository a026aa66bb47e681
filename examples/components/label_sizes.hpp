// How long each form of labels is: a guess from some labels, and exactly from the bits of all nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "label_encoding.hpp"
#include "label_kernel.hpp"

namespace skel::components {

/// Some labels that are spread evenly. The most frequent is that of the largest component, as in Afforest
/// (Sutton, Ben-Nun and Barak 2018). Which one is taken changes the size, never the result.
struct label_sample {
  explicit label_sample(std::span<node const> labels);
  node giant = 0;
  bool has_giant = false;
  bool marks_likely = false;        ///< that marks are the shortest form
  std::uint64_t likely_linked = 0;  ///< about how many nodes have another label than themselves
};

class size_counter {
 public:
  size_counter(std::span<node const> labels, label_sample const& sample, label_kernel const& kernel)
      : labels_(labels), sample_(sample), kernel_(kernel) {}

  /// All words of for_each_word(), one after the other.
  void add(std::size_t w, std::uint64_t linked, std::uint64_t in_giant) {
    constexpr std::size_t stretch = 32;  // words whose labels are still in the nearest cache
    if (w % stretch == 0) {
      auto const some = labels_.subspan(64 * w, std::min(64 * stretch, labels_.size() - 64 * w));
      more_label_bytes_ += kernel_.more_label_bytes(some, static_cast<node>(64 * w));
    }
    linked_.add(64 * w, linked);
    if (sample_.has_giant) rest_.add(64 * w, linked & ~in_giant);
  }
  [[nodiscard]] encoded_sizes sizes() const;

 private:
  // Of the gaps of ascending nodes, which come as bits.
  struct gap_bytes {
    void add(std::uint64_t first, std::uint64_t word);
    [[nodiscard]] std::uint64_t bytes() const { return count + more_; }
    std::uint64_t count = 0;

   private:
    std::uint64_t more_ = 0, next_ = 0;
  };

  std::span<node const> labels_;
  label_sample const& sample_;
  label_kernel const& kernel_;
  gap_bytes linked_, rest_;
  std::uint64_t more_label_bytes_ = 0;
};

}  // namespace skel::components
