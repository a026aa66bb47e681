// Sixteen rays that are traced together: intervals of their origins and directions find the boxes that any of
// them can meet (Reshetov, Soupikov, Hurley, "Multi-Level Ray Tracing Algorithm", SIGGRAPH 2005). Included
// once per instruction set, see kernel.hpp.

// Rays whose directions have the same signs.
struct packet_rays {
  alignas(64) float origin[3][packet], direction[3][packet], inverse[3][packet], scaled[3][packet];
  f16x3 o, d;

  // Unused lanes repeat the last ray.
  SKEL_RT_INLINE packet_rays(ray const* rays, int const* which, int n) {
    for (int i = 0; i < packet; ++i) {
      ray const& r = rays[which[i < n ? i : n - 1]];
      origin[0][i] = r.origin.x;
      origin[1][i] = r.origin.y;
      origin[2][i] = r.origin.z;
      direction[0][i] = r.direction.x;
      direction[1][i] = r.direction.y;
      direction[2][i] = r.direction.z;
    }
    o = load16(origin);
    d = load16(direction);
    put(0, o.x, d.x);
    put(1, o.y, d.y);
    put(2, o.z, d.z);
  }

  SKEL_RT_INLINE ray one(int lane) const {
    return {{origin[0][lane], origin[1][lane], origin[2][lane]},
            {direction[0][lane], direction[1][lane], direction[2][lane]}};
  }

 private:
  // As slope::slope.
  SKEL_RT_INLINE void put(int axis, f16 from, f16 along) {
    f16 const zero = all16(0.0F), tiny = all16(1e-20F);
    f16 const safe = choose(max(along, zero - along) > tiny, along, choose(along >= zero, tiny, zero - tiny));
    f16 const inv = all16(1.0F) / safe;
    store(inverse[axis], inv);
    store(scaled[axis], from * inv);
  }
};

// Bounds the distances at which any ray of a packet enters and leaves a box: a plane's distance divided by
// the direction, both by their extremes. It takes the roundings of slope::boxes, for which boxes are padded.
struct frustum_bounds {
  f8x3 near_inverse, near_scaled, far_inverse, far_scaled;
  unsigned near[3], far[3];

  SKEL_RT_INLINE explicit frustum_bounds(packet_rays const& p) {
    float in[3], is[3], fn[3], fs[3];
    f16 const* const from[3] = {&p.o.x, &p.o.y, &p.o.z};
    for (unsigned a = 0; a < 3; ++a) {
      f16 const inv = load16(p.inverse[a]);
      float const low = lowest(inv), high = highest(inv), first = lowest(*from[a]), last = highest(*from[a]);
      bool const down = high < 0;
      near[a] = down ? 3 + a : a;
      far[a] = down ? a : 3 + a;
      in[a] = down ? high : low;
      is[a] = in[a] * (down ? first : last);
      fn[a] = down ? low : high;
      fs[a] = fn[a] * (down ? last : first);
    }
    near_inverse = all(vec3f{in[0], in[1], in[2]});
    near_scaled = all(vec3f{is[0], is[1], is[2]});
    far_inverse = all(vec3f{fn[0], fn[1], fn[2]});
    far_scaled = all(vec3f{fs[0], fs[1], fs[2]});
  }

  SKEL_RT_INLINE unsigned boxes(float const (*bound)[lanes], float limit, f8& enter) const {
    f8 const nx = loose_multiply_subtract(load(bound[near[0]]), near_inverse.x, near_scaled.x);
    f8 const ny = loose_multiply_subtract(load(bound[near[1]]), near_inverse.y, near_scaled.y);
    f8 const nz = loose_multiply_subtract(load(bound[near[2]]), near_inverse.z, near_scaled.z);
    f8 const fx = loose_multiply_subtract(load(bound[far[0]]), far_inverse.x, far_scaled.x);
    f8 const fy = loose_multiply_subtract(load(bound[far[1]]), far_inverse.y, far_scaled.y);
    f8 const fz = loose_multiply_subtract(load(bound[far[2]]), far_inverse.z, far_scaled.z);
    enter = max(max(nx, ny), max(nz, all(0.0F)));
    f8 const leave = min(min(fx, fy), min(fz, all(limit)));
    return bits(enter <= leave);
  }

  // The rays of the packet that meet one of the boxes.
  SKEL_RT_INLINE unsigned rays(packet_rays const& p, float const (*bound)[lanes], int lane, f16 limit) const {
    f16x3 const inverse = load16(p.inverse), scaled = load16(p.scaled);
    f16 const nx = loose_multiply_subtract(all16(bound[near[0]][lane]), inverse.x, scaled.x);
    f16 const ny = loose_multiply_subtract(all16(bound[near[1]][lane]), inverse.y, scaled.y);
    f16 const nz = loose_multiply_subtract(all16(bound[near[2]][lane]), inverse.z, scaled.z);
    f16 const fx = loose_multiply_subtract(all16(bound[far[0]][lane]), inverse.x, scaled.x);
    f16 const fy = loose_multiply_subtract(all16(bound[far[1]][lane]), inverse.y, scaled.y);
    f16 const fz = loose_multiply_subtract(all16(bound[far[2]][lane]), inverse.z, scaled.z);
    f16 const enter = max(max(nx, ny), max(nz, all16(0.0F)));
    return bits(enter <= min(min(fx, fy), min(fz, limit)));
  }
};
