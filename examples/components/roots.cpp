#include "roots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "label_form.hpp"
#include "union_find.hpp"

namespace skel::components {

namespace {

// A message with at most one pair, whatever the number of nodes.
std::vector<std::byte> message_of(std::uint64_t nodes, edge const* e) {
  std::vector<std::byte> out{static_cast<std::byte>(encoding::pairs)};
  bytes::put_varint(out, nodes);
  bool const linked = e != nullptr && e->u != e->v;
  bytes::put_varint(out, linked ? 1 : 0);
  if (linked) {
    bytes::put_varint(out, std::max(e->u, e->v));
    bytes::put_varint(out, std::min(e->u, e->v));
  }
  return out;
}

}  // namespace

big_array<node> memory_for_labels(std::uint64_t nodes) {
  try {
    return big_array<node>(nodes);
  } catch (std::bad_alloc const&) {
    throw error(fmt::format("out of memory: labels of {} nodes take {:.1f} GB", nodes,
                            static_cast<double>(nodes * sizeof(node)) / 1e9));
  }
}

roots::roots(edge e, std::uint64_t nodes, exchange how) : nodes_(nodes), how_(how) {
  keep(message_of(nodes, &e));
}

roots::roots(std::uint64_t nodes, exchange how) : nodes_(nodes), how_(how) {
  keep(message_of(nodes, nullptr));
}

void roots::keep(std::vector<std::byte> message) {
  auto const kept = std::make_shared<std::vector<std::byte> const>(std::move(message));
  message_ = *kept;
  owner_ = kept;
}

roots::roots(roots const& other)
    : nodes_(other.nodes_),
      how_(other.how_),
      labels_(other.labels_.size()),
      message_(other.message_),
      owner_(other.owner_) {
  std::copy(other.labels_.begin(), other.labels_.end(), labels_.begin());
}

roots& roots::operator=(roots const& other) {
  if (this != &other) *this = roots(other);
  return *this;
}

std::span<node const> roots::labels() {
  if (encoded()) {
    auto labels = memory_for_labels(nodes_);
    make_singletons(labels.data(), 0, labels.size());
    link_into({labels.data(), labels.size()});
    compress(labels.data(), labels.size());
    labels_ = std::move(labels);
    message_ = {};
    owner_ = nullptr;
  }
  return labels_.span();
}

void roots::link_into(std::span<node> parent) const {
  if (encoded()) {
    fastest_label_kernel().join(message_, parent);
    return;
  }
  linker links(parent.data());
  links.link_forest(labels_.span());
  links.finish();
}

roots roots::combine(roots a, roots b) {
  if (a.nodes_ != b.nodes_) throw error("solutions of different graphs cannot be combined");
  if (a.encoded() && !b.encoded()) std::swap(a, b);
  if (a.encoded() && a.message_.size() < b.message_.size()) std::swap(a, b);
  auto const labels = a.labels();
  if (labels.empty()) return a;
  b.link_into({a.labels_.data(), a.labels_.size()});
  compress(a.labels_.data(), a.labels_.size());
  return a;
}

}  // namespace skel::components

void skel::transfer_traits<skel::components::roots>::pack(components::roots const& r,
                                                          std::vector<std::byte>& out) {
  using namespace components;
  bytes::put_raw(out, r.how_);
  bytes::put_varint(out, r.nodes_);
  if (r.encoded()) {
    bytes::put_varint(out, r.message_.size());
    out.insert(out.end(), r.message_.begin(), r.message_.end());
    return;
  }
  auto const labels = r.labels_.span();
  if (r.how_ == exchange::cheapest) {
    pack_shortest(labels, out);
    return;
  }
  encoded_sizes sizes{};
  sizes.bytes[0] = dense_size(labels.size());
  bytes::put_varint(out, sizes.bytes[0]);
  encode(labels, encoding::dense, sizes, out);
}

skel::components::roots skel::transfer_traits<skel::components::roots>::unpack(
    std::span<std::byte const>& in, std::shared_ptr<void const> const& owner) {
  using namespace components;
  roots r;
  r.how_ = bytes::get_raw<exchange>(in);
  r.nodes_ = bytes::get_varint(in);
  if (r.nodes_ > most_nodes) throw protocol_error("message holds labels of too many nodes");
  r.message_ = bytes::get_bytes(in, bytes::get_varint(in));
  r.owner_ = owner;
  return r;
}

skel::components::roots skel::transfer_traits<skel::components::roots>::unpack(
    std::span<std::byte const>& in) {
  auto r = unpack(in, nullptr);
  r.keep({r.message_.begin(), r.message_.end()});
  return r;
}
