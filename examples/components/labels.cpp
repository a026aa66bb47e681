#include "labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <numeric>

#include "skel/bytes.hpp"
#include "skel/error.hpp"
#include "union_find.hpp"

namespace components {

namespace bytes = skel::bytes;

namespace {

constexpr node no_giant = static_cast<node>(most_nodes);
constexpr std::size_t word_nodes = 64, block_words = 64, block_nodes = word_nodes * block_words;

// The number of bytes that can hold any node of the graph.
constexpr unsigned width_of(std::uint64_t nodes) {
  return nodes <= 1U << 8 ? 1 : nodes <= 1U << 16 ? 2 : nodes <= 1U << 24 ? 3 : 4;
}

template <class T>
void append(std::vector<std::byte>& out, T const* values, std::size_t count) {
  auto const* const from = reinterpret_cast<std::byte const*>(values);
  out.insert(out.end(), from, from + count * sizeof(T));
}

std::byte* pack_portably(node const* labels, node first, node giant, unsigned width, std::byte* out,
                         label_marks& marks) {
  std::array<std::uint8_t, word_nodes> inside, linked;
  for (node i = 0; i < word_nodes; ++i) inside[i] = labels[i] == giant;
  for (node i = 0; i < word_nodes; ++i) linked[i] = (labels[i] != first + i) & (labels[i] != giant);
  marks = {bits_of(inside), bits_of(linked)};
  for (auto word = marks.linked; word != 0; word &= word - 1, out += width)
    std::memcpy(out, &labels[std::countr_zero(word)],
                sizeof(node));  // excess bytes are overwritten by the next
  return out;
}

bool link_portably(forest_linker& links, node first, std::uint64_t linked, unsigned width,
                   std::byte const* from) {
  node const mask = width == sizeof(node) ? ~node{0} : (node{1} << (8 * width)) - 1;
  bool good = true;
  for (; linked != 0; linked &= linked - 1, from += width) {
    node const x = first + static_cast<node>(std::countr_zero(linked));
    node label = 0;
    std::memcpy(&label, from, sizeof label);
    label &= mask;
    good &= label < x;
    links.link(x, std::min(label, x));
  }
  return good;
}

// Packs up to block_nodes labels.
class block_writer {
 public:
  block_writer(label_kernel const& kernel, node giant, unsigned width)
      : kernel_(kernel), giant_(giant), width_(width) {}

  // Adds 64 labels of the nodes from `first` on.
  void add(node const* labels, node first) {
    label_marks marks;
    end_ = kernel_.pack(labels, first, giant_, width_, end_, marks);
    in_giant_[words_] = marks.in_giant;
    linked_[kept_] = marks.linked;
    kept_ += marks.linked != 0 ? 1 : 0;
    used_ |= std::uint64_t{marks.linked != 0} << words_++;
  }
  void append_to(std::vector<std::byte>& out) const {
    if (giant_ != no_giant) append(out, in_giant_.data(), words_);
    append(out, &used_, 1);
    append(out, linked_.data(), kept_);
    out.insert(out.end(), labels_.data(), static_cast<std::byte const*>(end_));
  }

 private:
  label_kernel const& kernel_;
  node giant_;
  unsigned width_;
  std::size_t words_ = 0, kept_ = 0;
  std::uint64_t used_ = 0;
  std::array<std::uint64_t, block_words> in_giant_, linked_;
  std::array<std::byte, block_nodes * sizeof(node) + kernel_reach> labels_;
  std::byte* end_ = labels_.data();
};

[[noreturn]] void refuse_labels() { throw skel::protocol_error("message holds invalid labels"); }

// Decodes a message. Bytes from another rank are checked, although only a defect of skel could
// corrupt them.
class joiner {
 public:
  joiner(label_kernel const& kernel, std::span<std::byte const> message, std::span<node> parent)
      : kernel_(kernel), in_(message), nodes_(parent.size()), links_(parent.data()) {}

  void join() {
    auto const form = bytes::get_raw<exchange>(in_);
    if (bytes::get_varint(in_) != nodes_)
      throw skel::protocol_error("message holds labels of a graph of another size");
    if (form == exchange::dense)
      join_dense();
    else if (form == exchange::cheapest)
      join_blocks();
    else
      refuse_labels();
    if (!good_ || !in_.empty()) refuse_labels();
    links_.finish();
  }

 private:
  void join_dense() {
    auto const labels = bytes::get_bytes(in_, nodes_ * sizeof(node));
    for (std::size_t x = 0; x < nodes_; ++x) {
      node label = 0;
      std::memcpy(&label, labels.data() + x * sizeof label, sizeof label);
      if (label != x) link(static_cast<node>(x), label);
    }
  }

  void join_blocks() {
    auto const giant = bytes::get_raw<node>(in_);
    if (giant != no_giant && giant >= nodes_) refuse_labels();
    for (std::uint64_t first = 0; first < nodes_; first += block_nodes) {
      auto const words = (std::min<std::uint64_t>(block_nodes, nodes_ - first) + word_nodes - 1) / word_nodes;
      if (giant != no_giant) join_giant(first, words, giant);
      join_others(first, words);
    }
  }
  void join_giant(std::uint64_t first, std::uint64_t words, node giant) {
    auto const in_giant = bytes::get_bytes(in_, words * sizeof words);
    for (std::size_t w = 0; w < words; ++w, first += word_nodes)
      for (auto word = word_at(in_giant, w, first); word != 0; word &= word - 1) {
        auto const x = static_cast<node>(first) + static_cast<node>(std::countr_zero(word));
        if (x != giant) link(x, giant);
      }
  }
  void join_others(std::uint64_t first, std::uint64_t words) {
    auto used = bytes::get_raw<std::uint64_t>(in_);
    if (words < block_words && used >> words != 0) refuse_labels();
    auto const linked = bytes::get_bytes(in_, static_cast<unsigned>(std::popcount(used)) * sizeof used);
    for (std::size_t at = 0; used != 0; used &= used - 1, ++at) {
      auto const begin = first + word_nodes * static_cast<unsigned>(std::countr_zero(used));
      join_word(static_cast<node>(begin), word_at(linked, at, begin));
    }
  }
  void join_word(node first, std::uint64_t linked) {
    constexpr std::size_t most = word_nodes * sizeof(node) + kernel_reach;
    std::array<std::byte, most> last{};
    bool const is_last = in_.size() < most;  // kernels must not read beyond it
    auto const labels = bytes::get_bytes(in_, static_cast<unsigned>(std::popcount(linked)) * width_);
    if (is_last) std::copy(labels.begin(), labels.end(), last.begin());
    good_ &= kernel_.link(links_, first, linked, width_, is_last ? last.data() : labels.data());
  }
  // A label must be smaller than its node. A violation is recorded and does no harm until the check
  // at the end.
  void link(node x, node label) {
    good_ &= label < x;
    links_.link(x, std::min(label, x));
  }
  // Returns the bits of the nodes from `first` on. Bits beyond the last node are an error.
  [[nodiscard]] std::uint64_t word_at(std::span<std::byte const> words, std::size_t w,
                                      std::uint64_t first) const {
    std::uint64_t word = 0;
    std::memcpy(&word, words.data() + w * sizeof word, sizeof word);
    if (nodes_ - first < word_nodes && word >> (nodes_ - first) != 0) refuse_labels();
    return word;
  }

  label_kernel const& kernel_;
  std::span<std::byte const> in_;
  std::uint64_t nodes_;
  unsigned width_ = width_of(nodes_);
  bool good_ = true;
  forest_linker links_;
};

}  // namespace

std::span<label_kernel const> label_kernels() {
  static std::vector<label_kernel> const known = [] {
    std::vector<label_kernel> kernels{{"portable", pack_portably, link_portably}};
#ifdef __x86_64__
    if (runs_avx512()) kernels.push_back(avx512_label_kernel);
#endif
    return kernels;
  }();
  return known;
}

void encode(std::span<node const> labels, exchange form, std::vector<std::byte>& out,
            label_kernel const& kernel) {
  bytes::put_raw(out, form);
  bytes::put_varint(out, labels.size());
  if (form == exchange::dense) {
    append(out, labels.data(), labels.size());
    return;
  }
  auto const width = width_of(labels.size());
  // Reserves an upper bound, part of which is never touched. Growing step by step on small pages
  // cost a sixth of the processor time of two ranks with 2 million nodes and edges.
  out.reserve(out.size() + labels.size() * width + labels.size() / 3 + block_nodes);
  prefer_large_pages(out.data() + out.size(), out.capacity() - out.size());
  auto const giant = label_of_giant(labels);
  bytes::put_raw(out, giant);
  for (std::size_t first = 0; first < labels.size(); first += block_nodes) {
    block_writer block(kernel, giant, width);
    auto const last = std::min(first + block_nodes, labels.size());
    for (auto x = first; x < last; x += word_nodes) {
      if (labels.size() - x >= word_nodes) {
        block.add(&labels[x], static_cast<node>(x));
        continue;
      }
      std::array<node, word_nodes> some;  // nodes beyond the last are roots
      std::iota(some.begin(), some.end(), static_cast<node>(x));
      std::copy(labels.begin() + static_cast<std::ptrdiff_t>(x), labels.end(), some.begin());
      block.add(some.data(), static_cast<node>(x));
    }
    block.append_to(out);
  }
}

void join(std::span<std::byte const> message, std::span<node> parent, label_kernel const& kernel) {
  joiner(kernel, message, parent).join();
}

big_array<node> memory_for_labels(std::uint64_t nodes) {
  try {
    return big_array<node>(nodes);
  } catch (std::bad_alloc const&) {
    throw skel::error(fmt::format("out of memory: labels of {} nodes take {:.1f} GB", nodes,
                                  static_cast<double>(nodes * sizeof(node)) / 1e9));
  }
}

std::span<node const> roots::labels() {
  if (encoded()) {
    auto labels = memory_for_labels(nodes_);
    std::span<node> const all(labels.data(), labels.size());
    make_singletons(all);
    link_into(all);
    compress(all);
    labels_ = std::move(labels);
    message_ = {};
    owner_ = nullptr;
  }
  return labels_.span();
}

void roots::link_into(std::span<node> parent) const {
  if (encoded()) {
    join(message_, parent);
    return;
  }
  forest_linker links(parent.data());
  for (std::size_t x = 0; x < labels_.size(); ++x)
    if (labels_[x] != x) links.link(static_cast<node>(x), labels_[x]);
  links.finish();
}

roots roots::combine(roots a, roots b) {
  if (a.nodes_ != b.nodes_) throw skel::error("cannot combine solutions of different graphs");
  if (a.encoded()) std::swap(a, b);
  if (a.labels().empty()) return a;
  std::span<node> const labels(a.labels_.data(), a.labels_.size());
  b.link_into(labels);
  compress(labels);
  return a;
}

}  // namespace components

void skel::transfer_traits<components::roots>::pack(components::roots const& r, std::vector<std::byte>& out) {
  bytes::put_block_by(out, [&r](std::vector<std::byte>& to) {
    if (r.encoded())
      to.insert(to.end(), r.message_.begin(), r.message_.end());
    else
      encode(r.labels_.span(), r.how_, to);
  });
}

components::roots skel::transfer_traits<components::roots>::unpack(std::span<std::byte const>& in,
                                                                   std::shared_ptr<void const> const& owner) {
  components::roots r;
  r.message_ = bytes::get_bytes(in, bytes::get_varint(in));
  r.owner_ = owner;
  auto head = r.message_;
  r.how_ = bytes::get_raw<components::exchange>(head);
  r.nodes_ = bytes::get_varint(head);
  if (r.nodes_ > components::most_nodes) throw protocol_error("message holds labels of too many nodes");
  return r;
}

components::roots skel::transfer_traits<components::roots>::unpack(std::span<std::byte const>& in) {
  auto r = unpack(in, nullptr);
  auto const kept = std::make_shared<std::vector<std::byte> const>(r.message_.begin(), r.message_.end());
  r.message_ = *kept;
  r.owner_ = kept;
  return r;
}
