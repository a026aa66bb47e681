#include "catch.hpp"
#include "model_support.hpp"
#include "skel/error.hpp"
#include "skel/model/model.hpp"
#include "skel/model/sample.hpp"

using namespace skel::model;
using test::error_text;

TEST_CASE("Extra-P's lines are read") {
  auto const all = parse_extra_p(
      "{\"params\":{\"x\":4,\"p\":2},\"callpath\":\"main->solve\",\"metric\":\"time\",\"value\":[1.5,2]}\n\n"
      "{\"params\":{\"x\":8},\"value\":3}\r\n",
      "e.jsonl");
  REQUIRE(all.size() == 3);
  CHECK(all[0].phase == "solve");
  CHECK(all[0].skeleton == "main");
  CHECK(all[0].variables == point{{"p", 2}, {"x", 4}});
  CHECK(all[1].measured == point{{"seconds", 2}});
  CHECK(all[2].phase == "run");
  CHECK(all[2].line == 3);
  auto const deep =
      parse_extra_p("{\"params\":{\"x\":4},\"callpath\":\"a->b->c->d->e\",\"value\":1}", "e.jsonl");
  CHECK(deep[0].skeleton == "a->b->c->d");
  CHECK(deep[0].phase == "e");
}

TEST_CASE("lines written for Extra-P are read again and have the same parameters") {
  std::vector<sample> samples(2);
  samples[0].skeleton = samples[1].skeleton = "farm";
  samples[0].variables = {{"N", 1}, {"P", 2}, {"extra", 3}};
  samples[1].variables = {{"N", 2}, {"P", 2}};
  samples[0].measured = {{"seconds", 0.5}, {"bytes", 7}};
  samples[1].measured = {{"seconds", 0.25}};
  auto const text = to_extra_p(samples);
  CHECK(text.find("extra") == std::string::npos);
  auto const again = parse_extra_p(text, "e.jsonl");
  REQUIRE(again.size() == 3);
  CHECK(again[0].measured == point{{"bytes", 7}});
  CHECK(again[1].measured == point{{"seconds", 0.5}});
  CHECK(again[1].variables == point{{"N", 1}});  // P is constant
  CHECK(again[2].skeleton == "farm");
  CHECK(again[2].schedule.empty());
  samples[0].schedule = "guided:min=1";  // another model than that of the second sample
  samples[0].results = "streamed";
  auto const kinds = parse_extra_p(to_extra_p(samples), "e.jsonl");
  CHECK(kinds[0].skeleton == "farm");
  CHECK(kinds[0].schedule == "guided:min=1");
  CHECK(kinds[0].results == "streamed");
  CHECK(kinds[0].phase == "run");
  CHECK(kinds[2].schedule.empty());
  samples[1].variables = samples[0].variables;
  CHECK(error_text<skel::usage_error>([&] { (void)to_extra_p(samples); }) ==
        "no variable is present in all samples and differs between them, as Extra-P requires (--only "
        "phase=divide, for example, selects some of them)");
}

TEST_CASE("any metric is fitted, or refused") {
  auto const lines = [](std::string const& metric, std::string const& value) {
    std::string text;
    for (auto const* p : {"2", "4", "8", "16", "32", "64"})
      text += std::string("{\"params\":{\"P\":") + p + "},\"metric\":\"" + metric +
              "\",\"value\":" + (value.empty() ? p : value) + "}\n";
    return text;
  };
  auto const fit = [](std::string const& text) {
    return fit_model(parse_extra_p(text, "e.jsonl")).skeletons.at(0);
  };
  auto const constant = fit(lines("FLOP", "200"));
  REQUIRE(constant.terms.size() == 1);
  CHECK(constant.terms[0].quantity == "FLOP");
  CHECK(constant.terms[0].curve({{"P", 128}}) == Approx(200));
  // Also one with the name of a column of skel's own samples, and beside the time.
  for (std::string const metric : {"bytes", "messages", "busy_seconds"}) {
    auto const one = fit(lines(metric, ""));
    REQUIRE(one.terms.size() == 1);
    CHECK(one.terms[0].quantity == metric);
    CHECK(one.terms[0].curve({{"P", 128}}) == Approx(128).epsilon(0.01));
  }
  auto const both = fit(lines("FLOP", "") + lines("time", ""));
  REQUIRE(both.terms.size() == 2);
  CHECK(both.find("run") != nullptr);
  CHECK(both.find("run", "FLOP") != nullptr);
  CHECK(error_text<skel::usage_error>([&] {
          (void)fit(lines("FLOP", "0"));
        }).find("found the value 0, expected a positive number") != std::string::npos);
}

TEST_CASE("errors name the line and the expected value") {
  auto const bad = [](std::string const& text) {
    return error_text<skel::usage_error>([&] { (void)parse_extra_p(text, "e.jsonl"); });
  };
  std::string const good = "{\"params\":{\"x\":4},\"value\":1}\n";
  CHECK(bad("") == "e.jsonl:1: no measurements, expected a JSON object per line");
  CHECK(bad(good + "{\"params\":{\"x\":4},\"val") ==
        "e.jsonl:2: found \"{\"params\":{\"x\":4},\"val\", expected a JSON object {\"params\": {…}, "
        "\"value\": …}");
  CHECK(bad("{\"params\":{\"x\":4}}") == "e.jsonl:1: missing value, expected a number or a list of numbers");
  CHECK(bad("{\"value\":4}") == "e.jsonl:1: missing params, expected an object of numbers");
  CHECK(bad("{\"params\":{\"x\":\"4\"},\"value\":1}") ==
        "e.jsonl:1: params.x: expected a number from 0 to 1e30, found \"4\"");
  CHECK(bad("{\"params\":{\"x\":4},\"value\":1e999}").starts_with("e.jsonl:1: "));
  CHECK(bad("{\"params\":{\"x\":4},\"value\":[1,null]}") ==
        "e.jsonl:1: value[1]: expected a number from 0 to 1e30, found null");
  CHECK(bad(std::string("\0\xff\xfe", 3)).starts_with("e.jsonl:1: "));
  CHECK(bad(std::string(200000, '[')).size() < 400);
  CHECK(bad("{\"params\":{\"x\":" + std::string(200000, '[') + std::string(200000, ']') + "},\"value\":1}")
            .size() < 400);
}
