#include "base/json.hpp"

#include "catch.hpp"
#include "skel/error.hpp"

using skel::detail::json_reader;

TEST_CASE("errors in JSON name the file, the key, what is expected and what is found") {
  auto const error_of = [](std::string const& text, auto const& read) -> std::string {
    auto const document = json_reader::parse(text, "a.json");
    try {
      read(json_reader(document, "a.json"));
    } catch (skel::usage_error const& e) {
      return e.what();
    }
    return "no error";
  };
  auto const number = [](json_reader const& in) { (void)in["a"].items()[1]["b"].number(0, 2.5); };
  CHECK(error_of(R"({"a": [0, {"b": 3}]})", number) ==
        "a.json: a[1].b: expected a number from 0 to 2.5, found 3");
  CHECK(error_of(R"({"a": [0, 1]})", number) == "a.json: a[1]: expected an object, found 1");
  CHECK(error_of(R"({"a": {}})", number) == "a.json: a: expected a list, found {}");
  for (std::string const found : {"1.5", "1e+300", "-6", "21", "\"1\""})
    CHECK(error_of("{\"a\": " + found + "}", [](auto const& in) {
            (void)in["a"].template whole<int>(-5, 20);
          }) == "a.json: a: expected a whole number from -5 to 20, found " + found);
  auto const document = json_reader::parse("\xEF\xBB\xBF[-5, 20.0]", "a.json");  // with a byte order mark
  auto const all = json_reader(document, "a.json").items();
  CHECK(all[0].whole<int>(-5, 20) == -5);
  CHECK(all[1].whole<int>(-5, 20) == 20);
}
