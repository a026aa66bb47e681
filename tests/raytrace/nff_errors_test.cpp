// Errors name the file, the line, the defect and what was expected, word for word.
#include <string>

#include "catch.hpp"
#include "nff.hpp"

using namespace raytrace;

namespace {

std::string const view_and_fill =
    "v\nfrom 0 -5 1\nat 0 0 0\nup 0 0 1\nangle 40\nhither 1\nresolution 32 20\nf 1 1 1 1 0 0 0 1\n";

std::string error_of(std::string const& text) {
  try {
    (void)parse_nff(text, "scene.nff");
  } catch (scene_error const& e) {
    return e.what();
  }
  return "no error";
}

std::string after_head(std::string const& text) {
  return error_of(view_and_fill + text);
}  // starts on line 9

}  // namespace

TEST_CASE("errors of numbers") {
  CHECK(after_head("s 0 0 0 x\n") == "scene.nff:9: sphere needs 4 numbers, found \"x\"");
  CHECK(after_head("s 0 0 0\n") == "scene.nff:10: sphere needs 4 numbers, found the end of the file");
  CHECK(after_head("s 0 0 0\ns 1 1 1 1\n") == "scene.nff:10: sphere needs 4 numbers, found \"s\"");
  CHECK(after_head("s nan 0 0 1\n") == "scene.nff:9: sphere needs 4 numbers that are finite, found \"nan\"");
  CHECK(after_head("s 0 -inf 0 1\n") ==
        "scene.nff:9: sphere needs 4 numbers that are finite, found \"-inf\"");
  CHECK(after_head("s 0 0 1e999 1\n") ==
        "scene.nff:9: sphere needs 4 numbers of at most 1e15, found \"1e999\"");
  CHECK(after_head("s 0 0 1e16 1\n") ==
        "scene.nff:9: sphere needs 4 numbers of at most 1e15, found \"1e16\"");
  CHECK(after_head("s 0 0 0x10 1\n") == "scene.nff:9: sphere needs 4 numbers, found \"0x10\"");
  CHECK(after_head("l 1 2\n") == "scene.nff:10: light needs 3 or 6 numbers, found the end of the file");
  CHECK(after_head("l 1 2 3 4 5\n") == "scene.nff:10: light needs 3 or 6 numbers, found the end of the file");
  CHECK(after_head("b 1 2 \xff\x01\n") == "scene.nff:9: background needs 3 numbers, found \"??\"");
}

TEST_CASE("numbers may have a sign and be tiny, and a byte order mark may come first") {
  auto const scene = parse_nff("\xEF\xBB\xBF" + view_and_fill + "s +1 0 1e-400 +2.5\n", "scene.nff");
  CHECK(scene.view.width == 32);
  CHECK(scene.primitives.size() == 1);
}

TEST_CASE("errors of shapes") {
  CHECK(after_head("s 0 0 0 0\n") == "scene.nff:9: sphere needs a radius other than 0");
  CHECK(after_head("c\n0 0 0 1\n0 0 0 1\n") == "scene.nff:11: cone needs a base and an apex that differ");
  CHECK(after_head("c\n0 0 0 0\n0 0 1 0\n") == "scene.nff:11: cone needs a radius other than 0");
  CHECK(after_head("c\n0 0 0 1\n0 0 1 -1\n") == "scene.nff:11: cone needs two radii of the same sign");
  CHECK(after_head("\n\n\np 2\n0 0 0\n1 1 1\n") == "scene.nff:12: polygon needs 3 vertices, found \"2\"");
  CHECK(after_head("pp 0\n") == "scene.nff:9: patch needs 3 vertices, found \"0\"");
  CHECK(after_head("p -3\n") == "scene.nff:9: polygon needs 3 to 10000 vertices, found \"-3\"");
  CHECK(after_head("p 4000000000\n") ==
        "scene.nff:9: polygon needs 3 to 10000 vertices, found \"4000000000\"");
  CHECK(after_head("p 3.5\n") == "scene.nff:9: polygon needs 3 to 10000 vertices, found \"3.5\"");
  CHECK(after_head("p 3\n0 0 0\n1 0 0\n") ==
        "scene.nff:12: polygon needs 3 numbers for each vertex, found the end of the file");
  CHECK(after_head("p 3\n0 0 0\n1 0 0\n1 inf 0\n") ==
        "scene.nff:12: polygon needs 3 numbers for each vertex that are finite, found \"inf\"");
  CHECK(after_head("pp 3\n0 0 0 0 0 0\n") == "scene.nff:10: patch needs normals other than 0");
}

TEST_CASE("errors of fills") {
  CHECK(error_of("s 0 0 0 1\n") == "scene.nff:1: sphere needs a fill (\"f\") before it, found \"s\"");
  CHECK(after_head("f 1 1 1 1 0 0\n") == "scene.nff:10: fill needs 8 numbers, found the end of the file");
  CHECK(after_head("f 1 1 1 -1 0 0 0 0\n") ==
        "scene.nff:9: fill needs Kd, Ks, shine, T and index of refraction of 0 or more");
  CHECK(after_head("f 1 1 1 1 0 0 0.5 0\n") ==
        "scene.nff:9: fill needs an index of refraction above 0 where it transmits");
}

TEST_CASE("errors of the view") {
  CHECK(error_of("") == "scene.nff:1: a scene needs a view, found no \"v\"");
  CHECK(error_of("b 0 0 0\n") == "scene.nff:1: a scene needs a view, found no \"v\"");
  CHECK(error_of("v\nfrom 0 0 1\nat 0 0 0\n") ==
        "scene.nff:4: view needs from, at, up, angle and resolution, found the end of the file");
  CHECK(after_head("v\n") == "scene.nff:9: a scene needs one view, found \"v\"");
  CHECK(error_of("v from 1 1 1 at 1 1 1 up 0 0 1 angle 45 resolution 9 9") ==
        "scene.nff:1: view needs different \"from\" and \"at\"");
  CHECK(error_of("v from 0 0 1 at 0 0 0 up 0 0 2 angle 45 resolution 9 9") ==
        "scene.nff:1: view needs an \"up\" that is not the line of sight");
  CHECK(error_of("v from 0 0 1 at 0 0 0 up 0 1 0 angle 45\nangle 40 resolution 9 9") ==
        "scene.nff:2: view needs one \"angle\", found \"angle\"");
  CHECK(error_of("v from 0 0 1 from 0 0 2 at 0 0 0 up 0 1 0 angle 45 resolution 9 9") ==
        "scene.nff:1: view needs one \"from\", found \"from\"");
  CHECK(error_of("v from 0 0 1 at 0 0 0 up 0 1 0 angle 180 resolution 9 9") ==
        "scene.nff:1: view needs an angle between 0 and 180 degrees");
  CHECK(error_of("v from 0 0 1 at 0 0 0 up 0 1 0 angle 45 resolution 0 9") ==
        "scene.nff:1: resolution needs a width of 1 to 65536, found \"0\"");
  CHECK(error_of("v from 0 0 1 at 0 0 0 up 0 1 0 angle 45 resolution 9 99999999999") ==
        "scene.nff:1: resolution needs a height of 1 to 65536, found \"99999999999\"");
}

TEST_CASE("other errors") {
  CHECK(after_head("sphere 1 2 3 4\n") ==
        "scene.nff:9: a scene needs one of v b l f s c p pp here, found \"sphere\"");
  CHECK(after_head(std::string(100, 'z')) ==
        "scene.nff:9: a scene needs one of v b l f s c p pp here, found \"zzzzzzzzzzzzzzzzzzzzzzzz...\"");
  CHECK_THROWS_WITH(read_nff("/nonexistent/scene.nff"), "/nonexistent/scene.nff: No such file or directory");
  CHECK_THROWS_AS(read_nff("/tmp"), skel::usage_error);
  CHECK_THROWS_WITH(read_nff("/tmp"), "/tmp: Is a directory");
}
