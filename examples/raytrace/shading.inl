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

/// Tracer: hit closest(ray const&); bool occluded(ray const&, float distance, unsigned light).
template <class Tracer>
class whitted {
 public:
  SKEL_RT_INLINE whitted(world_view const& world, Tracer& tracer) : world_(world), tracer_(tracer) {}

  SKEL_RT_INLINE vec3f primary(ray const& r) {
    ++counts_.primary;
    hit const h = tracer_.closest(r);
    if (h.id == no_hit) return world_.background;
    ++counts_.primary_hits;
    return shade(r, h, 1);
  }

  SKEL_RT_INLINE ray_counts const& counts() const { return counts_; }

 private:
  vec3f follow(ray const& r, int depth) {
    hit const h = tracer_.closest(r);
    return h.id == no_hit ? world_.background : shade(r, h, depth);
  }

  vec3f shade(ray const& r, hit const& h, int depth) {
    contact c = contact_at(world_, r, h);
    shade_material const& m = world_.materials[c.material];
    bool const outside = dot(c.normal, r.direction) <= 0;
    vec3f const n = outside ? c.normal : -c.normal;
    vec3f const sn = dot(c.shading_normal, n) >= 0 ? c.shading_normal : -c.shading_normal;
    vec3f const mirrored = kept_unit(r.direction - (2 * dot(r.direction, sn)) * sn);
    ray const outgoing{c.point + c.offset * n, mirrored};
    vec3f color = lit(outgoing, n, sn, m);
    if (depth >= world_.depth) return color;
    if (m.specular > 0) {
      ++counts_.reflected;
      color = color + m.specular * follow(outgoing, depth + 1);
    }
    if (m.transmittance > 0) color = color + m.transmittance * refracted(r, c, n, sn, outside, m, depth);
    return color;
  }

  // Diffuse and Phong terms of every visible light in front of the surface.
  SKEL_RT_INLINE vec3f lit(ray const& outgoing, vec3f n, vec3f sn, shade_material const& m) {
    vec3f color{};
    for (std::uint32_t i = 0; i < world_.light_count; ++i) {
      vec3f const to_light = world_.lights[i].position - outgoing.origin;
      float const slant = dot(sn, to_light);
      if (!(dot(n, to_light) > 0) || !(slant > 0)) continue;
      float const distance = length(to_light);
      vec3f const direction = (1 / distance) * to_light;
      ++counts_.shadow;
      if (tracer_.occluded({outgoing.origin, direction}, distance, i)) continue;
      vec3f reflected = (slant / distance) * m.diffuse;
      if (m.specular > 0) {
        float const cosine = dot(outgoing.direction, direction);
        if (cosine > 0) {
          float const highlight = m.specular * __builtin_powf(cosine, m.shine);
          reflected = reflected + vec3f{highlight, highlight, highlight};
        }
      }
      color = color + world_.lights[i].color * reflected;
    }
    return color;
  }

  // Snell's law, with the normal that reflects. Under total internal reflection nothing is transmitted.
  vec3f refracted(ray const& r, contact const& c, vec3f n, vec3f sn, bool outside, shade_material const& m,
                  int depth) {
    float const ratio = outside ? 1 / m.refraction : m.refraction;
    float const cosine = -dot(r.direction, sn);
    float const sine_squared = ratio * ratio * (1 - cosine * cosine);
    if (sine_squared >= 1) return {0, 0, 0};
    ++counts_.refracted;
    vec3f const direction = ratio * r.direction + (ratio * cosine - __builtin_sqrtf(1 - sine_squared)) * sn;
    return follow({c.point - c.offset * n, normalized(direction)}, depth + 1);
  }

  world_view const& world_;
  Tracer& tracer_;
  ray_counts counts_;
};
