// Errors of files are one line with the place; sizes in headers are not trusted.
#include <sys/resource.h>

#include <random>

#include "catch.hpp"
#include "fewer.hpp"
#include "files.hpp"
#include "grid.hpp"
#include "skel/error.hpp"

using namespace volume_data;

namespace {

using test::contains;
using test::error_of;

using style = test::vtk_style;

/// One file of each format, and the files they refer to.
std::vector<std::pair<std::string, std::string>> seeds() {
  auto const little = test::stored<std::int16_t>(false);
  return {
      {"a.vti", test::vtk<float>("Float32", false, {false, false, false, style::binary})},
      {"b.vtr", test::vtk<float>("Float32", true, {false, true, false, style::appended_raw})},
      {"c.vtr", test::vtk<std::uint8_t>("UInt8", true, {true, true, true, style::appended_base64})},
      {"d.vti", test::vtk<double>("Float64", false, {})},
      {"e.nrrd", test::nrrd_head + "endian: little\nencoding: raw\n\n" + little},
      {"f.nrrd", test::nrrd_head + "endian: little\nencoding: gzip\n\n" + test::gzip(little)},
      {"g.nrrd", test::nrrd_head + "encoding: text\n\n1 2 3 4 5 6"},
      {"h.mha", test::meta_head + "ElementDataFile = LOCAL\n" + little},
      {"i.mha", test::meta_head + "CompressedData = True\nElementDataFile = LOCAL\n" + test::zlib(little)},
      {"j.json",
       R"({"file": "e.nrrd", "size": [5, 4, 3], "type": "int16", "coordinates": [[0,1,3,4,8],[0,1,2,3],[0,1,2]]})"}};
}

std::string mutated(std::string bytes, std::mt19937& random) {
  static std::vector<std::string> const words{
      "0", "-1", "99999999999", "4294967295",       "18446744073709551615", "1e300", "nan", "\"", "<", ">",
      "=", ":",  "\n",          "\xff\xff\xff\xff", std::string(8, '\0')};
  auto const below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  for (std::size_t n = 1 + below(3); n > 0; --n) {
    auto const at = below(bytes.size());
    switch (below(5)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes[at % bytes.size()] = static_cast<char>(random());
        break;
      case 2:
        bytes.erase(at, below(9));
        break;
      case 3:
        bytes.insert(at, words[below(words.size())]);
        break;
      default:
        bytes.replace(at, below(4), words[below(words.size())]);
        break;
    }
    if (bytes.empty()) bytes = " ";
  }
  return bytes;
}

}  // namespace

TEST_CASE("errors name the file and the place") {
  test::folder const in("volume-errors");
  auto const little = test::stored<std::int16_t>(false);
  auto const nrrd = [&](std::string const& rest) { return error_of(in.write("a.nrrd", rest)); };
  CHECK(contains(nrrd("hello"), "a.nrrd: expected a first line NRRD0001"));
  CHECK(contains(nrrd("NRRD0004\nsizes 5\n\n"), "a.nrrd:2: expected \"key: value\", found \"sizes 5\""));
  CHECK(contains(nrrd("NRRD0004\ntype: short\ndimension: 2\n\n"), "dimension: expected 3, found \"2\""));
  CHECK(contains(nrrd("NRRD0004\ntype: block\ndimension: 3\n\n"), "found \"block\""));
  CHECK(contains(nrrd("NRRD0004\ntype: short\ndimension: 3\nsizes: 5 4 x\n\n"),
                 "sizes: expected 3 numbers, found \"5 4 x\""));
  CHECK(contains(nrrd(test::nrrd_head + "encoding: bzip2\n\n"),
                 "expected raw, gzip or ascii, found \"bzip2\""));
  CHECK(contains(nrrd(test::nrrd_head + "encoding: raw\n\n" + little), "endian: expected little or big"));
  CHECK(contains(nrrd(test::nrrd_head + "endian: little\nencoding: raw\n\n" + little.substr(1)),
                 "need 120 bytes, found at most 119"));
  CHECK(contains(nrrd(test::nrrd_head + "endian: little\nencoding: gzip\n\n" + test::gzip(little.substr(1))),
                 "the data end here"));
  CHECK(contains(
      nrrd(test::nrrd_head + "endian: little\nencoding: gzip\n\n" + test::gzip(little).substr(0, 40)),
      "the compressed data are truncated"));
  CHECK(contains(nrrd(test::nrrd_head + "encoding: text\n\n1 2 3 4 5 6 7 8 9 ten" + std::string(200, ' ')),
                 "expected a number of type int16, found \"ten\""));
  CHECK(contains(error_of(in.write("a.mha", test::meta_head)), "expected a line ElementDataFile"));
  CHECK(contains(error_of(in.write("a.mhd", test::meta_head + "ElementDataFile = none.raw\n")),
                 "none.raw: No such file"));
  CHECK(contains(error_of(in.write("a.json", "{")), "a.json:1: not JSON: syntax error"));
  CHECK(
      contains(error_of(in.write("b.json", R"({"size": [5, 4, 3], "typ": "int8"})")), "unknown key \"typ\""));
  CHECK(contains(error_of(in.write("a.vti", "<html></html>")), "not a VTK XML file"));
  auto vtr = test::vtk<float>("Float32", true, {});
  vtr.replace(vtr.find("1.000000 3"), 8, "9.000000");
  CHECK(contains(error_of(in.write("a.vtr", vtr)), "coordinates must increase, found 3 in place 2"));
  CHECK(contains(error_of(in.path("none.vti")), "none.vti: No such file or directory"));
  CHECK(contains(error_of(in.path("a.txt")), "or has a name that ends in .vti"));
}

TEST_CASE("sizes in a header are not trusted") {
  test::folder const in("volume-sizes");
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  std::string const sizes = "NRRD0004\ntype: double\ndimension: 3\nsizes: 100000 100000 ";
  for (auto const* const encoding : {"raw", "gzip", "ascii"}) {
    auto const text = error_of(
        in.write("a.nrrd", sizes + "1000\nendian: little\nencoding: " + std::string(encoding) + "\n\n1 2"));
    CHECK(contains(text, "need 80000000000000 bytes"));
  }
  CHECK(contains(error_of(in.write("b.nrrd", sizes + "2000000000\nendian: little\nencoding: raw\n\n")),
                 "exceed the maximum"));
  auto vti = test::vtk<float>("Float32", false, {false, true, true, style::appended_raw});
  for (std::size_t at = vti.find("0 4 0 3 0 2"); at != std::string::npos; at = vti.find("0 4 0 3 0 2"))
    vti.replace(at, 11, "0 99999 0 99999 0 99");
  CHECK(contains(error_of(in.write("a.vti", vti)), "values of type float32 need 4000000000000 bytes"));
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  CHECK(after.ru_maxrss - before.ru_maxrss < 64 * 1024);  // KB
}

TEST_CASE("every truncation of every format is an error or the whole volume") {
  test::folder const in("volume-truncated");
  for (auto const& [name, bytes] : seeds()) in.write(name, bytes);
  for (auto const& [name, bytes] : seeds()) {
    int whole = 0;
    for (std::size_t n = 0; n < bytes.size(); n += 1 + n / 60) {
      auto const text = error_of(in.write("cut-" + name, bytes.substr(0, n)));
      whole += text == "no error" ? 1 : 0;
      CHECK(text.find('\n') == std::string::npos);
    }
    INFO(name);
    CHECK(whole < 120);  // only data behind the values may be missing
  }
}

TEST_CASE("any bytes give a volume or an error") {
  test::folder const in("volume-mutated");
  auto const all = seeds();
  for (auto const& [name, bytes] : all) in.write(name, bytes);
  std::mt19937 random(20261122);
  int volumes = 0;
  int const rounds = static_cast<int>(test::fewer_if_slow(1000));
  for (int i = 0; i < rounds; ++i)
    for (auto const& [name, bytes] : all)
      if (i % 10 == 0 || name == all[static_cast<std::size_t>(i) % 10].first)
        volumes += error_of(in.write("m-" + name, mutated(bytes, random))) == "no error" ? 1 : 0;
  CHECK(volumes > rounds / 30);
}
