// Stacks of PNG files.
#include <fmt/format.h>

#include "formats.hpp"
#include "png_slice.hpp"
#include "skel/error.hpp"
#include "slice_files.hpp"

namespace volume_data {

namespace {

class pictures final : public volume_reader {
 public:
  pictures(volume_header header, slice_files files)
      : volume_reader(std::move(header)), files_(std::move(files)) {}
  [[nodiscard]] bool skips_freely() const override { return true; }

 private:
  void fill(std::span<std::byte> next) override {
    auto const slice = header().slice_bytes();
    for (auto z = position(); !next.empty(); ++z, next = next.subspan(slice)) {
      png_slice picture(files_[z]);
      if (picture.width() != header().size[0] || picture.height() != header().size[1] ||
          picture.type() != header().type)
        picture.fail(fmt::format("{} x {} pixels of type {}, expected {} x {} of type {} as in {}",
                                 picture.width(), picture.height(), name_of(picture.type()), header().size[0],
                                 header().size[1], name_of(header().type), files_[0]));
      picture.read(next.first(slice));
    }
  }
  void pass(std::size_t /*slices*/) override {}

  slice_files files_;
};

}  // namespace

std::unique_ptr<volume_reader> picture_slices(volume_header header, slice_files files,
                                              std::function<void(volume_header&)> const& place_points) {
  if (files.empty()) throw skel::usage_error(header.name + ": expected the names of slices, found none");
  {
    png_slice const first(files[0]);
    std::array<std::size_t, 3> const found{first.width(), first.height(), files.size()};
    if (header.size != std::array<std::size_t, 3>{} && header.size != found)
      throw skel::usage_error(fmt::format("{}: size: {} x {} x {}, but the pictures have {} x {} x {}",
                                          header.name, header.size[0], header.size[1], header.size[2],
                                          found[0], found[1], found[2]));
    header.size = found;
    header.type = first.type();
    check_size(header);
    if (first.most() < header.slice_bytes())
      first.fail(fmt::format("{} x {} pixels, more than the file can hold", found[0], found[1]));
  }
  for (auto const& file : files) static_cast<void>(file_length(file));  // reports missing files
  place_points(header);
  return std::make_unique<pictures>(std::move(header), std::move(files));
}

std::unique_ptr<volume_reader> open_folder(std::string const& path) {
  volume_header header;
  header.name = path;
  return picture_slices(std::move(header), pictures_in(path), [&](volume_header& h) {
    space_evenly(h, {0, 0, 0}, {1, 1, 1}, path);
  });
}

}  // namespace volume_data
