// skel-volume's pictures in an MPI program that was started with any thread level: the bytes of one
// process, and one message if a feature is unavailable. Argument: the thread level.
#include <fcntl.h>
#include <unistd.h>

#include <boost/mpi.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "mpi/check.hpp"
#include "program.hpp"
#include "skel/skel.hpp"

namespace {

namespace mpi = boost::mpi;
using test::check;
using test::check_equal;

skel::context_options one_thread() {
  skel::context_options o;
  o.threads = 1;
  o.quiet = true;
  return o;
}

volume::options storm(std::string const& size) {
  volume::options o;
  o.field = "wind:31x25x9";
  o.size = size;
  o.background = "none";
  return o;
}

struct rendered {
  std::string hash, pixels_per_task, said;
};

// Redirects standard error to a file during the call.
rendered render(skel::context& ctx, volume::options const& o) {
  std::string const file = "/tmp/skel-volume-adopt-" + std::to_string(getpid());
  std::fflush(stderr);
  int const before = dup(2);
  int const into = open(file.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  check(before >= 0 && into >= 0 && dup2(into, 2) == 2, "a file for standard error");
  close(into);
  auto const back = [&] {
    std::fflush(stderr);
    dup2(before, 2);
    close(before);
  };
  rendered r;
  try {
    skel::program::common_options const common;
    auto const outcome = volume::render_all(ctx, common, o);
    r.hash = outcome.result_xxh3.value_or("");
    for (auto const& [name, value] : outcome.problem)
      if (name == "pixels_per_task") r.pixels_per_task = value;
  } catch (...) {
    back();
    std::remove(file.c_str());
    throw;
  }
  back();
  std::ifstream text(file);
  r.said.assign(std::istreambuf_iterator<char>(text), {});
  std::remove(file.c_str());
  return r;
}

void same_picture(mpi::communicator const& world, volume::options const& o, bool has_beside,
                  std::string const& missing) {
  skel::context alone(one_thread());
  auto const expected = render(alone, o);
  check_equal(expected.said, "", "messages of one process");
  skel::context ctx(world, one_thread());
  check_equal(ctx.has_beside(), has_beside, "has_beside()");
  auto const got = render(ctx, o);
  if (!ctx.is_root()) return check_equal(got.said, "", "messages of another rank");
  check(!got.hash.empty(), "a picture");
  check_equal(got.hash, expected.hash, "hash");
  check_equal(got.said,
              has_beside || missing.empty()
                  ? ""
                  : "skel-volume: MPI thread level below SERIALIZED: " + missing + "\n",
              "messages of the root");
  if (!has_beside && o.parts.slabs == 0) check_equal(got.pixels_per_task, "250", "pixels of a task");
}

void run(mpi::communicator const& world) {
  bool const has_beside = world.size() == 1 || mpi::environment::thread_level() >= mpi::threading::serialized;
  same_picture(world, storm("61x47"), has_beside, "using tasks of 250 pixels");
  auto series = storm("40x31");
  series.steps = 3;
  same_picture(world, series, has_beside,
               "using tasks of 250 pixels, and loading each grid only when it is needed");
  auto slabs = storm("40x31");
  slabs.parts.slabs = 3;
  same_picture(world, slabs, has_beside, "loading each slab only when it is needed");
  slabs.parts.slabs = volume::part_options::slab_for_each_rank;
  same_picture(world, slabs, has_beside, "");
}

}  // namespace

int main(int argc, char** argv) {
  std::string const level = argc > 1 ? argv[1] : "single";
  auto const asked = level == "multiple"   ? mpi::threading::multiple
                     : level == "funneled" ? mpi::threading::funneled
                                           : mpi::threading::single;
  mpi::environment const environment(argc, argv, asked);
  mpi::communicator const world;
  try {
    run(world);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "rank %d, %s: %s\n", world.rank(), level.c_str(), e.what());
    mpi::environment::abort(1);
  }
  return 0;
}
