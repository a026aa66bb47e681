// The verbs of skel-model. Each adds its options to the command line, and gives back what it does.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

namespace skel {
class context;
}

namespace skel::model {

/// A verb of the command line; `run` is called when it was chosen and its options are parsed.
struct command {
  CLI::App* options = nullptr;
  std::function<void()> run;
};

[[nodiscard]] command add_fit(CLI::App& program);
[[nodiscard]] command add_predict(CLI::App& program);
[[nodiscard]] command add_compare(CLI::App& program);
[[nodiscard]] command add_plot(CLI::App& program);

/// Of all ranks together; the root prints and writes.
struct collective_command {
  CLI::App* options = nullptr;
  std::vector<std::string> may_differ;  ///< options that concern the root only
  std::function<void(context&)> run;
};
[[nodiscard]] collective_command add_calibrate(CLI::App& program);

}  // namespace skel::model
