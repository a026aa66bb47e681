#include "mapping.hpp"

#include <algorithm>
#include <cmath>

namespace volume {

namespace {

/// Blue to red over the range of the data; low values are transparent.
mapping_spec ready_made() {
  mapping_spec m;
  m.relative = true;
  m.color = {{0, {0.23F, 0.30F, 0.75F}},
             {0.35, {0.35F, 0.75F, 0.85F}},
             {0.6, {0.95F, 0.90F, 0.55F}},
             {0.8, {0.95F, 0.55F, 0.25F}},
             {1, {0.75F, 0.05F, 0.15F}}};
  m.opacity = {{0.15, 0}, {1, 0.25}};
  return m;
}

/// The function's value at v, approached from below or above; they differ at a jump.
template <class Knots, class Get>
double value_at(Knots const& knots, double v, bool from_above, Get const& get) {
  auto const behind = from_above
                          ? std::ranges::upper_bound(knots, v, {}, [](auto const& k) { return k.value; })
                          : std::ranges::lower_bound(knots, v, {}, [](auto const& k) { return k.value; });
  if (behind == knots.begin()) return get(knots.front());
  if (behind == knots.end()) return get(knots.back());
  auto const& a = *(behind - 1);
  double const t = (v - a.value) / (behind->value - a.value);
  return get(a) + t * (get(*behind) - get(a));
}

}  // namespace

mapping::mapping(mapping_spec const& spec, double low, double high, double unit)
    : knots_(spec.color.empty() ? ready_made() : spec) {
  if (knots_.relative) {
    for (auto& k : knots_.color) k.value = low + k.value * (high - low);
    for (auto& k : knots_.opacity) k.value = low + k.value * (high - low);
    knots_.relative = false;
  }
  for (auto& k : knots_.opacity) k.extinction /= unit;
  knots_.unit = 1;

  std::vector<double> values;
  values.reserve(knots_.color.size() + knots_.opacity.size());
  for (auto const& k : knots_.color) values.push_back(k.value);
  for (auto const& k : knots_.opacity) values.push_back(k.value);
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  low_ = values.front();
  scale_ = values.size() > 1 ? 1 / (values.back() - values.front()) : 1;

  constexpr float infinite = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i <= values.size(); ++i) {  // piece i is below values[i]
    bool const first = i == 0;
    bool const last = i == values.size();
    double const a = values[first ? 0 : i - 1], b = values[last ? i - 1 : i];
    auto const piece_of = [&](auto const& list, auto const& get, float& at, float& slope) {
      double const from = value_at(list, a, !first, get);
      double const to = first || last ? from : value_at(list, b, false, get);
      at = static_cast<float>(from);
      slope = first || last ? 0 : static_cast<float>((to - from) / (scaled(b) - scaled(a)));
    };
    mapping_piece p{};
    p.lower = first ? -infinite : static_cast<float>(scaled(a));
    p.upper = last ? infinite : static_cast<float>(scaled(b));
    p.knot = static_cast<float>(scaled(a));
    if (!first && !last && !(p.lower < p.upper)) continue;  // too narrow to matter
    piece_of(
        knots_.opacity, [](auto const& k) { return k.extinction; }, p.k0, p.k1);
    for (std::size_t c = 0; c < 3; ++c)
      piece_of(
          knots_.color, [c](auto const& k) { return static_cast<double>(k.color[c]); }, p.c0[c], p.c1[c]);
    pieces_.push_back(p);
  }
}

bool mapping::visible(float least, float most) const {
  return std::ranges::any_of(pieces_, [&](mapping_piece const& p) {
    if (most < p.lower || least > p.upper) return false;
    float const from = std::max(least, p.lower), to = std::min(most, p.upper);
    // linear: the larger of both ends
    return p.k0 + p.k1 * (from - p.knot) > 0 || p.k0 + p.k1 * (to - p.knot) > 0;
  });
}

bool mapping::opacity_jumps() const {
  return std::ranges::adjacent_find(knots_.opacity, [](auto const& a, auto const& b) {
           return a.value == b.value && a.extinction != b.extinction;
         }) != knots_.opacity.end();
}

}  // namespace volume
