// Sources, task functions and sinks of a farm.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mistake.hpp"

namespace farm {

template <class Function, class Sink>
void run(skel::context& ctx, Function const& f, Sink&& sink) {
  skel::farm(ctx, skel::indices(10), f, skel::schedule::guided{}, sink);
}
int one(std::uint64_t) { return 1; }
double half(std::uint64_t) { return 0.5; }

// Task functions must take const tasks, since compute threads share the list.
// error: skel::farm: the task function must be callable as f(task const&)
void wrong_task_function(skel::context& ctx, std::vector<std::string> const& names) {
  skel::farm(
      ctx, skel::replicated(names), [](std::string MISTAKE(const, ) & name) { return name.size(); },
      skel::schedule::guided{}, [](skel::task_id, std::size_t&&) {});
}

// The task would lose its fraction.
// error: skel::farm: the parameter of the task function cannot hold every task
void narrow_task(skel::context& ctx) {
  skel::farm(
      ctx, skel::replicated(std::vector{0.5, 1.5}), [](MISTAKE(double, int) x) { return x > 1; },
      skel::schedule::guided{}, [](skel::task_id, bool) {});
}

// Task 256 would arrive as task 0.
// error: skel::farm: the parameter of the task function cannot hold every task: it has fewer than 32 bits
void narrow_index(skel::context& ctx) {
  run(
      ctx, [](MISTAKE(int, std::uint8_t) i) { return static_cast<int>(i); }, [](skel::task_id, int) {});
}

// skel cannot know which ranks have the vector.
// error: wrap a list that every rank has in skel::replicated(...).
void plain_vector(skel::context& ctx, std::vector<int> const& list) {
  skel::farm(
      ctx, MISTAKE(skel::replicated(list), list), [](int i) { return i; }, [](skel::task_id, int) {});
}

// The function must return all tasks, not one.
// error: skel::on_root: the function must return an input range
void on_root_not_a_range(skel::context& ctx) {
  skel::farm(
      ctx, skel::on_root([] { return MISTAKE(std::vector<int>(1), 1); }), [](int) { return 1; },
      [](skel::task_id, int&&) {});
}

// A number of tasks is a whole number.
// error: use of deleted function
void fraction_of_tasks(skel::context& ctx) {
  skel::farm(ctx, skel::indices(MISTAKE(2, 2.5)), one, [](skel::task_id, int) {});
}

// A sink must take the task number first.
// error: skel::farm: the sink must be callable as sink(task_id, result&&).
void wrong_sink(skel::context& ctx) {
  run(
      ctx, [](std::uint64_t) { return std::string("x"); },
      MISTAKE([](skel::task_id, std::string&&) {}, [](std::string&&, skel::task_id) {}));
}

// A sink without the task number would receive task numbers as results.
// error: skel::farm: the sink must be callable as sink(task_id, result&&).
void sink_of_results(skel::context& ctx) {
  run(ctx, one, MISTAKE([](skel::task_id, int) {}, [](int) {}));
}

// error: skel::farm: the sink must be callable as sink(task_id, result&&).
void ordered_sink_of_results(skel::context& ctx) {
  run(ctx, one, skel::ordered(MISTAKE([](skel::task_id, int) {}, [](int) {})));
}

// An integer result converts to a task number, and back.
// error: skel::farm: the sink's parameters, first a task_id and then the result, cannot hold every task
// number and every result: they are swapped, or too narrow.
void swapped_sink(skel::context& ctx) {
  run(ctx, one, MISTAKE([](skel::task_id, int) {}, [](int, skel::task_id) {}));
}

// error: skel::farm: the sink's parameters, first a task_id and then the result, cannot hold every task
// number and every result: they are swapped, or too narrow.
void swapped_ordered_sink(skel::context& ctx) {
  run(
      ctx, [](std::uint64_t) { return 1U; },
      skel::ordered(MISTAKE([](skel::task_id, unsigned) {}, [](unsigned, skel::task_id) {})));
}

// The result would lose its fraction.
// error: skel::farm: the sink's parameters, first a task_id and then the result, cannot hold every task
// number and every result: they are swapped, or too narrow.
void narrow_sink(skel::context& ctx) {
  run(ctx, half, [](skel::task_id, MISTAKE(double, int)) {});
}

// error: skel::farm: the sink's parameters, first a task_id and then the result, cannot hold every task
// number and every result: they are swapped, or too narrow.
void narrow_into(skel::context& ctx) {
  std::vector<MISTAKE(double, int)> all;
  run(ctx, half, skel::into(all));
}

// True could mean either continue or stop.
// error: skel::farm: the sink returns a bool, which ends nothing
void bool_sink(skel::context& ctx) {
  using skel::results::flow;
  run(ctx, one, [](skel::task_id, int x) { return MISTAKE(x == 3 ? flow::stop : flow::go_on, x == 3); });
}

// A callable holds nothing that could be sent.
// error: skel::everywhere: the sink is skel::into(results) or skel::reduced(total)
void everywhere_to_callable(skel::context& ctx, std::vector<int>& all) {
  run(ctx, one, skel::everywhere(MISTAKE(skel::into(all), [](skel::task_id, int) {})));
}

// The ranks' partial sums would still have the result's type.
// error: skel::farm: the total of a reduced sink must have the type that the task function returns
void reduced_to_other_type(skel::context& ctx) {
  using number = MISTAKE(int, long);
  number n = 0;
  run(ctx, one, skel::reduced(n, [](number a, number b) { return a + b; }));
}

// error: skel::farm: the merge of a reduced sink must be callable as merge(result, result) on a const object
void narrow_merge(skel::context& ctx) {
  using number = MISTAKE(long, int);
  long n = 0;
  run(
      ctx, [](std::uint64_t) { return 1L; }, skel::reduced(n, [](number a, number b) { return a + b; }));
}

// A floating-point sum depends on the order, which depends on the schedule.
// error: skel::farm: a reduced sink merges in any order, so the result type must merge exactly
void inexact_merge(skel::context& ctx) {
  using number = MISTAKE(long, double);
  number total = 0;
  run(
      ctx, [](std::uint64_t) { return number{1}; },
      skel::reduced(total, [](number a, number b) { return a + b; }));
}

struct told {
  int asked = 0;
  double sum = 0;
  std::optional<std::vector<double>> ask(std::uint64_t) {
    return asked++ > 0 ? std::nullopt : std::optional(std::vector{0.75});
  }
};

// The state would hear of 0 instead of 0.75.
// error: skel::farm: a parameter of tell() of a steered source cannot hold every value
void narrow_tell(skel::context& ctx) {
  struct state : told {
    void tell(skel::task_id, double, MISTAKE(double, int) y) { sum += y; }
  } mine;
  skel::farm(
      ctx, skel::steered(mine), [](double x) { return x; }, skel::discard);
}

// false would not end the run.
// error: skel::farm: tell() of a steered source must return void or skel::results::flow
void bool_of_tell(skel::context& ctx) {
  struct state : told {
    MISTAKE(skel::results::flow, bool) tell(skel::task_id, double, double) {
      return MISTAKE(skel::results::flow::go_on, true);
    }
  } mine;
  skel::farm(
      ctx, skel::steered(mine), [](double x) { return x; }, skel::discard);
}

// A type that cannot be sent, to which results convert.
// error: skel::everywhere: the vector or total cannot be sent to the other ranks
void everywhere_unsent(skel::context& ctx) {
  struct local {
    local(int n = 0) : at(nullptr), value(n) {}
    void* at;
    int value;
    virtual ~local() = default;
  };
  std::vector<MISTAKE(int, local)> all;
  run(ctx, one, skel::everywhere(skel::into(all)));
}

}  // namespace farm
