// skel-model plot: plots measured against predicted values, or a machine's measurements.
#include "skel/model/plot.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "program/help.hpp"
#include "program/paths.hpp"
#include "skel/atomic_file.hpp"
#include "skel/error.hpp"
#include "tools/model/choice.hpp"
#include "tools/model/commands.hpp"
#include "tools/model/figures.hpp"

namespace skel::model {

using namespace program;

namespace {

using json = nlohmann::ordered_json;

struct plot_arguments {
  choice what;
  std::vector<std::string> samples;
  std::string output;
  bool json = false;
};

std::vector<plot> figures(plot_arguments const& o) {
  auto const where = o.what.where();
  if (o.what.model.empty()) {
    if (!where)
      throw usage_error("nothing to plot, expected --model FILE.json with samples, or --machine FILE.json");
    return machine_figures(*where);
  }
  if (o.samples.empty())
    throw usage_error("plot --model: missing samples, expected skel-model plot --model m.json s.csv");
  std::vector<sample> all;
  for (auto const& path : o.samples)
    for (auto& s : read_samples(path)) all.push_back(std::move(s));
  auto const m = o.what.fitted();
  auto list = fit_figures(m, all);
  bool const runs = std::ranges::any_of(all, [](sample const& s) { return s.phase == "run"; });
  if (runs) list.insert(list.begin(), run_figure(m, where ? &*where : nullptr, all, o.what.how()));
  return list;
}

json to_json(std::vector<plot> const& figures) {
  auto all = json::array();
  for (auto const& f : figures) {
    auto lines = json::array();
    for (auto const& s : f.data) lines.push_back({{"name", s.name}, {"line", s.line}, {"points", s.points}});
    all.push_back({{"title", f.title},
                   {"x_label", f.x_label},
                   {"y_label", f.y_label},
                   {"log_x", f.log_x},
                   {"log_y", f.log_y},
                   {"diagonal", f.diagonal},
                   {"series", lines}});
  }
  return all;
}

}  // namespace

command add_plot(CLI::App& program) {
  auto const o = std::make_shared<plot_arguments>();
  auto* const app = program.add_subcommand(
      "plot", "plot measured against predicted values, or a machine's measurements, as SVG");
  o->what.add_options(*app, false);
  option(*app, "samples FILE.csv|FILE.jsonl", o->samples, "samples files");
  option(*app, "-o,--output FILE.svg", o->output, "plots to write");
  app->add_flag("--json", o->json, "print the points of the plots as JSON");
  return {app, [o] {
            if (o->output.empty() && !o->json)
              throw usage_error("plot: expected -o FILE.svg or --json, found neither");
            if (!o->output.empty()) {
              program::require_ending(o->output, {".svg"});
              program::check_writable(o->output);
            }
            auto const all = figures(*o);
            if (!o->output.empty()) skel::write_file_atomically(o->output, to_svg(all));
            if (o->json) fmt::print("{}\n", to_json(all).dump(1, ' ', false, json::error_handler_t::replace));
          }};
}

}  // namespace skel::model
