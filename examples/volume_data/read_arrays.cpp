// Volumes of files of arrays, with the CF conventions: https://cfconventions.org.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "array_file.hpp"
#include "program/memory.hpp"
#include "skel/error.hpp"

namespace volume_data {

namespace {

/// Stored numbers as CF has them: scaled, with values that are missing.
class packing {
 public:
  packing(array_file const& file, array_variable const& v) : float_(v.type == scalar_type::float32) {
    bool const is_signed =
        v.type == scalar_type::int8 || v.type == scalar_type::int16 || v.type == scalar_type::int32;
    if (is_signed && lower(file.text(v, "_Unsigned")) == "true")
      modulus_ = static_cast<double>(std::uint64_t{1} << (8 * size_of(*v.type)));
    auto const one = [&](char const* name, double otherwise) {
      auto const numbers = file.numbers(v, name);
      return numbers.empty() ? otherwise : numbers[0];
    };
    scale_ = one("scale_factor", 1);
    offset_ = one("add_offset", 0);
    auto const limits = file.numbers(v, "valid_range");
    bool const both = limits.size() == 2;
    least_ = both ? limits[0] : one("valid_min", -std::numeric_limits<double>::infinity());
    most_ = both ? limits[1] : one("valid_max", std::numeric_limits<double>::infinity());
    // Limits of the type of scale_factor are those of the unpacked values [NetCDF Users Guide, Attribute
    // Conventions]. They were rounded, so they may be off by half a step.
    unpacked_limits_ = v.type < scalar_type::float32 && (scale_ != 1 || offset_ != 0) &&
                       std::ranges::any_of(std::array{"valid_range", "valid_min", "valid_max"},
                                           [&](char const* name) { return file.is_floating(v, name); });
    least_ = unpacked_limits_ ? least_ - std::abs(scale_) / 2 : stored(least_);
    most_ = unpacked_limits_ ? most_ + std::abs(scale_) / 2 : stored(most_);
    missing_ = file.numbers(v, "_FillValue");
    if (auto const fill = file.default_fill(v); fill && missing_.empty()) missing_.push_back(*fill);
    auto const more = file.numbers(v, "missing_value");
    missing_.insert(missing_.end(), more.begin(), more.end());
    for (auto& m : missing_) m = stored(m);
  }
  [[nodiscard]] double operator()(double value) const {
    value = stored(value);
    auto const unpacked = value * scale_ + offset_;
    auto const limited = unpacked_limits_ ? unpacked : value;
    if (!(least_ <= limited && limited <= most_) || std::ranges::find(missing_, value) != missing_.end())
      return std::numeric_limits<double>::quiet_NaN();
    return unpacked;
  }

 private:
  /// Attributes may have another type than the values.
  [[nodiscard]] double stored(double value) const {
    if (modulus_ > 0 && value < 0) return value + modulus_;
    return float_ ? static_cast<double>(static_cast<float>(value)) : value;
  }

  bool float_, unpacked_limits_ = false;
  double modulus_ = 0, scale_ = 1, offset_ = 0, least_ = 0, most_ = 0;
  std::vector<double> missing_;
};

/// A dimension of a variable.
struct dimension {
  array_dimension what;
  std::string unit{};
  char role = ' ';  // T, X, Y, Z, or unknown

  [[nodiscard]] std::string text() const {
    return fmt::format("{}{}{}{}", what.name, what.name.empty() ? "" : " ", what.length,
                       unit.empty() ? "" : " (" + unit + ")");
  }
};

/// What the coordinates say about their direction [CF, chapter 4].
char role_of(array_file const& file, dimension const& d) {
  auto const name = lower(d.what.name);
  if (!d.what.coordinate) return name == "time" ? 'T' : ' ';
  auto const axis = file.text(*d.what.coordinate, "axis");
  if (axis == "T" || axis == "X" || axis == "Y" || axis == "Z") return axis[0];
  auto const standard = file.text(*d.what.coordinate, "standard_name");
  auto const unit = lower(d.unit);
  if (standard == "time" || name == "time" || unit.find(" since ") != std::string::npos) return 'T';
  auto const ends = [&](std::string_view what) { return standard.ends_with(what); };
  auto const degrees = [&](char to) {  // degrees_east, degree_E, degreesE, ...
    return std::ranges::any_of(
        std::array{"degrees_", "degree_", "degrees", "degree"},
        [&](char const* unit_of) { return unit.starts_with(unit_of + std::string(1, to)); });
  };
  if (ends("longitude") || ends("projection_x_coordinate") || degrees('e')) return 'X';
  if (ends("latitude") || ends("projection_y_coordinate") || degrees('n')) return 'Y';
  return file.text(*d.what.coordinate, "positive").empty() ? ' ' : 'Z';
}

std::vector<dimension> dimensions_of(array_file const& file, array_variable const& v) {
  std::vector<dimension> all;
  for (auto& what : file.dimensions(v)) {
    auto& d = all.emplace_back(dimension{std::move(what)});
    if (d.what.coordinate) d.unit = file.text(*d.what.coordinate, "units");
    d.role = role_of(file, d);
  }
  bool const has_time = std::ranges::any_of(all, [](auto const& d) { return d.role == 'T'; });
  if (has_time || all.size() != 4) return all;
  // Without a name, it may also be z, and the last one the only component.
  bool const is_time = all[0].what.name.empty() && all[3].what.length > 1;
  if (is_time || all[0].what.unlimited) all[0].role = 'T';
  return all;
}

struct layout : array_layout {
  std::vector<dimension> dimensions{};

  [[nodiscard]] std::array<std::size_t, 3> size() const {
    return {dimensions[axes[0]].what.length, dimensions[axes[1]].what.length,
            dimensions[axes[2]].what.length};
  }
};

/// Returns nothing if the variable is not a volume: it needs three dimensions beside time and those of
/// length 1. The coordinates may say which of them is x, y or z; the others are so in order, z the
/// slowest.
std::optional<layout> layout_of(array_file const& file, array_variable const& v) {
  if (!v.type) return std::nullopt;
  layout to;
  to.dimensions = dimensions_of(file, v);
  std::vector<std::size_t> space;
  for (std::size_t i = 0; i < to.dimensions.size(); ++i) {
    if (to.dimensions[i].role == 'T' && !to.time)
      to.time = i;
    else
      space.push_back(i);
  }
  for (auto at = space.begin(); space.size() > 3 && at != space.end();)
    at = to.dimensions[*at].what.length == 1 ? space.erase(at) : at + 1;
  if (space.size() != 3) return std::nullopt;
  std::array<bool, 3> known{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto const at =
        std::ranges::find_if(space, [&](std::size_t i) { return to.dimensions[i].role == "XYZ"[axis]; });
    if (at == space.end()) continue;
    to.axes[axis] = *at;
    known[axis] = true;
    space.erase(at);
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {  // x, the fastest, first
    if (known[axis]) continue;
    to.axes[axis] = space.back();
    space.pop_back();
  }
  return to;
}

bool is_volume(array_file const& file, array_variable const& v) {
  auto const how = layout_of(file, v);
  return how && has_cells(how->size());
}

/// Without a variable, coordinates are indices.
std::vector<double> coordinates_of(array_file const& file, dimension const& d) {
  std::vector<double> values(d.what.length);
  if (!d.what.coordinate) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
    return values;
  }
  if (!d.what.coordinate->type)
    throw skel::usage_error(fmt::format("{}: coordinates {}: expected numbers", file.path(), d.what.name));
  file.read(*d.what.coordinate, {0}, {values.size()}, values);
  packing const unpacked(file, *d.what.coordinate);
  for (auto& c : values) c = unpacked(c);
  return values;
}

class array_volume final : public volume_reader {
 public:
  array_volume(volume_header header, std::unique_ptr<array_file> file, array_variable v,
               array_layout const& how, std::size_t time, std::array<bool, 3> const& decreasing)
      : volume_reader(std::move(header)),
        file_(std::move(file)),
        variable_(std::move(v)),
        axes_(how.axes),
        decreasing_(decreasing),
        unpacked_(*file_, variable_),
        start_(variable_.rank, 0),
        count_(variable_.rank, 1) {
    if (how.time) start_[*how.time] = time;
    for (std::size_t axis = 0; axis < 2; ++axis) count_[axes_[axis]] = this->header().size[axis];
  }
  ~array_volume() override {
    array_lock const lock;
    file_.reset();
  }
  array_volume(array_volume const&) = delete;
  array_volume& operator=(array_volume const&) = delete;

  [[nodiscard]] bool skips_freely() const override { return true; }

 private:
  void fill(std::span<std::byte> next) override {
    auto const slice = header().slice_bytes();
    stored_.resize(header().slice_samples());
    for (auto z = position(); !next.empty(); next = next.subspan(slice), ++z) {
      start_[axes_[2]] = decreasing_[2] ? header().size[2] - 1 - z : z;
      {
        array_lock const lock;
        file_->read(variable_, start_, count_, stored_);
      }
      if (header().type == scalar_type::float32)
        unpack<float>(next.first(slice));
      else
        unpack<double>(next.first(slice));
    }
  }
  void pass(std::size_t /*slices*/) override {}  // fill() reads at position()

  template <class Number>
  void unpack(std::span<std::byte> to) const {
    auto const nx = header().size[0], ny = header().size[1];
    bool const x_fastest = axes_[0] > axes_[1];
    std::size_t out = 0;
    for (std::size_t y = 0; y < ny; ++y)
      for (std::size_t x = 0; x < nx; ++x, out += sizeof(Number)) {
        auto const i = decreasing_[0] ? nx - 1 - x : x, j = decreasing_[1] ? ny - 1 - y : y;
        auto const value = static_cast<Number>(unpacked_(stored_[x_fastest ? j * nx + i : i * ny + j]));
        std::memcpy(to.data() + out, &value, sizeof value);
      }
  }

  std::unique_ptr<array_file> file_;
  array_variable variable_;
  std::array<std::size_t, 3> axes_;
  std::array<bool, 3> decreasing_;
  packing unpacked_;
  std::vector<std::size_t> start_, count_;
  std::vector<double> stored_;
};

std::string from_root(std::string const& name) { return name.starts_with('/') ? name : '/' + name; }

/// The wanted variable or, without a name, the only volume: the only one that has cells, if any does.
std::pair<array_variable, layout> chosen(array_file const& file, std::string const& name) {
  std::vector<std::string> volumes;
  std::optional<std::pair<array_variable, layout>> found;
  auto const all = file.variables();
  bool const any_has_cells = std::ranges::any_of(all, [&](auto const& v) { return is_volume(file, v); });
  for (auto const& v : all) {
    auto how = layout_of(file, v);
    bool const counts = how && (!any_has_cells || has_cells(how->size()));
    if (counts) volumes.push_back(v.name);
    if (name.empty() ? !counts : from_root(v.name) != from_root(name)) continue;
    if (!how) {
      auto const beside_time =
          std::ranges::count_if(dimensions_of(file, v), [](auto const& d) { return d.role != 'T'; });
      throw skel::usage_error(
          fmt::format("{}: {}: expected numbers with three dimensions beside time, found {} with {}",
                      file.path(), v.name, v.type_name, beside_time));
    }
    found.emplace(v, std::move(*how));
  }
  if (found && (!name.empty() || volumes.size() == 1)) return std::move(*found);
  auto const problem = fmt::format("{}: expected {}, found {}", file.path(),
                                   name.empty() ? "--variable NAME" : "a variable " + name,
                                   volumes.empty() ? "no variable with three dimensions beside time"
                                                   : fmt::format("{}", fmt::join(volumes, ", ")));
  if (name.empty() && !volumes.empty()) throw variable_needed(problem);
  throw skel::usage_error(problem);
}

}  // namespace

array_lock::array_lock() {
  static std::mutex mutex;
  lock_ = std::unique_lock(mutex);
  before_ = silence_hdf5();
}

volume_header array_header(array_file& file, array_variable const& v, array_layout const& how,
                           std::array<std::size_t, 3> const& size) {
  volume_header header;
  header.name = file.path();
  bool const fits_float = v.type == scalar_type::float32 || size_of(*v.type) <= 2;
  header.type = fits_float ? scalar_type::float32 : scalar_type::float64;
  header.size = size;
  check_size(header);
  constexpr std::uint64_t small = std::uint64_t{64} << 20;
  auto const chunks = file.chunks(v);
  auto const written = file.written(v);
  // Reading makes chunks that were never written, and a grid doubles while it grows.
  auto const unwritten = chunks.empty() ? small : skel::program::available_memory() / 2;
  std::uint64_t chunk = 8;
  for (auto const n : chunks) chunk = n > UINT32_MAX || chunk > UINT32_MAX ? UINT64_MAX : chunk * n;
  auto const most = written * static_cast<double>(size_of(header.type)) + static_cast<double>(unwritten);
  auto const most_chunk = 8 * std::max(written, static_cast<double>(header.samples()));
  if (static_cast<double>(header.bytes()) > most ||
      (chunk > small && static_cast<double>(chunk) > most_chunk))
    throw skel::usage_error(fmt::format(
        "{}: {}: {} x {} x {} values{} can hold", file.path(), v.name, size[0], size[1], size[2],
        chunks.empty() ? ", more than the file"
                       : fmt::format(" in chunks of {} bytes, more than the file and the memory", chunk)));
  if (chunks.empty()) return header;
  std::uint64_t slice = chunk;
  for (std::size_t axis = 0; axis < 2; ++axis)
    slice *= (size[axis] + chunks[how.axes[axis]] - 1) / chunks[how.axes[axis]];
  constexpr std::uint64_t least_cache = std::uint64_t{16} << 20, most_cache = std::uint64_t{1} << 30;
  file.set_cache(v, std::clamp(slice, least_cache, most_cache));
  return header;
}

std::unique_ptr<volume_reader> volume_of_array(volume_header header, std::unique_ptr<array_file> file,
                                               array_variable const& v, array_layout const& how,
                                               std::size_t time, std::array<bool, 3> const& decreasing) {
  return std::make_unique<array_volume>(std::move(header), std::move(file), v, how, time, decreasing);
}

std::unique_ptr<volume_reader> open_arrays(std::unique_ptr<array_file> file, volume_choice const& choice) {
  auto const path = file->path();
  auto const [variable, how] = chosen(*file, choice.variable);
  auto const times = how.time ? how.dimensions[*how.time].what.length : 1;
  if (times == 0)
    throw skel::usage_error(fmt::format("{}: {}: expected a time, found none", path, variable.name));
  require_time(path, choice, times);
  auto header = array_header(*file, variable, how, how.size());
  std::array<bool, 3> decreasing{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto& c = header.coordinates[axis];
    c = coordinates_of(*file, how.dimensions[how.axes[axis]]);
    decreasing[axis] = c.front() > c.back();
    if (decreasing[axis]) std::ranges::reverse(c);
  }
  for (std::size_t axis = 0; axis < 3; ++axis)
    check_coordinates(header.coordinates[axis], path + ": " + how.dimensions[how.axes[axis]].text());
  return volume_of_array(std::move(header), std::move(file), variable, how, choice.time, decreasing);
}

std::vector<variable_info> list_arrays(array_file const& file) {
  std::vector<variable_info> all;
  for (auto const& v : file.variables()) {
    std::string size;
    for (auto const& d : dimensions_of(file, v)) size += (size.empty() ? "" : " x ") + d.text();
    all.push_back({v.name, v.type_name, size, file.text(v, "units"), is_volume(file, v)});
  }
  return all;
}

}  // namespace volume_data
