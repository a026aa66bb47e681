// Measurements: the run, its sizes, and the seconds of each phase.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skel::model {

/// Values of variables: {"N", 1024000}, {"M", 2048000}, {"P", 8}. Sizes are numbers, P counts
/// ranks.
using point = std::map<std::string, double>;

/// One line of a samples file (docs/reference/report.md): a whole run (phase `run`) or one phase of it.
struct sample {
  std::string program;        ///< e.g. "skel-raytrace"
  std::string skeleton;       ///< e.g. "farm"
  std::string schedule;       ///< e.g. "guided:min=1"
  std::string results;        ///< e.g. "streamed"
  std::string phase = "run";  ///< "run": the whole run
  int level = 0;              ///< of the division; 0: the whole problem
  point variables;  ///< the numbers in the column `problem`, and `P` (ranks), `threads`, `tasks` if known
  std::map<std::string, std::string> labels;  ///< the other values in the column `problem`
  point measured;                             ///< `seconds`, and other quantities that were measured
  std::string file;                           ///< where the sample was read
  std::size_t line = 0;                       ///< in that file, from 1
};

/// Reads a CSV file of schema 1 or 2, or Extra-P's JSON Lines if its name ends in .jsonl. Throws a
/// usage_error `file:line: what is wrong, expected what` for missing fields, numbers that are
/// unreadable, infinite or negative, and bytes that are not text.
[[nodiscard]] std::vector<sample> read_samples(std::string const& path);

/// The same for CSV text; errors name `file`.
[[nodiscard]] std::vector<sample> parse_samples(std::string_view csv, std::string const& file);
/// The same for JSON Lines as Extra-P documents them (docs/file-formats.md of
/// github.com/extra-p/extrap): objects with `params`, `value` (one number or several), and
/// optionally `callpath`, whose last part becomes the phase, and `metric`, default `time`.
[[nodiscard]] std::vector<sample> parse_extra_p(std::string_view lines, std::string const& file);

/// JSON Lines that Extra-P reads. It needs the same parameters in every line, so only parameters
/// that all samples have and that differ between samples are written.
[[nodiscard]] std::string to_extra_p(std::span<sample const> samples);

}  // namespace skel::model
