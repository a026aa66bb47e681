// netCDF files, classic and netCDF-4, with the CF conventions: https://cfconventions.org.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "formats.hpp"
#include "netcdf_file.hpp"
#include "skel/error.hpp"

namespace volume_data {

namespace {

bool is_number(nc_type type) { return type >= NC_BYTE && type <= NC_UINT64 && type != NC_CHAR; }

std::string_view type_text(nc_type type) {
  static constexpr std::array<std::string_view, 13> names{"?",       "int8",    "char",  "int16",  "int32",
                                                          "float32", "float64", "uint8", "uint16", "uint32",
                                                          "int64",   "uint64",  "text"};
  return type >= 0 && static_cast<std::size_t>(type) < names.size() ? names[static_cast<std::size_t>(type)]
                                                                    : "user type";
}

/// Stored numbers as CF has them: scaled, with values that are missing.
class packing {
 public:
  packing(netcdf_file const& file, netcdf_variable const& v) : float_(v.type == NC_FLOAT) {
    bool const is_signed = v.type == NC_BYTE || v.type == NC_SHORT || v.type == NC_INT;
    if (is_signed && lower(file.text(v, "_Unsigned")) == "true")
      modulus_ = v.type == NC_BYTE ? 256 : v.type == NC_SHORT ? 65536 : 4294967296.0;
    auto const one = [&](char const* name, double otherwise) {
      auto const numbers = file.numbers(v, name);
      return numbers.empty() ? otherwise : numbers[0];
    };
    scale_ = one("scale_factor", 1);
    offset_ = one("add_offset", 0);
    auto const limits = file.numbers(v, "valid_range");
    least_ =
        stored(limits.size() == 2 ? limits[0] : one("valid_min", -std::numeric_limits<double>::infinity()));
    most_ =
        stored(limits.size() == 2 ? limits[1] : one("valid_max", std::numeric_limits<double>::infinity()));
    missing_ = file.numbers(v, "_FillValue");
    if (missing_.empty()) add_default(v.type);
    auto const more = file.numbers(v, "missing_value");
    missing_.insert(missing_.end(), more.begin(), more.end());
    for (auto& m : missing_) m = stored(m);
  }
  [[nodiscard]] double operator()(double value) const {
    value = stored(value);
    if (!(least_ <= value && value <= most_) || std::ranges::find(missing_, value) != missing_.end())
      return std::numeric_limits<double>::quiet_NaN();
    return value * scale_ + offset_;
  }

 private:
  /// Attributes may have another type than the values.
  [[nodiscard]] double stored(double value) const {
    if (modulus_ > 0 && value < 0) return value + modulus_;
    return float_ ? static_cast<double>(static_cast<float>(value)) : value;
  }
  /// Values that were never written. A byte has none: all of its values are used.
  void add_default(nc_type type) {
    switch (type) {
      case NC_SHORT:
        return missing_.push_back(NC_FILL_SHORT);
      case NC_INT:
        return missing_.push_back(NC_FILL_INT);
      case NC_FLOAT:
        return missing_.push_back(NC_FILL_FLOAT);
      case NC_DOUBLE:
        return missing_.push_back(NC_FILL_DOUBLE);
      case NC_USHORT:
        return missing_.push_back(NC_FILL_USHORT);
      case NC_UINT:
        return missing_.push_back(NC_FILL_UINT);
      case NC_INT64:
        return missing_.push_back(static_cast<double>(NC_FILL_INT64));
      case NC_UINT64:
        return missing_.push_back(static_cast<double>(NC_FILL_UINT64));
      default:
        return;
    }
  }

  bool float_;
  double modulus_ = 0, scale_ = 1, offset_ = 0, least_ = 0, most_ = 0;
  std::vector<double> missing_;
};

/// A dimension of a variable.
struct dimension {
  netcdf_dimension what;
  std::optional<netcdf_variable> coordinate;
  std::string unit;
  char role = ' ';  // T, X, Y, Z, or unknown

  [[nodiscard]] std::string text() const {
    return fmt::format("{} {}{}", what.name, what.length, unit.empty() ? "" : " (" + unit + ")");
  }
};

/// What the coordinates say about their direction [CF, chapter 4].
char role_of(netcdf_file const& file, dimension const& d) {
  auto const name = lower(d.what.name);
  if (!d.coordinate) return name == "time" ? 'T' : ' ';
  auto const axis = file.text(*d.coordinate, "axis");
  if (axis == "T" || axis == "X" || axis == "Y" || axis == "Z") return axis[0];
  auto const standard = file.text(*d.coordinate, "standard_name");
  auto const unit = lower(d.unit);
  if (standard == "time" || name == "time" || unit.find(" since ") != std::string::npos) return 'T';
  auto const ends = [&](std::string_view what) { return standard.ends_with(what); };
  if (ends("longitude") || ends("projection_x_coordinate") || unit.starts_with("degrees_e") ||
      unit.starts_with("degree_e"))
    return 'X';
  if (ends("latitude") || ends("projection_y_coordinate") || unit.starts_with("degrees_n") ||
      unit.starts_with("degree_n"))
    return 'Y';
  return file.text(*d.coordinate, "positive").empty() ? ' ' : 'Z';
}

std::vector<dimension> dimensions_of(netcdf_file const& file, netcdf_variable const& v) {
  std::vector<dimension> all;
  for (auto const id : v.dimensions) {
    auto& d = all.emplace_back();
    d.what = file.dimension(v.group, id);
    d.coordinate = file.coordinate(v.group, id);
    if (d.coordinate) d.unit = file.text(*d.coordinate, "units");
    d.role = role_of(file, d);
  }
  bool const has_time = std::ranges::any_of(all, [](auto const& d) { return d.role == 'T'; });
  if (!has_time && all.size() == 4 && all[0].what.unlimited) all[0].role = 'T';
  return all;
}

/// Which dimension of a variable is which axis.
struct layout {
  std::vector<dimension> dimensions;
  std::optional<std::size_t> time;
  std::array<std::size_t, 3> axes{};  // x, y, z
};

/// Returns nothing if the variable is not a volume: it needs three dimensions beside time and those of
/// length 1. The coordinates may say which of them is x, y or z; the others are so in order, z the
/// slowest.
std::optional<layout> layout_of(netcdf_file const& file, netcdf_variable const& v) {
  if (!is_number(v.type)) return std::nullopt;
  layout to{dimensions_of(file, v), std::nullopt, {}};
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

/// Without a variable, coordinates are indices.
std::vector<double> coordinates_of(netcdf_file const& file, dimension const& d) {
  std::vector<double> values(d.what.length);
  if (!d.coordinate) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
    return values;
  }
  if (!is_number(d.coordinate->type))
    throw skel::usage_error(fmt::format("{}: coordinates {}: expected numbers", file.path(), d.what.name));
  file.read(*d.coordinate, {0}, {values.size()}, values);
  packing const unpacked(file, *d.coordinate);
  for (auto& c : values) c = unpacked(c);
  return values;
}

class netcdf_volume final : public volume_reader {
 public:
  netcdf_volume(volume_header header, std::unique_ptr<netcdf_file> file, netcdf_variable v, layout const& how,
                std::array<bool, 3> const& decreasing, std::size_t time)
      : volume_reader(std::move(header)),
        file_(std::move(file)),
        variable_(std::move(v)),
        axes_(how.axes),
        decreasing_(decreasing),
        unpacked_(*file_, variable_),
        start_(variable_.dimensions.size(), 0),
        count_(variable_.dimensions.size(), 1) {
    if (how.time) start_[*how.time] = time;
    for (std::size_t axis = 0; axis < 2; ++axis) count_[axes_[axis]] = this->header().size[axis];
  }
  ~netcdf_volume() override {
    auto const lock = netcdf_file::lock();
    file_.reset();
  }
  netcdf_volume(netcdf_volume const&) = delete;
  netcdf_volume& operator=(netcdf_volume const&) = delete;

  [[nodiscard]] bool skips_freely() const override { return true; }

 private:
  void fill(std::span<std::byte> next) override {
    auto const slice = header().slice_bytes();
    stored_.resize(header().slice_samples());
    for (auto z = position(); !next.empty(); next = next.subspan(slice), ++z) {
      start_[axes_[2]] = decreasing_[2] ? header().size[2] - 1 - z : z;
      {
        auto const lock = netcdf_file::lock();
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

  std::unique_ptr<netcdf_file> file_;
  netcdf_variable variable_;
  std::array<std::size_t, 3> axes_;
  std::array<bool, 3> decreasing_;
  packing unpacked_;
  std::vector<std::size_t> start_, count_;
  std::vector<double> stored_;
};

/// Throws usage_error if values or chunks are larger than the file can hold, which compresses by 1,032
/// at the most, and makes the cache hold the chunks of a slice.
void check_storage(netcdf_file const& file, netcdf_variable const& v, layout const& how,
                   volume_header const& header) {
  check_size(header);
  auto const chunks = file.chunks(v);
  if (chunks.empty()) return;
  constexpr std::uint64_t most_chunk = std::uint64_t{64} << 20;  // allocated by the library
  auto const most = file_length(file.path()) * 1032;
  std::uint64_t chunk = 8;
  for (auto const n : chunks) chunk = n > UINT32_MAX || chunk > UINT32_MAX ? UINT64_MAX : chunk * n;
  if (header.bytes() > most || (chunk > most && chunk > most_chunk))
    throw skel::usage_error(
        fmt::format("{}: {}: {} x {} x {} values in chunks of {} bytes, more than the file can hold",
                    file.path(), v.name, header.size[0], header.size[1], header.size[2], chunk));
  std::uint64_t slice = chunk;
  for (std::size_t axis = 0; axis < 2; ++axis)
    slice *= (header.size[axis] + chunks[how.axes[axis]] - 1) / chunks[how.axes[axis]];
  constexpr std::uint64_t least_cache = std::uint64_t{16} << 20, most_cache = std::uint64_t{1} << 30;
  file.set_cache(v, std::clamp(slice, least_cache, most_cache));
}

scalar_type type_for(nc_type type) {
  bool const small =
      type == NC_FLOAT || type == NC_BYTE || type == NC_UBYTE || type == NC_SHORT || type == NC_USHORT;
  return small ? scalar_type::float32 : scalar_type::float64;
}

/// The wanted variable or, without a name, the only volume.
std::pair<netcdf_variable, layout> chosen(netcdf_file const& file, std::string const& name) {
  std::vector<std::string> volumes;
  std::optional<std::pair<netcdf_variable, layout>> found;
  for (auto const& v : file.variables()) {
    auto how = layout_of(file, v);
    if (how) volumes.push_back(v.name);
    if (name.empty() ? !how : v.name != name && v.name != "/" + name) continue;
    if (!how)
      throw skel::usage_error(
          fmt::format("{}: {}: expected numbers with three dimensions beside time, found {} with {}",
                      file.path(), v.name, type_text(v.type), v.dimensions.size()));
    found.emplace(v, std::move(*how));
  }
  if (found && (!name.empty() || volumes.size() == 1)) return std::move(*found);
  throw skel::usage_error(fmt::format("{}: expected {}, found {}", file.path(),
                                      name.empty() ? "--variable NAME" : "a variable " + name,
                                      volumes.empty() ? "no variable with three dimensions beside time"
                                                      : fmt::format("{}", fmt::join(volumes, ", "))));
}

}  // namespace

std::unique_ptr<volume_reader> open_netcdf(std::string const& path, volume_choice const& choice) {
  auto const lock = netcdf_file::lock();
  auto file = std::make_unique<netcdf_file>(path);
  auto [variable, how] = chosen(*file, choice.variable);
  auto const times = how.time ? how.dimensions[*how.time].what.length : 1;
  if (times == 0)
    throw skel::usage_error(fmt::format("{}: {}: expected a time, found none", path, variable.name));
  require_time(path, choice, times);
  volume_header header;
  header.name = path;
  header.type = type_for(variable.type);
  for (std::size_t axis = 0; axis < 3; ++axis) header.size[axis] = how.dimensions[how.axes[axis]].what.length;
  check_storage(*file, variable, how, header);
  std::array<bool, 3> decreasing{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto& c = header.coordinates[axis];
    c = coordinates_of(*file, how.dimensions[how.axes[axis]]);
    decreasing[axis] = c.front() > c.back();
    if (decreasing[axis]) std::ranges::reverse(c);
  }
  for (std::size_t axis = 0; axis < 3; ++axis)
    check_coordinates(header.coordinates[axis], path + ": " + how.dimensions[how.axes[axis]].text());
  return std::make_unique<netcdf_volume>(std::move(header), std::move(file), std::move(variable), how,
                                         decreasing, choice.time);
}

std::vector<variable_info> list_netcdf(std::string const& path) {
  auto const lock = netcdf_file::lock();
  netcdf_file const file(path);
  std::vector<variable_info> all;
  for (auto const& v : file.variables()) {
    std::string size;
    for (auto const& d : dimensions_of(file, v)) size += (size.empty() ? "" : " x ") + d.text();
    all.push_back({v.name, std::string(type_text(v.type)), size, file.text(v, "units"),
                   layout_of(file, v).has_value()});
  }
  return all;
}

}  // namespace volume_data
