#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "context_access.hpp"
#include "engine.hpp"
#include "launch_environment.hpp"
#include "run_body.hpp"
#include "skel/error.hpp"
#include "skel/run_main.hpp"

namespace skel::detail {

std::string program_name(int argc, char** argv) {
  if (argc < 1 || argv[0] == nullptr) return "skel";
  char const* const slash = std::strrchr(argv[0], '/');
  return slash != nullptr ? slash + 1 : argv[0];
}

namespace {

// The system keeps eight bits of an exit code; a nonzero code must not become success.
int exit_code_of(int returned) {
  int const kept = returned & 0xff;
  return kept == 0 && returned != 0 ? 1 : kept;
}

}  // namespace

departure run_body(context& ctx, function_reference<int(context&)> body) {
  try {
    int const code = exit_code_of(body(ctx));
    return {.code = code, .own = true, .returned = true};
  } catch (view_over const&) {
    return {1, false, {}};
  } catch (peer_failed const&) {
    return {1, false, {}};
  } catch (usage_error const& e) {
    return {2, true, e.what()};
  } catch (lost_rank_error const& e) {
    return {.code = 1, .own = true, .text = e.what(), .by_loss = true};
  } catch (std::exception const& e) {
    return {1, true, e.what()};
  } catch (...) {
    return {1, true, "an exception that is no std::exception"};
  }
}

int run_main_alone(int argc, char** argv, function_reference<int(context&)> body) {
  std::string const program = program_name(argc, argv);
  if (auto const job = launched_by(); job && job->processes > 1) {
    std::fprintf(stderr,
                 "%s: started as one of %s by %s, but this program was compiled without MPI: compile it with "
                 "-DSKEL_WITH_MPI=1 and link skel::mpi\n",
                 program.c_str(), job->number().c_str(), job->launcher);
    return 2;
  }
  try {
    context ctx;
    context_access::engine_of(ctx).farewell().program = program;
    return context_access::engine_of(ctx).say_farewell(run_body(ctx, body), program).value_or(0);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), e.what());
    return 2;
  }
}

}  // namespace skel::detail
