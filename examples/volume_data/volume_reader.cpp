#include "volume_reader.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "formats.hpp"
#include "skel/error.hpp"
#include "slice_files.hpp"

namespace volume_data {

void volume_reader::read(std::span<std::byte> slices) {
  auto const bytes = header_.slice_bytes();
  auto const count = slices.size() / bytes;
  if (count * bytes != slices.size() || count > header_.size[2] - position_)
    throw skel::error(fmt::format("{}: requested {} bytes at slice {} of {}, of {} bytes each", header_.name,
                                  slices.size(), position_, header_.size[2], bytes));
  fill(slices);
  position_ += count;
}

void volume_reader::skip(std::size_t slices) {
  if (slices > header_.size[2] - position_)
    throw skel::error(fmt::format("{}: {} slices to skip at slice {} of {}", header_.name, slices, position_,
                                  header_.size[2]));
  pass(slices);
  position_ += slices;
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

std::unique_ptr<volume_reader> open_volume(std::string const& path) {
  auto const ends = [&](std::string_view ending) { return path.ends_with(ending); };
  if (ends(".vti") || ends(".vtr")) return open_vtk(path);
  if (ends(".nrrd") || ends(".nhdr")) return open_nrrd(path);
  if (ends(".mha") || ends(".mhd")) return open_meta_image(path);
  if (ends(".json")) return open_raw(path);
  if (ends(".raw")) return open_raw(path + ".json");
  if (std::filesystem::is_directory(path)) return open_folder(path);
  throw skel::usage_error(
      path +
      ": a volume is a folder of .png files, or has a name that ends in .vti, .vtr, .nrrd, "
      ".nhdr, .mha, .mhd, .json or .raw");
}

}  // namespace volume_data
