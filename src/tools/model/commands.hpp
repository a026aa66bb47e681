// The subcommands of skel-model. Each adds its options and returns the function to run.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

namespace skel {
class context;
}

namespace skel::model {

/// A subcommand; `run` is called if it was selected, after its options were parsed.
struct command {
  CLI::App* options = nullptr;
  std::function<void()> run;
};

[[nodiscard]] command add_fit(CLI::App& program);
[[nodiscard]] command add_predict(CLI::App& program);
[[nodiscard]] command add_compare(CLI::App& program);
[[nodiscard]] command add_plot(CLI::App& program);

/// A subcommand that all ranks run together; the root prints and writes.
struct collective_command {
  CLI::App* options = nullptr;
  std::vector<std::string> may_differ;  ///< options used by the root only
  std::function<void(context&)> run;
};
[[nodiscard]] collective_command add_calibrate(CLI::App& program);

}  // namespace skel::model
