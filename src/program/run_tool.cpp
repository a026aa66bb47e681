#include "program/run_tool.hpp"

#include <cstdio>
#include <new>

#include "base/text.hpp"
#include "skel/error.hpp"

namespace skel::program {

namespace {

// Must not throw, even if standard error cannot be written.
void say(std::string const& program, char const* what) {
  std::fprintf(stderr, "%s: %s\n", program.c_str(), detail::one_line(what).c_str());
}

}  // namespace

int run_tool(int argc, char** argv, tool_info const& info, add_options_function const& add_options,
             std::function<int()> const& work) {
  try {
    CLI::App app(info.description, info.name);
    add_help(app);
    add_options(app);
    int const code = parse(app, argc, argv) ? work() : 0;
    flush_output();
    return code;
  } catch (usage_error const& bad) {
    say(info.name, bad.what());
    return 2;
  } catch (std::bad_alloc const&) {
    say(info.name, "out of memory");
  } catch (std::exception const& bad) {
    say(info.name, bad.what());
  }
  return 1;
}

}  // namespace skel::program
