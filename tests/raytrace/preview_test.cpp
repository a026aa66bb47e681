#include "preview.hpp"

#include "catch.hpp"
#include "observe/support.hpp"
#include "skel/error.hpp"

using namespace std::chrono_literals;
using raytrace::preview;

TEST_CASE("a preview is rewritten at most every half second, and at the end") {
  test::temporary_directory const directory;
  auto const path = directory.file("p.txt");
  int version = 0;
  preview picture(path, [&](auto& file) { file.write(std::to_string(++version)); });
  auto const start = preview::clock::now();
  CHECK(picture.update(start));
  CHECK_FALSE(picture.update(start + 499ms));
  CHECK(test::read_file(path) == "1");
  CHECK(picture.update(start + 500ms));
  CHECK_FALSE(picture.update(start + 600ms));
  picture.finish();
  CHECK(test::read_file(path) == "3");
  CHECK(directory.entries() == 1);
}

TEST_CASE("without a path no preview is written") {
  preview picture("", [](auto&) { FAIL("written"); });
  CHECK_FALSE(picture.update());
  picture.finish();
}

TEST_CASE("a bad preview path is an error, a later failure is not") {
  preview nowhere("/nonexistent/p", [](auto& file) { file.write("x"); });
  CHECK(test::error_text<skel::error>([&] { nowhere.update(); }) ==
        "/nonexistent/p: No such file or directory");

  test::temporary_directory const directory;
  bool full = false;
  preview picture(directory.file("p"), [&](auto& file) {
    if (full) throw skel::error("disk full");
    file.write("whole");
  });
  auto const start = preview::clock::now();
  picture.update(start);
  full = true;
  CHECK(picture.update(start + 1s));
  CHECK(test::read_file(directory.file("p")) == "whole");
  CHECK(test::error_text<skel::error>([&] { picture.finish(); }) == "disk full");
}
