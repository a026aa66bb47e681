#include "slabs.hpp"

#include <algorithm>
#include <cmath>

namespace skel::raytrace {

namespace {

constexpr float third = 0.577350269F;  // 1 / sqrt(3)
constexpr std::array<vec3f, slabs::most_sets> normals{{{1, 0, 0},
                                                       {0, 1, 0},
                                                       {0, 0, 1},
                                                       {third, third, third},
                                                       {-third, third, third},
                                                       {-third, -third, third},
                                                       {third, -third, third}}};

}  // namespace

float intersect_shape(geometry const& shapes, std::uint32_t id, ray const& r) {
  auto const& s = shapes.surfaces[id];
  switch (s.kind) {
    case surface::shape::facet:
      return intersect(shapes.facets[s.index], r);
    case surface::shape::ball:
      return intersect(shapes.balls[s.index], r);
    default:
      return intersect(shapes.frusta[s.index], r);
  }
}

slabs::slabs(geometry const& shapes, int plane_sets) : sets_(static_cast<std::size_t>(plane_sets)) {
  std::vector<std::uint32_t> ids(shapes.surfaces.size());
  nodes_.reserve(2 * ids.size());
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    ids[i] = i;
    nodes_.push_back(leaf(shapes, i));
  }
  root_ = ids.empty() ? no_hit : build(ids, 0, ids.size(), 0);
}

// Section 3: sort along an axis, halve, take the next axis.
std::uint32_t slabs::build(std::vector<std::uint32_t>& ids, std::size_t begin, std::size_t end, int axis) {
  if (end - begin == 1) return ids[begin];
  auto const middle = begin + (end - begin) / 2;
  auto const at = [&ids](std::size_t i) { return ids.begin() + static_cast<std::ptrdiff_t>(i); };
  auto const place = [this, axis](std::uint32_t id) {
    auto const& e = nodes_[id].slab[static_cast<std::size_t>(axis)];
    return e.near + e.far;
  };
  std::nth_element(at(begin), at(middle), at(end), [&](std::uint32_t a, std::uint32_t b) {
    return place(a) < place(b) || (place(a) == place(b) && a < b);
  });
  node n;
  n.left = build(ids, begin, middle, (axis + 1) % 3);
  n.right = build(ids, middle, end, (axis + 1) % 3);
  for (std::size_t s = 0; s < sets_; ++s) {
    auto const& a = nodes_[n.left].slab[s];
    auto const& b = nodes_[n.right].slab[s];
    n.slab[s] = {std::min(a.near, b.near), std::max(a.far, b.far)};
  }
  nodes_.push_back(n);
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

slabs::node slabs::leaf(geometry const& shapes, std::uint32_t id) const {
  node n;
  n.right = id;
  auto const& surface = shapes.surfaces[id];
  for (std::size_t s = 0; s < sets_; ++s) {
    auto& e = n.slab[s];
    auto const include = [&e](float low, float high) {
      e.near = std::min(e.near, low);
      e.far = std::max(e.far, high);
    };
    if (surface.kind == surface::shape::facet) {
      for (auto i = shapes.hull_first[surface.index]; i < shapes.hull_first[surface.index + 1]; ++i) {
        float const d = dot(normals[s], shapes.hull_points[i]);
        include(d, d);
      }
    } else if (surface.kind == surface::shape::ball) {
      auto const& b = shapes.balls[surface.index];
      float const d = dot(normals[s], b.center);
      include(d - b.radius, d + b.radius);
    } else {
      auto const& c = shapes.frusta[surface.index];
      auto const normal = to_double(normals[s]);
      double const tilt = dot(normal, c.axis);
      double const reach = std::sqrt(std::max(0.0, dot(normal, normal) - tilt * tilt));
      for (double const h : {0.0, c.length}) {
        double const d = dot(normal, c.base + h * c.axis), r = reach * (c.base_radius + c.slope * h);
        include(static_cast<float>(d - r), static_cast<float>(d + r));
      }
    }
    e.near -= 2 * shapes.pad;  // diagonal sums of coordinates round more than coordinates
    e.far += 2 * shapes.pad;
  }
  return n;
}

slabs::slope slabs::slope_of(ray const& r) const {
  slope s{};
  for (std::size_t i = 0; i < sets_; ++i) {
    s.origin[i] = dot(normals[i], r.origin);
    float const along = dot(normals[i], r.direction);
    // 0 * infinity is NaN where the origin lies on a plane that the ray is parallel to: test instead of
    // dividing.
    s.parallel[i] = std::abs(along) < 1e-12F;
    s.inverse[i] = s.parallel[i] ? 0 : 1 / along;
  }
  return s;
}

float slabs::enter(node const& n, slope const& s, float limit) const {
  float first = 0, last = limit;
  for (std::size_t i = 0; i < sets_; ++i) {
    auto const& e = n.slab[i];
    if (s.parallel[i]) {
      if (s.origin[i] < e.near || s.origin[i] > e.far) return -1;
      continue;
    }
    float const a = (e.near - s.origin[i]) * s.inverse[i], b = (e.far - s.origin[i]) * s.inverse[i];
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
  // Volumes overlap: the search ends when the nearest volume left begins behind the best hit, not at the
  // first hit.
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
  std::array<std::uint32_t, 64> stack;  // halving: the depth is the logarithm of the number of shapes
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

}  // namespace skel::raytrace
