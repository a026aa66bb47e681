#include "edge_part.hpp"

#include <algorithm>
#include <cstring>

#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace components {

edge_part::edge_part(big_array<edge> edges) {
  last_ = edges.size();
  array_ = std::make_shared<edge_array const>(edge_array{std::move(edges), 0, std::nullopt});
}

edge_part::view edge_part::edges() const {
  view v;
  if (size() == 0) return v;
  auto const& a = *array_;
  if (first_ >= a.first && last_ - a.first <= a.edges.size()) {
    v.edges_ = a.edges.span().subspan(first_ - a.first, size());
    v.owner_ = array_;
    return v;
  }
  if (!a.formula) throw skel::error("edges of the graph are missing on this rank");
  auto const made = std::make_shared<big_array<edge>>(size());
  generate(*a.formula, first_, {made->data(), made->size()});
  v.edges_ = made->span();
  v.owner_ = made;
  return v;
}

std::array<edge_part, 2> edge_part::split(std::uint64_t count) const {
  auto const middle = first_ + std::min(count, size());
  return {edge_part(array_, first_, middle), edge_part(array_, middle, last_)};
}

}  // namespace components

void skel::transfer_traits<components::edge_part>::pack(components::edge_part const& part,
                                                        std::vector<std::byte>& out) {
  auto const& formula = part.array_ ? part.array_->formula : std::nullopt;
  bytes::put_raw(out, static_cast<std::uint8_t>(formula.has_value()));
  if (formula) {
    bytes::put_raw(out, *formula);
    bytes::put_raw(out, part.first_);
    bytes::put_raw(out, part.last_);
    return;
  }
  auto const edges = part.edges();
  bytes::put_varint(out, part.size());
  auto const bytes = std::as_bytes(edges.span());
  out.insert(out.end(), bytes.begin(), bytes.end());
}

components::edge_part skel::transfer_traits<components::edge_part>::unpack(std::span<std::byte const>& in) {
  using namespace components;
  if (bytes::get_raw<std::uint8_t>(in) != 0) {
    edge_array none;
    none.formula = bytes::get_raw<graph_spec>(in);
    auto const first = bytes::get_raw<std::uint64_t>(in), last = bytes::get_raw<std::uint64_t>(in);
    if (first > last || last > none.formula->edges)
      throw skel::protocol_error("message holds edges that no graph has");
    return {std::make_shared<edge_array const>(std::move(none)), first, last};
  }
  auto const count = bytes::get_varint(in);
  if (count > in.size() / sizeof(edge))
    throw skel::protocol_error("message holds fewer edges than announced");
  auto const bytes = bytes::get_bytes(in, count * sizeof(edge));
  big_array<edge> edges(count);
  if (count > 0) std::memcpy(edges.data(), bytes.data(), bytes.size());
  return edge_part(std::move(edges));
}
