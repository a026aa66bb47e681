// Volumes with one file per slice, and skipped slices.
#include <sys/resource.h>

#include <random>

#include "catch.hpp"
#include "fewer.hpp"
#include "field.hpp"
#include "files.hpp"
#include "grid.hpp"
#include "picture_file.hpp"
#include "skel/error.hpp"

using namespace volume_data;

namespace {

using test::contains;
using test::error_of;

std::string slice_of(std::string const& bytes, std::size_t z) {
  auto const n = bytes.size() / test::nz;
  return bytes.substr(z * n, n);
}

std::string number(std::size_t z) { return std::to_string(z); }

void check_whole(std::string const& path) {
  INFO(path);
  auto const g = read_grid(path);
  REQUIRE(g.header.size == std::array<std::size_t, 3>{test::nx, test::ny, test::nz});
  REQUIRE(g.header.coordinates[2] == std::vector<double>{3, 5, 7});
  bool same = true;
  for (std::size_t z = 0, i = 0; z < test::nz; ++z)
    for (std::size_t y = 0; y < test::ny; ++y)
      for (std::size_t x = 0; x < test::nx; ++x, ++i) same = same && g.at(x, y, z) == test::value(i);
  CHECK(same);
}

std::string const spacing_keys = R"(, "spacing": [0.5, 1, 2], "origin": [1, 2, 3]})";
std::string const raw_keys = R"(, "size": [5, 4, 3], "type": "int16", "byte_order": "big")" + spacing_keys;

/// The test volume as slices: r<z>.raw, big endian, and compressed r<z>.raw.gz; p<z>.png of 8 or 16
/// bits.
void write_slices(test::folder const& in) {
  auto const values = test::stored<std::int16_t>(true);
  auto const bytes = test::stored<std::uint8_t>(false);
  for (std::size_t z = 0; z < test::nz; ++z) {
    in.write("r" + number(z) + ".raw", slice_of(values, z));
    in.write("r" + number(z) + ".raw.gz", test::gzip(slice_of(values, z)));
    in.write("p" + number(z) + ".png", test::png(test::nx, test::ny, 8, slice_of(bytes, z)));
    in.write("q00" + number(z + 7) + ".png",
             test::png(test::nx, test::ny, 16, slice_of(test::stored<std::uint16_t>(true), z)));
  }
}

/// One description of each kind.
std::vector<std::pair<std::string, std::string>> descriptions() {
  std::string const nrrd = test::nrrd_head + "endian: big\nencoding: ";
  return {{"raw.json", R"({"files": "r%d.raw")" + raw_keys},
          {"CAPITALS.JSON", R"({"files": "r%d.raw")" + raw_keys},
          {"list.json", R"({"files": ["r0.raw", "r1.raw.gz", "r2.raw"])" + raw_keys},
          {"gzip.json", R"({"files": "r%1d.raw.gz")" + raw_keys},
          {"png.json", R"({"files": "p%d.png", "size": [5, 4, 3])" + spacing_keys},
          {"deep.json", R"({"files": "q%03d.png", "first": 7)" + spacing_keys},
          {"pictures.json", R"({"files": ["p0.png", "p1.png", "p2.png"])" + spacing_keys},
          {"count.nhdr", nrrd + "raw\ndata file: r%d.raw 0 2 1\n"},
          {"down.nhdr", nrrd + "gzip\ndata file: r%d.raw.gz 0 2 1 2\n"},
          {"list.nhdr", nrrd + "raw\nbyte skip: -1\ndata file: LIST\nr0.raw\nr1.raw\nr2.raw\n"},
          {"count.mhd", test::meta_head + "ElementByteOrderMSB = True\nElementDataFile = r%01d.raw 0 2 1\n"},
          {"list.mhd",
           test::meta_head + "ElementByteOrderMSB = True\nElementDataFile = LIST\nr0.raw\nr1.raw\nr2.raw"}};
}

}  // namespace

TEST_CASE("stacks of slices, raw, compressed and as pictures") {
  test::folder const in("volume-stacks");
  write_slices(in);
  for (auto const& [name, text] : descriptions()) check_whole(in.write(name, text));
}

TEST_CASE("a folder of pictures, in the order of their numbers") {
  test::folder const in("volume-folder");
  for (std::size_t z : {0, 9, 10, 100})
    in.write("ct" + number(z) + (z == 9 ? ".PNG" : ".png"),
             test::png(2, 1, 8, std::string(2, static_cast<char>(z))));
  in.write("notes.txt", "no slice");
  auto const g = read_grid(in.path(""));
  REQUIRE(g.header.size == std::array<std::size_t, 3>{2, 1, 4});
  CHECK(g.at(1, 0, 1) == 9);
  CHECK(g.at(0, 0, 2) == 10);
  CHECK(g.at(1, 0, 3) == 100);
}

TEST_CASE("pictures of few bits, and interlaced ones, give their numbers unchanged") {
  test::folder const in("volume-bits");
  // 3 x 2 pixels 1 2 3 / 15 0 7 in four bits, rows filled up to bytes
  in.write("a.png", test::png(3, 2, 4, std::string("\x12\x30\xf0\x70", 4)));
  auto g = read_grid(in.write("a.json", R"({"files": ["a.png"]})"));
  CHECK(g.header.type == scalar_type::uint8);
  CHECK(g.values == std::vector<std::byte>{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{15},
                                           std::byte{0}, std::byte{7}});
  // Adam7 of 3 x 2: pass 1 has (0,0), 4 (2,0), 6 (1,0), 7 the second row
  in.write("b.png", test::png_of_rows(3, 2, 8, 0, 1, {"\x0a", "\x0c", "\x0b", "\x01\x02\x03"}));
  g = read_grid(in.write("b.json", R"({"files": ["b.png"]})"));
  CHECK(g.values == std::vector<std::byte>{std::byte{10}, std::byte{11}, std::byte{12}, std::byte{1},
                                           std::byte{2}, std::byte{3}});
}

namespace {

/// Reads rows 1 and 2 of the second slice, or row 2 alone, and the last slice.
template <class Open>
void check_rows(Open const& open, std::vector<double> const& whole) {
  constexpr std::size_t slice = test::nx * test::ny;
  auto const same = [&](std::vector<float> const& rows, std::size_t z, std::size_t row) {
    return std::ranges::equal(rows, std::span(whole).subspan(z * slice + row * test::nx, rows.size()), {}, {},
                              [](double v) { return static_cast<float>(v); });
  };
  std::vector<float> one(test::nx), two(2 * test::nx), all(slice);
  for (bool const split : {false, true}) {
    auto const volume = open();
    volume->read(std::span(all));
    if (split) {
      volume->read_rows(1, one);
      CHECK(same(one, 1, 1));
      CHECK_THROWS_AS(volume->read_rows(1, one), skel::error);
      CHECK_THROWS_AS(volume->read(std::span(all)), skel::error);
      volume->read_rows(2, one);
      CHECK(same(one, 1, 2));
    } else {
      volume->read_rows(1, two);
      CHECK(same(two, 1, 1));
    }
    CHECK_THROWS_AS(volume->read_rows(test::ny - 1, two), skel::error);
    CHECK(volume->position() == 1);
    volume->skip(1);
    volume->read_rows(0, one);
    CHECK(same(one, 2, 0));
    std::vector<float> some((test::nx + 1) / 2);
    volume->read_samples(1, 2, some);
    for (std::size_t i = 0; i < some.size(); ++i)
      CHECK(some[i] == static_cast<float>(whole[2 * slice + test::nx + 2 * i]));
    CHECK_THROWS_AS(volume->read_samples(1, 2, some), skel::error);
    CHECK_THROWS_AS(volume->read_samples(2, test::nx, some), skel::error);
    volume->read_rows(test::ny - 1, one);
    CHECK(same(one, 2, test::ny - 1));
    volume->skip(1);
    CHECK_THROWS_AS(volume->read_rows(0, one), skel::error);
  }
}

}  // namespace

TEST_CASE("skipped slices and rows do not change those that are read") {
  test::folder const in("volume-skip");
  write_slices(in);
  auto names = descriptions();
  auto const little = test::stored<std::int16_t>(false);
  using form = test::vtk_style;
  names.emplace_back("a.nrrd", test::nrrd_head + "endian: little\nencoding: raw\n\n" + little);
  names.emplace_back("b.nrrd", test::nrrd_head + "endian: little\nencoding: gzip\n\n" + test::gzip(little));
  names.emplace_back("a.vti", test::vtk<float>("Float32", false, {}));
  names.emplace_back("b.vti", test::vtk<float>("Float32", false, {true, true, false, form::appended_raw}));
  names.emplace_back("c.vti", test::vtk<double>("Float64", false, {false, true, true, form::binary}));
  names.emplace_back("d.vti", test::vtk<double>("Float64", false, {false, false, true, form::appended_raw}));
  auto const check = [](auto const& open) {
    auto const n = open()->header().slice_samples();
    std::vector<double> whole(n * test::nz), one(n);
    open()->read(std::span<double>(whole));
    for (std::size_t z = 0; z < test::nz; ++z)
      for (std::size_t before = 0; before <= z; ++before) {  // some read, the rest skipped
        auto const volume = open();
        for (std::size_t i = 0; i < before; ++i) volume->read(std::span<double>(one));
        volume->skip(z - before);
        volume->skip(0);
        CHECK(volume->position() == z);
        volume->read(std::span<double>(one));
        CHECK(std::ranges::equal(one, std::span(whole).subspan(z * n, n)));
        CHECK_THROWS_AS(volume->skip(test::nz - z), skel::error);
      }
    check_rows(open, whole);
  };
  for (auto const& [name, text] : names) {
    INFO(name);
    check([path = in.write(name, text)] { return open_volume(path); });
  }
  check([] { return open_field("turbulence:5x4x3"); });
}

TEST_CASE("a skipped slice is not read, so its data may be damaged") {
  test::folder const in("volume-unread");
  write_slices(in);
  in.write("r1.raw.gz", test::gzip(std::string(40, 'x')).substr(0, 20));
  auto const volume = open_volume(in.write("a.json", R"({"files": "r%d.raw.gz")" + raw_keys));
  std::vector<double> slice(volume->header().slice_samples());
  volume->read(std::span<double>(slice));
  volume->skip(1);
  volume->read(std::span<double>(slice));
  CHECK(slice[0] == test::value(2 * test::nx * test::ny));
}

TEST_CASE("errors in stacks name the file and the place") {
  test::folder const in("volume-stack-errors");
  write_slices(in);
  auto const json = [&](std::string const& files, std::string const& rest) {
    return error_of(in.write("a.json", R"({"files": )" + files + rest));
  };
  CHECK(contains(json(R"("r%d.raw", "first": 1)", raw_keys), "r3.raw: No such file"));
  CHECK(contains(json(R"(["r0.raw", "r1.raw"])", raw_keys), "expected 3 files, one for each slice, found 2"));
  CHECK(contains(json("[]", raw_keys), "expected names of slices, found none"));
  CHECK(contains(json(R"("r%s.raw")", raw_keys), "expected a name with one %d"));
  CHECK(contains(json(R"("r%d%d.raw")", raw_keys), "expected a name with one %d"));
  CHECK(contains(json(R"("r%999999999d.raw")", raw_keys), "expected a name with one %d"));
  CHECK(contains(json(R"("r%d.raw", "file": "r0.raw")", raw_keys), "\"file\" or \"files\", not both"));
  CHECK(contains(json(R"("p%d.png", "size": [5, 4, 2])", spacing_keys), "no error"));
  CHECK(contains(json(R"("p%d.png", "size": [4, 4, 3])", spacing_keys), "the pictures have 5 x 4 x 3"));
  CHECK(contains(json(R"("p%d.png", "type": "uint8")", spacing_keys), "type: pictures say that themselves"));
  CHECK(contains(json(R"("s%d.png")", spacing_keys), "s0.png: No such file"));
  auto const little = test::stored<std::int16_t>(true);
  in.write("r1.raw", slice_of(little, 1).substr(1));
  CHECK(contains(json(R"("r%d.raw")", raw_keys),
                 "r1.raw: at byte 0: 5 x 4 values of type int16 need 40 bytes, found at most 39"));
  in.write("r1.raw.gz", test::gzip(slice_of(little, 1).substr(1)));
  CHECK(contains(json(R"("r%d.raw.gz")", raw_keys), "r1.raw.gz: at byte"));
  CHECK(contains(json(R"("r%d.raw.gz")", raw_keys), "the data end here, at least 1 bytes too early"));
  in.write("p1.png", test::png(4, 4, 8, std::string(16, 'x')));
  CHECK(contains(json(R"("p%d.png")", spacing_keys), "p1.png: at byte"));
  CHECK(contains(json(R"("p%d.png")", spacing_keys), "4 x 4 pixels of type uint8, expected 5 x 4"));
  in.write("p0.png", test::png_of_rows(1, 1, 8, 2, 0, {"rgb"}));
  CHECK(contains(json(R"("p%d.png")", spacing_keys), "expected a grey picture"));
  CHECK(contains(error_of(in.write(
                     "a.nhdr", test::nrrd_head + "encoding: raw\nendian: big\ndata file: r%d.raw 0 2 1 3\n")),
                 "expected files of dimension 2"));
  CHECK(contains(error_of(in.write(
                     "a.nhdr", test::nrrd_head + "encoding: raw\nendian: big\ndata file: r%d.raw 0 2 0\n")),
                 "from 0 to 2 by 0 are none"));
  test::folder const empty("volume-no-pictures");
  CHECK(contains(error_of(empty.path("")), "expected .png files in this folder"));
}

TEST_CASE("sizes claimed by pictures and stacks are not trusted") {
  test::folder const in("volume-stack-sizes");
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  in.write("p0.png", test::png_of_rows(900000, 900000, 16, 0, 0, {"x"}));
  CHECK(contains(error_of(in.write("a.json", R"({"files": "p%d.png"})")), "more than the file can hold"));
  in.write("r0.raw", "x");
  CHECK(contains(error_of(in.write("b.json", R"({"files": "r%d.raw", "size": [5, 4, 2147483647],
                                                 "type": "int8"})")),
                 "r1.raw: No such file"));
  CHECK(contains(error_of(in.write("c.json", R"({"files": ["r0.raw"], "size": [2147483647, 2147483647, 1],
                                                 "type": "float64"})")),
                 "exceed the maximum"));
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  CHECK(after.ru_maxrss - before.ru_maxrss < 64 * 1024);  // KB
}

TEST_CASE("any truncation and any bytes of a picture give an error or the slice") {
  test::folder const in("volume-picture-bytes");
  auto const whole = test::png(9, 5, 16, std::string(90, 'v'));
  auto const json = in.write("a.json", R"({"files": ["p.png"]})");
  for (std::size_t n = 0; n < whole.size(); ++n) {
    in.write("p.png", whole.substr(0, n));
    auto const text = error_of(json);
    CHECK(contains(text, "p.png: at byte"));
    CHECK(text.find('\n') == std::string::npos);
  }
  std::mt19937 random(5);
  int good = 0;
  for (std::uint64_t i = 0; i < test::fewer_if_slow(2000); ++i) {
    auto bytes = whole;
    bytes[random() % bytes.size()] = static_cast<char>(random());
    in.write("p.png", bytes);
    good += error_of(json) == "no error" ? 1 : 0;
  }
  CHECK(good < 40);  // checksums cover everything: only unchanged bytes pass
}
