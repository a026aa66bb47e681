// VTK XML files from VTK's own writers (vtk_files), and malformed ones.
#include "catch.hpp"
#include "check_volume.hpp"
#include "files.hpp"
#include "xml_tags.hpp"

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

/// Returns the tags of this text, with depth, name and attributes.
std::string scanned(test::folder const& in, std::string const& text) {
  xml_tags xml(in.write("a.xml", text), "last");
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
  check_written_by_vtk("raw-lz4.vti", scalar_type::float32);
  check_written_by_vtk("binary-lzma.vtr", scalar_type::float32);
}

TEST_CASE("VTK XML, arrays that cannot be read") {
  test::folder const in("volume-vtk-arrays");
  auto const file = bytes_of(written_by_vtk("ascii-float32.vti"));
  std::string const scalars = "Scalars=\"speed &quot;10 m&quot; &amp; &lt;gust&gt;\"";
  auto const wanted = [&](std::string const& name) {
    return error_of(in.write("a.vti", replaced(file, scalars, "Scalars=\"" + name + "\"")));
  };
  CHECK(contains(wanted("velocity"), "array velocity: expected 1 component, found 3"));
  CHECK(contains(wanted("gust"),
                 "expected PointData with an array of one component named gust, found id, speed \"10 m\""));
  // Without a name the first array of one component is used: the identifiers.
  auto const g = read_grid(in.write("b.vti", replaced(file, scalars, "")));
  CHECK(g.header.type == scalar_type::int64);
  CHECK(g.at(4, 3, 2) == 59);
  auto const text = replaced(vti(), "type=\"Float32\"", "type=\"String\"");
  CHECK(
      contains(error_of(in.write("a.vti", text)), "array wind: unknown type \"String\"; known: Int8, UInt8"));
  auto const cells =
      replaced(replaced(vti(), "<PointData Scalars=\"wind\"", "<CellData"), "</PointData><CellData></", "</");
  CHECK(contains(error_of(in.write("a.vti", cells)), "one component, found only arrays of cells"));
  auto const packed = replaced(vti({false, true, false, test::vtk_style::binary}), "vtkZLib", "vtkOther");
  CHECK(contains(error_of(in.write("a.vti", packed)),
                 "unknown compressor \"vtkOtherDataCompressor\"; known: vtkZLibDataCompressor, vtkLZ4"));
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
  // As VTK reads them: a sign, and 0 for what is too small.
  for (std::string const zero : {"1e-60", "-1e-60", "+0", "+0.0"})
    CHECK(read_grid(in.write("a.vti", replaced(vti(), "\n0 ", "\n" + zero + " "))).at(0, 0, 0) == 0);
  auto const turned = [](std::string const& matrix) {
    return replaced(vti(), "Spacing=", "Direction=\"" + matrix + "\" Spacing=");
  };
  test::check_even(read_grid(in.write("a.vti", turned("1 6e-17 0 0 0.9999999999 0 0 0 +1"))));
  CHECK(contains(error(turned("1 0.001 0 0 1 0 0 0 1")), "expected Direction 1 0 0 0 1 0 0 0 1"));
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
  CHECK(contains(error(replaced(vti(), "WholeExtent=\"0 4", "WholeExtent=\"0.5 4.5")),
                 "WholeExtent: expected whole numbers"));
  auto shifted = vti();
  for (int i = 0; i < 2; ++i) shifted = replaced(shifted, "0 4 0 3 0 2", "0.5 4.5 0 3 0 2");
  CHECK(contains(error(shifted), "WholeExtent: expected whole numbers"));
}

TEST_CASE("VTK XML, damaged blocks") {
  test::folder const in("volume-vtk-blocks");
  auto const error = [&](std::string const& bytes) { return error_of(in.write("a.vti", bytes)); };
  for (auto const* const compressor : {"ZLib", "LZ4", "LZMA"}) {
    INFO(compressor);
    auto const whole = vti({false, true, false, test::vtk_style::appended_raw, compressor});
    auto const data = whole.find(" _") + 2;
    test::check_even(volume_data::read_grid(in.write("a.vti", whole)));
    auto const with_count = [&](std::size_t index, std::uint64_t n) {
      auto text = whole;
      return text.replace(data + 4 * index, 4, test::count(n, 4, false));
    };
    CHECK(contains(error(with_count(1, 1U << 31)), "need 240 bytes, found"));        // a block's size
    CHECK(contains(error(with_count(2, 47)), "need 240 bytes, found at most 239"));  // that of the last
    CHECK(contains(error(with_count(0, 1U << 30)), "more than the file has room for"));
    CHECK(contains(error(with_count(3, 5)), "a compressed block is "));
    CHECK(contains(error(with_count(3, 0)), "a compressed block is "));
    auto longer = vti({false, true, false, test::vtk_style::appended_raw, compressor});
    for (std::size_t i = 1; i < 3; ++i)  // 4 blocks of 63 bytes, of streams that hold 64
      longer.replace(data + 4 * i, 4, test::count(i == 1 ? 63 : 51, 4, false));
    CHECK(contains(error(longer), "a compressed block is "));
  }
  // A block of the whole array, and one that is skipped.
  auto const volume =
      open_volume(in.write("b.vti", vti({false, true, false, test::vtk_style::binary, "LZ4"})));
  volume->skip(2);
  std::vector<float> last(volume->header().slice_samples());
  volume->read(std::span(last));
  CHECK(last[3] == static_cast<float>(test::value(43)));
}

TEST_CASE("VTK XML, bits") {
  test::folder const in("volume-vtk-bits");
  auto file = replaced(vti({false, false, false, test::vtk_style::binary}), "Float32", "Bit");
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < test::samples; ++i)
    if (i % 3 == 0) bytes[i / 8] = static_cast<char>(bytes[i / 8] | 0x80 >> i % 8);
  auto const begin = file.find("<DataArray"), text = file.find('>', begin) + 1;
  auto const with = [&](std::string const& b) {
    auto changed = file;
    return in.write("a.vti", changed.replace(text, file.find("</DataArray>") - text,
                                             test::base64(test::count(b.size(), 4, false) + b)));
  };
  auto const g = read_grid(with(bytes));
  CHECK(g.header.type == scalar_type::uint8);
  for (std::size_t i = 0; i < test::samples; ++i) CHECK(g.floats()[i] == (i % 3 == 0 ? 1 : 0));
  CHECK(contains(error_of(with(bytes.substr(1))), "60 values of type Bit need 8 bytes, found at most 7"));
  CHECK(contains(error_of(with(bytes + "a")), "60 values of type Bit need 8 bytes, found 9"));
}

TEST_CASE("VTK XML, several pieces") {
  test::folder const in("volume-vtk-pieces");
  using boxes = std::vector<std::array<int, 6>>;
  // Pieces touch, overlap, are empty, or are inside of others.
  boxes const all{{0, 2, 0, 3, 0, 1}, {2, 4, 0, 3, 0, 1}, {0, -1, 0, -1, 0, -1},
                  {0, 4, 0, 1, 1, 2}, {0, 4, 1, 3, 2, 2}, {1, 1, 1, 1, 1, 1}};
  for (bool const rectilinear : {false, true})
    for (auto const place : {test::vtk_style::ascii, test::vtk_style::binary, test::vtk_style::appended_raw})
      for (bool const big : {false, true}) {
        auto const path = in.write(rectilinear ? "a.vtr" : "a.vti",
                                   test::vtk_pieces(rectilinear, all, {big, true, false, place, "LZ4"}));
        auto const g = read_grid(path);
        test::check_values(g);
        std::vector<double> const y =
            rectilinear ? std::vector<double>{-1, 0, 1, 2} : std::vector<double>{2, 3, 4, 5};
        CHECK(g.header.coordinates[1] == y);
        auto const volume = open_volume(path);
        volume->skip(2);
        std::vector<float> last(volume->header().slice_samples());
        volume->read(std::span(last));
        CHECK(last[3] == static_cast<float>(test::value(43)));
      }
  auto const error = [&](boxes const& some, std::string const& from = "", std::string const& to = "") {
    auto file = test::vtk_pieces(false, some, {});
    if (!from.empty()) file = replaced(file, from, to);
    return error_of(in.write("a.vti", file));
  };
  CHECK(contains(error({{0, 4, 0, 3, 0, 0}, {0, 3, 0, 3, 1, 2}}),
                 "expected pieces that cover the grid, found none with the point 4 0 1"));
  CHECK(contains(error({{0, -1, 0, -1, 0, -1}}), "expected <ImageData> or <RectilinearGrid> with a Piece"));
  CHECK(contains(error({{0, 4, 0, 3, 0, 1}, {0, 4, 0, 3, 1, 3}}),
                 "the Extent of a Piece to lie within WholeExtent"));
  boxes const two{{0, 4, 0, 3, 0, 1}, {0, 4, 0, 3, 2, 2}};
  CHECK(error(two) == "no error");
  CHECK(contains(error(two, "Int16", "Int32"),
                 "array wind: expected type int32 as in the first piece, found int16"));
  CHECK(contains(error(two, "Name=\"wind\"", "Name=\"gust\""), "named gust, found wind"));
  CHECK(contains(error(two, "</DataArray>", " 7</DataArray>"), "expected the values to end here"));
}

TEST_CASE("VTK XML, arrays and times that are chosen") {
  test::folder const in("volume-vtk-choice");
  std::string const a = "<DataArray type='Int8' format='ascii' Name='";
  auto const file =
      in.write("a.vti",
               "<VTKFile><ImageData WholeExtent='0 1 0 0 0 0' TimeValues='0 0.5'><Piece Extent='0 1 0 0 0 "
               "0'><PointData>" +
                   a + "Höhe' TimeStep='0'>1 2</DataArray>" + a + "Höhe' TimeStep=' 1 '>3 4</DataArray>" + a +
                   "wind'>5 6<InformationKey name='UNITS_LABEL' "
                   "location='vtkDataArray'>m/s</InformationKey></DataArray>" +
                   a +
                   "velocity' NumberOfComponents='3'>1 2 3 4 5 "
                   "6</DataArray></PointData></Piece></ImageData></VTKFile>");
  auto const first = [&](volume_choice const& choice) {
    return read_grid(*open_volume(file, choice)).at(0, 0, 0);
  };
  CHECK(first({}) == 1);
  CHECK(first({"Höhe", 1}) == 3);
  CHECK(first({"wind", 0}) == 5);
  CHECK(first({"wind", 1}) == 5);
  auto const error = [&](volume_choice const& choice) {
    return test::message_of([&] { static_cast<void>(first(choice)); });
  };
  CHECK(contains(error({"velocity", 0}), "array velocity: expected 1 component, found 3"));
  CHECK(contains(error({"gust", 0}), "an array of one component named gust, found Höhe, wind"));
  CHECK(contains(error({"", 2}), "a.vti: --time: expected 0 to 1, found 2"));
  CHECK(list_variables(file) ==
        "Höhe      Int8  2 x 1 x 1, 2 times                (not a volume)\n"
        "wind      Int8  2 x 1 x 1, 2 times                (not a volume)\n"
        "velocity  Int8  2 x 1 x 1, 2 times, 3 components  (not a volume)\n");
  auto const single = in.write("a.nrrd", test::nrrd_head + "encoding: text\n\n" + std::string(200, ' '));
  CHECK(list_variables(single) == "  int16  5 x 4 x 3\n");
  auto const refused = [&](volume_choice const& choice) {
    return test::message_of([&] { static_cast<void>(open_volume(single, choice)); });
  };
  CHECK(contains(refused({"wind", 0}), "found one variable without a name, expected no --variable wind"));
  CHECK(contains(refused({"", 1}), "--time: expected 0 (the file has one time), found 1"));
}

TEST_CASE("XML tags, attributes and text") {
  test::folder const in("volume-xml");
  CHECK(scanned(in, "<?xml version='1.0'?>\n<!-- <b> -->\n<a b = 'c&quot;' d=\"&lt;&gt;&amp;&apos;'\"/>") ==
        "0a b=c\" d=<>&'';0/a;");
  CHECK(scanned(in, "<a><b x='&#65;&#xe9;&#x20ac;&#x1F600;'> t <c/> <!-- . --> <d/></b> </a>") ==
        "0a;1b x=A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80;2c!;2/c;2d;2/d;1/b;0/a;");
  CHECK(scanned(in, "<?xml version='1.0' encoding='ISO-8859-1'?><a b='\xe9'/>") == "0a b=\xc3\xa9;0/a;");
  CHECK(scanned(in, "<a><last><b> not XML \xff") == "0a;1last;");
  auto const file = "<a>" + std::string(200000, ' ') + "<b c='d'>text</b></a>";
  xml_tags xml(in.write("long.xml", file), "last");
  CHECK(xml.next()->end == 3);
  auto const b = xml.next();
  CHECK(file.substr(b->begin, b->end - b->begin) == "<b c='d'>");
}

TEST_CASE("malformed XML is an error with its place") {
  test::folder const in("volume-no-xml");
  CHECK(contains(scan_error(in, "<a><b></a>"), "a.xml: at byte 8: not well-formed XML: mismatched tag"));
  CHECK(contains(scan_error(in, "</a>"), "at byte 1: not well-formed XML: "));
  CHECK(contains(scan_error(in, "<a><b></b>"), "at byte 10: not well-formed XML: no element found"));
  CHECK(contains(scan_error(in, "<a b='&nbsp;'/>"), "undefined entity"));
  for (auto const* const value : {"x & y", "&#x110000;", "&#0;", "<", "\xff"})
    CHECK(contains(scan_error(in, "<a b='" + std::string(value) + "'/>"), "not well-formed XML: "));
  CHECK(contains(scan_error(in, "<a b='1' b='2'/>"), "duplicate attribute"));
  CHECK(contains(scan_error(in, "<!-- a"), "not well-formed XML: unclosed token"));
  CHECK(contains(scan_error(in, ""), "no element found"));
}

TEST_CASE("XML that would take much memory is refused") {
  test::folder const in("volume-large-xml");
  CHECK(contains(scan_error(in, "<!DOCTYPE a [<!ENTITY b 'c'><!ENTITY d '&b;&b;'>]><a>&d;</a>"),
                 ": expected no document type"));
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "<a>";
  CHECK(contains(scan_error(in, deep), "at byte 192: expected at most 64 elements in each other"));
  std::string const mibs(std::size_t{5} << 20, 'a');
  CHECK(contains(scan_error(in, "<a b='" + mibs), "at byte 0: expected a tag of at most 4194304 bytes"));
  CHECK(contains(scan_error(in, "<" + mibs.substr(0, 300) + "/>"),
                 "expected the name of an element to have at most 256 bytes"));
}
