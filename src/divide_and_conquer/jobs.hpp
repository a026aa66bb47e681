// The jobs of a divide_and_conquer call on one rank, for its compute threads.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "divide_and_conquer/role/rank_span.hpp"
#include "engine/engine.hpp"
#include "skel/detail/divide_work.hpp"
#include "transport/packet.hpp"

namespace skel::detail {

/// A problem as an object, as received bytes, or both: the packed bytes of an object that will travel.
struct held_problem {
  problem_ptr object;
  std::shared_ptr<transport::packet const> packed;
};
struct held_solution {
  solution_ptr object;
  std::optional<transport::packet> packed;
};

/// A piece of a group's problem, and the two pieces that it was divided into.
struct divide_piece {
  role::rank_span group;
  std::shared_ptr<divide_piece> parent;
  int side = 0;
  unsigned depth = 0;  // how many more times it may be divided
  held_problem problem;
  std::array<held_solution, 2> halves;
  int open_halves = 2;
  double begin = 0;     // start time of the group's first piece, if it was divided
  problem_sizes sizes;  // of the group's first piece, if it was divided
};

struct divide_job {
  enum class kind : std::uint8_t { divide, solve, merge, combine } what = kind::divide;
  std::shared_ptr<divide_piece> of;

  /// The output of a job, and its duration.
  struct done {
    std::optional<std::pair<problem_ptr, problem_ptr>> halves;
    std::shared_ptr<transport::packet const> right_packed;
    held_solution solution;
    problem_sizes sizes;
    double begin = 0, end = 0;
    double seconds = 0;  // inside divide or combine
    double pack_seconds = 0, unpack_seconds = 0;
    std::size_t packed_bytes = 0;
  };
};

/// The rank divides its own problem further into pieces, so that all compute threads have work. A job runs
/// without the engine's lock and packs and unpacks there, so the lock is not held while large problems and
/// solutions are converted.
class divide_jobs {
 public:
  using rank_span = role::rank_span;

  divide_jobs(engine& of, divide_work& work, divide_kind const& kind, int rank, int ranks, unsigned threads)
      : engine_(of), work_(work), kind_(kind), rank_(rank), everybody_{0, ranks}, threads_(threads) {}
  /// How many times the rank may divide its problem into pieces.
  void divide_further(unsigned depth) { depth_ = depth; }

  void add(divide_job::kind what, rank_span group, held_problem problem);
  void add_combine(rank_span group, held_solution left, held_solution right);
  [[nodiscard]] divide_job take();
  [[nodiscard]] bool empty() const { return waiting_.empty(); }
  [[nodiscard]] std::size_t size() const { return waiting_.size(); }
  void clear() { waiting_.clear(); }
  /// Without the engine's lock.
  void run(divide_job const& j, divide_job::done& d) const;
  /// Adds the jobs that follow among the pieces of a group. Returns whether the group's own job is done.
  [[nodiscard]] bool ended(divide_job const& j, divide_job::done& d);

  [[nodiscard]] solution_ptr open(held_solution& s) const;
  void pack(held_problem const& p, transport::packet& body) const;
  void pack(held_solution& s, transport::packet& body) const;
  /// Whether other ranks wait for the solution of this rank's group.
  [[nodiscard]] bool travels(rank_span group) const;

 private:
  void divide(divide_piece& p, bool among_ranks, divide_job::done& d) const;
  void add_first(divide_job::kind what, std::shared_ptr<divide_piece> of);

  engine& engine_;
  divide_work& work_;
  divide_kind const& kind_;
  int rank_;
  rank_span everybody_;
  unsigned threads_;
  unsigned depth_ = 0;
  std::deque<divide_job> waiting_;
};

}  // namespace skel::detail
