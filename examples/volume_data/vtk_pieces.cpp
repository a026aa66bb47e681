#include "vtk_pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "formats.hpp"
#include "skel/error.hpp"

namespace volume_data {

namespace {

/// Appends the parts of `from` outside of `hole`: at most six boxes.
void subtract(vtk_box from, vtk_box const& hole, std::vector<vtk_box>& to) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (hole.end[axis] <= from.first[axis] || from.end[axis] <= hole.first[axis]) return to.push_back(from);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (from.first[axis] < hole.first[axis]) {
      auto below = from;
      below.end[axis] = from.first[axis] = hole.first[axis];
      to.push_back(below);
    }
    if (hole.end[axis] < from.end[axis]) {
      auto above = from;
      above.first[axis] = from.end[axis] = hole.end[axis];
      to.push_back(above);
    }
  }
}

/// Throws usage_error unless the pieces cover the whole extent.
void check_cover(vtk_file const& file, vtk_box const& whole, std::vector<vtk_piece> const& pieces) {
  constexpr std::size_t most = 65536;  // bounds the time for pieces that no writer makes
  std::vector<vtk_box> open{whole}, rest;
  for (auto const& p : pieces) {
    rest.clear();
    for (auto const& box : open) subtract(box, p.extent, rest);
    std::swap(open, rest);
    if (open.size() > most)
      throw skel::usage_error(file.path + ": expected pieces that divide the grid along its axes");
  }
  if (open.empty()) return;
  auto const& at = open[0].first;
  throw skel::usage_error(
      fmt::format("{}: expected pieces that cover the grid, found none with the point {} {} {}", file.path,
                  at[0], at[1], at[2]));
}

std::uint64_t points(vtk_box const& box) {
  return static_cast<std::uint64_t>(box.size(0)) * box.size(1) * box.size(2);
}

class joined_pieces final : public volume_reader {
 public:
  joined_pieces(volume_header header, vtk_file file, vtk_box const& whole, std::vector<vtk_piece> pieces)
      : volume_reader(std::move(header)), file_(std::move(file)), whole_(whole) {
    for (auto& p : pieces) parts_.push_back({std::move(p), nullptr, 0});
  }
  [[nodiscard]] bool skips_freely() const override { return false; }

 private:
  struct part {
    vtk_piece piece;
    source values;       // opened where the piece begins, closed where it ends
    std::size_t at = 0;  // slice of the piece that comes next in them
  };

  void fill(std::span<std::byte> next) override {
    auto const slice = header().slice_bytes();
    auto z = whole_.first[2] + static_cast<std::int64_t>(position());
    for (; !next.empty(); next = next.subspan(slice), ++z)
      for (auto& p : parts_)
        if (p.piece.extent.first[2] <= z && z < p.piece.extent.end[2]) read_slice(p, z, next.first(slice));
  }
  void pass(std::size_t /*slices*/) override {}  // read_slice() skips

  void read_slice(part& p, std::int64_t z, std::span<std::byte> to) {
    auto const& box = p.piece.extent;
    auto const value_bytes = size_of(header().type);
    auto const row = box.size(0) * value_bytes;
    auto const wanted = static_cast<std::size_t>(z - box.first[2]);
    if (!p.values) p.values = open_array(file_, p.piece.array, points(box));
    if (wanted > p.at) p.values->skip((wanted - p.at) * row * box.size(1));
    for (auto y = box.first[1]; y < box.end[1]; ++y) {
      auto const at = static_cast<std::size_t>(y - whole_.first[1]) * header().size[0] +
                      static_cast<std::size_t>(box.first[0] - whole_.first[0]);
      auto const values = to.subspan(at * value_bytes, row);
      p.values->require(values);
      if (swapped(file_, p.piece.array)) reverse_each(values, value_bytes);
    }
    p.at = wanted + 1;
    if (p.at < box.size(2)) return;
    p.values->expect_end();
    p.values.reset();
  }

  vtk_file file_;
  vtk_box whole_;
  std::vector<part> parts_;
};

}  // namespace

bool vtk_box::contains(vtk_box const& other) const {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (other.first[axis] < first[axis] || end[axis] < other.end[axis]) return false;
  return true;
}

void check_pieces(vtk_file const& file, vtk_box const& whole, std::vector<vtk_piece> const& pieces) {
  for (auto const& p : pieces) {
    volume_header part;
    part.name = file.path;
    part.type = type_of(file, p.array);
    for (std::size_t axis = 0; axis < 3; ++axis) part.size[axis] = p.extent.size(axis);
    check_size(part, *open_array(file, p.array, points(p.extent)));
    if (auto const first = type_of(file, pieces[0].array); part.type != first)
      throw skel::usage_error(fmt::format("{}: array {}: expected type {} as in the first piece, found {}",
                                          file.path, p.array.name, name_of(first), name_of(part.type)));
  }
  check_cover(file, whole, pieces);
}

std::unique_ptr<volume_reader> volume_of_pieces(volume_header header, vtk_file const& file,
                                                vtk_box const& whole, std::vector<vtk_piece> pieces) {
  if (pieces.size() > 1)
    return std::make_unique<joined_pieces>(std::move(header), file, whole, std::move(pieces));
  auto const& array = pieces[0].array;
  bool const reversed = swapped(file, array);
  return stored_volume(std::move(header), open_array(file, array, points(pieces[0].extent)), reversed);
}

}  // namespace volume_data
