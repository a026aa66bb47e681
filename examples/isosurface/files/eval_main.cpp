// skel-isosurface-eval: evaluates a model written by skel-isosurface --model.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>

#include "piecewise_model.hpp"
#include "program/run_tool.hpp"
#include "program/text.hpp"
#include "skel/error.hpp"

namespace {

using namespace isosurface;

/// Parses exactly three numbers, separated by white space or commas.
vector3 parse_point(std::string_view text, std::string const& place) {
  auto rest = text;
  auto const skip_spaces = [&] {
    rest.remove_prefix(std::min(rest.find_first_not_of(" ,\t\r"), rest.size()));
  };
  vector3 p{};
  bool good = true;
  for (auto& coordinate : p) {
    skip_spaces();
    auto const number = skel::program::take_number<std::decay_t<decltype(coordinate)>>(rest);
    good = good && number;
    if (number) coordinate = *number;
  }
  skip_spaces();
  if (!good || !rest.empty())
    throw skel::usage_error(
        fmt::format("{}: expected three numbers, found \"{}\"", place, text.substr(0, 60)));
  return p;
}

void evaluate(piecewise_model& model, std::istream& points, std::string const& name) {
  std::string line;
  for (std::size_t number = 1; skel::program::read_line(points, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    auto const place = fmt::format("{}:{}", name, number);
    auto const p = parse_point(line, place);
    if (!model.contains(p)) {
      auto const& c = model.header().coordinates;
      throw skel::usage_error(fmt::format(
          "{}: ({}, {}, {}) is outside of the model: expected {} to {}, {} to {}, {} to {}", place, p[0],
          p[1], p[2], c[0].front(), c[0].back(), c[1].front(), c[1].back(), c[2].front(), c[2].back()));
    }
    auto const s = model.at(p);
    fmt::print("{} {} {} {}\n", s.value, s.gradient[0], s.gradient[1], s.gradient[2]);
  }
  if (points.bad()) throw skel::usage_error(name + ": cannot be read");
}

int run(std::string const& path, std::string const& points) {
  piecewise_model model(path);
  if (points == "-") {
    evaluate(model, std::cin, "standard input");
    return 0;
  }
  std::ifstream file(points);
  if (!file) throw skel::usage_error(points + ": cannot be read");
  evaluate(model, file, points);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string path, points = "-";
  return skel::program::run_tool(
      argc, argv,
      {"skel-isosurface-eval",
       "Evaluates a model written by skel-isosurface --model: prints a line \"value fx fy fz\" "
       "for each line \"x y z\"."},
      [&](CLI::App& app) {
        using namespace skel::program;
        option(app, "MODEL", path, "model file", required);
        option(app, "POINTS", points,
               "file of points, one per line; lines that begin with # are skipped; -: "
               "standard input",
               shown_default);
      },
      [&] { return run(path, points); });
}
