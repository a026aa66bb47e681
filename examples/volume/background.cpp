#include "background.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "noise.hpp"

namespace volume {

namespace {

rgb mix(rgb const& a, rgb const& b, double t) {
  auto const w = static_cast<float>(std::clamp(t, 0.0, 1.0));
  return {a[0] + w * (b[0] - a[0]), a[1] + w * (b[1] - a[1]), a[2] + w * (b[2] - a[2])};
}

double smooth_step(double low, double high, double x) {
  double const t = std::clamp((x - low) / (high - low), 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

}  // namespace

/// An invented coast, in units of the grid's longer side.
class drawn_map {
 public:
  explicit drawn_map(vec3 const& sides) : longer_(std::max(sides[0], sides[1])) {
    heights_.reserve(std::size_t{points} * points);
    for (int j = 0; j < points; ++j)
      for (int i = 0; i < points; ++i)
        heights_.push_back(static_cast<float>(formula(low + i * spacing, low + j * spacing)));
  }

  /// `blur`: distance on the ground between the rays of neighbouring pixels.
  [[nodiscard]] rgb at(double x, double y, double blur) const {
    double const u = x / longer_, v = y / longer_, b = std::max(blur / longer_, 1e-9);
    double const height = elevation(u, v);
    rgb const deep{0.020F, 0.060F, 0.115F}, shelf{0.055F, 0.165F, 0.235F};
    rgb const plain{0.135F, 0.190F, 0.130F}, high{0.330F, 0.310F, 0.245F};
    rgb const sea = mix(shelf, deep, -height * 9);
    double const relief = (elevation(u - 0.004, v + 0.004) - height) * 9;  // lit from the north-west
    rgb land = mix(plain, high, height * 4.5);
    for (auto& c : land) c *= static_cast<float>(std::clamp(1 - relief, 0.5, 1.7));
    double const slope =
        std::max(std::abs(elevation(u + 0.003, v) - height), std::abs(elevation(u, v + 0.003) - height)) /
        0.003;
    double const softness = std::max(slope * b, 0.0015);
    rgb ground = mix(sea, land, smooth_step(-softness, softness, height));
    double const coast = 1 - smooth_step(0, 1.6 * softness, std::abs(height));
    ground = mix(ground, {0.50F, 0.58F, 0.56F}, 0.55 * coast);
    return mix(ground, {0.62F, 0.70F, 0.74F}, 0.20 * graticule(u, v, b));
  }

 private:
  static double formula(double u, double v) {
    return volume_data::fractal_noise(2.6 * u + 3.1, 2.6 * v + 17.4, 0.5, 7, 5) - 0.515 +
           0.10 * std::cos(5.2 * (v - 0.95)) - 0.06 * std::sin(6.4 * u);
  }
  /// Interpolates heights on a grid; continues its border beyond it.
  [[nodiscard]] double elevation(double u, double v) const {
    double const x = std::clamp((u - low) / spacing, 0.0, points - 1.001),
                 y = std::clamp((v - low) / spacing, 0.0, points - 1.001);
    auto const i = static_cast<std::size_t>(x), j = static_cast<std::size_t>(y);
    double const fx = x - static_cast<double>(i), fy = y - static_cast<double>(j);
    auto const* const at = heights_.data() + j * points + i;
    auto const mixed = [](float a, float b, double t) {
      return static_cast<double>(a) + t * (static_cast<double>(b) - static_cast<double>(a));
    };
    double const top = mixed(at[0], at[1], fx), bottom = mixed(at[points], at[points + 1], fx);
    return top + fy * (bottom - top);
  }
  /// Lines at each tenth of the longer side, about one pixel wide.
  static double graticule(double u, double v, double blur) {
    double const step = 0.1;
    auto const line = [&](double x) {
      double const away = std::abs(x / step - std::round(x / step)) * step;
      return 1 - smooth_step(0.4 * blur, 1.2 * blur, away);
    };
    return std::max(line(u), line(v)) * std::clamp(1 - blur / 0.03, 0.0, 1.0);
  }

  static constexpr int points = 720;
  static constexpr double low = -1.1, spacing = 3.2 / (points - 1);  // haze hides everything farther away

  double longer_;
  std::vector<float> heights_;
};

namespace {

/// The ground is the lowest level of the grid. It extends beyond the grid and fades into haze.
picture::image map_on_the_ground(drawn_map const& map, camera const& view, vec3 const& sides) {
  picture::image out(view.width, view.height);
  double const longer = std::max(sides[0], sides[1]);
  rgb const haze{0.035F, 0.055F, 0.085F}, zenith{0.008F, 0.012F, 0.026F};
  auto const ground = [&](double x, double y, vec3& point) {
    auto const ray = view.through(x, y);
    double const t = -ray.from[2] / ray.direction[2];
    point = add(ray.from, t, ray.direction);
    return ray.direction[2] < 0 && (t > 0 || view.parallel);
  };
  for (int y = 0; y < view.height; ++y) {
    auto row = out.row(y);
    for (int x = 0; x < view.width; ++x) {
      rgb sum{};
      for (int s = 0; s < 4; ++s) {  // four samples per pixel
        double const px = x + 0.25 + 0.5 * (s & 1), py = y + 0.25 + 0.5 * (s >> 1);
        vec3 a{}, b{};
        rgb color = mix(haze, zenith, 2.5 * std::max(0.0, view.through(px, py).direction[2]));
        if (ground(px, py, a)) {
          double const blur =
              ground(px + 1, py + 1, b) ? std::max(std::abs(b[0] - a[0]), std::abs(b[1] - a[1])) : longer;
          double const outside = std::max({0.0, -a[0], a[0] - sides[0], -a[1], a[1] - sides[1]});
          color = mix(map.at(a[0], a[1], blur), haze, smooth_step(0, 1.1, outside / longer));
          color = mix(color, haze, 0.45 * smooth_step(0.0, 0.02, outside / longer));
        }
        for (std::size_t c = 0; c < 3; ++c) sum[c] += color[c] / 4;
      }
      for (std::size_t c = 0; c < 3; ++c) row[static_cast<std::size_t>(x) * 3 + c] = sum[c];
    }
  }
  return out;
}

/// Resizes a picture with linear interpolation between the centres of its pixels.
picture::image resized(picture::image const& from, int width, int height) {
  picture::image out(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      double const u = std::clamp((x + 0.5) * from.width / width - 0.5, 0.0, from.width - 1.0);
      double const v = std::clamp((y + 0.5) * from.height / height - 0.5, 0.0, from.height - 1.0);
      int const i = static_cast<int>(u), j = static_cast<int>(v);
      auto const fu = static_cast<float>(u - i), fv = static_cast<float>(v - j);
      for (std::size_t c = 0; c < 3; ++c) {
        auto const at = [&](int a, int b) {
          return from.rgb[3 * (static_cast<std::size_t>(std::min(b, from.height - 1)) *
                                   static_cast<std::size_t>(from.width) +
                               static_cast<std::size_t>(std::min(a, from.width - 1))) +
                          c];
        };
        float const top = at(i, j) + fu * (at(i + 1, j) - at(i, j));
        float const bottom = at(i, j + 1) + fu * (at(i + 1, j + 1) - at(i, j + 1));
        out.row(y)[static_cast<std::size_t>(x) * 3 + c] = top + fv * (bottom - top);
      }
    }
  return out;
}

void draw_line(picture::image& on, camera const& view, vec3 const& from, vec3 const& to, rgb const& color) {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  if (!view.project(from, x0, y0) || !view.project(to, x1, y1)) return;
  double const length = std::hypot(x1 - x0, y1 - y0);
  if (!(length > 0) || !(length < 1e7)) return;
  constexpr double half_width = 0.7;
  for (int y = std::max(0, static_cast<int>(std::min(y0, y1) - 2)); y < on.height && y < std::max(y0, y1) + 2;
       ++y)
    for (int x = std::max(0, static_cast<int>(std::min(x0, x1) - 2));
         x < on.width && x < std::max(x0, x1) + 2; ++x) {
      double const px = x + 0.5 - x0, py = y + 0.5 - y0;
      double const along = std::clamp((px * (x1 - x0) + py * (y1 - y0)) / length, 0.0, length) / length;
      double const away = std::hypot(px - along * (x1 - x0), py - along * (y1 - y0));
      double const cover = std::clamp(half_width + 0.5 - away, 0.0, 1.0);
      auto pixel = on.row(y).subspan(static_cast<std::size_t>(x) * 3, 3);
      rgb const mixed = mix({pixel[0], pixel[1], pixel[2]}, color, cover);
      std::ranges::copy(mixed, pixel.begin());
    }
}

void draw_frame(picture::image& on, camera const& view, vec3 const& sides, rgb const& color) {
  for (unsigned corner = 0; corner < 8; ++corner)
    for (unsigned d = 0; d < 3; ++d) {
      if ((corner >> d & 1U) != 0) continue;
      vec3 a{}, b{};
      for (unsigned i = 0; i < 3; ++i) {
        a[i] = (corner >> i & 1U) != 0 ? sides[i] : 0;
        b[i] = i == d ? sides[i] : a[i];
      }
      draw_line(on, view, a, b, color);
    }
}

}  // namespace

struct background::parts {
  specification spec;
  vec3 sides;
  std::optional<drawn_map> map;
  picture::image file;
};

background::background(specification const& spec, vec3 const& sides)
    : parts_(std::make_unique<parts>(parts{spec, sides, {}, {}})) {
  if (spec.background.what == background_spec::kind::image)
    parts_->file = picture::read_png(spec.background.image);
  if (spec.background.what == background_spec::kind::map) parts_->map.emplace(sides);
}

background::background(background&&) noexcept = default;
background& background::operator=(background&&) noexcept = default;
background::~background() = default;

picture::image background::behind(camera const& view) const {
  using kind = background_spec::kind;
  auto const& spec = parts_->spec;
  picture::image out(view.width, view.height);
  if (spec.background.what == kind::map) out = map_on_the_ground(*parts_->map, view, parts_->sides);
  if (spec.background.what == kind::image) out = resized(parts_->file, view.width, view.height);
  if (spec.background.what == kind::color)
    for (std::size_t i = 0; i < out.rgb.size(); ++i) out.rgb[i] = spec.background.color[i % 3];
  if (spec.frame) draw_frame(out, view, parts_->sides, *spec.frame);
  return out;
}

}  // namespace volume
