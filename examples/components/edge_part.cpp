#include "edge_part.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "skel/bytes.hpp"
#include "skel/error.hpp"
#include "skel/transfer.hpp"

namespace components {

edge_part::edge_part(big_array<edge> edges) {
  last_ = edges.size();
  array_ = std::make_shared<edge_array const>(edge_array{std::move(edges), 0, {}, {}});
}

std::uint64_t edge_part::size() const noexcept {
  if (!array_ || !array_->file) return units();
  auto const& starts = array_->file->starts;
  return starts[last_] - starts[first_];
}

bool edge_part::in_memory() const {
  auto const& a = *array_;
  if (a.file)  // a rank that was taken for lost may not have read its share
    return first_ == a.first && units() == 1 && a.edges.size() == size();
  return first_ >= a.first && last_ - a.first <= a.edges.size();
}

edge_part::view edge_part::edges() const {
  view v;
  if (size() == 0) return v;
  if (in_memory()) {
    v.edges_ = array_->edges.span().subspan(array_->file ? 0 : first_ - array_->first, size());
    v.owner_ = array_;
    return v;
  }
  auto const made = std::make_shared<big_array<edge>>();
  made->reserve(size());
  stream([&](std::span<edge const> some) { made->append(some); });
  v.edges_ = made->span();
  v.owner_ = made;
  return v;
}

void edge_part::stream(edge_sink const& sink) const {
  if (size() == 0) return;
  if (in_memory()) return sink(edges().span());
  if (array_->file) return read_again(sink);
  if (!array_->formula) throw skel::error("edges of the graph are missing on this rank");
  big_array<edge> some(std::min(size(), std::uint64_t{1} << 20));
  for (auto at = first_; at < last_; at += some.size()) {
    some.resize(std::min<std::uint64_t>(some.size(), last_ - at));
    generate(*array_->formula, at, {some.data(), some.size()});
    sink(some.span());
  }
}

// All shares are read as a whole, which keeps the order of a packed file.
void edge_part::read_again(edge_sink const& sink) const {
  auto const& file = *array_->file;
  auto const parts = file.starts.size() - 1;
  std::uint64_t seen = 0;
  auto const read = [&](file_share share) { seen += read_edges(file.path, file.nodes, share, sink).edges; };
  if (units() == parts)
    read({});
  else
    for (auto part = first_; part < last_; ++part) read({part, parts});
  if (seen != size()) throw skel::error(file.path + ": has changed since it was read");
}

std::array<edge_part, 2> edge_part::split(std::uint64_t count) const {
  auto const middle = first_ + std::min(count, units());
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

// The bytes of a graph's parameters include padding.
void skel::transfer_traits<components::edge_part>::pack_compared(components::edge_part const& part,
                                                                 std::vector<std::byte>& out) {
  if (part.array_ && part.array_->formula)
    skel::pack(std::tuple(to_string(*part.array_->formula), part.first_, part.last_), out);
  else
    pack(part, out);
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
