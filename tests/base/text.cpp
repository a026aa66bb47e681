#include "base/text.hpp"

#include <cmath>
#include <sstream>

#include "catch.hpp"

using namespace skel::detail;

TEST_CASE("numbers may begin with a sign and are rounded to 0 where they are too small") {
  CHECK(to_number<double>("+0.5") == 0.5);
  CHECK(to_number<int>("+7") == 7);
  CHECK(to_number<int>("-7") == -7);
  CHECK(to_number<float>("1e-60") == 0);
  CHECK(to_number<float>("-1e-60") == 0);
  CHECK(to_number<float>("1e-45") == 0x1p-149F);  // subnormal
  CHECK(to_number<double>("1e-330") == 0);
  CHECK(to_number<double>("-1e-99999999999999999999") == 0);
  CHECK(to_number<double>("0." + std::string(400, '0') + "1") == 0);
  CHECK(to_number<double>("0." + std::string(400, '0') + "1e401") == 1);
  CHECK(to_number<double>("1" + std::string(400, '0') + "e-400") == 1);
  CHECK(std::isnan(to_number<double>("nan").value()));
}

TEST_CASE("what is no number of the type is refused") {
  for (std::string const text : {"", "+", "-", "+-1", "++1", "0x10", "1.5.", " 1", "1 ", "e5", ".", "\xff"}) {
    CHECK_FALSE(to_number<double>(text));
    CHECK_FALSE(to_number<int>(text));
  }
  for (std::string const text : {"1e400", "-1e400", "1e99999999999999999999"})
    CHECK_FALSE(to_number<double>(text));
  CHECK_FALSE(to_number<double>("1" + std::string(400, '0') + "e-5"));
  CHECK_FALSE(to_number<float>("1e39"));
  CHECK_FALSE(to_number<int>("4000000000"));
  CHECK_FALSE(to_number<unsigned>("-1"));
  std::string_view rest = "+3x";
  CHECK(take_number<int>(rest) == 3);
  CHECK(rest == "x");
  CHECK_FALSE(take_number<int>(rest));
  CHECK(rest == "x");
}

TEST_CASE("digits have no sign and may have another base") {
  CHECK(from_digits<unsigned>("007") == 7U);
  CHECK(from_digits<unsigned>("fF", 16) == 255U);
  for (std::string const text : {"", "+1", "-1", " 1", "1 ", "1e2", "4294967296", "f"})
    CHECK_FALSE(from_digits<unsigned>(text));
}

TEST_CASE("lines and fields") {
  std::istringstream in(
      "\xEF\xBB\xBF"
      "a,\"b,\"\"c\"\"\"\r\n\nd\"");
  std::string line;
  CHECK(read_line(in, line));
  CHECK(csv_fields(line) == std::vector<std::string>{"a", "b,\"c\""});
  CHECK(read_line(in, line));
  CHECK(csv_fields(line) == std::vector<std::string>{""});
  CHECK(read_line(in, line));
  CHECK_FALSE(csv_fields(line));
  CHECK_FALSE(read_line(in, line));
}

TEST_CASE("words") {
  CHECK(lower("A-Z\xC4") == "a-z\xC4");
  CHECK(printable("a\n\xC4 b") == "a???b");
  CHECK(printable("123456789012345678901234x") == "123456789012345678901234...");
}
