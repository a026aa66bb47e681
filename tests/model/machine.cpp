#include "skel/model/machine.hpp"

#include "catch.hpp"
#include "model_support.hpp"
#include "skel/error.hpp"

using namespace skel::model;
using test::error_text;

namespace {

std::string machine_error(std::string const& json) {
  return error_text<skel::usage_error>([&] { (void)machine::parse(json, "m.json"); });
}

}  // namespace

TEST_CASE("the eager limit is found") {
  int found = 0;
  constexpr int trials = 40;
  for (int seed = 1; seed <= trials; ++seed) {
    test::dice dice(static_cast<std::uint64_t>(seed));
    std::vector<std::pair<double, double>> points;
    for (double b = 4; b <= 4 << 20; b *= 2) {
      double const t = b < 5000 ? 1e-6 + 1e-9 * b : 8e-6 + 2e-10 * b;
      points.emplace_back(b, t * (1 + 0.01 * dice.normal()));
    }
    auto const c = fit_curve(points);
    if (c.pieces.size() != 2) continue;
    ++found;
    CHECK(c.pieces[0].to_bytes > 4096);
    CHECK(c.pieces[0].to_bytes < 8192);
    CHECK(c.pieces[0].latency_seconds == Approx(1e-6).epsilon(0.05));
    CHECK(c.pieces[1].gap_seconds_per_byte == Approx(2e-10).epsilon(0.05));
    CHECK(c(1 << 20) == Approx(8e-6 + 2e-10 * (1 << 20)).epsilon(0.05));
  }
  CHECK(found >= trials * 9 / 10);
}

TEST_CASE("a straight line gives one piece") {
  std::vector<std::pair<double, double>> points;
  for (double b = 4; b <= 4 << 20; b *= 2) points.emplace_back(b, 2.43e-4 + 3.775e-8 * b);
  auto const c = fit_curve(points);
  REQUIRE(c.pieces.size() == 1);
  CHECK(c.pieces[0].latency_seconds == Approx(2.43e-4));
  CHECK(c.pieces[0].gap_seconds_per_byte == Approx(3.775e-8));
}

TEST_CASE("l and g are interpolated between numbers of ranks; outside, the nearest is used with a warning") {
  machine m;
  m.name = "here";
  m.at = {{.ranks = 2, .latency_seconds = 1, .gap_seconds_per_byte = 4},
          {.ranks = 8, .latency_seconds = 3, .gap_seconds_per_byte = 8}};
  std::string warning;
  CHECK(m.for_ranks(4, "raw", warning).latency_seconds == Approx(2));
  CHECK(m.for_ranks(4, "raw", warning).gap_seconds_per_byte == Approx(6));
  CHECK(m.for_ranks(8, "raw", warning).latency_seconds == 3);
  CHECK(warning.empty());
  CHECK(m.for_ranks(64, "raw", warning).latency_seconds == 3);
  CHECK(warning == "machine here: measured with 8 ranks at most, used for 64");
  CHECK(error_text<skel::usage_error>([&] { (void)m.for_ranks(4, "serialised", warning); }) ==
        "machine here: no entry of kind \"serialised\"; known: raw");
}

TEST_CASE("machine files are written and read") {
  machine m;
  m.name = "a \"name\"";
  machine_at a{.ranks = 4, .kind = "serialised", .latency_seconds = 1e-5, .gap_seconds_per_byte = 1e-9};
  a.exchange.pieces = {{0, 4096, 1e-6, 1e-9}, {4096, HUGE_VAL, 2e-6, 5e-10}};
  a.exchange.deviation = 0.02;
  a.timings = {{"exchange", 24, 4, 1e-5, 0.01}};
  m.at = {a};
  auto const again = machine::parse(m.to_json(), "m.json");
  CHECK(again.name == m.name);
  REQUIRE(again.at.size() == 1);
  CHECK(again.at[0].kind == "serialised");
  REQUIRE(again.at[0].exchange.pieces.size() == 2);
  CHECK(again.at[0].exchange(1e6) == a.exchange(1e6));
  CHECK(again.at[0].timings.size() == 1);
  CHECK(again.to_json() == m.to_json());
}

TEST_CASE("a machine file written by hand is read") {
  auto const m =
      machine::parse(R"({"latency_seconds": 2.43e-4, "gap_seconds_per_byte": 3.775e-8})", "m.json");
  std::string warning;
  CHECK(m.for_ranks(8, "raw", warning).latency_seconds == 2.43e-4);
  CHECK(warning.empty());
}

TEST_CASE("bad machine files name file and key") {
  CHECK(machine_error("").starts_with("m.json:1: not JSON: syntax error"));
  CHECK(machine_error("{\n\n\"x\": 1,}").starts_with("m.json:3: not JSON: syntax error"));
  CHECK(machine_error("[]") == "m.json: expected an object, found []");
  CHECK(machine_error("{}") == "m.json: missing \"latency_seconds\"");
  CHECK(machine_error(R"({"latency_seconds": "1", "gap_seconds_per_byte": 1})") ==
        "m.json: latency_seconds: expected a number from 0 to 1000000000, found \"1\"");
  CHECK(machine_error(R"({"latency_seconds": -1, "gap_seconds_per_byte": 1})") ==
        "m.json: latency_seconds: expected a number from 0 to 1000000000, found -1");
  CHECK(machine_error(R"({"latency_seconds": 1e999, "gap_seconds_per_byte": 1})") ==
        "m.json: not JSON: number overflow parsing '1e999'");
  CHECK(machine_error(R"({"measured": []})") == "m.json: measured: expected at least one entry");
  CHECK(machine_error(R"({"measured": [{"ranks": 2}]})") ==
        "m.json: measured[0]: missing \"latency_seconds\"");
  CHECK(machine_error(R"({"skel_machine": 2, "measured": []})") ==
        "m.json: skel_machine: unknown schema, expected 1");
  CHECK(machine_error(std::string("\0\xff", 2)).starts_with("m.json:1: not JSON: syntax error"));
}
