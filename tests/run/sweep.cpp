#include "tools/run/sweep.hpp"

#include "catch.hpp"
#include "observe/support.hpp"
#include "skel/error.hpp"

using namespace skel::commands;

namespace {

// All combinations: "1,a 1,b".
std::string all_of(std::string const& text) {
  sweep const s(text);
  std::string all;
  for (std::uint64_t i = 0; i < s.size(); ++i) {
    all += i > 0 ? " " : "";
    for (std::size_t p = 0; p < s.parameters(); ++p) all += (p > 0 ? "," : "") + s.value(p, i);
  }
  return all;
}

std::string complaint(std::string const& text) {
  return test::error_text<skel::usage_error>([&] { sweep const s(text); });
}

}  // namespace

TEST_CASE("a sweep has all combinations of its values") {
  CHECK(all_of("a=1,2 b=x,y,z") == "1,x 1,y 1,z 2,x 2,y 2,z");
  CHECK(all_of("n=1:4") == "1 2 3 4");
  CHECK(all_of("n=4:1:-2") == "4 2");
  CHECK(all_of("n=-1:1") == "-1 0 1");
  CHECK(all_of("x=0:1:0.25") == "0.00 0.25 0.50 0.75 1.00");
  CHECK(all_of("x=0.1:0.3:0.1,9") == "0.1 0.2 0.3 9");
  CHECK(all_of("x=-0.1:0.1:0.1") == "-0.1 0.0 0.1");
  CHECK(all_of("x=1:1.55") == "1");
  CHECK(all_of("x=0:0.299:0.1") == "0.0 0.1 0.2");
  CHECK(all_of("x=7:7") == "7");
  CHECK(all_of("t=a:b,1:2:3:4,1:x") == "a:b 1:2:3:4 1:x");
  CHECK(all_of("name='a b','c,d'") == "a b c d");
  CHECK(all_of("a= b=,") == ", ,");
  sweep const large("i=1:1000000 j=1:1000000");
  CHECK(large.size() == 1'000'000'000'000);
  CHECK(large.value(0, large.size() - 1) == "1000000");
  CHECK(large.value(1, 999'999'999'998) == "999999");
}

TEST_CASE("a sweep that makes no sense is refused") {
  CHECK(complaint("") == "--sweep: expected NAME=VALUE,...");
  CHECK(complaint("a") == "--sweep: expected NAME=VALUE,..., found \"a\"");
  CHECK(complaint("1a=2") == "--sweep: expected a name of letters, digits and _, found \"1a\"");
  CHECK(complaint("a=1 a=2") == "--sweep: parameter a is given twice");
  CHECK(complaint("a=1:2:0") == "--sweep: the step of \"1:2:0\" must not be 0");
  CHECK(complaint("a=2:1") == "--sweep: \"2:1\" has no values: expected a step towards the last number");
  CHECK(complaint("a=1:2:-1") ==
        "--sweep: \"1:2:-1\" has no values: expected a step towards the last number");
  CHECK(complaint("a=$b") ==
        "--sweep: expected NAME=VALUE,... without characters of the shell such as $ * ?, found \"a=$b\"");
  CHECK(complaint("a=1:1000000 b=1:1000000 c=1,2") == "--sweep: more than 10^12 combinations");
  CHECK(complaint("a=0:999999999999999") == "--sweep: more than 10^12 combinations");
  CHECK(complaint("a=0.0000001:999999999999") ==
        "--sweep: the numbers of \"0.0000001:999999999999\" have too many digits");
  CHECK(sweep("a=0:1000000000000000").size() == 1);  // a text: a number has at most 15 digits
}
