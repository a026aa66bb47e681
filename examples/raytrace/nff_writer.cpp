#include <cstdio>
#include <ostream>

#include "nff.hpp"

namespace raytrace {

namespace {

class nff_writer {
 public:
  nff_writer(std::ostream& out, int digits) : out_(out), digits_(digits) {}

  void write(scene const& world) {
    line("b", world.background);
    write_view(world.view);
    for (auto const& l : world.lights) {
      out_ << 'l';
      put(l.position);
      if (l.color) put(*l.color);
      out_ << '\n';
    }
    auto current = ~std::uint32_t{0};
    for (auto const& p : world.primitives) {
      if (p.material != current) write_fill(world.materials[p.material]);
      current = p.material;
      write_shape(world, p);
    }
  }

 private:
  void put(double value) {
    char text[40];
    std::snprintf(text, sizeof text, " %.*g", digits_, value);
    out_ << text;
  }
  void put(vec3d v) {
    put(v.x);
    put(v.y);
    put(v.z);
  }
  void line(char const* word, vec3d v) {
    out_ << word;
    put(v);
    out_ << '\n';
  }
  void vertex(vec3d v, vec3d const* normal) {
    char text[120];
    std::snprintf(text, sizeof text, "%.*g %.*g %.*g", digits_, v.x, digits_, v.y, digits_, v.z);
    out_ << text;
    if (normal != nullptr) put(*normal);
    out_ << '\n';
  }

  void write_view(view const& v) {
    out_ << "v\n";
    line("from", v.from);
    line("at", v.at);
    line("up", v.up);
    out_ << "angle";
    put(v.angle);
    out_ << "\nhither";
    put(v.hither);
    out_ << "\nresolution " << v.width << ' ' << v.height << '\n';
  }

  void write_fill(material const& m) {
    out_ << 'f';
    put(m.color);
    for (double const w : {m.diffuse, m.specular, m.shine, m.transmittance, m.refraction}) put(w);
    out_ << '\n';
  }

  void write_shape(scene const& world, primitive const& p) {
    if (p.kind == shape::sphere) {
      auto const& s = world.spheres[p.index];
      out_ << 's';
      put(s.center);
      put(s.radius);
      out_ << '\n';
    } else if (p.kind == shape::cone) {
      auto const& c = world.cones[p.index];
      out_ << "c\n";
      for (auto const& [end, radius] : {std::pair{c.base, c.base_radius}, std::pair{c.apex, c.apex_radius}}) {
        vertex_with_radius(end, radius);
      }
    } else {
      auto const& q = world.polygons[p.index];
      bool const patch = q.first_normal != polygon::flat;
      out_ << (patch ? "pp " : "p ") << q.vertices << '\n';
      for (std::uint32_t i = 0; i < q.vertices; ++i) {
        vertex(world.vertices[q.first + i], patch ? &world.normals[q.first_normal + i] : nullptr);
      }
    }
  }

  void vertex_with_radius(vec3d v, double radius) {
    char text[160];
    std::snprintf(text, sizeof text, "%.*g %.*g %.*g %.*g\n", digits_, v.x, digits_, v.y, digits_, v.z,
                  digits_, radius);
    out_ << text;
  }

  std::ostream& out_;
  int digits_;
};

}  // namespace

void write_nff(std::ostream& out, scene const& world, int digits) { nff_writer(out, digits).write(world); }

}  // namespace raytrace
