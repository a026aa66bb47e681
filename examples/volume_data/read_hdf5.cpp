// HDF5 files: data sets with the conventions of CF, and image data of VTKHDF ("VTK File Formats",
// the part on VTKHDF).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hdf5_file.hpp"
#include "skel/error.hpp"

namespace volume_data {

namespace {

/// Image data: arrays of dimensions z, y, x, with times before and components behind.
struct image {
  std::array<std::size_t, 3> size{};
  std::array<double, 3> origin{}, spacing{};
  std::size_t times = 1;
  bool has_steps = false;
};

bool has_image(hdf5_file const& file) { return !file.group_text("/VTKHDF", "Type").empty(); }

[[noreturn]] void fail_image(hdf5_file const& file, std::string const& what) {
  throw skel::usage_error(fmt::format("{}: VTKHDF: {}", file.path(), what));
}

std::vector<double> required(hdf5_file const& file, char const* name, std::size_t count) {
  auto numbers = file.group_numbers("/VTKHDF", name);
  if (numbers.size() != count) fail_image(file, fmt::format("expected {} of {} numbers", name, count));
  return numbers;
}

image image_of(hdf5_file const& file) {
  auto const type = file.group_text("/VTKHDF", "Type");
  if (type != "ImageData") fail_image(file, fmt::format("expected Type ImageData, found {}", type));
  auto const version = required(file, "Version", 2)[0];
  if (version != 1 && version != 2)
    fail_image(file, fmt::format("expected Version 1 or 2, found {}", version));
  auto const direction = file.group_numbers("/VTKHDF", "Direction");
  if (!direction.empty() && !is_unit(direction))
    fail_image(file, "expected Direction 1 0 0 0 1 0 0 0 1: only axis-aligned grids are read");
  auto const whole = required(file, "WholeExtent", 6), origin = required(file, "Origin", 3),
             spacing = required(file, "Spacing", 3);
  image to;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto const first = whole[2 * axis], last = whole[2 * axis + 1];
    constexpr double most = 2147483647;
    bool const whole_numbers = first == std::floor(first) && last == std::floor(last);
    if (!whole_numbers || !(std::abs(first) <= most && last >= first && last - first < most))
      fail_image(
          file, fmt::format("WholeExtent: expected whole numbers, the second at least the first, found {} {}",
                            first, last));
    to.size[axis] = static_cast<std::size_t>(last - first) + 1;
    to.origin[axis] = origin[axis] + spacing[axis] * first;
    to.spacing[axis] = spacing[axis];
  }
  auto const steps = file.group_numbers("/VTKHDF/Steps", "NSteps");
  to.has_steps = !steps.empty();
  if (to.has_steps && !(steps[0] >= 1 && steps[0] <= 2147483647))
    fail_image(file, "expected NSteps of at least 1");
  if (to.has_steps) to.times = static_cast<std::size_t>(steps[0]);
  return to;
}

struct image_array {
  array_variable what;
  std::string name;
  std::vector<array_dimension> dimensions;

  /// Flags of hidden points are no field.
  [[nodiscard]] bool is_field(image const& in) const {
    return what.type && dimensions.size() == (in.has_steps ? 4 : 3) && name != "vtkGhostType";
  }
};

std::vector<image_array> arrays_of(hdf5_file const& file) {
  constexpr std::string_view folder = "/VTKHDF/PointData/";
  std::vector<image_array> all;
  for (auto const& v : file.variables())
    if (v.name.starts_with(folder)) all.push_back({v, v.name.substr(folder.size()), file.dimensions(v)});
  return all;
}

/// Where the values of a time stand in an array.
std::size_t step_of(hdf5_file const& file, image_array const& array, std::size_t time) {
  for (auto const& v : file.variables()) {
    if (v.name != "/VTKHDF/Steps/PointDataOffsets/" + array.name || !v.type || v.rank != 1) continue;
    std::vector<double> offset(1);
    file.read(v, {time}, {1}, offset);
    if (!(offset[0] >= 0 && offset[0] < static_cast<double>(array.dimensions[0].length)))
      fail_image(file, fmt::format("{}: expected a step below {}, found {}", v.name,
                                   array.dimensions[0].length, offset[0]));
    return static_cast<std::size_t>(offset[0]);
  }
  return time;
}

/// The array of this name, the file's active one, or the first scalar.
image_array chosen(hdf5_file const& file, image const& in, std::string name) {
  if (name.empty()) name = file.group_text("/VTKHDF/PointData", "Scalars");
  std::vector<std::string> found;
  for (auto const& a : arrays_of(file)) {
    if (!a.is_field(in)) continue;
    if (name.empty() || a.name == name) return a;
    found.push_back(a.name);
  }
  fail_image(file, fmt::format("expected PointData with an array of one component{}, found {}",
                               name.empty() ? "" : " named " + name,
                               found.empty() ? "none" : fmt::format("{}", fmt::join(found, ", "))));
}

std::unique_ptr<volume_reader> open_image(std::unique_ptr<hdf5_file> file, volume_choice const& choice) {
  auto const in = image_of(*file);
  require_time(file->path(), choice, in.times);
  auto const array = chosen(*file, in, choice.variable);
  array_layout how;
  if (in.has_steps) how.time = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    how.axes[axis] = array.what.rank - 1 - axis;
    auto const length = array.dimensions[how.axes[axis]].length;
    if (length != in.size[axis])
      fail_image(*file, fmt::format("{}: expected {} values along {}, as WholeExtent says, found {}",
                                    array.name, in.size[axis], "xyz"[axis], length));
  }
  auto const step = in.has_steps ? step_of(*file, array, choice.time) : 0;
  if (in.has_steps && step >= array.dimensions[0].length)
    fail_image(*file, fmt::format("{}: expected {} times, found {}", array.name, in.times,
                                  array.dimensions[0].length));
  auto header = array_header(*file, array.what, how, in.size);
  space_evenly(header, in.origin, in.spacing, file->path());
  return volume_of_array(std::move(header), std::move(file), array.what, how, step);
}

std::vector<variable_info> list_image(hdf5_file const& file) {
  auto const in = image_of(file);
  std::vector<variable_info> all;
  for (auto const& a : arrays_of(file)) {
    auto size = fmt::format("{} x {} x {}", in.size[0], in.size[1], in.size[2]);
    if (in.times > 1) size += fmt::format(", {} times", in.times);
    std::size_t const scalar = in.has_steps ? 4 : 3;
    if (a.dimensions.size() == scalar + 1) size += fmt::format(", {} components", a.dimensions.back().length);
    all.push_back({a.name, a.what.type_name, std::move(size), "", a.is_field(in) && has_cells(in.size)});
  }
  return all;
}

}  // namespace

std::unique_ptr<volume_reader> open_hdf5(std::string const& path, volume_choice const& choice) {
  array_lock const lock;
  auto file = std::make_unique<hdf5_file>(path);
  return has_image(*file) ? open_image(std::move(file), choice) : open_arrays(std::move(file), choice);
}

std::vector<variable_info> list_hdf5(std::string const& path) {
  array_lock const lock;
  hdf5_file const file(path);
  return has_image(file) ? list_image(file) : list_arrays(file);
}

}  // namespace volume_data
