#include "bvh.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "intersect.hpp"

namespace raytrace {

namespace {

constexpr int bins = 16;
constexpr int deepest_by_area = 40;  // beyond this depth ranges are halved, which bounds the tracer's stack
constexpr float infinity = std::numeric_limits<float>::infinity();

struct box {
  std::array<float, 3> low{infinity, infinity, infinity}, high{-infinity, -infinity, -infinity};

  void grow(box const& b) {
    for (std::size_t a = 0; a < 3; ++a) {
      low[a] = std::min(low[a], b.low[a]);
      high[a] = std::max(high[a], b.high[a]);
    }
  }
  [[nodiscard]] float half_area() const {
    float const x = high[0] - low[0], y = high[1] - low[1], z = high[2] - low[2];
    return x < 0 ? 0 : x * y + y * z + z * x;
  }
};

leaf_kind kind_of(surface::shape shape) {
  if (shape == surface::shape::facet) return leaf_kind::facets;
  return shape == surface::shape::ball ? leaf_kind::balls : leaf_kind::clipped;
}

struct item {
  box bounds;
  std::uint32_t id;
  leaf_kind kind;

  [[nodiscard]] float middle(std::size_t axis) const { return bounds.low[axis] + bounds.high[axis]; }
};

struct range {
  std::size_t begin, end;
  box bounds;
  int depth;

  [[nodiscard]] std::size_t size() const { return end - begin; }
};

class bvh_builder {
 public:
  explicit bvh_builder(geometry const& shapes) : shapes_(shapes) {
    items_.reserve(shapes.volumes.size());
    for (std::uint32_t i = 0; i < shapes.volumes.size(); ++i) {
      auto const v = widened(shapes.volumes[i], box_slack * shapes.reach);
      items_.push_back({{{v.low[0], v.low[1], v.low[2]}, {v.high[0], v.high[1], v.high[2]}},
                        i,
                        kind_of(shapes.surfaces[i].kind)});
    }
  }

  bvh run() {
    out_.nodes.reserve(items_.size() / 8 + 1);
    node(bounded(0, items_.size(), 0));
    return std::move(out_);
  }

 private:
  range bounded(std::size_t begin, std::size_t end, int depth) const {
    range r{begin, end, {}, depth};
    for (std::size_t i = begin; i < end; ++i) r.bounds.grow(items_[i].bounds);
    return r;
  }

  // Opens the child with the largest surface until there are eight.
  std::uint32_t node(range const& all) {
    std::vector<range> children{all};
    if (all.size() == 0) children.clear();
    while (!children.empty() && children.size() < lanes) {
      std::size_t widest = lanes;
      float area = -1;
      for (std::size_t i = 0; i < children.size(); ++i) {
        if (is_leaf(children[i]) || children[i].bounds.half_area() <= area) continue;
        area = children[i].bounds.half_area();
        widest = i;
      }
      if (widest == lanes) break;
      auto const [left, right] = split(children[widest]);
      children[widest] = left;
      children.push_back(right);
    }
    auto const index = static_cast<std::uint32_t>(out_.nodes.size());
    out_.nodes.emplace_back();
    for (std::size_t i = 0; i < lanes; ++i) {
      bool const used = i < children.size();
      box const b = used ? children[i].bounds : box{};
      bvh_child const child = !used ? leaf_bit : is_leaf(children[i]) ? leaf(children[i]) : node(children[i]);
      auto& n = out_.nodes[index];  // only now, because building children may move the nodes
      put(n.bound, i, b);
      n.child[i] = child;
    }
    return index;
  }

  [[nodiscard]] bool is_leaf(range const& r) const {
    if (r.size() > lanes) return false;
    for (std::size_t i = r.begin + 1; i < r.end; ++i) {
      if (items_[i].kind != items_[r.begin].kind) return false;
    }
    return true;
  }

  std::pair<range, range> split(range const& r) {
    auto const begin = items_.begin() + static_cast<std::ptrdiff_t>(r.begin);
    auto const end = items_.begin() + static_cast<std::ptrdiff_t>(r.end);
    auto middle = begin;
    if (r.size() <= lanes) {  // small, but with shapes of several kinds
      auto const kind = begin->kind;
      middle = std::partition(begin, end, [kind](item const& i) { return i.kind == kind; });
    } else if (r.depth < deepest_by_area) {
      middle = split_by_area(begin, end);
    }
    if (middle == begin || middle == end) middle = begin + (end - begin) / 2;
    auto const cut = static_cast<std::size_t>(middle - items_.begin());
    return {bounded(r.begin, cut, r.depth + 1), bounded(cut, r.end, r.depth + 1)};
  }

  using iterator = std::vector<item>::iterator;

  // Chooses the cut between bins of least cost, the sum over both sides of surface times number of
  // shapes. (Counting packets of eight is no faster, nor are leaves of four or six.)
  static iterator split_by_area(iterator begin, iterator end) {
    std::array<float, 3> low{infinity, infinity, infinity}, high{-infinity, -infinity, -infinity}, factor{};
    for (auto i = begin; i != end; ++i) {
      for (std::size_t a = 0; a < 3; ++a) {
        low[a] = std::min(low[a], i->middle(a));
        high[a] = std::max(high[a], i->middle(a));
      }
    }
    for (std::size_t a = 0; a < 3; ++a) {
      float const extent = high[a] - low[a];
      factor[a] = extent > 0 ? 0.999F * bins / extent : 0;
      if (!(factor[a] < infinity)) factor[a] = 0;
    }
    auto const bin_of = [&](item const& i, std::size_t a) {
      return std::clamp(static_cast<int>((i.middle(a) - low[a]) * factor[a]), 0, bins - 1);
    };
    std::array<std::array<box, bins>, 3> boxes;
    std::array<std::array<std::size_t, bins>, 3> counts{};
    for (auto i = begin; i != end; ++i) {
      for (std::size_t a = 0; a < 3; ++a) {
        auto const b = static_cast<std::size_t>(bin_of(*i, a));
        boxes[a][b].grow(i->bounds);
        ++counts[a][b];
      }
    }
    float best = infinity;
    std::size_t best_axis = 0;
    int best_bin = -1;
    for (std::size_t a = 0; a < 3; ++a) {
      if (factor[a] > 0) cheapest_cut(boxes[a], counts[a], a, best, best_axis, best_bin);
    }
    if (best_bin < 0) return begin;
    return std::partition(begin, end, [&](item const& i) { return bin_of(i, best_axis) <= best_bin; });
  }

  static void cheapest_cut(std::array<box, bins> const& boxes, std::array<std::size_t, bins> const& counts,
                           std::size_t axis, float& best, std::size_t& best_axis, int& best_bin) {
    std::array<float, bins> right_cost{};
    box right;
    std::size_t right_count = 0;
    for (std::size_t b = bins - 1; b > 0; --b) {
      right.grow(boxes[b]);
      right_count += counts[b];
      right_cost[b - 1] = right_count == 0 ? infinity : right.half_area() * static_cast<float>(right_count);
    }
    box left;
    std::size_t left_count = 0;
    for (std::size_t b = 0; b + 1 < bins; ++b) {
      left.grow(boxes[b]);
      left_count += counts[b];
      if (left_count == 0) continue;
      float const cost = left.half_area() * static_cast<float>(left_count) + right_cost[b];
      if (cost < best) {
        best = cost;
        best_axis = axis;
        best_bin = static_cast<int>(b);
      }
    }
  }

  bvh_child leaf(range const& r) {
    auto const kind = items_[r.begin].kind;
    std::size_t index = 0;
    if (kind == leaf_kind::facets) {
      index = out_.facets.size();
      out_.facets.push_back(facet_leaf(r));
    } else if (kind == leaf_kind::balls) {
      index = out_.balls.size();
      out_.balls.push_back(ball_leaf(r));
    } else {
      index = out_.clipped.size();
      clipped_packet p;
      std::fill(p.id, p.id + lanes, no_hit);
      for (std::size_t i = 0; i < r.size(); ++i) p.id[i] = items_[r.begin + i].id;
      out_.clipped.push_back(p);
    }
    return leaf_bit | static_cast<bvh_child>(kind) << 29 | static_cast<bvh_child>(index);
  }

  [[nodiscard]] facet_packet facet_leaf(range const& r) const {
    facet_packet p{};  // unused lanes: normal 0, so t = 0/0, which fails every comparison
    put_bounds(p.bound, r);
    for (std::size_t i = 0; i < r.size(); ++i) {
      auto const& f = shapes_.facets[shapes_.surfaces[items_[r.begin + i].id].index];
      put(p.normal, p.offset, i, f.face);
      for (std::size_t e = 0; e < 4; ++e) {
        p.edge[e][0][i] = f.edge[e].normal.x;
        p.edge[e][1][i] = f.edge[e].normal.y;
        p.edge[e][2][i] = f.edge[e].normal.z;
        p.edge[e][3][i] = f.edge[e].offset;
      }
      p.id[i] = f.id;
    }
    return p;
  }

  static void put(float (&bound)[6][lanes], std::size_t i, box const& b) {
    for (std::size_t a = 0; a < 3; ++a) {
      bound[a][i] = b.low[a];
      bound[3 + a][i] = b.high[a];
    }
  }

  void put_bounds(float (&bound)[6][lanes], range const& r) const {
    for (std::size_t i = 0; i < lanes; ++i) put(bound, i, i < r.size() ? items_[r.begin + i].bounds : box{});
  }

  static void put(float (&normal)[3][lanes], float (&offset)[lanes], std::size_t i, plane const& from) {
    normal[0][i] = from.normal.x;
    normal[1][i] = from.normal.y;
    normal[2][i] = from.normal.z;
    offset[i] = from.offset;
  }

  [[nodiscard]] ball_packet ball_leaf(range const& r) const {
    ball_packet p{};
    std::fill(p.radius_squared, p.radius_squared + lanes,
              -1.0F);  // unused lanes: no discriminant is positive
    put_bounds(p.bound, r);
    for (std::size_t i = 0; i < r.size(); ++i) {
      auto const& b = shapes_.balls[shapes_.surfaces[items_[r.begin + i].id].index];
      put(p.center, p.radius_squared, i, {b.center, b.radius_squared});
      p.id[i] = b.id;
    }
    return p;
  }

  geometry const& shapes_;
  std::vector<item> items_;
  bvh out_;
};

}  // namespace

bvh build_bvh(geometry const& shapes) { return bvh_builder(shapes).run(); }

}  // namespace raytrace
