// Runs skel-isosurface-eval as a user does.
#include "catch.hpp"
#include "model_file.hpp"
#include "running.hpp"
#include "temporary_file.hpp"

namespace {

auto evaluate(std::string const& arguments) { return test::run_program(SKEL_EVAL, arguments, 60); }

}  // namespace

TEST_CASE("the evaluator prints value and gradient for each point, or names the invalid one") {
  auto const model = test::temporary("eval.model"), points = test::temporary("points.txt");
  {
    isosurface::model_header const h{1, {{{0, 2}, {0, 1}, {0, 1}}}};
    isosurface::model_writer writer(model, h);
    writer.add(std::vector<double>{0, 2, 10, 12});  // x + 10 y
    writer.add(std::vector<double>{100, 102, 110, 112});
    writer.commit();
  }
  test::put(points, "# x y z\n0.5 0.5 0.25\n\n2,1,1\n");
  CHECK(evaluate(model + " " + points).text == "30.5 1 10 100\n112 1 10 100\n");
  CHECK(evaluate(model + " " + points + " > /dev/full").code == 1);
  CHECK(evaluate(model + " < " + points).text == "30.5 1 10 100\n112 1 10 100\n");
  auto const refused = [&](std::string const& text, std::string const& expected) {
    test::put(points, text);
    auto const end = evaluate(model + " " + points);
    CHECK(end.code == 2);
    CHECK(end.text.find("skel-isosurface-eval: " + points + expected) != std::string::npos);
  };
  refused("0 0 0\n0 0\n", ":2: expected three numbers, found \"0 0\"");
  refused("0 0 0 0\n", ":1: expected three numbers, found \"0 0 0 0\"");
  refused("0 0 nan\n", ":1: (0, 0, nan) is outside of the model");
  refused("3 0 0\n", ":1: (3, 0, 0) is outside of the model: expected 0 to 2, 0 to 1, 0 to 1");
  test::put(model, "SKELMODL");
  auto const end = evaluate(model + " " + points);
  CHECK(end.code == 2);
  CHECK(end.text ==
        "skel-isosurface-eval: " + model +
            ": at byte 0: expected a model of skel-isosurface, found fewer bytes than its header has\n");
  CHECK(evaluate("--help").code == 0);
  CHECK(evaluate("").text == "skel-isosurface-eval: MODEL is required\n");
  CHECK(evaluate("a b c").text ==
        "skel-isosurface-eval: The following argument was not expected: c; --help-all lists the options\n");
  CHECK(evaluate("--colour").text ==
        "skel-isosurface-eval: The following argument was not expected: --colour; --help-all lists the "
        "options\n");
  CHECK(evaluate("--colour").code == 2);
  std::filesystem::remove(model);
  std::filesystem::remove(points);
}
