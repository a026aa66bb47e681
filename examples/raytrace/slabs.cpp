#include "slabs.hpp"

#include <algorithm>
#include <cmath>

namespace raytrace {

float intersect_shape(geometry const& shapes, std::uint32_t id, ray const& r) {
  auto const& s = shapes.surfaces[id];
  auto const clipped = [&](float t) { return t > 0 && inside(shapes.volumes[id], r, t) ? t : -1; };
  switch (s.kind) {
    case surface::shape::facet:
      return intersect(shapes.facets[s.index], r);
    case surface::shape::sliver:
      return clipped(intersect(shapes.facets[s.index], r));
    case surface::shape::ball:
      return intersect(shapes.balls[s.index], r);
    default:
      return clipped(intersect(shapes.frusta[s.index], r));
  }
}

slabs::slabs(geometry const& shapes, int sets) : sets_(static_cast<std::size_t>(sets)) {
  std::vector<std::uint32_t> ids(shapes.surfaces.size());
  nodes_.reserve(2 * ids.size());
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    ids[i] = i;
    nodes_.push_back({widened(shapes.volumes[i], slab_slack * shapes.reach), no_hit, i});
  }
  root_ = ids.empty() ? no_hit : build(ids, 0, ids.size(), 0);
}

// Section 3: sort along an axis, halve, continue with the next axis.
std::uint32_t slabs::build(std::vector<std::uint32_t>& ids, std::size_t begin, std::size_t end, int axis) {
  if (end - begin == 1) return ids[begin];
  auto const middle = begin + (end - begin) / 2;
  auto const at = [&ids](std::size_t i) { return ids.begin() + static_cast<std::ptrdiff_t>(i); };
  auto const place = [this, axis](std::uint32_t id) {
    auto const& v = nodes_[id].around;
    return v.low[axis] + v.high[axis];
  };
  std::nth_element(at(begin), at(middle), at(end), [&](std::uint32_t a, std::uint32_t b) {
    return place(a) < place(b) || (place(a) == place(b) && a < b);
  });
  node n;
  n.left = build(ids, begin, middle, (axis + 1) % 3);
  n.right = build(ids, middle, end, (axis + 1) % 3);
  auto const& a = nodes_[n.left].around;
  auto const& b = nodes_[n.right].around;
  for (std::size_t s = 0; s < plane_sets; ++s) {
    n.around.low[s] = std::min(a.low[s], b.low[s]);
    n.around.high[s] = std::max(a.high[s], b.high[s]);
  }
  nodes_.push_back(n);
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

slabs::slope slabs::slope_of(ray const& r) const {
  slope s{};
  float direction[plane_sets];
  slab_coordinates(r.origin, s.origin);
  slab_coordinates(r.direction, direction);
  for (std::size_t i = 0; i < sets_; ++i) {
    // If the origin lies on a plane parallel to the ray, 0 * infinity is NaN, so this case is
    // tested instead of divided.
    s.parallel[i] = std::abs(direction[i]) < 1e-12F;
    s.inverse[i] = s.parallel[i] ? 0 : 1 / direction[i];
  }
  return s;
}

float slabs::enter(node const& n, slope const& s, float limit) const {
  float first = 0, last = limit;
  for (std::size_t i = 0; i < sets_; ++i) {
    float const low = n.around.low[i] - s.origin[i], high = n.around.high[i] - s.origin[i];
    if (s.parallel[i]) {
      if (low > 0 || high < 0) return -1;
      continue;
    }
    float const a = low * s.inverse[i], b = high * s.inverse[i];
    first = std::max(first, std::min(a, b));
    last = std::min(last, std::max(a, b));
  }
  return first <= last ? first : -1;
}

hit slabs::closest(geometry const& shapes, ray const& r, scratch& heap) const {
  hit best;
  if (root_ == no_hit) return best;
  auto const s = slope_of(r);
  auto const later = [](waiting const& a, waiting const& b) { return a.enter > b.enter; };
  heap.clear();
  auto const consider = [&](std::uint32_t id) {
    float const t = enter(nodes_[id], s, best.t);
    if (t < 0) return;
    heap.push_back({t, id});
    std::push_heap(heap.begin(), heap.end(), later);
  };
  consider(root_);
  // Volumes overlap, so the search does not end at the first hit but when the nearest remaining
  // volume begins behind the best hit.
  while (!heap.empty() && heap.front().enter <= best.t) {
    auto const& n = nodes_[heap.front().node];
    std::pop_heap(heap.begin(), heap.end(), later);
    heap.pop_back();
    if (n.left != no_hit) {
      consider(n.left);
      consider(n.right);
      continue;
    }
    float const t = intersect_shape(shapes, n.right, r);
    if (t > 0) keep_nearer(best, t, n.right);
  }
  return best;
}

bool slabs::occluded(geometry const& shapes, ray const& r, float distance) const {
  if (root_ == no_hit) return false;
  auto const s = slope_of(r);
  std::array<std::uint32_t, 64> stack;  // by halving, the depth is the logarithm of the number of shapes
  std::size_t top = 0;
  stack[top++] = root_;
  while (top > 0) {
    auto const& n = nodes_[stack[--top]];
    if (enter(n, s, distance) < 0) continue;
    if (n.left != no_hit) {
      stack[top++] = n.right;
      stack[top++] = n.left;
      continue;
    }
    float const t = intersect_shape(shapes, n.right, r);
    if (t > 0 && t <= distance) return true;
  }
  return false;
}

}  // namespace raytrace
