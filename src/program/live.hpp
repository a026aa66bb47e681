// What shows a run while it lasts: --live-report and --watch.
#pragma once

#include <optional>
#include <string>

#include "program/sister.hpp"
#include "skel/context.hpp"
#include "skel/program.hpp"

namespace skel::program {

/// On the root: rewrites a report every second with the progress of the run, and serves it as a page.
/// Does nothing if neither option is given.
class live_view {
 public:
  live_view(context& ctx, run_options const& options, std::string program);
  ~live_view();
  live_view(live_view const&) = delete;
  live_view& operator=(live_view const&) = delete;
  /// Writes the whole report.
  void finish(run_outcome const& outcome);

 private:
  void write(std::string const& label, observe::progress_state const& state) const;

  context& ctx_;
  std::string program_;
  std::optional<temporary_folder> folder_;  // of the report, if the user wants only the page
  std::string report_;                      // empty: nothing to do
  std::optional<running_sister> viewer_;
};

}  // namespace skel::program
