#include "tools/run/command_list.hpp"

#include "catch.hpp"
#include "observe/support.hpp"
#include "skel/error.hpp"
#include "tools/run/finished.hpp"

using namespace skel::commands;

namespace {

using lines = std::vector<std::string>;

lines all_of(command_list const& list) {
  lines all;
  for (std::uint64_t i = 0; i < list.size(); ++i) all.push_back(list[i]);
  return all;
}

command_list of_lines(std::string const& text) { return {text, '\n', command_template({})}; }

// The commands of the farm's tasks, and where they are in the list.
std::vector<std::pair<std::uint64_t, std::string>> places_of(finished& done) {
  std::vector<std::pair<std::uint64_t, std::string>> all;
  for (auto const& c : done.open()) all.emplace_back(c.number, c.line);
  return all;
}

}  // namespace

TEST_CASE("a list has the commands of its lines") {
  CHECK(all_of(of_lines("a\n\n  # no command\nb c\n \nd")) == lines{"a", "b c", "d"});
  CHECK(all_of(of_lines("")).empty());
  CHECK(test::error_text<skel::usage_error>([] { of_lines(std::string("a\0b", 3)); }) ==
        "the list has a zero byte: expected text, or --null");
  CHECK(all_of({std::string("a\nb\0#c\0", 7), '\0', command_template({})}) == lines{"a\nb", "#c"});
}

TEST_CASE("items take their places in a template") {
  std::string const items("a b\0it's\nc\0", 11);
  CHECK(all_of({items, '\0', command_template({"gzip", "-k", "{}"})}) ==
        lines{"gzip -k 'a b'", "gzip -k 'it'\\''s\nc'"});
  CHECK(all_of({items, '\0', command_template({"gzip", "-k"})}) ==
        lines{"gzip -k 'a b'", "gzip -k 'it'\\''s\nc'"});
  CHECK(all_of({"1\n# 2\n", '\n', command_template({"x{}y{}"})}) == lines{"x1y1", "x'# 2'y'# 2'"});
  CHECK(all_of({"a b\n", '\n', command_template({"wc {} > {}.n"})}) == lines{"wc 'a b' > 'a b'.n"});
  CHECK(all_of({"a b\n", '\n', command_template({"wc -l"})}) == lines{"wc -l 'a b'"});
}

TEST_CASE("the values of a sweep take their places in a template") {
  CHECK(all_of({sweep("a=1:2 b='x y'"), command_template({"./m", "--a={a}", "{b}", "{c}"})}) ==
        lines{"./m --a=1 'x y' '{c}'", "./m --a=2 'x y' '{c}'"});
  CHECK(all_of({sweep("a=1:2"), command_template({"./m {a} | sort"})}) ==
        lines{"./m 1 | sort", "./m 2 | sort"});
  auto const complaint = [](std::vector<std::string> const& words) {
    return test::error_text<skel::usage_error>(
        [&] { command_list(sweep("a=1 b=2"), command_template(words)); });
  };
  CHECK(complaint({}) == "--sweep: expected a command behind --, such as: -- ./model {alpha}");
  CHECK(complaint({"m", "{a}", "{B}"}) == "--sweep: the command behind -- has no place {b}");
}

TEST_CASE("a list that has changed keeps the results of the commands that it still has") {
  auto const list = of_lines("new\na\nb\na\nc\n");
  finished done(list, {});
  // An earlier run of "a b x a y", without y: places 0 to 3. Its second "a" has the result of the second one
  // here.
  CHECK(done.take(1, identity("b"), 1, {}) == 2);
  CHECK(done.take(0, identity("a"), 0, {}) == 1);
  CHECK(done.take(2, identity("x"), 2, {}) == std::nullopt);
  CHECK(done.take(3, identity("a"), 3, {}) == 3);
  using places = std::vector<std::pair<std::uint64_t, std::string>>;
  CHECK(places_of(done) == places{{0, ""}, {0, ""}, {0, ""}, {0, ""}, {0, "new"}, {4, "c"}});
  CHECK(done.number_in(4) == 0);
  CHECK(done.number_in(5) == 4);
}

TEST_CASE("places between those of finished commands are used, or stay empty") {
  auto const list = of_lines("a\nb\n");
  finished done(list, {});
  CHECK(done.take(4, identity("a"), 4, {}) == 0);
  CHECK(done.take(1, identity("a"), 1, {}) == std::nullopt);  // there is only one
  using places = std::vector<std::pair<std::uint64_t, std::string>>;
  CHECK(places_of(done) == places{{1, "b"}, {0, ""}, {0, ""}, {0, ""}, {0, ""}});
  CHECK(done.number_in(0) == 1);
}

TEST_CASE("without results of an earlier run, the places are those of the list") {
  auto const list = of_lines("a\nb\n");
  finished done(list, {});
  using places = std::vector<std::pair<std::uint64_t, std::string>>;
  CHECK(places_of(done) == places{{0, "a"}, {1, "b"}});
}
