// A DataArray of a VTK XML file: the position and encoding of its bytes.
#pragma once

#include <cstdint>
#include <string>

#include "byte_source.hpp"

namespace volume_data {

struct vtk_file {
  std::string path;
  bool swapped = false;           ///< other byte order than the machine's
  std::string compressor;         ///< of all arrays but those in text; empty: none
  std::size_t header_width = 4;   ///< bytes of the counts in front of data: UInt32 or UInt64
  std::uint64_t appended_at = 0;  ///< behind the _ of <AppendedData>; 0: missing
  bool appended_raw = true;       ///< or base64
};

/// Attributes as text, because those of unread arrays are not checked.
struct vtk_array {
  std::string name, type_name, components, format, offset;
  std::string steps;                 ///< indices of the times that it belongs to; empty: all
  std::uint64_t begin = 0, end = 0;  ///< the text between the tags, for ascii and binary
};

/// Whether the array has one component, of a type that volumes have; the values of Bit are uint8.
[[nodiscard]] bool is_scalar(vtk_array const& array);
/// Throws usage_error unless is_scalar().
[[nodiscard]] scalar_type type_of(vtk_file const& file, vtk_array const& array);

/// Opens the `count` values of an array that is_scalar(), in the file's byte order, see swapped.
/// Throws usage_error if its attributes are invalid.
[[nodiscard]] source open_array(vtk_file const& file, vtk_array const& array, std::uint64_t count);
[[nodiscard]] bool swapped(vtk_file const& file, vtk_array const& array);

}  // namespace volume_data
