#include "skel/model/basis.hpp"

#include "catch.hpp"
#include "model_support.hpp"
#include "skel/error.hpp"

using namespace skel::model;
using test::error_text;

TEST_CASE("basis functions are read and written") {
  auto const basis = parse_basis(" 1 + N*log(N)^2 + M^1.5/P + sqrt(K)+N*N ");
  REQUIRE(basis.size() == 5);
  point const at{{"N", 8}, {"M", 4}, {"P", 2}, {"K", 9}};
  CHECK(basis[0](at) == 1);
  CHECK(basis[1](at) == Approx(8 * 9));
  CHECK(basis[2](at) == Approx(4));
  CHECK(basis[3](at) == Approx(3));
  CHECK(basis[4](at) == Approx(64));
  CHECK(to_string(basis[1]) == "N*log(N)^2");
  CHECK(to_string(basis[2]) == "M^1.5/P");
  for (auto const& b : basis) CHECK(parse_basis(to_string(b)) == std::vector{b});
}

TEST_CASE("expressions have coefficients") {
  auto const e = parse_expression("16 + 8*N*2 + N/4");
  CHECK(e({{"N", 4}}) == 16 + 64 + 1);
}

TEST_CASE("errors of basis functions name the expected text") {
  auto const bad = [](std::string const& text) {
    return error_text<skel::usage_error>([&] { (void)parse_basis(text); });
  };
  CHECK(bad("") == "basis \"\": expected a number or a variable at the end");
  CHECK(bad("1 + ") == "basis \"1 + \": expected a number or a variable at the end");
  CHECK(bad("N M") == "basis \"N M\": expected +, *, / or the end at \"M\"");
  CHECK(bad("2*N") == "basis \"2*N\": found a coefficient, expected none (coefficients are fitted)");
  CHECK(bad("1 + N + N") == "basis \"1 + N + N\": found N twice, expected once");
  CHECK(bad("log(N") == "basis \"log(N\": expected \")\" at the end");
  CHECK(bad("N^99") == "basis \"N^99\": expected an exponent from -10 to 10 at the end");
  CHECK(bad("N^nan") == "basis \"N^nan\": expected a number at \"nan\"");
  CHECK(bad("1/0") == "basis \"1/0\": expected a divisor that is not 0 at the end");
  CHECK(bad(std::string("\0\xff", 2)).starts_with("basis "));
  CHECK(bad(std::string(100000, '(')).size() < 300);
  std::string many = "N";
  for (int i = 0; i < 100; ++i) many += "+N^1." + std::to_string(i);
  CHECK(bad(many).find("expected fewer terms") != std::string::npos);
}

TEST_CASE("unknown variables and values that are not finite are errors") {
  auto const f = parse_basis("log(N)").front();
  CHECK(error_text<skel::usage_error>([&] {
          (void)f({{"M", 1}, {"P", 2}});
        }) == "unknown variable \"N\"; known: M, P");
  CHECK(error_text<skel::usage_error>([&] { (void)f({{"N", 0}}); }) == "log(N) is not finite at N = 0");
  auto const huge = parse_basis("N^10*N^10").front();
  CHECK(error_text<skel::usage_error>([&] {
          (void)huge({{"N", 1e30}});
        }) == "N^20 is not finite at N = 1e+30");
}
