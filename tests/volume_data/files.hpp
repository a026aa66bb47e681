// Volume files of all formats, written independently of the readers: one small volume, with uneven
// spacing if the format supports it.
#pragma once

#include <lz4.h>
#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "grid.hpp"
#include "skel/error.hpp"

namespace test {

/// Returns the message of the exception that f() throws.
template <class F>
std::string message_of(F const& f) {
  try {
    f();
  } catch (std::exception const& e) {
    return e.what();
  }
  return "no error";
}
inline bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

/// Returns the error of reading a volume.
inline std::string error_of(std::string const& path) {
  try {
    static_cast<void>(volume_data::read_grid(path));
  } catch (skel::usage_error const& e) {  // other errors fail the test
    return e.what();
  }
  return "no error";
}

/// A folder that is removed by the destructor.
class folder {
 public:
  explicit folder(std::string const& name)
      : path_(std::filesystem::temp_directory_path() / ("skel-" + name)) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~folder() { std::filesystem::remove_all(path_); }
  folder(folder const&) = delete;
  folder& operator=(folder const&) = delete;
  [[nodiscard]] std::string path(std::string const& name) const { return (path_ / name).string(); }
  std::string write(std::string const& name, std::string const& bytes) const {
    std::filesystem::remove(path_ / name);  // some file systems flush immediately when a file is replaced
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

inline constexpr std::size_t nx = 5, ny = 4, nz = 3, samples = nx * ny * nz;
/// Exactly representable in all six types.
inline int value(std::size_t i) { return static_cast<int>(i * 7 % 120); }

template <class T>
std::string stored(bool big_endian) {
  std::string out;
  for (std::size_t i = 0; i < samples; ++i) {
    auto const v = static_cast<T>(value(i));
    std::string bytes(sizeof v, '\0');
    std::memcpy(bytes.data(), &v, sizeof v);
    if (big_endian) std::ranges::reverse(bytes);
    out += bytes;
  }
  return out;
}

inline std::string base64(std::string const& bytes) {
  static std::string const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k <= bytes.size() ? digits[bits >> (18 - 6 * k) & 63U] : '=';
  }
  return out;
}

inline std::string zlib(std::string const& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<Bytef const*>(bytes.data()),
           bytes.size());
  out.resize(size);
  return out;
}

inline std::string gzip(std::string const& bytes) {
  z_stream s{};
  deflateInit2(&s, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&s, bytes.size()) + 32, '\0');
  s.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  s.avail_in = static_cast<uInt>(bytes.size());
  s.next_out = reinterpret_cast<Bytef*>(out.data());
  s.avail_out = static_cast<uInt>(out.size());
  deflate(&s, Z_FINISH);
  out.resize(s.total_out);
  deflateEnd(&s);
  return out;
}

/// A count in front of VTK's data.
inline std::string count(std::uint64_t n, std::size_t width, bool big_endian) {
  std::string bytes(width, '\0');
  for (std::size_t i = 0; i < width; ++i) bytes[i] = static_cast<char>(n >> (8 * i));
  if (big_endian) std::ranges::reverse(bytes);
  return bytes;
}

inline std::string lz4(std::string const& bytes) {
  std::string out(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(bytes.size()))), '\0');
  auto const size = LZ4_compress_default(bytes.data(), out.data(), static_cast<int>(bytes.size()),
                                         static_cast<int>(out.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

inline std::string xz(std::string const& bytes) {
  std::string out(lzma_stream_buffer_bound(bytes.size()), '\0');
  std::size_t size = 0;
  lzma_easy_buffer_encode(5, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<std::uint8_t const*>(bytes.data()),
                          bytes.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size());
  out.resize(size);
  return out;
}

struct vtk_style {
  bool big_endian = false, compressed = false, wide = false;  ///< wide: UInt64 headers
  enum { ascii, binary, appended_raw, appended_base64 } place = ascii;
  std::string compressor = "ZLib";  ///< or LZ4, LZMA
};

inline std::string packed(std::string const& bytes, std::string const& compressor) {
  return compressor == "LZ4" ? lz4(bytes) : compressor == "LZMA" ? xz(bytes) : zlib(bytes);
}

/// Data in VTK's binary encoding: counts, then the bytes or compressed blocks of 64 of them.
inline std::string vtk_data(std::string const& bytes, vtk_style const& s) {
  bool const text = s.place != vtk_style::appended_raw;
  auto const coded = [&](std::string const& b) { return text ? base64(b) : b; };
  auto const number = [&](std::uint64_t n) { return count(n, s.wide ? 8 : 4, s.big_endian); };
  if (!s.compressed) return coded(number(bytes.size()) + bytes);
  constexpr std::size_t block = 64;
  std::string sizes, blocks;
  std::size_t blocks_count = 0;
  for (std::size_t i = 0; i < bytes.size(); i += block, ++blocks_count) {
    auto const part = packed(bytes.substr(i, block), s.compressor);
    sizes += number(part.size());
    blocks += part;
  }
  return coded(number(blocks_count) + number(block) + number(bytes.size() % block) + sizes) + coded(blocks);
}

inline std::string ascii(std::string const& numbers) { return "\n" + numbers + "\n"; }

/// A .vti with values of this type, or a .vtr with uneven coordinates.
template <class T>
std::string vtk(std::string const& type, bool rectilinear, vtk_style const& s) {
  std::string appended;
  auto const array = [&](std::string const& name, std::string const& kind, std::string const& bytes,
                         std::string const& text) {
    std::string const head = "<DataArray type=\"" + kind + "\" Name=\"" + name + "\" format=\"";
    if (s.place == vtk_style::ascii) return head + "ascii\">" + ascii(text) + "</DataArray>\n";
    if (s.place == vtk_style::binary)
      return head + "binary\">\n   " + vtk_data(bytes, s) + "\n</DataArray>\n";
    auto const offset = appended.size();
    appended += vtk_data(bytes, s);
    return head + "appended\" offset=\"" + std::to_string(offset) + "\"/>\n";
  };
  auto const coordinates = [&](std::vector<double> const& c) {
    std::string bytes, text;
    for (auto const v : c) {
      std::string b(sizeof v, '\0');
      std::memcpy(b.data(), &v, sizeof v);
      if (s.big_endian) std::ranges::reverse(b);
      bytes += b;
      text += std::to_string(v) + " ";
    }
    return array("c", "Float64", bytes, text);
  };
  std::string text;
  for (std::size_t i = 0; i < samples; ++i) text += std::to_string(value(i)) + " ";
  std::string const shape = rectilinear ? "RectilinearGrid" : "ImageData";
  std::string out = "<?xml version=\"1.0\"?>\n<!-- <a comment> -->\n<VTKFile type=\"" + shape +
                    "\" version=\"1.0\" byte_order=\"" + (s.big_endian ? "BigEndian" : "LittleEndian") +
                    "\" header_type=\"" + (s.wide ? "UInt64" : "UInt32") + "\"" +
                    (s.compressed ? " compressor=\"vtk" + s.compressor + "DataCompressor\"" : "") + ">\n<" +
                    shape + " WholeExtent=\"0 4 0 3 0 2\"" +
                    (rectilinear ? "" : " Origin=\"1 2 3\" Spacing=\"0.5 1 2\"") +
                    "><Piece Extent=\"0 4 0 3 0 2\">\n<PointData Scalars=\"wind\">\n";
  out += array("wind", type, stored<T>(s.big_endian), text) + "</PointData><CellData></CellData>\n";
  if (rectilinear)
    out += "<Coordinates>" + coordinates({0, 1, 3, 4, 8}) + coordinates({-1, 0, 0.5, 2}) +
           coordinates({0, 0.25, 4}) + "</Coordinates>\n";
  out += "</Piece></" + shape + ">\n";
  if (!appended.empty())
    out += std::string("<AppendedData encoding=\"") +
           (s.place == vtk_style::appended_raw ? "raw" : "base64") + "\">\n _" + appended +
           "\n</AppendedData>\n";
  return out + "</VTKFile>\n";
}

/// The same volume in pieces, each with its first and last points along x, y and z.
inline std::string vtk_pieces(bool rectilinear, std::vector<std::array<int, 6>> const& boxes,
                              vtk_style const& s) {
  std::string const shape = rectilinear ? "RectilinearGrid" : "ImageData";
  std::string appended;
  auto const array = [&](std::string const& head, std::vector<int> const& numbers) {
    std::string bytes, text;
    for (auto const n : numbers) {
      bytes += count(static_cast<std::uint64_t>(n), 2, s.big_endian);
      text += std::to_string(n) + " ";
    }
    auto const start = "<DataArray type=\"Int16\" " + head + " format=\"";
    if (s.place == vtk_style::ascii) return start + "ascii\">" + text + "</DataArray>\n";
    if (s.place == vtk_style::binary) return start + "binary\">" + vtk_data(bytes, s) + "</DataArray>\n";
    auto const offset = appended.size();
    appended += vtk_data(bytes, s);
    return start + "appended\" offset=\"" + std::to_string(offset) + "\"/>\n";
  };
  std::string out = "<VTKFile type=\"" + shape + "\" byte_order=\"" + (s.big_endian ? "Big" : "Little") +
                    "Endian\"" +
                    (s.compressed ? " compressor=\"vtk" + s.compressor + "DataCompressor\"" : "") + "><" +
                    shape + " WholeExtent=\"0 4 0 3 0 2\" Origin=\"1 2 3\" Spacing=\"0.5 1 2\">";
  for (auto const& b : boxes) {
    std::vector<int> values;
    for (int z = b[4]; z <= b[5]; ++z)
      for (int y = b[2]; y <= b[3]; ++y)
        for (int x = b[0]; x <= b[1]; ++x)
          values.push_back(value(static_cast<std::size_t>(x + 5 * (y + 4 * z))));
    out += "<Piece Extent=\"";
    for (auto const n : b) out += std::to_string(n) + " ";
    out += "\"><PointData>" + array("Name=\"wind\"", values) + "</PointData>";
    if (rectilinear) {
      out += "<Coordinates>";
      for (std::size_t axis = 0; axis < 3; ++axis) {
        static std::array<std::vector<int>, 3> const coordinates{{{0, 1, 3, 4, 8}, {-1, 0, 1, 2}, {0, 1, 4}}};
        auto const& c = coordinates[axis];
        std::vector<int> part;
        for (int i = b[2 * axis]; i <= b[2 * axis + 1]; ++i) part.push_back(c[static_cast<std::size_t>(i)]);
        out += array("Name=\"axis\"", part);
      }
      out += "</Coordinates>";
    }
    out += "</Piece>";
  }
  out += "</" + shape + ">";
  if (!appended.empty()) out += "<AppendedData encoding=\"raw\"> _" + appended + "</AppendedData>";
  return out + "</VTKFile>\n";
}

inline std::string const nrrd_head =
    "NRRD0004\n# made by a test\ntype: short\ndimension: 3\nsizes: 5 4 3\nspacings: 0.5 1 2\n"
    "axis mins: 1 2 3\nkey:=value\n";
inline std::string const meta_head =
    "ObjectType = Image\nNDims = 3\nDimSize = 5 4 3\nElementType = MET_SHORT\n"
    "ElementSpacing = 0.5 1 2\nOffset = 1 2 3\n";

}  // namespace test
