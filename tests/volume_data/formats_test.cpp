// Reads the same volume from every format.
#include "catch.hpp"
#include "check_volume.hpp"
#include "files.hpp"
#include "grid.hpp"
#include "skel/error.hpp"

using namespace volume_data;
using test::check_even;
using test::check_uneven;

namespace {

template <class T>
void check_vtk_type(test::folder const& in, std::string const& type, scalar_type expected) {
  for (bool const big : {false, true}) {
    auto const g = read_grid(
        in.write("t.vtr", test::vtk<T>(type, true, {big, false, true, test::vtk_style::appended_raw})));
    INFO(type << (big ? " big endian" : ""));
    CHECK(g.header.type == expected);
    check_uneven(g);
  }
}

}  // namespace

TEST_CASE("VTK XML, all encodings") {
  test::folder const in("volume-vtk");
  using storage = test::vtk_style;
  for (auto const place : {storage::ascii, storage::binary, storage::appended_raw, storage::appended_base64})
    for (bool const compressed : {false, true})
      for (bool const wide : {false, true})
        for (bool const big : {false, true}) {
          INFO("place " << place << " compressed " << compressed << " wide " << wide << " big " << big);
          storage s{big, compressed, wide, storage::ascii};
          s.place = place;
          check_even(read_grid(in.write("a.vti", test::vtk<float>("Float32", false, s))));
          check_uneven(read_grid(in.write("a.vtr", test::vtk<std::int16_t>("Int16", true, s))));
        }
}

TEST_CASE("VTK XML, all types") {
  test::folder const in("volume-types");
  check_vtk_type<std::int8_t>(in, "Int8", scalar_type::int8);
  check_vtk_type<std::uint8_t>(in, "UInt8", scalar_type::uint8);
  check_vtk_type<std::int16_t>(in, "Int16", scalar_type::int16);
  check_vtk_type<std::uint16_t>(in, "UInt16", scalar_type::uint16);
  check_vtk_type<std::int32_t>(in, "Int32", scalar_type::int32);
  check_vtk_type<std::uint32_t>(in, "UInt32", scalar_type::uint32);
  check_vtk_type<std::int64_t>(in, "Int64", scalar_type::int64);
  check_vtk_type<std::uint64_t>(in, "UInt64", scalar_type::uint64);
  check_vtk_type<float>(in, "Float32", scalar_type::float32);
  check_vtk_type<double>(in, "Float64", scalar_type::float64);
}

TEST_CASE("NRRD, attached and detached, raw, gzip and text") {
  test::folder const in("volume-nrrd");
  using std::int16_t;
  auto const little = test::stored<int16_t>(false), big = test::stored<int16_t>(true);
  auto const& head = test::nrrd_head;
  check_even(read_grid(in.write("a.nrrd", head + "endian: little\nencoding: raw\n\n" + little)));
  check_even(read_grid(in.write("b.nrrd", head + "endian: big\nencoding: raw\n\n" + big)));
  check_even(read_grid(in.write("c.nrrd", head + "endian: big\nencoding: gzip\n\n" + test::gzip(big))));
  check_even(
      read_grid(in.write("d.nrrd", head + "endian: little\nencoding: raw\nbyte skip: 3\n\nxyz" + little)));
  check_even(
      read_grid(in.write("e.nrrd", head + "endian: little\nencoding: raw\nbyte skip: -1\n\nxyz" + little)));
  std::string text;
  for (std::size_t i = 0; i < test::samples; ++i)
    text += std::to_string(test::value(i)) + (i % 5 == 4 ? "\n" : "\t");
  check_even(read_grid(in.write("f.nrrd", head + "encoding: ascii\n\n" + text)));
  in.write("values.raw", "two\nlines\n" + little);
  check_even(read_grid(
      in.write("g.nhdr", head + "endian: little\nencoding: raw\nline skip: 2\ndata file: values.raw\n")));
  in.write("values.gz", test::gzip(little.substr(0, 50)) + test::gzip(little.substr(50)));  // two members
  check_even(read_grid(in.write("h.nhdr", head + "endian: little\nencoding: gz\ndatafile: values.gz\n")));
  std::string const directions =
      "NRRD0005\ntype: int16\ndimension: 3\nspace: left-posterior-superior\nsizes: 5 4 3\n"
      "space directions: (0.5,0,0) (0,1,0) (0,0,2)\nspace origin: (1,2,3)\nendian: little\nencoding: raw\n\n";
  check_even(read_grid(in.write("i.nrrd", directions + little)));
  // Programs write signs, byte order marks, and directions with rounding errors.
  check_even(read_grid(in.write("j.nrrd", "\xEF\xBB\xBF" + directions + little)));
  std::string const rounded =
      "NRRD0005\ntype: int16\ndimension: 3\nsizes: 5 4 3\nspace directions: (+0.5,1e-17,0) (-6e-17,1,0) "
      "(0,0,2)\n"
      "space origin: (+1,2,3)\nencoding: ascii\n\n+";
  check_even(read_grid(in.write("k.nrrd", rounded + text)));
  // Only %d with numbers behind it is a pattern; a name may have blanks.
  in.write("my 50% scan.raw", little);
  check_even(
      read_grid(in.write("l.nhdr", head + "endian: little\nencoding: raw\ndata file: my 50% scan.raw\n")));
}

TEST_CASE("MetaImage, attached and detached, plain and compressed") {
  test::folder const in("volume-meta");
  using std::int16_t;
  auto const little = test::stored<int16_t>(false), big = test::stored<int16_t>(true);
  auto const& head = test::meta_head;
  check_even(read_grid(in.write("a.mha", head + "ElementDataFile = LOCAL\n" + little)));
  check_even(
      read_grid(in.write("b.mha", head + "BinaryDataByteOrderMSB = True\nElementDataFile = LOCAL\n" + big)));
  check_even(read_grid(
      in.write("c.mha", head + "CompressedData = True\nCompressedDataSize = 99\nElementDataFile = LOCAL\n" +
                            test::zlib(little))));
  in.write("values.raw", "head" + little);
  check_even(read_grid(in.write("d.mhd", head + "HeaderSize = 4\nElementDataFile = values.raw\n")));
  check_even(read_grid(in.write("e.mhd", head + "HeaderSize = -1\nElementDataFile = values.raw\n")));
  std::string const rounded = "TransformMatrix = 0.99999999999 6e-17 0 -6e-17 1 0 0 0 1\n";
  check_even(
      read_grid(in.write("f.mha", "\xEF\xBB\xBF" + head + rounded + "ElementDataFile = Local\n" + little)));
}

TEST_CASE("raw values with a sidecar") {
  test::folder const in("volume-raw");
  auto const big = test::stored<double>(true);
  in.write("a.raw", big);
  in.write(
      "a.raw.json",
      R"({"size": [5, 4, 3], "type": "float64", "byte_order": "big", "origin": [1, 2, 3], "spacing": [0.5, 1, 2]})");
  check_even(read_grid(in.path("a.raw")));
  check_uneven(read_grid(
      in.write("b.json", R"({"file": "a.raw", "size": [5, 4, 3], "type": "float64", "byte_order": "big",
    "coordinates": [[0, 1, 3, 4, 8], [-1, 0, 0.5, 2], [0, 0.25, 4]]})")));
  in.write("c.bin", "xx" + test::stored<std::uint8_t>(false));
  check_even(
      read_grid(in.write("c.json", R"({"file": "c.bin", "offset": 2, "size": [5, 4, 3], "type": "uint8",
    "origin": [1, 2, 3], "spacing": [0.5, 1, 2]})")));
}

TEST_CASE("slices in order, as bytes and as numbers, form the whole") {
  test::folder const in("volume-slices");
  auto const path = in.write("a.nrrd", test::nrrd_head + "endian: little\nencoding: gzip\n\n" +
                                           test::gzip(test::stored<std::int16_t>(false)));
  auto const whole = read_grid(path);
  auto const volume = open_volume(path);
  auto const n = volume->header().slice_samples();
  REQUIRE(n == 20);
  std::vector<float> first(n);
  volume->read(first);
  CHECK(volume->position() == 1);
  std::vector<double> rest(2 * n);
  volume->read(rest);
  bool same = true;
  for (std::size_t i = 0; i < 3 * n; ++i)
    same = same && (i < n ? static_cast<double>(first[i]) : rest[i - n]) == test::value(i);
  CHECK(same);
  CHECK_THROWS_AS(volume->read(first), skel::error);  // there are no more
}
