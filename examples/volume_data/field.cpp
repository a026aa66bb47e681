#include "field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>

#include "noise.hpp"
#include "skel/error.hpp"
#include "storm.hpp"

namespace volume_data {

namespace {

using formula = double (*)(double x, double y, double z, double hours);
using std::numbers::pi;

double homogeneous(double /*x*/, double /*y*/, double /*z*/, double /*hours*/) { return 1; }

double linear(double x, double y, double z, double /*hours*/) { return (x + 2 * y + 4 * z) / 7; }

double sphere(double x, double y, double z, double /*hours*/) { return std::sqrt(x * x + y * y + z * z); }

/// Marschner and Lobb, "An evaluation of reconstruction filters for volume rendering", 1994, §5.
double marschner_lobb(double x, double y, double z, double /*hours*/) {
  constexpr double frequency = 6;
  constexpr double alpha = 0.25;
  double const r = std::sqrt(x * x + y * y);
  double const ripple = std::cos(2 * pi * frequency * std::cos(pi * r / 2));
  return (1 - std::sin(pi * z / 2) + alpha * (1 + ripple)) / (2 * (1 + alpha));
}

double metaballs(double x, double y, double z, double /*hours*/) {
  double sum = 0;
  for (int i = 0; i < 8; ++i) {  // on a spiral
    double const a = 2.4 * i, height = (i - 3.5) / 5;
    double const dx = x - 0.5 * std::cos(a), dy = y - 0.5 * std::sin(a), dz = z - height;
    sum += std::exp(-(dx * dx + dy * dy + dz * dz) * (14 + 2 * i));
  }
  return sum;
}

double turbulence(double x, double y, double z, double /*hours*/) {
  return fractal_noise(4 * x + 8, 4 * y + 8, 4 * z + 8, 5, 7);
}

struct field {
  std::string_view name;
  formula value;
  std::array<std::size_t, 3> size;
  double low, high;  // of all three axes
};

constexpr std::array fields{field{"wind", storm_wind_speed, {121, 97, 18}, 0, 0},
                            field{"homogeneous", homogeneous, {33, 33, 33}, 0, 1},
                            field{"linear", linear, {33, 33, 33}, 0, 1},
                            field{"marschner-lobb", marschner_lobb, {41, 41, 41}, -1, 1},
                            field{"metaballs", metaballs, {64, 64, 64}, -1, 1},
                            field{"turbulence", turbulence, {64, 64, 64}, -1, 1},
                            field{"sphere", sphere, {64, 64, 64}, -1, 1}};

class field_volume final : public volume_reader {
 public:
  field_volume(volume_header header, formula value, double hours)
      : volume_reader(std::move(header)), value_(value), hours_(hours) {}
  [[nodiscard]] bool skips_freely() const override { return true; }
  [[nodiscard]] bool reads_rows_freely() const override { return true; }

 private:
  void fill(std::span<std::byte> next) override { fill_rows(0, next); }
  void fill_rows(std::size_t first, std::span<std::byte> rows) override {
    auto const& [xs, ys, zs] = header().coordinates;
    auto* to = rows.data();
    for (auto row = first; to != rows.data() + rows.size(); ++row) {
      auto const y = ys[row % ys.size()], z = zs[position() + row / ys.size()];
      for (auto const x : xs) {
        auto const value = static_cast<float>(value_(x, y, z, hours_));
        std::memcpy(to, &value, sizeof value);
        to += sizeof value;
      }
    }
  }
  void fill_samples(std::size_t row, std::size_t step, std::span<float> to) override {
    auto const& [xs, ys, zs] = header().coordinates;
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<float>(value_(xs[i * step], ys[row], zs[position()], hours_));
  }
  void pass(std::size_t /*slices*/) override {}

  formula value_;
  double hours_;
};

std::string known() {
  std::string text;
  for (auto const& f : fields) text += (text.empty() ? "" : ", ") + std::string(f.name);
  return text;
}

std::vector<double> evenly(std::size_t n, double low, double high) {
  std::vector<double> to(n);
  for (std::size_t i = 0; i < n; ++i)
    to[i] = low + (high - low) * static_cast<double>(i) / static_cast<double>(n - 1);
  return to;
}

/// Parses the text behind '@'.
double parse_hours(std::string const& what, std::string const& text, field const& f) {
  constexpr double most = 240;
  double hours = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%10lf%c", &hours, &rest) != 1 || !(hours >= 0 && hours <= most))
    throw skel::usage_error(
        fmt::format("field {}: expected 0 to 240 hours behind @, found \"{}\"", what, text));
  if (f.value != storm_wind_speed)
    throw skel::usage_error(fmt::format("field {}: only wind changes with time", what));
  return hours;
}

std::array<std::size_t, 3> parse_size(std::string const& what, std::string const& text) {
  constexpr std::size_t most = 65536;
  std::array<std::size_t, 3> n{};
  char rest = 0;
  if (std::sscanf(text.c_str(), "%5zux%5zux%5zu%c", n.data(), &n[1], &n[2], &rest) != 3 ||
      std::ranges::any_of(n, [](std::size_t a) { return a < 2 || a > most; }))
    throw skel::usage_error(fmt::format("field {}: expected NAME:AxBxC, each 2 to 65536", what));
  return n;
}

}  // namespace

std::unique_ptr<volume_reader> open_field(std::string_view what) {
  auto const at = std::min(what.find('@'), what.size());
  auto const colon = std::min(what.find(':'), at);
  auto const f = std::ranges::find(fields, what.substr(0, colon), &field::name);
  if (f == fields.end())
    throw skel::usage_error(fmt::format("unknown field \"{}\"; known: {}, each also as NAME:AxBxC",
                                        what.substr(0, colon), known()));
  volume_header header;
  header.name = what;
  header.size =
      colon < at ? parse_size(header.name, std::string(what.substr(colon + 1, at - colon - 1))) : f->size;
  double const hours = at < what.size() ? parse_hours(header.name, std::string(what.substr(at + 1)), *f) : 0;
  for (std::size_t axis = 0; axis < 3; ++axis)
    header.coordinates[axis] = f->value == storm_wind_speed ? storm_coordinates(axis, header.size[axis])
                                                            : evenly(header.size[axis], f->low, f->high);
  return std::make_unique<field_volume>(std::move(header), f->value, hours);
}

}  // namespace volume_data
