// A program that calls every skeleton with every kind of source and sink, for compilers that we do not build
// with.
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <skel/eigen.hpp>  // its concepts must not hold for other types
#include <skel/serialization.hpp>
#include <skel/skel.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

struct point {
  double x = 0, y = 0;
};

struct named {
  std::map<std::string, int> values;
  template <class Archive>
  void serialize(Archive& archive, unsigned /*version*/) {
    archive& values;
  }
};

void farms(skel::context& ctx) {
  std::vector<std::string> const names{"a", "bc"};
  std::vector<std::size_t> lengths;
  skel::farm(ctx, skel::replicated(names), [](std::string const& s) { return s.size(); },
             skel::schedule::guided{}, skel::into(lengths), {.results = skel::results::concentrated()});
  skel::farm(
      ctx, skel::replicated(std::deque<int>{1, 2}),
      [](int i, skel::worker_info const& w) { return i + w.rank; }, skel::schedule::ring{},
      skel::ordered([](skel::task_id, int) {}));
  std::uint64_t sum = 0;
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t i) { return i; }, skel::any_schedule("hybrid"),
      skel::reduced(sum, [](std::uint64_t a, std::uint64_t b) { return a + b; }));
  skel::farm(
      ctx, skel::on_root([&]() -> std::vector<std::string> const& { return names; }),
      [](std::string const&) { return named{}; }, skel::schedule::first_come{},
      [](skel::task_id, named&&) {});
  skel::farm(
      ctx, skel::on_root([] { return std::vector<point>(3); }), [](point const&) {},
      skel::schedule::first_come{}, [](skel::task_id) { return skel::results::flow::go_on; });
}

struct search {
  using task = int;
  using result = std::uint64_t;
  void run(int n, skel::spawner<int>& more, std::uint64_t& sum) const {
    ++sum;
    if (n > 0) more(n - 1);
  }
  std::uint64_t merge(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

struct sum_of_numbers {
  using problem = std::vector<double>;
  using solution = double;
  bool trivial(problem const& p) const { return p.size() < 2; }
  solution conquer(problem const& p) const { return p.empty() ? 0 : p.front(); }
  std::array<problem, 2> divide(problem const& p) const {
    auto const middle = p.begin() + static_cast<std::ptrdiff_t>(p.size() / 2);
    return {problem(p.begin(), middle), problem(middle, p.end())};
  }
  solution combine(solution a, solution b) const { return a + b; }
};

struct layers {
  using carried = int;
  using unit = std::vector<int>;
  using packet = std::vector<int>;
  using result = point;
  std::uint64_t read(std::uint64_t n, carried&, unit& into) const {
    into.assign(3, static_cast<int>(n));
    return into.size();
  }
  packet cut(unit const& from, std::uint64_t first, std::uint64_t count) const {
    auto const begin = from.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }
  result process(packet const& p, std::size_t i) const { return {p[i] * 1.0, 0}; }
};

struct heat {
  using state = std::vector<double>;
  using message = double;
  state begin(int rank, int) const { return {1.0 * rank}; }
  bool step(state& s, skel::superstep<message>& now) const {
    for (auto const& letter : now.received()) s.push_back(letter.content);
    if (now.number() == 0) now.send(0, s.front());
    return now.number() < 2;
  }
};

struct large {
  skel::immutable<std::vector<double>> values;
};

}  // namespace

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) {
    farms(ctx);
    skel::per_thread<std::string> const scratch(ctx);
    auto const nodes = skel::ring_steal(ctx, skel::on_root([] { return std::vector<int>{3}; }), search{});
    auto const total = skel::divide_and_conquer(ctx, skel::replicated_problem{std::vector<double>{1, 2}},
                                                sum_of_numbers{}, skel::division::hypercube{});
    auto const pieces =
        skel::multi_host(ctx, nodes.value, layers{}, [](std::uint64_t, std::uint64_t, point&&) {});
    auto const ended = skel::bsp(ctx, heat{});
    auto const parts = skel::all_gather(ctx, ended);
    auto const text = skel::broadcast(ctx, skel::on_root([] { return std::string("text"); }));
    large const shared{std::vector<double>(3, total.value.here() ? *total.value : 0)};
    bool stopped_early = false;  // a report stands in the same place of all
    for (auto const* r : {&pieces.report, &nodes.report, &total.report, &ended.report, &text.report})
      stopped_early |= r->stopped_early;
    if (!text.value || !parts || stopped_early || ended.value.empty() || shared.values->empty())
      ctx.request_stop();
  });
}
