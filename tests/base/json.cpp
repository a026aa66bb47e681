#include "base/json.hpp"

#include "catch.hpp"
#include "skel/error.hpp"

using skel::detail::json_reader;

namespace {

template <class F>
std::string error_of(std::string const& text, F const& read) {
  try {
    auto const document = json_reader::parse(text, "a.json");
    read(json_reader(document, "a.json"));
  } catch (skel::usage_error const& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("errors in JSON name the file, the key, what is expected and what is found") {
  auto const number = [](json_reader const& in) { (void)in["a"].items()[1]["b"].number(0, 2.5); };
  CHECK(error_of(R"({"a": [0, {"b": 2.5}]})", number) == "no error");
  CHECK(error_of(R"({"a": [0, {"b": 3}]})", number) ==
        "a.json: a[1].b: expected a number from 0 to 2.5, found 3");
  CHECK(error_of(R"({"a": [0, {"c": 3}]})", number) == "a.json: a[1]: missing \"b\"");
  CHECK(error_of(R"({"a": [0, 1]})", number) == "a.json: a[1]: expected an object, found 1");
  CHECK(error_of(R"({"a": {}})", number) == "a.json: a: expected a list, found {}");
  auto const whole = [](json_reader const& in) { (void)in["a"].whole<int>(-5, 20); };
  CHECK(error_of(R"({"a": 20.0})", whole) == "no error");
  CHECK(error_of(R"({"a": 1.5})", whole) == "a.json: a: expected a whole number from -5 to 20, found 1.5");
  CHECK(error_of(R"({"a": 1e300})", whole) ==
        "a.json: a: expected a whole number from -5 to 20, found 1e+300");
  auto const text = [](json_reader const& in) { (void)in["a"].text(); };
  CHECK(error_of("{\"a\": [" + std::string(40, '[') + std::string(40, ']') + "]}", text) ==
        "a.json: a: expected a text, found a list of 1");
  auto const keys = [](json_reader const& in) { in.only_keys({"a", "b"}); };
  CHECK(error_of(R"({"c\n": 1})", keys) == "a.json: unknown key \"c \"; known: a, b");
}

TEST_CASE("what is not JSON is refused with its line") {
  auto const none = [](json_reader const&) {};
  CHECK(error_of("{\n\"a\": 1,\n}", none).starts_with("a.json:3: not JSON: syntax error"));
  CHECK(error_of("\xEF\xBB\xBF{}", none) == "no error");  // a byte order mark
  CHECK(error_of(R"({"a": 1, "a": 2})", none) == "a.json: not JSON: a is there twice");
  CHECK(error_of(std::string(200, '['), none) == "a.json: not JSON: nested more than 100 deep");
  CHECK(error_of("[1e400]", none) == "a.json: not JSON: number overflow parsing '1e400'");
}
