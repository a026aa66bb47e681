// Included once per instruction set, inside its namespace, see kernel.hpp.

SKEL_RT_INLINE float largest(vec3f v) {
  float const x = __builtin_fabsf(v.x), y = __builtin_fabsf(v.y), z = __builtin_fabsf(v.z);
  float const xy = x > y ? x : y;
  return xy > z ? xy : z;
}

// Repeated reflection makes a direction's length drift from 1, by 40 roundings after four
// reflections.
SKEL_RT_INLINE vec3f kept_unit(vec3f direction) {
  float const drift = dot(direction, direction) - 1;
  return __builtin_fabsf(drift) <= unit_tolerance ? direction : normalized(direction);
}

SKEL_RT_INLINE float share(float x) { return x > 0 ? x < 1 ? x : 1.0F : 0.0F; }

// Phong normal interpolation. A rounded hit may lie beside its triangle, and far beside a sliver: weights
// are limited.
inline vec3f interpolated_normal(patch_triangle const& t, vec3f p, vec3f face) {
  vec3f const q = p - t.corner;
  float const w1 = share(dot(t.weight[0], q)), w2 = share(dot(t.weight[1], q));
  vec3f const n = share(1 - w1 - w2) * t.normal[0] + w1 * t.normal[1] + w2 * t.normal[2];
  return dot(n, n) > 0 ? normalized(n) : face;
}

SKEL_RT_INLINE contact contact_at(world_view const& world, ray const& r, hit const& h) {
  surface const& s = world.surfaces[h.id];
  contact c;
  c.point = r.origin + h.t * r.direction;
  c.material = s.material;
  // Rounding errors of the point grow with the coordinates it was computed from. Half as much would do, but
  // would leave shadow rays in the padded box of their own shape: 9 % more instructions for gears.
  float const at = largest(c.point), from = largest(r.origin);
  c.offset = 1.0F / (1 << 16) * (at > from ? at : from);
  if (s.kind == surface::shape::ball) {
    ball const& b = world.balls[s.index];
    c.normal = normalized(c.point - b.center);
    c.point = b.center + b.radius * c.normal;
  } else if (s.kind != surface::shape::frustum) {
    c.normal = world.facets[s.index].face.normal;
  } else {
    frustum const& f = world.frusta[s.index];
    vec3d const q = to_double(c.point) - f.base;
    double const height = dot(f.axis, q);
    vec3d const across = q - height * f.axis;
    c.normal = to_float(normalized(across - (f.slope * length(across)) * f.axis));
  }
  if (s.inward) c.normal = -c.normal;
  c.shading_normal = c.normal;
  if (s.patch != ~std::uint32_t{0})
    c.shading_normal = interpolated_normal(world.patches[s.patch], c.point, c.normal);
  return c;
}

/// Calls put(x, y, color) for every pixel of a part. Tracer has
///     void closest(ray const*, int n, hit*);  // n is at most `packet`
///     unsigned occluded(ray const*, float const* distance, int n, unsigned light);  // a bit for each ray
template <class Tracer>
class whitted {
 public:
  SKEL_RT_INLINE whitted(world_view const& world, Tracer& tracer) : world_(world), tracer_(tracer) {}

  /// Writes the colours of a part of the picture row by row. Packets are as square as the part permits.
  void render(int x0, int y0, int x1, int y1, float* out) {
    int const rows = y1 - y0 >= 4 ? 4 : y1 - y0 >= 2 ? 2 : 1, columns = packet / rows;
    for (int y = y0; y < y1; y += rows) {
      for (int x = x0; x < x1; x += columns) {
        int const right = x + columns < x1 ? x + columns : x1, bottom = y + rows < y1 ? y + rows : y1;
        ray rays[packet];
        vec3f colors[packet];
        int n = 0;
        for (int v = y; v < bottom; ++v)
          for (int u = x; u < right; ++u) rays[n++] = world_.camera.through(u, v);
        counts_.primary += static_cast<unsigned>(n);
        counts_.primary_hits += static_cast<unsigned>(follow(rays, n, 1, colors));
        vec3f const* color = colors;
        for (int v = y; v < bottom; ++v) {
          float* to = out + 3 * (static_cast<std::ptrdiff_t>(v - y0) * (x1 - x0) + (x - x0));
          for (int u = x; u < right; ++u, ++color) {
            *to++ = color->x;
            *to++ = color->y;
            *to++ = color->z;
          }
        }
      }
    }
  }

  SKEL_RT_INLINE ray_counts const& counts() const { return counts_; }

 private:
  // A hit with what its light, its reflected and its refracted ray need.
  struct lit_point {
    int index;  // of the ray
    bool outside;
    float offset;
    vec3f point, n, sn;
    ray outgoing;
    shade_material const* material;
  };

  // Returns the number of rays that hit something.
  int follow(ray const* rays, int n, int depth, vec3f* colors) {
    hit hits[packet];
    lit_point points[packet];
    tracer_.closest(rays, n, hits);
    int met = 0;
    for (int i = 0; i < n; ++i) {
      colors[i] = world_.background;
      if (hits[i].id != no_hit) points[met++] = point_of(rays[i], hits[i], i);
    }
    light(points, met, colors);
    if (depth < world_.depth) {
      reflect(points, met, depth, colors);
      refract(rays, points, met, depth, colors);
    }
    return met;
  }

  SKEL_RT_INLINE lit_point point_of(ray const& r, hit const& h, int index) {
    contact const c = contact_at(world_, r, h);
    bool const outside = dot(c.normal, r.direction) <= 0;
    vec3f const n = outside ? c.normal : -c.normal;
    vec3f const sn = dot(c.shading_normal, n) >= 0 ? c.shading_normal : -c.shading_normal;
    vec3f const mirrored = kept_unit(r.direction - (2 * dot(r.direction, sn)) * sn);
    return {index,
            outside,
            c.offset,
            c.point,
            n,
            sn,
            {c.point + c.offset * n, mirrored},
            &world_.materials[c.material]};
  }

  // Diffuse and Phong terms of every visible light in front of the surfaces.
  void light(lit_point const* points, int n, vec3f* colors) {
    for (int k = 0; k < n; ++k) colors[points[k].index] = {};
    for (std::uint32_t i = 0; i < world_.light_count; ++i) {
      ray rays[packet];
      float distance[packet], slant[packet];
      lit_point const* facing[packet];
      int m = 0;
      for (int k = 0; k < n; ++k) {
        lit_point const& p = points[k];
        vec3f const to_light = world_.lights[i].position - p.outgoing.origin;
        slant[m] = dot(p.sn, to_light);
        if (!(dot(p.n, to_light) > 0) || !(slant[m] > 0)) continue;
        distance[m] = length(to_light);
        rays[m] = {p.outgoing.origin, (1 / distance[m]) * to_light};
        facing[m++] = &p;
      }
      if (m == 0) continue;
      counts_.shadow += static_cast<unsigned>(m);
      unsigned const hidden = tracer_.occluded(rays, distance, m, i);
      for (int k = 0; k < m; ++k) {
        if ((hidden >> k & 1) != 0) continue;
        lit_point const& p = *facing[k];
        shade_material const& material = *p.material;
        vec3f reflected = (slant[k] / distance[k]) * material.diffuse;
        if (material.specular > 0) {
          float const cosine = dot(p.outgoing.direction, rays[k].direction);
          if (cosine > 0) {
            float const highlight = material.specular * __builtin_powf(cosine, material.shine);
            reflected = reflected + vec3f{highlight, highlight, highlight};
          }
        }
        colors[p.index] = colors[p.index] + world_.lights[i].color * reflected;
      }
    }
  }

  void reflect(lit_point const* points, int n, int depth, vec3f* colors) {
    ray rays[packet];
    lit_point const* from[packet];
    int m = 0;
    for (int k = 0; k < n; ++k) {
      if (!(points[k].material->specular > 0)) continue;
      rays[m] = points[k].outgoing;
      from[m++] = &points[k];
    }
    if (m == 0) return;
    counts_.reflected += static_cast<unsigned>(m);
    vec3f found[packet];
    follow(rays, m, depth + 1, found);
    for (int k = 0; k < m; ++k) {
      vec3f& color = colors[from[k]->index];
      color = color + from[k]->material->specular * found[k];
    }
  }

  // Snell's law, with the normal that reflects. Under total internal reflection nothing is transmitted.
  void refract(ray const* incoming, lit_point const* points, int n, int depth, vec3f* colors) {
    ray rays[packet];
    lit_point const* from[packet];
    int m = 0;
    for (int k = 0; k < n; ++k) {
      lit_point const& p = points[k];
      shade_material const& material = *p.material;
      if (!(material.transmittance > 0)) continue;
      vec3f const along = incoming[p.index].direction;
      float const ratio = p.outside ? 1 / material.refraction : material.refraction;
      float const cosine = -dot(along, p.sn);
      float const sine_squared = ratio * ratio * (1 - cosine * cosine);
      if (sine_squared >= 1) continue;
      vec3f const direction = ratio * along + (ratio * cosine - __builtin_sqrtf(1 - sine_squared)) * p.sn;
      rays[m] = {p.point - p.offset * p.n, normalized(direction)};
      from[m++] = &p;
    }
    if (m == 0) return;
    counts_.refracted += static_cast<unsigned>(m);
    vec3f found[packet];
    follow(rays, m, depth + 1, found);
    for (int k = 0; k < m; ++k) {
      vec3f& color = colors[from[k]->index];
      color = color + from[k]->material->transmittance * found[k];
    }
  }

  world_view const& world_;
  Tracer& tracer_;
  ray_counts counts_;
};
