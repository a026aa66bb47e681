// A rank that dies or hangs in a chosen call of MPI: phases RANK WHERE. phases_test.cpp checks the other
// ranks. The functions of MPI below replace the library's through its profiling interface.
#include <mpi.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "deaths.hpp"
#include "skel/skel.hpp"

namespace {

using namespace std::chrono_literals;

// Launchers pass the rank in the environment, so it is known before main.
bool am_victim(std::string const& rank) {
  for (auto const* name : {"PMIX_RANK", "PMI_RANK"})
    if (auto const* const mine = std::getenv(name)) return rank == mine;
  return false;
}

std::string where;  // the victim dies, empty on the other ranks

// With PHASES_STARTED=FILE only the first start of a job has a victim.
bool first_start() {
  auto const* const name = std::getenv("PHASES_STARTED");
  if (name == nullptr) return true;
  auto* const file = std::fopen(name, "wx");
  if (file != nullptr) std::fclose(file);
  return file != nullptr;
}

// Runs before main, so that a rank can die as early as possible.
struct before_main {
  before_main() {
    std::ifstream file("/proc/self/cmdline");
    std::string word;
    std::string rank;
    std::getline(file, word, '\0');
    std::getline(file, rank, '\0');
    std::getline(file, word, '\0');
    if (am_victim(rank) && first_start()) where = word;
    if (where == "main") test::die();
  }
} const early;

void die_in(char const* call) {
  if (where == call) test::die();
}

// The others reach the same call and wait, but must not wait forever. They give up after 3 s in which they
// have a core.
void stay_in(char const* call) {
  if (where != call) return;
  std::this_thread::sleep_for(40s);
  test::die();
}

bool spins = false;

}  // namespace

extern "C" {

int MPI_Init_thread(int* argc, char*** argv, int wanted, int* given) {
  die_in("init");
  int const code = PMPI_Init_thread(argc, argv, wanted, given);
  die_in("initialised");
  return code;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  die_in("dup");
  return PMPI_Comm_dup(comm, made);
}

int MPI_Gather(void const* from, int sent, MPI_Datatype sent_type, void* to, int received,
               MPI_Datatype received_type, int root, MPI_Comm comm) {
  die_in("gather");
  return PMPI_Gather(from, sent, sent_type, to, received, received_type, root, comm);
}

int MPI_Barrier(MPI_Comm comm) {
  die_in("barrier");
  return PMPI_Barrier(comm);
}

int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  // Imitates a rank that was killed between the two steps of adding to a queue in shared memory.
  while (spins) std::this_thread::sleep_for(1ms);
  int const code = PMPI_Test(request, done, status);
  // Imitates Open MPI 5 with ULFM: a message that came between the notice of a loss and its acknowledgement.
  static int received = 0;
  if (where != "pending" || status == MPI_STATUS_IGNORE || !*done || ++received % 10 != 0) return code;
  PMPI_Irecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
  return MPI_ERR_OTHER;
}

int MPI_Ialltoall(void const* from, int sent, MPI_Datatype sent_type, void* to, int received,
                  MPI_Datatype received_type, MPI_Comm comm, MPI_Request* request) {
  stay_in("free");
  return PMPI_Ialltoall(from, sent, sent_type, to, received, received_type, comm, request);
}

int MPI_Finalize() {
  stay_in("finalize");
  if (where == "crash") {  // as a thread of MPI that reads freed memory
    std::thread([] { std::raise(SIGSEGV); }).detach();
    std::this_thread::sleep_for(20s);
  }
  return PMPI_Finalize();
}

}  // extern "C"

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) {
    std::uint64_t sum = 0;
    auto const report = skel::farm(
                            ctx, skel::indices(400),
                            [](std::uint64_t i) {
                              if (where == "spin" && i > 3) spins = true;
                              std::this_thread::sleep_for(1ms);
                              return i;
                            },
                            skel::schedule::guided{}, [&](skel::task_id, std::uint64_t i) { sum += i; })
                            .report;
    if (where == "bye") test::die_in(200ms);
    if (ctx.is_root()) {
      std::this_thread::sleep_for(500ms);  // the others have said that they are done
      test::say_losses(sum == 399 * 400 / 2, report);
    }
  });
}
