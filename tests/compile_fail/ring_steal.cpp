#include <memory>
#include <string>
#include <vector>

#include "mistake.hpp"

namespace ring_steal {

// A search with, in each section, a mistake in one of these types.
template <class Task = int, class Result = int, class Sum = Result&, class Merged = Result>
struct search {
  using task = Task;
  using result = Result;
  void run(task const&, skel::spawner<task>&, Sum sum) const { ++sum; }
  result merge(Merged a, Merged b) const { return a + b; }
};
template <class Job>
void run(skel::context& ctx, Job const& job) {
  skel::ring_steal(ctx, skel::on_root([] { return std::vector<typename Job::task>(1); }), job);
}

// error: skel::ring_steal: the source's elements must be the job's tasks
void narrow_task(skel::context& ctx) {
  skel::ring_steal(ctx, skel::indices(100'000), search<MISTAKE(int, short)>{});
}

// error: skel::ring_steal: the tasks come from skel::indices(n), skel::replicated(list) or
void plain_vector(skel::context& ctx, std::vector<int> const& list) {
  skel::ring_steal(ctx, MISTAKE(skel::replicated(list), list), search{});
}

// error: skel::ring_steal: the source's elements must be the job's tasks.
void wrong_source(skel::context& ctx) {
  skel::ring_steal(ctx, skel::on_root([] { return std::vector<MISTAKE(int, std::string)>(1); }), search{});
}

// The sum would be lost.
// error: skel::ring_steal: run must take the result by reference
void adds_to_copy(skel::context& ctx) { run(ctx, search<int, int, MISTAKE(int&, int)>{}); }

// error: skel::ring_steal: merge must take values of the result type
void narrow_merge(skel::context& ctx) { run(ctx, search<int, long, long&, MISTAKE(long, int)>{}); }

// A job without merge.
// error: skel::ring_steal: the job must have nested types task and result
struct unmerged {
  using task = int;
  using result = int;
  void run(int n, skel::spawner<int>&, int& sum) const { sum += n; }
  MISTAKE(
      int merge(int a, int b) const { return a + b; }, )
};
void no_job(skel::context& ctx) { run(ctx, unmerged{}); }

// A sum of doubles depends on the order, which ring_steal does not define.
// error: skel::ring_steal: results merge in any order, so the result type must merge exactly
void inexact_merge(skel::context& ctx) { run(ctx, search<int, MISTAKE(long, double)>{}); }

// error: skel::ring_steal: the task type cannot be sent.
void task_not_sendable(skel::context& ctx) { run(ctx, search<MISTAKE(int, std::shared_ptr<int>)>{}); }

}  // namespace ring_steal
