#include "skel/atomic_file.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "base/read_file.hpp"
#include "catch.hpp"
#include "observe/support.hpp"
#include "skel/error.hpp"

using skel::atomic_file;
using test::error_text;
using test::read_file;

TEST_CASE("a file appears under its name only by commit") {
  test::temporary_directory const directory;
  auto const path = directory.file("out.txt");
  {
    atomic_file file(path);
    file.write("half");
    CHECK_FALSE(std::filesystem::exists(path));
  }
  CHECK(directory.entries() == 0);  // not committed: nothing is left

  atomic_file file(path);
  file.write("one ");
  file.write("two");
  file.commit();
  CHECK(read_file(path) == "one two");
  CHECK(directory.entries() == 1);
}

TEST_CASE("the old content stays until commit, and its permissions stay after it") {
  test::temporary_directory const directory;
  auto const path = directory.file("out.txt");
  test::write_file(path, "old");
  ::chmod(path.c_str(), 0640);
  { atomic_file(path).write("new"); }
  CHECK(read_file(path) == "old");
  skel::write_file_atomically(path, "new");
  CHECK(read_file(path) == "new");
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("a megabyte in odd pieces arrives whole") {
  test::temporary_directory const directory;
  std::string text;
  for (int i = 0; text.size() < 1'000'000; ++i) text += std::to_string(i);
  atomic_file file(directory.file("big"));
  for (std::size_t at = 0; at < text.size(); at += 77'777)
    file.write(std::string_view(text).substr(at, 77'777));
  file.commit();
  CHECK(read_file(directory.file("big")) == text);
}

TEST_CASE("symbolic links are followed, not replaced") {
  test::temporary_directory const directory;
  test::write_file(directory.file("real"), "old");
  std::filesystem::create_symlink("real", directory.file("link"));
  skel::write_file_atomically(directory.file("link"), "new");
  CHECK(std::filesystem::is_symlink(directory.file("link")));
  CHECK(read_file(directory.file("real")) == "new");

  std::filesystem::create_symlink("nowhere", directory.file("dangling"));
  CHECK(error_text<skel::error>([&] { atomic_file(directory.file("dangling")); }) ==
        directory.file("dangling") + ": No such file or directory");
}

TEST_CASE("devices are written to, never replaced") {
  skel::write_file_atomically("/dev/null", "text");
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("errors name the path and the reason") {
  test::temporary_directory const directory;
  CHECK(error_text<skel::error>([] { atomic_file("/nonexistent/out.png"); }) ==
        "/nonexistent/out.png: No such file or directory");
  CHECK(error_text<skel::error>([&] { atomic_file(directory.file("")); }) ==
        directory.file("") + ": Is a directory");
  CHECK(error_text<skel::error>([] { atomic_file(""); }) == ": No such file or directory");
  CHECK(error_text<skel::error>([] { skel::write_file_atomically("/dev/full", "x"); }) ==
        "/dev/full: No space left on device");
  auto const too_long = std::string(300, 'x');
  CHECK(error_text<skel::error>([&] { skel::write_file_atomically(too_long, "x"); }) ==
        too_long + ": File name too long");
}

TEST_CASE("a name of the greatest length can be written") {
  test::temporary_directory const directory;
  auto const path = directory.file(std::string(255, 'x'));
  skel::write_file_atomically(path, "x");
  CHECK(read_file(path) == "x");
}

TEST_CASE("a whole file is read, or one byte more than asked for") {
  test::temporary_directory const directory;
  std::string const text(100'000, 'x');
  auto const path = directory.file("x");
  test::write_file(path, text);
  using skel::detail::read_file;
  CHECK(*read_file(path) == text);
  CHECK(*read_file(path, text.size()) == text);
  CHECK(read_file(path, 70'000)->size() == 70'001);
  CHECK(read_file(path, 0)->size() == 1);
  auto const why_not = [&](char const* name) { return read_file(directory.file(name)) ? 0 : errno; };
  CHECK(why_not("none") == ENOENT);
  CHECK(why_not(".") == EISDIR);
}
