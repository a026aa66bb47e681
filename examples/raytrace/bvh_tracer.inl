// Traces rays through the BVH, alone or in packets. Included once per instruction set, see kernel.hpp.

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
  SKEL_RT_INLINE unsigned boxes(float const (*bound)[lanes], float limit, f8& enter) const {
    f8 const nx = loose_multiply_subtract(load(bound[near[0]]), inverse.x, scaled.x);
    f8 const ny = loose_multiply_subtract(load(bound[near[1]]), inverse.y, scaled.y);
    f8 const nz = loose_multiply_subtract(load(bound[near[2]]), inverse.z, scaled.z);
    f8 const fx = loose_multiply_subtract(load(bound[far[0]]), inverse.x, scaled.x);
    f8 const fy = loose_multiply_subtract(load(bound[far[1]]), inverse.y, scaled.y);
    f8 const fz = loose_multiply_subtract(load(bound[far[2]]), inverse.z, scaled.z);
    enter = max(max(nx, ny), max(nz, all(0.0F)));
    f8 const leave = min(min(fx, fy), min(fz, all(limit)));
    return bits(enter <= leave);
  }
};

// Eight shapes of a leaf for one ray, or one of them for sixteen.
struct eight_facets {
  facet_packet const& p;

  SKEL_RT_INLINE f8x3 normal() const { return load(p.normal); }
  SKEL_RT_INLINE f8 offset() const { return load(p.offset); }
  SKEL_RT_INLINE f8x3 edge(int e) const { return load(p.edge[e]); }
  SKEL_RT_INLINE f8 edge_offset(int e) const { return load(p.edge[e][3]); }
};
struct one_facet {
  facet_packet const& p;
  int lane;

  SKEL_RT_INLINE f16x3 normal() const { return all16(p.normal, lane); }
  SKEL_RT_INLINE f16 offset() const { return all16(p.offset[lane]); }
  SKEL_RT_INLINE f16x3 edge(int e) const { return all16(p.edge[e], lane); }
  SKEL_RT_INLINE f16 edge_offset(int e) const { return all16(p.edge[e][3][lane]); }
};
struct eight_balls {
  ball_packet const& p;

  SKEL_RT_INLINE f8x3 center() const { return load(p.center); }
  SKEL_RT_INLINE f8 radius_squared() const { return load(p.radius_squared); }
};
struct one_ball {
  ball_packet const& p;
  int lane;

  SKEL_RT_INLINE f16x3 center() const { return all16(p.center, lane); }
  SKEL_RT_INLINE f16 radius_squared() const { return all16(p.radius_squared[lane]); }
};

// intersect(facet) of intersect.hpp. Returns the lanes hit at 0 < t <= limit.
template <class Facets, class V>
SKEL_RT_INLINE auto facet_hits(Facets const& f, v3<V> const& origin, v3<V> const& direction, V limit, V& t) {
  V const zero = broadcast<V>(0.0F);
  v3<V> const normal = f.normal();
  t = (f.offset() - dot(normal, origin)) / dot(normal, direction);
  auto inside = (t > zero) & (t <= limit);
  if (bits(inside) == 0) return inside;
  v3<V> const at = origin + t * direction;
  for (int e = 0; e < 4; ++e) inside = inside & (dot(f.edge(e), at) + f.edge_offset(e) >= zero);
  return inside;
}

// intersect(ball).
template <class Balls, class V>
SKEL_RT_INLINE auto ball_hits(Balls const& s, v3<V> const& origin, v3<V> const& direction, V limit, V& t) {
  V const zero = broadcast<V>(0.0F);
  v3<V> const f = origin - s.center();
  V const b = zero - dot(f, direction);
  v3<V> const nearest = f + b * direction;
  V const discriminant = s.radius_squared() - dot(nearest, nearest);
  auto const real = discriminant >= zero;
  if (bits(real) == 0) return real;
  V const half = square_root(max(discriminant, zero));
  V const near = b - half;
  t = choose(near > zero, near, b + half);
  return real & (t > zero) & (t <= limit);
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

  void closest(ray const* rays, int n, hit* hits) {
    for_packets(
        rays, n, [&](int i) { hits[i] = closest(rays[i]); },
        [&](packet_rays const& p, frustum_bounds const& f, int const* which, int many) {
          closest(p, f, which, many, hits);
        });
  }

  /// Returns a bit for each ray that something stops before its distance.
  unsigned occluded(ray const* rays, float const* distance, int n, unsigned light) {
    unsigned hidden = 0;
    for_packets(
        rays, n, [&](int i) { hidden |= occluded(rays[i], distance[i], light) ? 1U << i : 0; },
        [&](packet_rays const& p, frustum_bounds const& f, int const* which, int many) {
          alignas(64) float limit[packet];
          for (int i = 0; i < packet; ++i) limit[i] = distance[which[i < many ? i : many - 1]];
          for (unsigned found = occluded(p, f, many, load16(limit), light); found != 0; found &= found - 1)
            hidden |= 1U << which[__builtin_ctz(found)];
        });
    return hidden;
  }

 private:
  struct entry {
    float enter;
    bvh_child child;
  };
  struct shared_entry {
    float enter;
    bvh_child child;
    unsigned rays;
  };

  // Whether rays may share a packet: the same signs, and directions close together.
  SKEL_RT_INLINE static bool alike(vec3f a, vec3f b) {
    bool const signs = ((a.x < 0) == (b.x < 0)) & ((a.y < 0) == (b.y < 0)) & ((a.z < 0) == (b.z < 0));
    vec3f const d = a - b;
    return signs & (__builtin_fabsf(d.x) + __builtin_fabsf(d.y) + __builtin_fabsf(d.z) <= widest_);
  }

  // `together` gets packets of rays that are alike, `alone` the others. Fewer than eight are not worth a
  // packet.
  template <class Alone, class Together>
  SKEL_RT_INLINE void for_packets(ray const* rays, int n, Alone alone, Together together) {
    int left[packet];
    for (int i = 0; i < n; ++i) left[i] = i;
    while (n >= fewest_) {
      vec3f const model = rays[left[n / 2]].direction;
      int which[packet], many = 0, others = 0, rest[packet];
      for (int k = 0; k < n; ++k) {
        int const i = left[k];
        if (alike(rays[i].direction, model)) {
          which[many++] = i;
        } else {
          rest[others++] = i;
        }
      }
      if (many < fewest_) break;
      packet_rays const p(rays, which, many);
      together(p, frustum_bounds(p), which, many);
      n = others;
      for (int k = 0; k < n; ++k) left[k] = rest[k];
    }
    for (int k = 0; k < n; ++k) alone(left[k]);
  }

  void closest(packet_rays const& p, frustum_bounds const& f, int const* which, int n, hit* hits) {
    f16 best = all16(farthest), ids = all16(__builtin_bit_cast(float, no_hit));
    float reach = farthest;
    shared_entry stack[512];
    shared_entry* top = stack;
    bvh_child now = 0;
    unsigned rays = (1U << n) - 1;
    for (;;) {
      if ((now & leaf_bit) == 0) {
        bvh_node const& node = tree_.nodes[now];
        f8 enter;
        unsigned met = f.boxes(node.bound, reach, enter);
        alignas(32) float at[lanes];
        store(at, enter);
        auto* const base = top;
        for (; met != 0; met &= met - 1) {
          auto const lane = __builtin_ctz(met);
          unsigned const some = rays & f.rays(p, node.bound, lane, best);
          if (some == 0) continue;
          shared_entry const e{at[lane], node.child[lane], some};
          auto* place = top++;
          for (; place != base && place[-1].enter < e.enter; --place) *place = place[-1];
          *place = e;
        }
        if (top != base) {
          --top;
          now = top->child;
          rays = top->rays;
          continue;
        }
      } else if (test_leaf(now, p, f, rays, reach, best, ids)) {
        reach = highest(best);
      }
      do {
        if (top == stack) {
          alignas(64) float t[packet], id[packet];
          store(t, best);
          store(id, ids);
          for (int i = 0; i < n; ++i) hits[which[i]] = {t[i], __builtin_bit_cast(std::uint32_t, id[i])};
          return;
        }
        --top;
        rays = top->rays & bits(all16(top->enter) <= best);
      } while (rays == 0);
      now = top->child;
    }
  }

  SKEL_RT_INLINE static bool keep_in_packet(f16 found, f16 t, std::uint32_t id, f16& best, f16& ids) {
    unsigned const some = bits(found);
    if (some == 0) return false;
    f16 const nearer = found & (best > t);
    best = choose(nearer, t, best);
    ids = choose(nearer, all16(__builtin_bit_cast(float, id)), ids);
    unsigned equal = some & ~bits(nearer);
    if (equal != 0) {
      alignas(64) float old[packet];
      store(old, ids);
      for (; equal != 0; equal &= equal - 1) {
        float& o = old[__builtin_ctz(equal)];
        if (id < __builtin_bit_cast(std::uint32_t, o)) o = __builtin_bit_cast(float, id);
      }
      ids = load16(old);
    }
    return true;
  }

  SKEL_RT_INLINE bool test_leaf(bvh_child leaf, packet_rays const& p, frustum_bounds const& f, unsigned rays,
                                float reach, f16& best, f16& ids) {
    auto const index = leaf & leaf_index_mask;
    bool found = false;
    f8 enter;
    f16 t;
    switch (leaf >> 29 & 3) {
      case static_cast<unsigned>(leaf_kind::facets): {
        auto const& shapes = tree_.facets[index];
        for (unsigned met = f.boxes(shapes.bound, reach, enter); met != 0; met &= met - 1) {
          auto const lane = __builtin_ctz(met);
          found |= keep_in_packet(facet_hits(one_facet{shapes, lane}, p.o, p.d, best, t), t, shapes.id[lane],
                                  best, ids);
        }
        break;
      }
      case static_cast<unsigned>(leaf_kind::balls): {
        auto const& shapes = tree_.balls[index];
        for (unsigned met = f.boxes(shapes.bound, reach, enter); met != 0; met &= met - 1) {
          auto const lane = __builtin_ctz(met);
          found |= keep_in_packet(ball_hits(one_ball{shapes, lane}, p.o, p.d, best, t), t, shapes.id[lane],
                                  best, ids);
        }
        break;
      }
      default: {
        alignas(64) float at[packet], id[packet];
        store(at, best);
        store(id, ids);
        for (; rays != 0; rays &= rays - 1) {
          auto const i = __builtin_ctz(rays);
          hit h{at[i], __builtin_bit_cast(std::uint32_t, id[i])};
          test_clipped(index, p.one(i), h);
          at[i] = h.t;
          id[i] = __builtin_bit_cast(float, h.id);
        }
        best = load16(at);
        ids = load16(id);
        found = true;
      }
    }
    return found;
  }

  unsigned occluded(packet_rays const& p, frustum_bounds const& f, int n, f16 limit, unsigned light) {
    unsigned const all_rays = (1U << n) - 1;
    unsigned hidden = 0;
    float const reach = highest(limit);
    bvh_child& last = last_occluder_[light % remembered];
    if (last != 0) {
      hidden = leaf_hides(last, p, f, all_rays, limit, reach);
      if ((~hidden & all_rays) == 0) return all_rays;
      if (hidden == 0) last = 0;
    }
    struct {
      bvh_child child;
      unsigned rays;
    } stack[512], *top = stack;
    bvh_child now = 0;
    unsigned rays = all_rays & ~hidden;
    for (;;) {
      if ((now & leaf_bit) == 0) {
        bvh_node const& node = tree_.nodes[now];
        f8 enter;
        for (unsigned met = f.boxes(node.bound, reach, enter); met != 0; met &= met - 1) {
          auto const lane = __builtin_ctz(met);
          unsigned const some = rays & f.rays(p, node.bound, lane, limit);
          if (some != 0) *top++ = {node.child[lane], some};
        }
      } else if (unsigned const found = leaf_hides(now, p, f, rays, limit, reach); found != 0) {
        hidden |= found;
        last = now;
        if ((~hidden & all_rays) == 0) return all_rays;
      }
      do {
        if (top == stack) return hidden & all_rays;
        --top;
        rays = top->rays & ~hidden;
      } while (rays == 0);
      now = top->child;
    }
  }

  SKEL_RT_INLINE unsigned leaf_hides(bvh_child leaf, packet_rays const& p, frustum_bounds const& f,
                                     unsigned rays, f16 limit, float reach) {
    auto const index = leaf & leaf_index_mask;
    unsigned hidden = 0;
    f8 enter;
    f16 t;
    switch (leaf >> 29 & 3) {
      case static_cast<unsigned>(leaf_kind::facets): {
        auto const& shapes = tree_.facets[index];
        for (unsigned met = f.boxes(shapes.bound, reach, enter); met != 0; met &= met - 1) {
          hidden |= bits(facet_hits(one_facet{shapes, __builtin_ctz(met)}, p.o, p.d, limit, t));
          if ((rays & ~hidden) == 0) break;
        }
        return hidden;
      }
      case static_cast<unsigned>(leaf_kind::balls): {
        auto const& shapes = tree_.balls[index];
        for (unsigned met = f.boxes(shapes.bound, reach, enter); met != 0; met &= met - 1) {
          hidden |= bits(ball_hits(one_ball{shapes, __builtin_ctz(met)}, p.o, p.d, limit, t));
          if ((rays & ~hidden) == 0) break;
        }
        return hidden;
      }
      default: {
        alignas(64) float distance[packet];
        store(distance, limit);
        for (; rays != 0; rays &= rays - 1) {
          auto const i = __builtin_ctz(rays);
          if (clipped_hides(index, p.one(i), distance[i])) hidden |= 1U << i;
        }
        return hidden;
      }
    }
  }

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
        unsigned const met = s.boxes(n.bound, best.t, enter);
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
        for (unsigned met = s.boxes(n.bound, distance, enter); met != 0; met &= met - 1) {
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
        keep_nearest(bits(facet_hits(eight_facets{p}, origin, direction, all(best.t), t)), t, p.id, best);
        break;
      }
      case static_cast<unsigned>(leaf_kind::balls): {
        auto const& p = tree_.balls[index];
        keep_nearest(bits(ball_hits(eight_balls{p}, origin, direction, all(best.t), t)), t, p.id, best);
        break;
      }
      default:
        test_clipped(index, r, best);
    }
  }

  SKEL_RT_INLINE bool leaf_hides(bvh_child leaf, ray const& r, f8x3 const& origin, f8x3 const& direction,
                                 float distance) {
    auto const index = leaf & leaf_index_mask;
    f8 t;
    switch (leaf >> 29 & 3) {
      case static_cast<unsigned>(leaf_kind::facets):
        return bits(facet_hits(eight_facets{tree_.facets[index]}, origin, direction, all(distance), t)) != 0;
      case static_cast<unsigned>(leaf_kind::balls):
        return bits(ball_hits(eight_balls{tree_.balls[index]}, origin, direction, all(distance), t)) != 0;
      default:
        return clipped_hides(index, r, distance);
    }
  }

  SKEL_RT_INLINE void test_clipped(std::uint32_t index, ray const& r, hit& best) {
    for (auto const id : tree_.clipped[index].id) {
      if (id == no_hit) break;
      float const at = clipped_hit(world_, id, r);
      if (at > 0) keep_nearer(best, at, id);
    }
  }

  SKEL_RT_INLINE bool clipped_hides(std::uint32_t index, ray const& r, float distance) {
    for (auto const id : tree_.clipped[index].id) {
      if (id == no_hit) break;
      float const at = clipped_hit(world_, id, r);
      if (at > 0 && at <= distance) return true;
    }
    return false;
  }

  static constexpr unsigned remembered = 16;
  static constexpr int fewest_ = 8;
  static constexpr float widest_ = 0.1F;

  world_view const& world_;
  bvh_view const& tree_;
  bvh_child last_occluder_[remembered] = {};
};
