// The piecewise polynomial model in a file: the data of its nodes, slice by slice. Polynomials of
// cells are computed from the data of their corners, so neighbours agree on their faces; a node
// costs 8 numbers, a cell none.
//
// All numbers have the byte order of the machine that wrote them, which `mark` identifies:
//
//     char magic[8] = "SKELMODL"; uint32 mark = 0x01020304, version = 1, order, numbers per node;
//     uint64 nodes[3]; float64 coordinates along x, y, z; uint64 XXH3 of all this;
//     for each slice of nodes: float64 data, x fastest, those of a node together (cell.hpp has their order);
//                              uint64 XXH3 of the slice's number (uint64) and the data
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "skel/atomic_file.hpp"

namespace isosurface {

struct model_header {
  int order = 3;                                   ///< 1: trilinear cells; 3: tricubic ones
  std::array<std::vector<double>, 3> coordinates;  ///< of the nodes: at least 2 along each axis, increasing

  [[nodiscard]] std::size_t numbers_per_node() const { return order == 1 ? 1 : 8; }
  [[nodiscard]] std::size_t slices() const { return coordinates[2].size(); }
  /// The number of numbers in a slice.
  [[nodiscard]] std::size_t slice_numbers() const {
    return coordinates[0].size() * coordinates[1].size() * numbers_per_node();
  }
};

/// Writes a model slice by slice. Throws skel::error `path: reason`. The file appears when it is
/// complete.
class model_writer {
 public:
  model_writer(std::string const& path, model_header header);
  /// Adds the next slice of header.slice_numbers() numbers.
  void add(std::span<double const> slice);
  void commit();

 private:
  model_header header_;
  skel::atomic_file file_;
  std::uint64_t next_ = 0;
};

/// Reads slices in any order. Throws usage_error `path: at byte N: what is wrong`. The length of
/// the file is checked against its header before memory is allocated.
class model_reader {
 public:
  explicit model_reader(std::string path);
  [[nodiscard]] model_header const& header() const noexcept { return header_; }
  void read(std::size_t slice, std::span<double> to) const;

 private:
  std::string path_;
  model_header header_;
  std::uint64_t begin_ = 0;  // offset of the slices
};

}  // namespace isosurface
