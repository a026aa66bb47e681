#include <array>
#include <utility>
#include <vector>

#include "mistake.hpp"

namespace divide_and_conquer {

using range = std::pair<int, int>;

template <class Solution, class Combined = Solution>
struct sum {
  using problem = range;
  using solution = Solution;
  bool trivial(range const& p) const { return p.second - p.first <= 1; }
  solution conquer(range const& p) const { return static_cast<solution>(p.first); }
  std::array<range, 2> divide(range const& p) const {
    int const middle = (p.first + p.second) / 2;
    return {range{p.first, middle}, range{middle, p.second}};
  }
  solution combine(Combined a, Combined b) const { return a + b; }
};
template <class Problem>
struct trivial_job {
  using problem = Problem;
  using solution = int;
  bool trivial(problem const&) const { return true; }
  solution conquer(problem const&) const { return 0; }
  std::array<problem, 2> divide(problem const& p) const { return {p, p}; }
  solution combine(solution a, solution b) const { return a + b; }
};
template <class Source, class Job>
void run(skel::context& ctx, Source const& source, Job const& job) {
  static_cast<void>(skel::divide_and_conquer(ctx, source, job, skel::division::tree{}));
}

// error: skel::divide_and_conquer: the problem comes from skel::on_root(function)
void plain_vector(skel::context& ctx, std::vector<int> const& list) {
  run(ctx, MISTAKE(skel::replicated_problem{list}, list), trivial_job<std::vector<int>>{});
}

// A job without combine.
// error: skel::divide_and_conquer: the job must have nested types problem and solution
struct uncombined {
  using problem = range;
  using solution = int;
  bool trivial(problem const&) const { return true; }
  solution conquer(problem const& p) const { return p.first; }
  std::array<problem, 2> divide(problem const& p) const { return {p, p}; }
  MISTAKE(
      solution combine(solution a, solution b) const { return a + b; }, )
};
void no_job(skel::context& ctx) { run(ctx, skel::replicated_problem{range{0, 9}}, uncombined{}); }

// A problem on the root must be sendable.
// error: skel::divide_and_conquer: the problem type cannot be sent.
struct part {
#ifdef SKEL_COMPILE_FAIL
  std::vector<int>* numbers = nullptr;
  part() = default;
  part(part const& other) : numbers(other.numbers) {}
#endif
};
void problem_not_sendable(skel::context& ctx) {
  run(ctx, skel::on_root([] { return part{}; }), trivial_job<part>{});
}

// error: None of them may take or return another arithmetic type
void narrow_combine(skel::context& ctx) {
  run(ctx, skel::replicated_problem{range{0, 9}}, sum<double, MISTAKE(double, int)>{});
}

}  // namespace divide_and_conquer
