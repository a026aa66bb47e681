#include "program/paths.hpp"

#include "base/format.hpp"
#include "base/text.hpp"
#include "program/sister.hpp"
#include "skel/atomic_file.hpp"
#include "skel/error.hpp"
#include "skel/observe/samples.hpp"
#include "skel/observe/trace.hpp"

namespace skel::program {

std::string require_ending(std::string_view path, std::initializer_list<std::string_view> known) {
  return detail::require_ending(path, known);
}

void check_writable(std::string const& path) {
  try {
    skel::atomic_file const probe(path);
  } catch (error const& bad) {
    throw usage_error(bad.what());
  }
}

void check_outputs(run_options const& options) {
  for (auto const* path : {&options.files.report, &options.files.page, &options.files.live_report}) {
    if (!path->empty()) check_writable(*path);
  }
  bool const pages = !options.files.page.empty();
  if (pages) require_ending(options.files.page, {".html"});
  if (pages || options.watch) {
    auto const view = find_sister("skel-view");
    if (!view)
      throw usage_error(detail::format("{}: skel-view not found, neither beside this program nor in PATH",
                                       pages ? "--page" : "--watch"));
    auto const failure = pages ? run_sister(*view, {"--check"}) : std::nullopt;
    if (failure) throw usage_error("--page: " + *failure);
  }
  try {
    if (!options.files.trace.empty()) observe::check_trace_file(options.files.trace);
    if (!options.files.samples.empty()) observe::check_samples_file(options.files.samples);
  } catch (error const& bad) {
    throw usage_error(bad.what());
  }
}

}  // namespace skel::program
