#include "mpi_lifetime.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <mutex>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "engine/exit_status.hpp"

namespace skel::detail {

namespace {

struct watched_engines {
  std::mutex mutex;
  std::vector<std::weak_ptr<engine>> all;
  bool hooked = false;
};

// Never destroyed: MPI may end after main.
watched_engines& watched() {
  static auto& engines = *new watched_engines;
  return engines;
}

[[noreturn]] void end_job(engine& of, std::string const& text) {
  departure const own{.code = 2, .own = true, .text = text, .lost = true};
  auto const program = of.farewell().program;
  if (auto const code = of.say_farewell(own, program)) end_process(of.rank(), *code);
  std::fprintf(stderr, "%s: %s\n", program.c_str(), text.c_str());
  end_process(of.rank(), 1);  // the others go on without this rank
}

std::vector<std::shared_ptr<engine>> living_engines() {
  std::lock_guard const lock(watched().mutex);
  std::vector<std::shared_ptr<engine>> all;
  for (auto const& e : watched().all)
    if (auto of = e.lock()) all.push_back(std::move(of));
  return all;
}

// Inside run_main, only run_main may start or end MPI.
void refuse_in_run_main(std::string const& text) {
  for (auto const& of : living_engines())
    if (!of->farewell().program.empty()) end_job(*of, text);
}

// MPI deletes the attributes of MPI_COMM_SELF before it ends; everything still works then.
int on_finalize(MPI_Comm /*self*/, int /*key*/, void* /*value*/, void* /*extra*/) {
  refuse_in_run_main("MPI_Finalize was called in the body of run_main, which ends MPI itself");
  auto all = living_engines();
  for (auto const& engine : std::views::reverse(all)) engine->close_wires(after_mpi);
  return MPI_SUCCESS;
}

// The function that the program would otherwise call: the library's, or that of a tool loaded
// before it.
template <class Function>
Function* next(char const* name, Function* of_the_library) {
  auto* const found = dlsym(RTLD_NEXT, name);
  return found != nullptr ? reinterpret_cast<Function*>(found) : of_the_library;
}

void refuse_second_start() {
  if (mpi_state() == mpi::running)
    refuse_in_run_main("MPI_Init was called in the body of run_main, which has started MPI");
}

}  // namespace

mpi mpi_state() {
  int yes = 0;
  MPI_Finalized(&yes);
  if (yes) return mpi::ended;
  MPI_Initialized(&yes);
  return yes ? mpi::running : mpi::not_started;
}

void watch_finalize(std::shared_ptr<engine> const& of) {
  auto& engines = watched();
  std::lock_guard const lock(engines.mutex);
  std::erase_if(engines.all, [](auto const& e) { return e.expired(); });
  engines.all.push_back(of);
  if (std::exchange(engines.hooked, true)) return;
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &on_finalize, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

}  // namespace skel::detail

// MPI libraries end the process with ten lines of text when they are started twice. Weak: a program
// may define its own.
extern "C" __attribute__((weak)) int MPI_Init(int* argc, char*** argv) {
  skel::detail::refuse_second_start();
  return skel::detail::next("MPI_Init", &PMPI_Init)(argc, argv);
}

extern "C" __attribute__((weak)) int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  skel::detail::refuse_second_start();
  return skel::detail::next("MPI_Init_thread", &PMPI_Init_thread)(argc, argv, required, provided);
}
