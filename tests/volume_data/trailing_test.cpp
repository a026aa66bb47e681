// More data than the header announces, or other data than assumed, is an error, because pictures
// would silently be wrong.
#include "catch.hpp"
#include "check_volume.hpp"
#include "files.hpp"
#include "picture_file.hpp"

using namespace volume_data;
using test::contains;
using test::error_of;

namespace {

std::string const shorts = test::stored<std::int16_t>(false);
std::string const too_many = "5 x 4 x 3 values of type int16 need 120 bytes, found 121";
std::string const sidecar =
    R"("size": [5, 4, 3], "type": "int16", "origin": [1, 2, 3], "spacing": [0.5, 1, 2])";

std::string numbers() {
  std::string text;
  for (std::size_t i = 0; i < test::samples; ++i) text += std::to_string(test::value(i)) + "\n";
  return text;
}

}  // namespace

TEST_CASE("NRRD: more than the values") {
  test::folder const in("volume-trailing-nrrd");
  auto const raw = test::nrrd_head + "endian: little\nencoding: raw\n";
  auto const error = [&](std::string const& bytes) { return error_of(in.write("a.nrrd", bytes)); };
  CHECK(contains(error(raw + "\n" + shorts + "x"), too_many));
  CHECK(contains(error(test::nrrd_head + "encoding: ascii\n\n" + numbers() + "5"),
                 "expected the values to end here"));
  auto const packed = test::nrrd_head + "endian: little\nencoding: gzip\n\n";
  CHECK(contains(error(packed + test::gzip(shorts + "x")), "expected the values to end here"));
  auto damaged = test::gzip(shorts);
  damaged[damaged.size() - 8] ^= 1;  // the checksum
  CHECK(contains(error(packed + damaged), "the compressed data are damaged (incorrect data check)"));
  // A file in which bytes are skipped may contain more.
  in.write("a.raw", "ab" + shorts + "more");
  test::check_even(read_grid(in.write("a.nhdr", raw + "byte skip: 2\ndata file: a.raw\n")));
}

TEST_CASE("NRRD: meaning of the axes") {
  test::folder const in("volume-nrrd-axes");
  auto const error = [&](std::string const& lines, std::string const& head) {
    return error_of(in.write("a.nrrd", head + lines + "endian: little\nencoding: raw\n\n" + shorts));
  };
  std::string const head = "NRRD0005\ntype: short\ndimension: 3\nsizes: 5 4 3\n";
  CHECK(contains(error("kinds: vector domain domain\n", head),
                 "kinds: expected axes of space or time, found \"vector"));
  CHECK(error("kinds: domain space time\n", head) == "no error");
  CHECK(contains(error("space directions: (-1,0,0) (0,1,0) (0,0,1)\n", head),
                 "space directions: expected directions along the axes, none backwards"));
  CHECK(contains(error("space directions: (1,2e-6,0) (0,1,0) (0,0,1)\n", head),
                 "space directions: expected directions along the axes, none backwards"));
  CHECK(contains(error("axis mins: 0 0 0\naxis maxs: 4 3 2\n", head), "axis maxs: expected spacings"));
  CHECK(contains(error("spacings: 1 1 1\nspace directions: (2,0,0) (0,1,0) (0,0,1)\n", head), "not both"));
}

TEST_CASE("MetaImage: more than the values") {
  test::folder const in("volume-trailing-meta");
  auto const error = [&](std::string const& bytes) {
    return error_of(in.write("a.mha", test::meta_head + bytes));
  };
  CHECK(contains(error("ElementDataFile = LOCAL\n" + shorts + "x"), too_many));
  CHECK(contains(error("CompressedData = True\nElementDataFile = LOCAL\n" + test::zlib(shorts + "x")),
                 "expected the values to end here"));
  CHECK(contains(error("TransformMatrix = 1 0 0 0 1 0 0 0 0.99999\nElementDataFile = LOCAL\n" + shorts),
                 "TransformMatrix: expected 1 0 0 0 1 0 0 0 1"));
  in.write("a.raw", "ab" + shorts + "more");
  test::check_even(
      read_grid(in.write("a.mhd", test::meta_head + "HeaderSize = 2\nElementDataFile = a.raw\n")));
}

TEST_CASE("sidecars: duplicate and meaningless keys") {
  test::folder const in("volume-sidecar");
  in.write("a.bin", shorts);
  auto const error = [&](std::string const& keys) { return error_of(in.write("a.json", "{" + keys + "}")); };
  std::string const file = R"("file": "a.bin", )";
  CHECK(error(file + sidecar) == "no error");
  CHECK(contains(error(file + R"("coordinates": [[0,1,3,4,8],[0,1,2,3],[0,1,2]], )" + sidecar),
                 "expected \"coordinates\", or \"origin\" and \"spacing\", not both"));
  CHECK(
      contains(error(file + R"("first": 1, )" + sidecar), "first: expected \"files\" to be a name with %d"));
  CHECK(contains(error(R"("files": "p%d.png", "first": 9223372036854775807)"),
                 "first: expected a whole number"));
  for (int const z : {0, 1, 3})  // without a size there are as many slices as files
    in.write("p" + std::to_string(z) + ".png", test::png(2, 1, 8, std::string(2, 'x')));
  auto const gap = error(R"("files": "p%d.png")");
  CHECK(contains(gap, "p2.png: missing, but "));
  CHECK(contains(gap, "p3.png is there"));
}

TEST_CASE("sidecars: extra data and invalid numbers") {
  test::folder const in("volume-trailing-raw");
  in.write("a.bin", shorts + "x");
  auto const error = [&](std::string const& keys) { return error_of(in.write("a.json", "{" + keys + "}")); };
  std::string const file = R"("file": "a.bin", )";
  CHECK(contains(error(file + sidecar), too_many));
  test::check_even(read_grid(in.write("b.json", "{" + file + R"("offset": 0, )" + sidecar + "}")));
  CHECK(contains(error(file + R"("offset": 0.5, )" + sidecar), "offset: expected a whole number of bytes"));
  CHECK(contains(error(file + R"("offset": 0, "size": [5.5, 4, 3], "type": "int16")"),
                 "size[0]: expected a whole number from 1 to 2147483647, found 5.5"));
  CHECK(contains(error(file + R"("offset": 0, "size": [5, 4, 3], "type": "int16", "type": "uint16")"),
                 "type is there twice"));
  CHECK(contains(error(R"("files": "a%d.bin", "first": 0.5, )" + sidecar), "first: expected a whole number"));
  for (int z = 0; z < 3; ++z)
    in.write("s" + std::to_string(z), shorts.substr(40 * z, 40) + (z == 1 ? "x" : ""));
  CHECK(contains(error(R"("files": "s%d", )" + sidecar),
                 "s1: at byte 0: 5 x 4 values of type int16 need 40 bytes"));
  for (int z = 0; z < 3; ++z)
    in.write("p" + std::to_string(z) + ".gz", test::gzip(shorts.substr(40 * z, 40) + (z == 1 ? "x" : "")));
  CHECK(contains(error(R"("files": "p%d.gz", )" + sidecar), "p1.gz: at byte"));
}
