#include <bit>
#include <cstring>

#include "label_encoding.hpp"
#include "label_form.hpp"
#include "node_bitmap.hpp"

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

void put_marked(label_kernel const& kernel, std::span<node const> labels, std::byte* bits, std::byte* out,
                std::byte const* end) {
  unsigned const width = fixed_width(labels.size());
  for_each_word(kernel, labels, false, 0, [&](std::size_t w, std::uint64_t linked, std::uint64_t) {
    std::memcpy(bits + 8 * w, &linked, sizeof linked);
    out = kernel.put(labels.subspan(64 * w), linked, width, out, end);
  });
}

}  // namespace

std::string_view name_of(encoding e) {
  constexpr std::array<std::string_view, 4> names{"dense", "pairs", "giant", "marks"};
  return names[static_cast<std::size_t>(e)];
}

void encode(std::span<node const> labels, encoding form, encoded_sizes const& sizes,
            std::vector<std::byte>& out, label_kernel const& kernel) {
  auto const before = out.size();
  out.resize(before + sizes[form]);
  auto* to = out.data() + before;
  auto const* const end = to + sizes[form];
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
  auto const bitmap = (labels.size() + 63) / 64 * 8;
  if (form == encoding::marks) {
    put_marked(kernel, labels, bits, to + bitmap, end);
    return;
  }
  pair_writer pairs(labels, with_giant ? to + bitmap : to);
  for_each_word(kernel, labels, with_giant, sizes.giant,
                [&](std::size_t w, std::uint64_t linked, std::uint64_t in_giant) {
                  if (with_giant) std::memcpy(bits + 8 * w, &in_giant, sizeof in_giant);
                  pairs.add(w, linked & ~in_giant);
                });
}

}  // namespace skel::components
