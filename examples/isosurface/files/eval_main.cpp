// skel-isosurface-eval: evaluates a model written by skel-isosurface --model.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <fstream>
#include <iostream>

#include "piecewise_model.hpp"
#include "program/run_tool.hpp"
#include "skel/error.hpp"

namespace {

using namespace isosurface;

/// Parses exactly three numbers, separated by white space or commas.
vector3 parse_point(std::string line, std::string const& place) {
  auto const text = line;
  for (auto& c : line)
    if (c == ',' || c == '\t' || c == '\r') c = ' ';
  vector3 p{};
  char const* at = line.data();
  char const* const end = at + line.size();
  auto const skip_spaces = [&] {
    while (at != end && *at == ' ') ++at;
  };
  for (auto& coordinate : p) {
    skip_spaces();
    auto const [behind, code] = std::from_chars(at, end, coordinate);
    if (code != std::errc{})
      throw skel::usage_error(
          fmt::format("{}: expected three numbers, found \"{}\"", place, text.substr(0, 60)));
    at = behind;
  }
  skip_spaces();
  if (at != end)
    throw skel::usage_error(
        fmt::format("{}: expected three numbers, found \"{}\"", place, text.substr(0, 60)));
  return p;
}

void evaluate(piecewise_model& model, std::istream& points, std::string const& name) {
  std::string line;
  for (std::size_t number = 1; std::getline(points, line); ++number) {
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
        app.add_option("MODEL", path, "model file")->required();
        app.add_option("POINTS", points,
                       "file of points, one per line; lines that begin with # are skipped; -: "
                       "standard input")
            ->capture_default_str();
      },
      [&] { return run(path, points); });
}
