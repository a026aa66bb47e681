#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "engine.hpp"
#include "run_body.hpp"
#include "skel/error.hpp"
#include "skel/run_main.hpp"

namespace skel::detail {

std::string program_name(int argc, char** argv) {
  if (argc < 1 || argv[0] == nullptr) return "skel";
  char const* const slash = std::strrchr(argv[0], '/');
  return slash != nullptr ? slash + 1 : argv[0];
}

farewell run_body(context& ctx, std::function<void(context&)> const& body) {
  try {
    body(ctx);
    return {};
  } catch (peer_failed const&) {
    return {1, false, {}};
  } catch (usage_error const& e) {
    return {2, true, e.what()};
  } catch (std::exception const& e) {
    return {1, true, e.what()};
  } catch (...) {
    return {1, true, "an exception that is no std::exception"};
  }
}

int run_main_alone(int argc, char** argv, std::function<void(context&)> const& body) {
  std::string const program = program_name(argc, argv);
  try {
    context ctx;
    return ctx.engine().say_farewell(run_body(ctx, body), program);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), e.what());
    return 2;
  }
}

}  // namespace skel::detail
