// A DataArray of a VTK XML file: where its bytes are and how they are to be read.
#pragma once

#include <cstdint>
#include <string>

#include "byte_source.hpp"

namespace skel::volume_data {

struct vtk_file {
  std::string path;
  bool swapped = false;           ///< other byte order than the machine's
  bool compressed = false;        ///< vtkZLibDataCompressor
  std::size_t header_width = 4;   ///< bytes of the counts in front of data: UInt32 or UInt64
  std::uint64_t appended_at = 0;  ///< behind the _ of <AppendedData>; 0: there is none
  bool appended_raw = true;       ///< or base64
};

struct vtk_array {
  std::string name;
  scalar_type type = scalar_type::float32;
  std::uint64_t begin = 0, end = 0;  ///< the text between the tags, for ascii and binary
  std::uint64_t offset = 0;          ///< for appended
  enum class kind : std::uint8_t { ascii, binary, appended } format = kind::ascii;
};

/// The values of the array, of which `bytes` are expected; still in the file's byte order (vtk_swapped).
/// usage_error if the array says that it has another size.
[[nodiscard]] source open_array(vtk_file const& file, vtk_array const& array);
[[nodiscard]] bool swapped(vtk_file const& file, vtk_array const& array);

}  // namespace skel::volume_data
