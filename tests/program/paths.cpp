#include "program/paths.hpp"

#include <cstdlib>
#include <filesystem>

#include "catch.hpp"
#include "observe/support.hpp"
#include "skel/error.hpp"

using namespace skel::program;
using test::error_text;

TEST_CASE("the extension selects the format") {
  CHECK(require_ending("a.png", {".png", ".ppm"}) == ".png");
  CHECK(require_ending("dir.x/A.PPM", {".png", ".ppm"}) == ".ppm");
  auto const complaint = [](std::string const& path) {
    return error_text<skel::usage_error>([&] { require_ending(path, {".png", ".ppm"}); });
  };
  CHECK(complaint("a.jpg") == "a.jpg: unknown extension \".jpg\"; known: .png, .ppm");
  CHECK(complaint("dir.png/a") == "dir.png/a: missing extension; known: .png, .ppm");
  CHECK(complaint("/tmp/.png") == "/tmp/.png: missing extension; known: .png, .ppm");
}

TEST_CASE("a page that cannot be made is refused before the run") {
  test::temporary_directory const directory;
  common_options options;
  options.files.page = directory.file("page.html");
  std::filesystem::create_directory(directory.file("matplotlib"));
  test::write_file(directory.file("matplotlib/__init__.py"), "raise ImportError\n");
  ::setenv("PYTHONPATH", directory.file(".").c_str(), 1);
  auto const text = error_text<skel::usage_error>([&] { check_outputs(options); });
  ::unsetenv("PYTHONPATH");
  CHECK(text == "--page: skel-view: needs matplotlib; on Debian: apt install python3-matplotlib");
}

TEST_CASE("a trace or a page with another ending is refused") {
  test::temporary_directory const directory;
  auto const refused = [&](auto member, std::string const& name) {
    common_options options;
    options.files.*member = directory.file(name);
    auto const text = error_text<skel::usage_error>([&] { check_outputs(options); });
    CHECK(directory.entries() == 0);
    return text.substr(text.rfind('/') + 1);
  };
  using files = run_options::output_files;
  CHECK(refused(&files::trace, "t.otf") == "t.otf: unknown extension \".otf\"; known: .json, .otf2");
  CHECK(refused(&files::trace, "trace") == "trace: missing extension; known: .json, .otf2");
  CHECK(refused(&files::page, "p.txt") == "p.txt: unknown extension \".txt\"; known: .html");
  common_options options;
  options.files.trace = directory.file("T.JSON");
  check_outputs(options);
}

TEST_CASE("outputs are checked before the run, and the check leaves no files") {
  test::temporary_directory const directory;
  common_options options;
  options.output = directory.file("x.png");
  options.files.report = directory.file("r.json");
  options.files.samples = directory.file("s.csv");
  check_outputs(options);
  CHECK(directory.entries() == 0);
  for (auto* const path :
       {&options.output, &options.files.report, &options.files.trace, &options.files.samples}) {
    auto const saved = std::exchange(*path, "/nonexistent/file");
    CHECK(error_text<skel::usage_error>([&] { check_outputs(options); }) ==
          "/nonexistent/file: No such file or directory");
    *path = saved;
  }
  test::write_file(options.files.samples, "something else\n");
  CHECK(test::contains(error_text<skel::usage_error>([&] { check_outputs(options); }), "not a samples file"));
}
