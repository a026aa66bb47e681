// The compressed blocks of arrays in VTK XML files.
#pragma once

#include "byte_source.hpp"
#include "vtk_array.hpp"

namespace volume_data {

/// A count in front of data: UInt32 or UInt64.
[[nodiscard]] std::uint64_t read_count(vtk_file const& file, byte_source& from);

/// The number of blocks, their size, the size of the last one (0: like the others), the compressed
/// size of each, and the blocks. vtkZLibDataCompressor and vtkLZMADataCompressor make each a zlib
/// or xz stream, which is unpacked as it is read; vtkLZ4DataCompressor one LZ4 block, which is
/// unpacked into memory. `alone`: nothing may follow the blocks. Throws usage_error for an unknown
/// file.compressor and for sizes that the file cannot hold.
[[nodiscard]] source unpacked_blocks(vtk_file const& file, source from, bool alone);

}  // namespace volume_data
