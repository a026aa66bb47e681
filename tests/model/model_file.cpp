#include "catch.hpp"
#include "model_support.hpp"
#include "skel/error.hpp"
#include "skel/model/model.hpp"

using namespace skel::model;
using test::error_text;

namespace {

model some_model() {
  std::vector<sample> samples;
  test::dice dice(1);
  for (int n = 1; n <= 12; ++n) {
    sample s;
    s.skeleton = "divide_and_conquer";
    s.schedule = "hypercube";
    s.phase = "sequential";
    s.variables = {{"N", n * 100}, {"P", 1}};
    s.measured = {{"seconds", (1e-4 + 1e-6 * n) * (1 + 0.01 * dice.normal())}};
    s.file = "s.csv";
    s.line = static_cast<std::size_t>(n) + 1;
    samples.push_back(s);
  }
  model_options how;
  how.basis[""] = "1 + N";
  return fit_model(samples, how);
}

}  // namespace

TEST_CASE("model files are written and read") {
  auto const m = some_model();
  auto const again = model::parse(m.to_json(), "m.json");
  REQUIRE(again.skeletons.size() == 1);
  auto const& t = again.skeletons[0].terms[0];
  CHECK(t.curve.coefficients == m.skeletons[0].terms[0].curve.coefficients);
  CHECK(t.curve.covariance == m.skeletons[0].terms[0].curve.covariance);
  CHECK(t.curve.range.at("N") == std::pair(100.0, 1200.0));
  CHECK(t.error->median == m.skeletons[0].terms[0].error->median);
  auto doubtful = m;
  auto& curve = doubtful.skeletons[0].terms[0].curve;
  curve.weight = 0.75;
  curve.alternatives = {{parse_basis("N*log(N)"), {2e-7}, {1e-20}, 0.25}};
  auto const read = model::parse(doubtful.to_json(), "m.json").skeletons[0].terms[0].curve;
  CHECK(read.weight == 0.75);
  REQUIRE(read.alternatives.size() == 1);
  CHECK(to_string(read.alternatives[0].basis) == "N*log(N)");
  CHECK(read.alternatives[0].coefficients == curve.alternatives[0].coefficients);
  CHECK(read.alternatives[0].covariance == curve.alternatives[0].covariance);
  CHECK(read.alternatives[0].weight == 0.25);
}

TEST_CASE("any bytes give a model or an error of one line") {
  auto const whole = some_model().to_json();
  test::dice dice(3);
  for (int i = 0; i < 2000; ++i) {
    auto text = i % 2 == 0 ? whole : whole.substr(0, dice.below(whole.size()));
    for (std::uint64_t n = dice.below(3); n > 0 && !text.empty(); --n)
      text[dice.below(text.size())] = static_cast<char>(dice.below(256));
    try {
      (void)model::parse(text, "m.json");
    } catch (skel::usage_error const& e) {
      std::string const what = e.what();
      CHECK(what.starts_with("m.json:"));
      CHECK(what.find('\n') == std::string::npos);
    }
  }
}

TEST_CASE("bad model files name file and key") {
  auto const bad = [](std::string const& text) {
    return error_text<skel::usage_error>([&] { (void)model::parse(text, "m.json"); });
  };
  CHECK(bad("{}") == "m.json: missing \"skel_model\"");
  CHECK(bad(R"({"skel_model": 7})") == "m.json: skel_model: unknown schema, expected 1");
  CHECK(bad(R"({"skel_model": 1, "skeletons": []})") == "m.json: skeletons: expected at least one skeleton");
  auto const with = [&](std::string const& term) {
    return bad(R"({"skel_model": 1, "skeletons": [{"terms": [)" + term + "]}]}");
  };
  CHECK(with("{}") == "m.json: skeletons[0].terms[0]: missing \"phase\"");
  CHECK(with(R"({"phase": "run", "basis": ["N"], "coefficients": [1, 2]})") ==
        "m.json: skeletons[0].terms[0].coefficients: 2 numbers, expected 1");
  CHECK(with(R"({"phase": "run", "basis": [], "coefficients": []})") ==
        "m.json: skeletons[0].terms[0].basis: expected at least one function");
  CHECK(with(R"({"phase": "run", "basis": ["N +"], "coefficients": [1]})") ==
        "m.json: skeletons[0].terms[0].basis[0]: basis \"N +\": expected a number or a variable at the end");
}
