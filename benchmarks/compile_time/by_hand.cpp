// The README's program without skel: a master that hands out chunks, and workers that compute them,
// over Boost.MPI. compile_time.py compares the compilation costs of both.
//
// It does less than the farm: a single rank does not compute in parallel, the root does not work, a
// lost rank ends the job, and there is no report.
#include <algorithm>
#include <boost/mpi.hpp>
#include <boost/serialization/vector.hpp>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace mpi = boost::mpi;

// Number of steps of the Collatz sequence from n to 1.
int steps(std::uint64_t n) {
  int count = 0;
  for (; n != 1; ++count) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return count;
}

enum tag { work, done, stop };

struct chunk {
  std::uint64_t first = 0, count = 0;

  template <class Archive>
  void serialize(Archive& archive, unsigned /*version*/) {
    archive& first& count;
  }
};
struct counts {
  std::uint64_t first = 0;
  std::vector<int> steps;

  template <class Archive>
  void serialize(Archive& archive, unsigned /*version*/) {
    archive& first& steps;
  }
};

counts compute(chunk const& c) {
  counts result{c.first, std::vector<int>(c.count)};
  for (std::uint64_t i = 0; i < c.count; ++i) result.steps[i] = steps(c.first + i + 1);
  return result;
}

// Guided self-scheduling: each chunk is an equal share of the rest.
void lead(mpi::communicator const& world, std::vector<int>& found) {
  auto const workers = world.size() - 1;
  std::uint64_t next = 0;
  auto const cut = [&] {
    auto const left = found.size() - next;
    chunk const c{next, std::min<std::uint64_t>(left, left / static_cast<std::uint64_t>(workers) + 1)};
    next += c.count;
    return c;
  };
  auto const keep = [&](counts const& part) {
    std::copy(part.steps.begin(), part.steps.end(), found.begin() + static_cast<std::ptrdiff_t>(part.first));
  };
  if (workers == 0) return keep(compute({0, found.size()}));

  int busy = 0;
  for (int worker = 1; worker <= workers; ++worker) {
    auto const c = cut();
    if (c.count == 0) {
      world.send(worker, stop);
    } else {
      world.send(worker, work, c);
      ++busy;
    }
  }
  while (busy > 0) {
    counts part;
    auto const worker = world.recv(mpi::any_source, done, part).source();
    keep(part);
    auto const c = cut();
    if (c.count == 0) {
      world.send(worker, stop);
      --busy;
    } else {
      world.send(worker, work, c);
    }
  }
}

void follow(mpi::communicator const& world) {
  while (world.probe(0, mpi::any_tag).tag() == work) {
    chunk c;
    world.recv(0, work, c);
    world.send(0, done, compute(c));
  }
  world.recv(0, stop);
}

int main(int argc, char** argv) {
  mpi::environment const environment(argc, argv);
  mpi::communicator const world;
  if (world.rank() > 0) {
    follow(world);
    return 0;
  }
  std::vector<int> found(100'000);
  lead(world, found);
  std::printf("1 ... %zu on %d ranks: %d steps from 77031\n", found.size(), world.size(), found[77030]);
}
