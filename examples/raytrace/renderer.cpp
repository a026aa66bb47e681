#include "renderer.hpp"

#include <cassert>
#include <optional>

#include "kernel.hpp"
#include "slabs.hpp"

namespace raytrace {

namespace {

#include "shading.inl"

struct slabs_tracer {
  geometry const& shapes;
  slabs const& volumes;
  slabs::scratch heap{};

  hit closest(ray const& r) { return volumes.closest(shapes, r, heap); }
  bool occluded(ray const& r, float distance) const { return volumes.occluded(shapes, r, distance); }
};

struct brute_tracer {
  geometry const& shapes;

  hit closest(ray const& r) const {
    hit best;
    for (std::uint32_t id = 0; id < shapes.surfaces.size(); ++id) {
      float const t = intersect_shape(shapes, id, r);
      if (t > 0) keep_nearer(best, t, id);
    }
    return best;
  }
  bool occluded(ray const& r, float distance) const {
    for (std::uint32_t id = 0; id < shapes.surfaces.size(); ++id) {
      float const t = intersect_shape(shapes, id, r);
      if (t > 0 && t <= distance) return true;
    }
    return false;
  }
};

// Rays of a packet one by one.
template <class Tracer>
struct each_alone {
  Tracer& single;

  void closest(ray const* rays, int n, hit* hits) {
    for (int i = 0; i < n; ++i) hits[i] = single.closest(rays[i]);
  }
  unsigned occluded(ray const* rays, float const* distance, int n, unsigned) {
    unsigned hidden = 0;
    for (int i = 0; i < n; ++i) hidden |= single.occluded(rays[i], distance[i]) ? 1U << i : 0;
    return hidden;
  }
};

template <class Tracer>
void render_with(world_view const& world, Tracer tracer, pixel_range const& part, float* out,
                 ray_counts& counts) {
  each_alone<Tracer> packets{tracer};
  whitted<each_alone<Tracer>> shader(world, packets);
  shader.render(part.x0, part.y0, part.x1, part.y1, out);
  counts += shader.counts();
}

void check(settings const& how) {
  auto const refuse = [](std::string const& what, int got) {
    throw scene_error(what + ", found \"" + std::to_string(got) + '"');
  };
  if (how.width < 1 || how.width > 65536) refuse("an image needs a width of 1 to 65536", how.width);
  if (how.height < 1 || how.height > 65536) refuse("an image needs a height of 1 to 65536", how.height);
  if (how.depth < 0 || how.depth > 100) refuse("the depth needs to be 0 to 100", how.depth);
  if (!(how.brightness >= 0 && how.brightness <= 1e6)) {
    throw scene_error("the brightness needs to be 0 to 1000000, found \"" + std::to_string(how.brightness) +
                      '"');
  }
  if (how.plane_sets != 3 && how.plane_sets != 7) refuse("slabs need 3 or 7 plane sets", how.plane_sets);
}

kernel const& chosen_kernel(std::string const& name) {
  if (name.empty()) return best_kernel();
  if (auto const* const found = find_kernel(name.c_str())) return *found;
  throw scene_error("--instructions: not available on this processor: \"" + name + "\"");
}

}  // namespace

struct renderer::parts {
  settings how;
  geometry shapes;
  kernel const& code;
  std::optional<bvh> tree;
  std::optional<slabs> volumes;
  world_view world{};

  parts(scene const& from, settings const& s)
      : how(s), shapes(prepare(from)), code(chosen_kernel(s.instructions)) {
    for (std::size_t i = 0; i < from.lights.size(); ++i) {
      if (!from.lights[i].color) {
        shapes.lights[i].color = static_cast<float>(how.brightness) * shapes.lights[i].color;
      }
    }
    if (how.accelerator == accelerator::bvh) tree = build_bvh(shapes);
    if (how.accelerator == accelerator::slabs) volumes.emplace(shapes, how.plane_sets);
    world = {shapes.facets.data(),
             shapes.balls.data(),
             shapes.frusta.data(),
             shapes.surfaces.data(),
             shapes.volumes.data(),
             shapes.patches.data(),
             shapes.materials.data(),
             shapes.lights.data(),
             static_cast<std::uint32_t>(shapes.lights.size()),
             how.depth,
             shapes.background,
             make_camera(from.view, how.width, how.height)};
  }
};

accelerator accelerator_named(std::string_view name) {
  if (name == "bvh") return accelerator::bvh;
  if (name == "slabs") return accelerator::slabs;
  if (name == "brute") return accelerator::brute;
  throw scene_error("unknown accelerator \"" + std::string(name) + "\"; known: bvh, slabs, brute");
}

renderer::renderer(scene const& world, settings const& how) {
  check(how);
  parts_ = std::make_unique<parts>(world, how);
}

renderer::~renderer() = default;
renderer::renderer(renderer&&) noexcept = default;
renderer& renderer::operator=(renderer&&) noexcept = default;

void renderer::render_row(int y, std::span<float> rgb, ray_counts& counts) const {
  render_tile(0, y, width(), y + 1, rgb, counts);
}

void renderer::render_tile(int x0, int y0, int x1, int y1, std::span<float> rgb, ray_counts& counts) const {
  assert(0 <= x0 && x0 <= x1 && x1 <= width() && 0 <= y0 && y0 <= y1 && y1 <= height());
  assert(rgb.size() >= 3 * static_cast<std::size_t>(x1 - x0) * static_cast<std::size_t>(y1 - y0));
  pixel_range const part{x0, y0, x1, y1};
  auto const& p = *parts_;
  if (p.tree) {
    p.code.render(p.world, p.tree->view(), part, rgb.data(), counts);
  } else if (p.volumes) {
    render_with(p.world, slabs_tracer{p.shapes, *p.volumes}, part, rgb.data(), counts);
  } else {
    render_with(p.world, brute_tracer{p.shapes}, part, rgb.data(), counts);
  }
}

int renderer::width() const noexcept { return parts_->how.width; }
int renderer::height() const noexcept { return parts_->how.height; }

std::size_t renderer::shapes() const noexcept { return parts_->shapes.surfaces.size(); }

hit renderer::closest(ray const& r) const {
  hit h;
  closest({&r, 1}, {&h, 1});
  return h;
}

void renderer::closest(std::span<ray const> rays, std::span<hit> hits) const {
  assert(hits.size() >= rays.size());
  auto const& p = *parts_;
  if (p.tree) return p.code.closest(p.world, p.tree->view(), rays.data(), rays.size(), hits.data());
  auto const each = [&](auto tracer) {
    for (std::size_t i = 0; i < rays.size(); ++i) hits[i] = tracer.closest(rays[i]);
  };
  p.volumes ? each(slabs_tracer{p.shapes, *p.volumes}) : each(brute_tracer{p.shapes});
}

void renderer::occluded(std::span<ray const> rays, std::span<float const> distances,
                        std::span<bool> hidden) const {
  assert(distances.size() >= rays.size() && hidden.size() >= rays.size());
  auto const& p = *parts_;
  if (p.tree)
    return p.code.occluded(p.world, p.tree->view(), rays.data(), distances.data(), rays.size(),
                           hidden.data());
  auto const each = [&](auto tracer) {
    for (std::size_t i = 0; i < rays.size(); ++i) hidden[i] = tracer.occluded(rays[i], distances[i]);
  };
  p.volumes ? each(slabs_tracer{p.shapes, *p.volumes}) : each(brute_tracer{p.shapes});
}

std::uint32_t renderer::primitive_of(std::uint32_t shape) const {
  return parts_->shapes.surfaces[shape].primitive;
}

ray renderer::primary(int x, int y) const { return parts_->world.camera.through(x, y); }

}  // namespace raytrace
