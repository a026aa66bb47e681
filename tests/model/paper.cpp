// The numbers of [Hyper], computed from its own tables (benchmarks/components/paper). Expected
// values were computed by hand from the published tables, with their two misprints corrected.
#include "catch.hpp"
#include "model_support.hpp"
#include "skel/model/predict.hpp"

using namespace skel::model;

namespace {

std::string const folder = std::string(SKEL_PAPER) + "/";

model fitted_to(std::vector<std::string> const& tables) {
  std::vector<sample> all;
  for (auto const& t : tables)
    for (auto& s : read_samples(folder + t)) all.push_back(std::move(s));
  model_options how;
  how.how.weights = weighting::equal;
  how.halved = {"M"};
  for (auto const& s : all)
    how.basis[s.phase] = s.phase == "divide" ? "1 + M" : s.phase == "combine" ? "1 + N" : "N + M";
  return fit_model(all, how);
}

}  // namespace

TEST_CASE("table 3 follows from tables 1 and 2") {
  auto const m = fitted_to({"table-1.csv", "table-2.csv"});
  auto const& divide = m.skeletons.at(0).find("divide")->curve;
  CHECK(divide.coefficients[0] == Approx(2.257e-6).epsilon(3e-4));
  CHECK(divide.coefficients[1] == Approx(1.940e-8).epsilon(3e-4));
  CHECK(divide.r2 == Approx(0.99999).margin(5e-6));
  auto const& combine = m.skeletons[0].find("combine")->curve;
  CHECK(combine.coefficients[0] == Approx(2.326e-4).epsilon(3e-4));
  CHECK(combine.coefficients[1] == Approx(2.194e-7).epsilon(3e-4));
  CHECK(combine.r2 == Approx(0.985).margin(5e-4));
  auto const& sequential = m.skeletons[0].find("sequential")->curve;
  CHECK(sequential.coefficients[0] == Approx(2.24e-8).epsilon(3e-3));
  CHECK(sequential.coefficients[1] == Approx(2.65e-7).epsilon(3e-3));
  CHECK(sequential.r2 == Approx(0.978).margin(5e-4));
}

TEST_CASE("the misprints are found") {
  auto const one = fitted_to({"table-1-as-printed.csv"});
  auto const& divide = one.skeletons.at(0).find("divide")->curve;
  REQUIRE(divide.outliers.size() == 1);
  CHECK(divide.outliers[0].where == folder + "table-1-as-printed.csv:7");
  auto const two = fitted_to({"table-2-as-printed.csv"});
  auto const& outliers = two.skeletons.at(0).find("sequential")->curve.outliers;
  REQUIRE(outliers.size() == 1);
  CHECK(outliers[0].where == folder + "table-2-as-printed.csv:3");
}

TEST_CASE("the predictions of section 7 are reproduced") {
  auto const m = model::read(folder + "table-3.json");
  auto const machine = skel::model::machine::read(folder + "machine.json");
  predict_options how;
  how.exchange_bytes = parse_expression("4*N");
  auto const e = predict(m.skeletons.at(0), &machine, {{"N", 1024000}, {"M", 2048000}}, 8, how);
  double divide = 0, combine = 0, sequential = 0, exchange = 0;
  for (auto const& p : e.parts)
    (p.name == "divide"     ? divide
     : p.name == "combine"  ? combine
     : p.name == "exchange" ? exchange
                            : sequential) += p.seconds;
  CHECK(exchange == Approx(0.929202).margin(5e-7));
  CHECK(divide == Approx(0.069536).margin(5e-7));
  CHECK(combine == Approx(0.673464).margin(5e-7));
  CHECK(sequential == Approx(0.256000).margin(5e-7));
  CHECK(e.seconds() == Approx(1.928202).margin(1e-6));
}

TEST_CASE("table 4 follows from the paper's coefficients") {
  auto const m = model::read(folder + "table-3.json");
  auto const machine = skel::model::machine::read(folder + "machine.json");
  predict_options how;
  how.exchange_bytes = parse_expression("4*N");
  double const percent[] = {3.9, -0.5, -8.3, 17.4, 14.2, 4.6};
  auto const rows = read_samples(folder + "table-4.csv");
  REQUIRE(rows.size() == 6);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto const e = predict(m.skeletons[0], &machine, rows[i].variables, 8, how);
    CHECK(100 * (e.seconds() / rows[i].measured.at("seconds") - 1) == Approx(percent[i]).margin(0.06));
  }
}
