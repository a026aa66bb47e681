#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "label_encoding.hpp"
#include "label_form.hpp"
#include "label_sizes.hpp"
#include "node_bitmap.hpp"
#include "skel/bytes.hpp"

namespace skel::components {

namespace {

std::byte* put_varint(std::byte* out, std::uint64_t value) {
  for (; value >= 128; value >>= 7) *out++ = static_cast<std::byte>(value | 128);
  *out++ = static_cast<std::byte>(value);
  return out;
}

class pair_writer {
 public:
  pair_writer(std::span<node const> labels, std::byte* out) : labels_(labels), out_(out) {}
  void add(std::size_t w, std::uint64_t word) {
    for (; word != 0; word &= word - 1) {
      auto const x = 64 * w + static_cast<unsigned>(std::countr_zero(word));
      out_ = put_varint(out_, x - next_);
      out_ = put_varint(out_, labels_[x]);
      next_ = x + 1;
    }
  }
  [[nodiscard]] std::byte* out() const { return out_; }

 private:
  std::span<node const> labels_;
  std::byte* out_;
  std::uint64_t next_ = 0;
};

// Bits, then labels, which are appended as they come: room for all of them would be zeroed first. `look` sees
// each word of bits.
template <class Look>
void append_marks(label_kernel const& kernel, std::span<node const> labels, bool with_giant, node giant,
                  std::vector<std::byte>& out, Look&& look) {
  constexpr std::size_t stretch = 32, may_write_more = 64;
  std::array<std::byte, stretch * 64 * sizeof(node) + may_write_more> some;
  auto const bits = out.size();
  out.resize(bits + bitmap_size(labels.size()));
  unsigned const width = fixed_width(labels.size());
  auto* to = some.data();
  auto const flush = [&] {
    out.insert(out.end(), some.data(), to);
    to = some.data();
  };
  for_each_word(kernel, labels, with_giant, giant,
                [&](std::size_t w, std::uint64_t linked, std::uint64_t in_giant) {
                  look(w, linked, in_giant);
                  std::memcpy(out.data() + bits + 8 * w, &linked, sizeof linked);
                  to = kernel.put(labels.subspan(64 * w), linked, width, to, some.data() + some.size());
                  if (w % stretch == stretch - 1) flush();
                });
  flush();
}

std::vector<std::byte> head_of(encoding form, std::uint64_t nodes, std::uint64_t count) {
  std::vector<std::byte> head{static_cast<std::byte>(form)};
  bytes::put_varint(head, nodes);
  bytes::put_varint(head, count);
  return head;
}

// A message of marks with its length in front.
std::vector<std::byte> head_of_marks(std::uint64_t nodes, std::uint64_t linked) {
  auto const head = head_of(encoding::marks, nodes, linked);
  std::vector<std::byte> all;
  bytes::put_varint(all, head.size() + bitmap_size(nodes) + linked * fixed_width(nodes));
  all.insert(all.end(), head.begin(), head.end());
  return all;
}

}  // namespace

std::string_view name_of(encoding e) {
  constexpr std::array<std::string_view, 4> names{"dense", "pairs", "giant", "marks"};
  return names[static_cast<std::size_t>(e)];
}

void encode(std::span<node const> labels, encoding form, encoded_sizes const& sizes,
            std::vector<std::byte>& out, label_kernel const& kernel) {
  auto const before = out.size();
  out.reserve(before + sizes[form]);
  if (form == encoding::marks) {
    auto const head = head_of(form, labels.size(), sizes.linked);
    out.insert(out.end(), head.begin(), head.end());
    append_marks(kernel, labels, false, 0, out, [](std::size_t, std::uint64_t, std::uint64_t) {});
    return;
  }
  out.resize(before + sizes[form]);
  auto* to = out.data() + before;
  *to++ = static_cast<std::byte>(form);
  to = put_varint(to, labels.size());
  if (form == encoding::dense) {
    if (!labels.empty()) std::memcpy(to, labels.data(), labels.size_bytes());
    return;
  }
  bool const with_giant = form == encoding::giant;
  to = put_varint(to, with_giant ? sizes.rest : sizes.linked);
  if (with_giant) to = put_varint(to, sizes.giant);
  auto* const bits = to;
  pair_writer pairs(labels, with_giant ? to + bitmap_size(labels.size()) : to);
  for_each_word(kernel, labels, with_giant, sizes.giant,
                [&](std::size_t w, std::uint64_t linked, std::uint64_t in_giant) {
                  if (with_giant) std::memcpy(bits + 8 * w, &in_giant, sizeof in_giant);
                  pairs.add(w, linked & ~in_giant);
                });
}

void pack_shortest(std::span<node const> labels, std::vector<std::byte>& out, label_kernel const& kernel) {
  label_sample const sample(labels);
  size_counter counter(labels, sample, kernel);
  auto const count = [&](std::size_t w, std::uint64_t linked, std::uint64_t in_giant) {
    counter.add(w, linked, in_giant);
  };
  auto const before = out.size();
  auto const guess = head_of_marks(labels.size(), sample.likely_linked);
  if (sample.marks_likely) {
    auto const likely = sample.likely_linked + sample.likely_linked / 16;
    out.reserve(before + guess.size() + bitmap_size(labels.size()) + likely * fixed_width(labels.size()));
    out.insert(out.end(), guess.begin(), guess.end());
    append_marks(kernel, labels, sample.has_giant, sample.giant, out, count);
  } else {
    for_each_word(kernel, labels, sample.has_giant, sample.giant, count);
  }
  auto const sizes = counter.sizes();
  auto const form = sizes.cheapest();
  if (sample.marks_likely && form == encoding::marks) {
    auto const head = head_of_marks(labels.size(), sizes.linked);
    auto const at = out.begin() + static_cast<std::ptrdiff_t>(before);
    auto const end_of_guess = at + static_cast<std::ptrdiff_t>(guess.size());
    if (head.size() < guess.size()) out.erase(at + static_cast<std::ptrdiff_t>(head.size()), end_of_guess);
    if (head.size() > guess.size()) out.insert(end_of_guess, head.size() - guess.size(), std::byte{0});
    std::copy(head.begin(), head.end(), out.begin() + static_cast<std::ptrdiff_t>(before));
    return;
  }
  out.resize(before);
  bytes::put_varint(out, sizes[form]);
  encode(labels, form, sizes, out, kernel);
}

}  // namespace skel::components
