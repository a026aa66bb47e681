// Traces rays through the BVH one at a time. Included once per instruction set, see kernel.hpp.

constexpr float farthest = 3.402823466e+38F;

// A ray prepared for box tests. A zero component becomes tiny: 0 * infinity would be NaN.
struct slope {
  f8x3 inverse, scaled;      // 1 / direction, origin / direction
  unsigned near[3], far[3];  // rows of bvh_node::bound

  SKEL_RT_INLINE explicit slope(ray const& r) {
    float const d[3] = {r.direction.x, r.direction.y, r.direction.z};
    float inv[3];
    for (unsigned a = 0; a < 3; ++a) {
      float const safe = __builtin_fabsf(d[a]) > 1e-20F ? d[a] : __builtin_copysignf(1e-20F, d[a]);
      inv[a] = 1 / safe;
      near[a] = safe < 0 ? 3 + a : a;
      far[a] = safe < 0 ? a : 3 + a;
    }
    inverse = all(vec3f{inv[0], inv[1], inv[2]});
    scaled = all(vec3f{r.origin.x * inv[0], r.origin.y * inv[1], r.origin.z * inv[2]});
  }

  // Returns the boxes that the ray meets before `limit`, and sets the distances at which it enters
  // them.
  SKEL_RT_INLINE unsigned boxes(bvh_node const& n, float limit, f8& enter) const {
    f8 const nx = loose_multiply_subtract(load(n.bound[near[0]]), inverse.x, scaled.x);
    f8 const ny = loose_multiply_subtract(load(n.bound[near[1]]), inverse.y, scaled.y);
    f8 const nz = loose_multiply_subtract(load(n.bound[near[2]]), inverse.z, scaled.z);
    f8 const fx = loose_multiply_subtract(load(n.bound[far[0]]), inverse.x, scaled.x);
    f8 const fy = loose_multiply_subtract(load(n.bound[far[1]]), inverse.y, scaled.y);
    f8 const fz = loose_multiply_subtract(load(n.bound[far[2]]), inverse.z, scaled.z);
    enter = max(max(nx, ny), max(nz, all(0.0F)));
    f8 const leave = min(min(fx, fy), min(fz, all(limit)));
    return bits(enter <= leave);
  }
};

// intersect(facet) of intersect.hpp, eight at a time. Returns the lanes hit at 0 < t <= limit.
SKEL_RT_INLINE unsigned facet_hits(facet_packet const& p, f8x3 const& origin, f8x3 const& direction,
                                   float limit, f8& t) {
  f8x3 const normal = load(p.normal);
  t = (load(p.offset) - dot(normal, origin)) / dot(normal, direction);
  f8 inside = (t > all(0.0F)) & (t <= all(limit));
  if (bits(inside) == 0) return 0;
  f8x3 const at = origin + t * direction;
  for (auto const& e : p.edge) {
    inside = inside & (dot(load(e), at) + load(e[3]) >= all(0.0F));
  }
  return bits(inside);
}

// intersect(ball), eight at a time.
SKEL_RT_INLINE unsigned ball_hits(ball_packet const& p, f8x3 const& origin, f8x3 const& direction,
                                  float limit, f8& t) {
  f8x3 const f = origin - load(p.center);
  f8 const b = all(0.0F) - dot(f, direction);
  f8x3 const nearest = f + b * direction;
  f8 const discriminant = load(p.radius_squared) - dot(nearest, nearest);
  f8 const real = discriminant >= all(0.0F);
  if (bits(real) == 0) return 0;
  f8 const half = square_root(max(discriminant, all(0.0F)));
  f8 const near = b - half;
  t = choose(near > all(0.0F), near, b + half);
  return bits(real & (t > all(0.0F)) & (t <= all(limit)));
}

SKEL_RT_INLINE void keep_nearest(unsigned found, f8 t, std::uint32_t const* id, hit& best) {
  alignas(32) float at[lanes];
  store(at, t);
  for (; found != 0; found &= found - 1) {
    auto const lane = __builtin_ctz(found);
    keep_nearer(best, at[lane], id[lane]);
  }
}

// Frusta and slivers. Out of line, because these leaves are rare and cost registers in the loops
// over nodes.
[[gnu::noinline]] float clipped_hit(world_view const& world, std::uint32_t id, ray const& r) {
  surface const& s = world.surfaces[id];
  float const t = s.kind == surface::shape::sliver ? intersect(world.facets[s.index], r)
                                                   : intersect(world.frusta[s.index], r);
  return t > 0 && inside(world.volumes[id], r, t) ? t : -1;
}

class bvh_tracer {
 public:
  SKEL_RT_INLINE bvh_tracer(world_view const& world, bvh_view const& tree) : world_(world), tree_(tree) {}

  hit closest(ray const& r) {
    slope const s(r);
    f8x3 const origin = all(r.origin), direction = all(r.direction);
    hit best;
    entry stack[512];
    entry* top = stack;
    bvh_child now = 0;
    for (;;) {
      if ((now & leaf_bit) == 0) {
        bvh_node const& n = tree_.nodes[now];
        f8 enter;
        unsigned const met = s.boxes(n, best.t, enter);
        if (met != 0) {
          now = nearest_first(n, met, enter, top);
          continue;
        }
      } else {
        test_leaf(now, r, origin, direction, best);
      }
      do {
        if (top == stack) return best;
        --top;
      } while (top->enter > best.t);
      now = top->child;
    }
  }

  // Neighbouring shadow rays are often stopped by the same leaf, so it is tested first (Haines and
  // Greenberg, "The Light Buffer", 1986, remember the last object per light).
  bool occluded(ray const& r, float distance, unsigned light) {
    f8x3 const origin = all(r.origin), direction = all(r.direction);
    bvh_child& last = last_occluder_[light % remembered];
    if (last != 0) {
      if (leaf_hides(last, r, origin, direction, distance)) return true;
      last = 0;
    }
    slope const s(r);
    bvh_child stack[512];
    bvh_child* top = stack;
    bvh_child now = 0;
    for (;;) {
      if ((now & leaf_bit) == 0) {
        bvh_node const& n = tree_.nodes[now];
        f8 enter;
        for (unsigned met = s.boxes(n, distance, enter); met != 0; met &= met - 1) {
          *top++ = n.child[__builtin_ctz(met)];
        }
      } else if (leaf_hides(now, r, origin, direction, distance)) {
        last = now;
        return true;
      }
      if (top == stack) return false;
      now = *--top;
    }
  }

 private:
  struct entry {
    float enter;
    bvh_child child;
  };

  // Returns the child entered first and pushes the others, the farthest deepest.
  SKEL_RT_INLINE static bvh_child nearest_first(bvh_node const& n, unsigned met, f8 enter, entry*& top) {
    auto lane = __builtin_ctz(met);
    bvh_child const first = n.child[lane];
    met &= met - 1;
    if (met == 0) return first;
    alignas(32) float at[lanes];
    store(at, enter);
    entry* const base = top;
    *top++ = {at[lane], first};
    for (; met != 0; met &= met - 1) {
      lane = __builtin_ctz(met);
      entry const e{at[lane], n.child[lane]};
      entry* place = top++;
      for (; place != base && place[-1].enter < e.enter; --place) *place = place[-1];
      *place = e;
    }
    return (--top)->child;
  }

  SKEL_RT_INLINE void test_leaf(bvh_child leaf, ray const& r, f8x3 const& origin, f8x3 const& direction,
                                hit& best) {
    auto const index = leaf & leaf_index_mask;
    f8 t;
    switch (leaf >> 29 & 3) {
      case static_cast<unsigned>(leaf_kind::facets): {
        auto const& p = tree_.facets[index];
        keep_nearest(facet_hits(p, origin, direction, best.t, t), t, p.id, best);
        break;
      }
      case static_cast<unsigned>(leaf_kind::balls): {
        auto const& p = tree_.balls[index];
        keep_nearest(ball_hits(p, origin, direction, best.t, t), t, p.id, best);
        break;
      }
      default:
        for (auto const id : tree_.clipped[index].id) {
          if (id == no_hit) break;
          float const at = clipped_hit(world_, id, r);
          if (at > 0) keep_nearer(best, at, id);
        }
    }
  }

  SKEL_RT_INLINE bool leaf_hides(bvh_child leaf, ray const& r, f8x3 const& origin, f8x3 const& direction,
                                 float distance) {
    auto const index = leaf & leaf_index_mask;
    f8 t;
    switch (leaf >> 29 & 3) {
      case static_cast<unsigned>(leaf_kind::facets):
        return facet_hits(tree_.facets[index], origin, direction, distance, t) != 0;
      case static_cast<unsigned>(leaf_kind::balls):
        return ball_hits(tree_.balls[index], origin, direction, distance, t) != 0;
      default:
        for (auto const id : tree_.clipped[index].id) {
          if (id == no_hit) break;
          float const at = clipped_hit(world_, id, r);
          if (at > 0 && at <= distance) return true;
        }
        return false;
    }
  }

  static constexpr unsigned remembered = 16;

  world_view const& world_;
  bvh_view const& tree_;
  bvh_child last_occluder_[remembered] = {};
};
