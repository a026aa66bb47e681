#include "volume_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>

#include "formats.hpp"
#include "program/text.hpp"
#include "skel/error.hpp"
#include "slice_files.hpp"

namespace volume_data {

void volume_reader::read(std::span<std::byte> slices) {
  auto const bytes = header_.slice_bytes();
  auto const count = slices.size() / bytes;
  if (count * bytes != slices.size() || count > header_.size[2] - position_ || next_row_ > 0)
    throw skel::error(fmt::format("{}: requested {} bytes at slice {} of {}, of {} bytes each", header_.name,
                                  slices.size(), position_, header_.size[2], bytes));
  fill(slices);
  position_ += count;
}

void volume_reader::skip(std::size_t slices) {
  if (slices > header_.size[2] - position_)
    throw skel::error(fmt::format("{}: {} slices to skip at slice {} of {}", header_.name, slices, position_,
                                  header_.size[2]));
  if (slices == 0) return;
  pass(slices - (decoded_ ? 1 : 0));
  position_ += slices;
  next_row_ = 0;
  decoded_ = false;
}

void volume_reader::read_rows(std::size_t first, std::span<float> rows) {
  auto const length = header_.size[0];
  auto const count = rows.size() / length;
  if (count * length != rows.size() || first < next_row_ || first + count > header_.size[1] ||
      position_ == header_.size[2])
    throw skel::error(fmt::format("{}: requested {} samples at row {} of slice {}, of {} x {} each",
                                  header_.name, rows.size(), first, position_, length, header_.size[1]));
  next_row_ = first + count;
  stored_rows_.resize(rows.size() * size_of(header_.type));
  fill_rows(first, stored_rows_);
  convert(header_.type, stored_rows_, rows);
}

void volume_reader::read_samples(std::size_t row, std::size_t step, std::span<float> to) {
  if (row < next_row_ || row >= header_.size[1] || (to.size() - 1) * step >= header_.size[0] ||
      position_ == header_.size[2])
    throw skel::error(fmt::format("{}: requested row {} of slice {}", header_.name, row, position_));
  fill_samples(row, step, to);
  next_row_ = row + 1;
}

void volume_reader::fill_samples(std::size_t row, std::size_t step, std::span<float> to) {
  row_.resize(header_.size[0]);
  read_rows(row, row_);
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = row_[i * step];
}

void volume_reader::fill_rows(std::size_t first, std::span<std::byte> rows) {
  if (!decoded_) {
    slice_.resize(header_.slice_bytes());
    fill(slice_);
    decoded_ = true;
  }
  auto const from = std::span(slice_).subspan(first * header_.row_bytes(), rows.size());
  std::ranges::copy(from, rows.begin());
}

template <class To>
void volume_reader::read_as(std::span<To> slices) {
  auto const samples = header_.slice_samples();
  slice_.resize(header_.slice_bytes());
  if (slices.size() % samples != 0) throw skel::error(header_.name + ": expected whole slices");
  for (; !slices.empty(); slices = slices.subspan(samples)) {
    read(std::span<std::byte>(slice_));
    convert(header_.type, slice_, slices.first(samples));
  }
}
template void volume_reader::read_as(std::span<float>);
template void volume_reader::read_as(std::span<double>);

namespace {

/// In small letters or capitals.
bool ends_with(std::string_view path, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(
      endings, [name = lower(path)](std::string_view ending) { return name.ends_with(ending); });
}

bool is_vtk(std::string const& path) { return ends_with(path, {".vti", ".vtr"}); }
bool is_netcdf(std::string const& path) { return ends_with(path, {".nc", ".nc4", ".cdf"}); }
bool is_hdf5(std::string const& path) { return ends_with(path, {".h5", ".hdf5", ".he5", ".hdf", ".vtkhdf"}); }

/// Opens a file of a format with one variable.
std::unique_ptr<volume_reader> open_single(std::string const& path) {
  if (ends_with(path, {".nrrd", ".nhdr"})) return open_nrrd(path);
  if (ends_with(path, {".mha", ".mhd"})) return open_meta_image(path);
  if (ends_with(path, {".json"})) return open_raw(path);
  if (ends_with(path, {".raw"})) return open_raw(path + ".json");
  if (std::filesystem::is_directory(path)) return open_folder(path);
  throw skel::usage_error(
      path +
      ": a volume is a folder of .png files, or has a name that ends in .vti, .vtr, .nc, .nc4, .cdf, .h5, "
      ".hdf5, .he5, .hdf, .vtkhdf, .nrrd, .nhdr, .mha, .mhd, .json or .raw");
}

std::vector<variable_info> variables(std::string const& path) {
  if (is_vtk(path)) return list_vtk(path);
  if (is_netcdf(path)) return list_netcdf(path);
  if (is_hdf5(path)) return list_hdf5(path);
  auto const volume = open_single(path);
  auto const& h = volume->header();
  return {{"", std::string(name_of(h.type)), fmt::format("{} x {} x {}", h.size[0], h.size[1], h.size[2]), "",
           has_cells(h.size)}};
}

}  // namespace

std::string name_of(std::string const& path, volume_choice const& choice) {
  return path + (choice.variable.empty() ? "" : ":" + choice.variable) +
         (choice.time == 0 ? "" : fmt::format("@{}", choice.time));
}

std::unique_ptr<volume_reader> open_volume(std::string const& path, volume_choice const& choice) {
  if (is_vtk(path)) return open_vtk(path, choice);
  if (is_netcdf(path)) return open_netcdf(path, choice);
  if (is_hdf5(path)) return open_hdf5(path, choice);
  auto volume = open_single(path);
  if (!choice.variable.empty())
    throw skel::usage_error(fmt::format("{}: found one variable without a name, expected no --variable {}",
                                        path, choice.variable));
  require_time(path, choice, 1);
  return volume;
}

std::string list_variables(std::string const& path) {
  auto all = variables(path);
  std::array<std::size_t, 3> widths{};
  for (auto& v : all)  // a name may have any bytes
    for (auto* const text : {&v.name, &v.type, &v.size, &v.unit}) *text = skel::program::one_line(*text);
  for (auto const& v : all) {
    std::array const cells{v.name.size(), v.type.size(), v.size.size()};
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i]);
  }
  std::string text;
  for (auto const& v : all) {
    auto line = fmt::format("{:{}}  {:{}}  {:{}}", v.name, widths[0], v.type, widths[1], v.size, widths[2]);
    if (!v.unit.empty()) line += "  " + v.unit;
    if (!v.is_volume) line += "  (not a volume)";
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace volume_data
