// Small calls of every skeleton, with a hook in each kind of user function.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "skel/broadcast.hpp"
#include "skel/bsp.hpp"
#include "skel/divide_and_conquer.hpp"
#include "skel/farm.hpp"
#include "skel/multi_host.hpp"
#include "skel/ring_steal.hpp"

namespace call_test {

using hook = std::function<void()>;

constexpr std::uint64_t add(std::uint64_t a, std::uint64_t b) { return a + b; }

inline std::uint64_t sum_of(skel::context& ctx, std::uint64_t n) {
  std::uint64_t total = 0;
  skel::farm(
      ctx, skel::indices(n), [](std::uint64_t i) { return i; }, skel::schedule::guided{},
      skel::reduced(total, add));
  return total;
}

struct spawning {
  using task = int;
  using result = std::uint64_t;
  hook in_task = [] {}, in_merge = [] {};
  void run(int n, skel::spawner<int>& more, std::uint64_t& sum) const {
    in_task();
    ++sum;
    if (n > 0)
      for (int i = 0; i < 4; ++i) more(n - 1);
  }
  std::uint64_t merge(std::uint64_t a, std::uint64_t b) const {
    in_merge();
    return a + b;
  }
};

struct halves {
  using problem = std::pair<int, int>;
  using solution = std::uint64_t;
  hook in_conquer = [] {}, in_combine = [] {};
  bool trivial(problem const& p) const { return p.second - p.first <= 1; }
  solution conquer(problem const& p) const {
    in_conquer();
    return static_cast<solution>(p.first);
  }
  std::array<problem, 2> divide(problem const& p) const {
    int const middle = (p.first + p.second) / 2;
    return {problem{p.first, middle}, problem{middle, p.second}};
  }
  solution combine(solution a, solution b) const {
    in_combine();
    return a + b;
  }
};

struct units {
  struct carried {};
  struct unit {};
  using packet = std::vector<std::uint64_t>;
  using result = std::uint64_t;
  hook in_read = [] {}, in_process = [] {};
  std::uint64_t read(std::uint64_t, carried&, unit&) const {
    in_read();
    return 4;
  }
  packet cut(unit const&, std::uint64_t first, std::uint64_t count) const {
    packet p;
    for (std::uint64_t i = 0; i < count; ++i) p.push_back(first + i);
    return p;
  }
  result process(packet const& p, std::size_t i) const {
    in_process();
    return p[i];
  }
};

struct steps {
  using state = std::uint64_t;
  using message = std::uint64_t;
  hook in_begin = [] {}, in_step = [] {};
  state begin(int, int) const {
    in_begin();
    return 0;
  }
  bool step(state& s, skel::superstep<message>& now) const {
    in_step();
    return ++s, now.number() < 3;
  }
};

inline auto one_to(int n) {
  return skel::on_root([n] { return std::vector<int>{n}; });
}

using call = std::function<void(skel::context&, hook const&)>;

inline std::map<std::string, call> const outer_calls{
    {"a farm's task",
     [](auto& ctx, auto const& f) {
       skel::farm(
           ctx, skel::indices(40), [&](std::uint64_t i) { return f(), i; }, skel::schedule::guided{},
           [](skel::task_id, std::uint64_t) {});
     }},
    {"a farm's sink",
     [](auto& ctx, auto const& f) {
       skel::farm(
           ctx, skel::indices(40), [](std::uint64_t i) { return i; }, skel::schedule::guided{},
           [&](skel::task_id, std::uint64_t) { f(); });
     }},
    {"a farm's ordered sink",
     [](auto& ctx, auto const& f) {
       skel::farm(
           ctx, skel::indices(40), [](std::uint64_t i) { return i; }, skel::schedule::first_come{},
           skel::ordered([&](skel::task_id, std::uint64_t) { f(); }));
     }},
    {"a farm's merge",
     [](auto& ctx, auto const& f) {
       std::uint64_t total = 0;
       skel::farm(
           ctx, skel::indices(40), [](std::uint64_t i) { return i; }, skel::schedule::blocks{},
           skel::reduced(total, [&](std::uint64_t a, std::uint64_t b) { return f(), a + b; }));
     }},
    {"a farm's source",
     [](auto& ctx, auto const& f) {
       auto const open = [&] {
         f();
         return std::vector<int>{1, 2, 3};
       };
       skel::farm(
           ctx, skel::on_root(open), [](int i) { return i; }, skel::schedule::first_come{},
           [](skel::task_id, int) {});
     }},
    {"a ring_steal's task",
     [](auto& ctx, auto const& f) { skel::ring_steal(ctx, one_to(3), spawning{.in_task = f}); }},
    {"a ring_steal's merge",
     [](auto& ctx, auto const& f) { skel::ring_steal(ctx, one_to(3), spawning{.in_merge = f}); }},
    {"a divide_and_conquer's conquer",
     [](auto& ctx, auto const& f) {
       skel::divide_and_conquer(ctx, skel::replicated_problem{std::pair{0, 64}}, halves{.in_conquer = f},
                                skel::division::hypercube{});
     }},
    {"a divide_and_conquer's combine",
     [](auto& ctx, auto const& f) {
       skel::divide_and_conquer(ctx, skel::on_root([] {
                                  return std::pair{0, 64};
                                }),
                                halves{.in_combine = f}, skel::division::tree{});
     }},
    {"a multi_host's read",
     [](auto& ctx, auto const& f) {
       skel::multi_host(ctx, 6, units{.in_read = f}, [](std::uint64_t, std::uint64_t, std::uint64_t) {});
     }},
    {"a multi_host's process",
     [](auto& ctx, auto const& f) {
       skel::multi_host(ctx, 6, units{.in_process = f}, [](std::uint64_t, std::uint64_t, std::uint64_t) {});
     }},
    {"a multi_host's sink",
     [](auto& ctx, auto const& f) {
       skel::multi_host(ctx, 6, units{}, [&](std::uint64_t, std::uint64_t, std::uint64_t) { f(); });
     }},
    {"a superstep", [](auto& ctx, auto const& f) { skel::bsp(ctx, steps{.in_step = f}); }},
    {"a bsp's begin", [](auto& ctx, auto const& f) { skel::bsp(ctx, steps{.in_begin = f}); }},
    {"a broadcast's source",
     [](auto& ctx, auto const& f) {
       static_cast<void>(skel::broadcast(ctx, skel::on_root([&] { return f(), 7; })));
     }},
};

inline std::map<std::string, std::function<void(skel::context&)>> const inner_calls{
    {"farm", [](auto& ctx) { sum_of(ctx, 100); }},
    {"ring_steal", [](auto& ctx) { skel::ring_steal(ctx, one_to(2), spawning{}); }},
    {"divide_and_conquer",
     [](auto& ctx) {
       skel::divide_and_conquer(ctx, skel::replicated_problem{std::pair{0, 8}}, halves{},
                                skel::division::hypercube{});
     }},
    {"multi_host",
     [](auto& ctx) {
       skel::multi_host(ctx, 2, units{}, [](std::uint64_t, std::uint64_t, std::uint64_t) {});
     }},
    {"bsp", [](auto& ctx) { skel::bsp(ctx, steps{}); }},
    {"broadcast",
     [](auto& ctx) { static_cast<void>(skel::broadcast(ctx, skel::on_root([] { return 7; }))); }},
    {"require_same", [](auto& ctx) { ctx.require_same("seed", "1"); }},
};

}  // namespace call_test
