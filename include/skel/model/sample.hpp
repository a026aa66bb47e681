// Measurements: what was run, on what sizes, and how long each part of it took.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skel::model {

/// Values of variables: {"N", 1024000}, {"M", 2048000}, {"P", 8}. Sizes are numbers, P counts ranks.
using point = std::map<std::string, double>;

/// One line of a samples file (docs/observing.md): a whole run (phase `run`) or one phase of it.
struct sample {
  std::string program, skeleton, schedule, results;
  std::string phase = "run";
  int level = 0;   ///< of the division; 0: the whole problem
  point variables; /**< the numbers of `problem`, and `P` (ranks), `threads`, `tasks` where they are known */
  std::map<std::string, std::string> labels;  ///< what `problem` says that is not a number
  point measured;    ///< `seconds`, and of `busy_seconds`, `bytes`, … what was measured
  std::string file;  ///< where it stands
  std::size_t line = 0;
};

/// Reads a CSV file of schema 1 or 2, or, if it ends in .jsonl, Extra-P's JSON Lines. Errors are a
/// usage_error `file:line: what, expected what`: a field that is missing, a number that is none, NaN,
/// infinite or negative, bytes that are no text.
[[nodiscard]] std::vector<sample> read_samples(std::string const& path);

/// The same of text; `file` is what errors name.
[[nodiscard]] std::vector<sample> parse_samples(std::string_view csv, std::string const& file);
/// JSON Lines as Extra-P documents them (docs/file-formats.md of github.com/extra-p/extrap): objects with
/// `params`, `value` (a number or several), and optionally `callpath`, whose last part becomes the phase, and
/// `metric`, `time` if it is not there.
[[nodiscard]] std::vector<sample> parse_extra_p(std::string_view lines, std::string const& file);

/// JSON Lines that Extra-P reads: it wants the same parameters in every line, so those that all samples have
/// and that are not the same in all are written.
[[nodiscard]] std::string to_extra_p(std::span<sample const> samples);

}  // namespace skel::model
