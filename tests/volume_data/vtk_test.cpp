// VTK XML files from VTK's own writers (vtk_files), and malformed ones.
#include "catch.hpp"
#include "check_volume.hpp"
#include "files.hpp"
#include "xml_scanner.hpp"

using namespace volume_data;
using test::contains;
using test::error_of;

namespace {

std::string written_by_vtk(std::string const& name) { return SKEL_VTK_FILES "/" + name; }

void check_written_by_vtk(std::string const& name, scalar_type type) {
  INFO(name);
  auto const g = read_grid(written_by_vtk(name));
  CHECK(g.header.type == type);
  if (name.ends_with(".vti"))
    test::check_even(g);
  else
    test::check_uneven(g);
}

std::string bytes_of(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string replaced(std::string text, std::string const& what, std::string const& by) {
  auto const at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

std::string vti(test::vtk_style const& how = {}) { return test::vtk<float>("Float32", false, how); }

/// Returns the output of the scanner for this text: tags with depth, name and attributes.
std::string scanned(test::folder const& in, std::string const& text) {
  xml_scanner xml(in.write("a.xml", text));
  std::string all;
  while (auto const tag = xml.next()) {
    all += std::to_string(tag->depth) + (tag->opens ? "" : "/") + tag->name + (tag->after_text ? "!" : "");
    for (auto const& [key, value] : tag->attributes) all.append(" ").append(key).append("=").append(value);
    all += ";";
  }
  return all;
}

std::string scan_error(test::folder const& in, std::string const& text) {
  return test::message_of([&] { static_cast<void>(scanned(in, text)); });
}

}  // namespace

TEST_CASE("VTK XML, written by VTK") {
  check_written_by_vtk("ascii-float32.vti", scalar_type::float32);
  check_written_by_vtk("ascii-int32.vtr", scalar_type::int32);
  check_written_by_vtk("binary-int64.vti", scalar_type::int64);
  check_written_by_vtk("binary-big-uint32.vtr", scalar_type::uint32);
  check_written_by_vtk("binary-zlib-uint64.vti", scalar_type::uint64);
  check_written_by_vtk("raw-float64.vti", scalar_type::float64);
  check_written_by_vtk("raw-big-int32.vtr", scalar_type::int32);
  check_written_by_vtk("raw-zlib-uint8.vtr", scalar_type::uint8);
  check_written_by_vtk("base64-int16.vti", scalar_type::int16);
  check_written_by_vtk("base64-zlib-big-int64.vtr", scalar_type::int64);
}

TEST_CASE("VTK XML, written by VTK, with other compressors") {
  std::string const expected =
      "array speed \"10 m\" & <gust>: expected compressor vtkZLibDataCompressor or none, found ";
  CHECK(contains(error_of(written_by_vtk("raw-lz4.vti")), expected + "\"vtkLZ4DataCompressor\""));
  CHECK(contains(error_of(written_by_vtk("binary-lzma.vtr")), expected + "\"vtkLZMADataCompressor\""));
}

TEST_CASE("VTK XML, arrays that cannot be read") {
  test::folder const in("volume-vtk-arrays");
  auto const file = bytes_of(written_by_vtk("ascii-float32.vti"));
  std::string const scalars = "Scalars=\"speed &quot;10 m&quot; &amp; &lt;gust&gt;\"";
  auto const wanted = [&](std::string const& name) {
    return error_of(in.write("a.vti", replaced(file, scalars, "Scalars=\"" + name + "\"")));
  };
  CHECK(contains(wanted("velocity"), "array velocity: expected 1 component, found 3"));
  CHECK(contains(wanted("gust"), "expected PointData with an array of one component named gust"));
  // Without a name the first array of one component is used: the identifiers.
  auto const g = read_grid(in.write("b.vti", replaced(file, scalars, "")));
  CHECK(g.header.type == scalar_type::int64);
  CHECK(g.at(4, 3, 2) == 59);
  auto const bits = replaced(vti(), "type=\"Float32\"", "type=\"Bit\"");
  CHECK(contains(error_of(in.write("a.vti", bits)), "array wind: unknown type \"Bit\"; known: Int8, UInt8"));
  auto const format = replaced(vti(), "format=\"ascii\"", "format=\"hex\"");
  CHECK(
      contains(error_of(in.write("a.vti", format)), "array wind: expected format ascii, binary or appended"));
}

TEST_CASE("VTK XML, more or other values than grid points") {
  test::folder const in("volume-vtk-wrong");
  using how = test::vtk_style;
  auto const error = [&](std::string const& bytes) { return error_of(in.write("a.vti", bytes)); };
  CHECK(
      contains(error(replaced(vti(), "</DataArray>", "7 </DataArray>")), "expected the values to end here"));
  CHECK(contains(error(replaced(vti(), "</DataArray>", "<InformationKey/> 7 </DataArray>")),
                 "expected the values of wind in one place"));
  CHECK(contains(error(replaced(vti(), "\n0 ", "\n1e300 ")),
                 "expected a number of type float32, found \"1e300\""));
  for (auto const place : {how::binary, how::appended_raw, how::appended_base64})
    for (bool const compressed : {false, true}) {
      how const s{false, compressed, false, place};
      auto smaller = vti(s);
      for (int i = 0; i < 2; ++i) smaller = replaced(smaller, "0 4 0 3 0 2", "0 4 0 3 0 1");
      CHECK(contains(error(smaller), "5 x 4 x 2 values of type float32 need 160 bytes, found 240"));
    }
  CHECK(
      contains(error(replaced(vti({false, false, false, how::binary}), "\n</DataArray>", "AAAA</DataArray>")),
               "expected the values to end here"));
  // For stored blocks only zlib's checksum reveals a changed byte.
  auto packed = vti({false, true, false, how::appended_raw});
  packed[packed.find("\n</AppendedData>") - 1] ^= 1;
  CHECK(contains(error(packed), "a compressed block is damaged (incorrect data check)"));
  CHECK(contains(error("<VTKFile type=\"PolyData\"><PolyData><Piece></Piece></PolyData></VTKFile>"),
                 "expected <ImageData> or <RectilinearGrid> with a Piece"));
  CHECK(contains(error(replaced(vti(), "WholeExtent=\"0 4", "WholeExtent=\"0.5 4.5")), "expected one Piece"));
  auto shifted = vti();
  for (int i = 0; i < 2; ++i) shifted = replaced(shifted, "0 4 0 3 0 2", "0.5 4.5 0 3 0 2");
  CHECK(contains(error(shifted), "WholeExtent: expected whole numbers"));
}

TEST_CASE("XML tags, attributes and text") {
  test::folder const in("volume-xml");
  CHECK(scanned(in, "<?xml x='>'?>\n<!-- <b> -->\n<a b = 'c&quot;' d=\"&lt;&gt;&amp;&apos;'\"/>") ==
        "0a b=c\" d=<>&'';");
  CHECK(scanned(in, "<a><b x='&#65;&#xe9;&#x20ac;&#x1F600;'> t <c/> <!-- . --> <d/></b> </a>") ==
        "0a;1b x=A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80;2c!;2d;1/b;0/a;");
}

TEST_CASE("malformed XML is an error with its place") {
  test::folder const in("volume-no-xml");
  CHECK(contains(scan_error(in, "<a><b></a>"), "a.xml: at byte 10: expected </b>, found </a>"));
  CHECK(contains(scan_error(in, "</a>"), "expected a tag that opens, found </a>"));
  CHECK(contains(scan_error(in, "<a><b></b>"), "the file ends inside of <a>"));
  CHECK(contains(scan_error(in, "<a b='&nbsp;'/>"),
                 "expected &lt; &gt; &amp; &quot; &apos; or &#NUMBER;, found &nbsp"));
  CHECK(contains(scan_error(in, "<a b='x & y'/>"), "expected &lt;"));
  CHECK(contains(scan_error(in, "<a b='&#x110000;'/>"), "expected &lt;"));
  CHECK(contains(scan_error(in, "<a b='&#0;'/>"), "expected &lt;"));
  CHECK(contains(scan_error(in, "<a b='<'/>"), "expected &lt; in the value of b"));
  CHECK(contains(scan_error(in, "<a b='1' b='2'/>"), "b is there twice"));
  CHECK(
      contains(scan_error(in, "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"), "expected a tag or a comment behind <"));
  CHECK(contains(scan_error(in, "<!-- a"), "expected --> before the end of the file"));
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "<a>";
  CHECK(contains(scan_error(in, deep), "expected at most 64 elements in each other"));
}
