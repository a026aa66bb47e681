// Random scenarios of a farm of teams.
#include <algorithm>

#include "harness.hpp"

namespace team_harness {

std::string scenario::describe() const {
  auto text = describe_ranks() + (serves ? ", root serves" : "") +
              (hosts > 0 ? ", " + std::to_string(hosts) + " hosts" : "") + (stream ? ", stream" : "") +
              (ordered ? ", ordered" : "") + ", window " + std::to_string(window) + ", on_error " +
              std::to_string(on_error.times) + (on_error.collects ? " collect" : "") + ", blamed after " +
              std::to_string(most_losses) + ", teams of";
  for (auto const n : sizes) text += " " + std::to_string(n);
  for (auto const& t : throws)
    text += ", task " + std::to_string(t.task) + " throws " + std::to_string(t.times) + " times on " +
            (t.member ? std::to_string(*t.member) : std::string("all")) + (t.early ? " early" : "");
  if (!costs.empty()) text += ", with costs";
  if (poison)
    text += ", poison " + std::to_string(*poison) + " for " + std::to_string(victim) +
            (last_words ? ", last words" : "");
  if (retirements > 0) text += ", " + std::to_string(retirements) + " retirements";
  if (overruns > 0) text += ", " + std::to_string(overruns) + " overruns";
  if (source_fails_at) text += ", source fails at " + std::to_string(*source_fails_at);
  if (sink_fails_at) text += ", sink fails at " + std::to_string(*sink_fails_at);
  if (sink_stops_at) text += ", sink stops at " + std::to_string(*sink_stops_at);
  if (!restored.empty()) text += ", " + std::to_string(restored.size()) + " restored";
  return text + describe_trouble();
}

namespace {

template <class Below>
int draw_size(std::uint64_t mode, std::uint64_t ranks, Below const& below) {
  return static_cast<int>(mode == 0   ? 1
                          : mode == 1 ? 1 + ranks / 2
                          : mode == 2 ? 1 + below(3)
                                      : 1 + below(ranks + 2));
}

scenario draw(std::uint64_t seed, bool must_die) {
  auto const own = [](scenario& s, auto const& below) {
    auto const ranks = static_cast<std::uint64_t>(s.ranks);
    auto const tasks = below(8) == 0 ? below(41) : below(10);
    auto const mode = below(6);
    for (std::uint64_t i = 0; i < tasks; ++i) s.sizes.push_back(draw_size(mode, ranks, below));
    s.serves = below(3) == 0;
    s.stream = below(2) == 0;
    s.ordered = below(2) == 0;
    if (below(3) == 0) s.window = 1 + below(6);
    s.most_losses = static_cast<unsigned>(below(4));
    switch (below(3)) {
      case 0:
        s.on_error = skel::on_error::retry{.times = 1 + static_cast<unsigned>(below(3))};
        break;
      case 1:
        s.on_error = skel::on_error::collect{.times = 1 + static_cast<unsigned>(below(3))};
        break;
      default:
        break;
    }
    if (tasks == 0) return;
    if (below(3) == 0)
      for (auto n = below(4); n > 0; --n) {
        throwing t{below(tasks), below(ranks), 1 + static_cast<unsigned>(below(4)), below(2) == 0};
        if (below(4) == 0) t.member.reset();
        s.throws.push_back(t);
      }
    if (below(6) == 0) s.overruns = 1 + static_cast<int>(below(3));
    if (below(16) == 0) s.source_fails_at = below(tasks);
    if (below(16) == 0) s.sink_fails_at = below(tasks);
    if (below(16) == 0) s.sink_stops_at = 1 + below(tasks);
    if (below(8) == 0)
      for (task_id id = 0; id < tasks; ++id)
        if (below(3) == 0) s.restored.push_back(id);
  };
  auto s = harness_common::draw_scenario<scenario>(seed, must_die, own, 1, 400);
  s.failing.reset();
  if (seed % 3 == 1 && !s.stream && !(s.ordered && s.window > 0))
    for (std::size_t i = 0; i < s.sizes.size(); ++i) s.costs.push_back(static_cast<double>(i * 7 % 5));
  std::mt19937_64 dice(seed * 3 + 5);
  if (dice() % 3 == 0) s.retirements = 1 + static_cast<int>(dice() % 6);
  if (dice() % 3 == 0) s.hosts = 1 + static_cast<int>(dice() % 3);
  return s;
}

}  // namespace

scenario random_scenario(std::uint64_t seed) { return draw(seed, false); }
scenario death_scenario(std::uint64_t seed) { return draw(seed, true); }

scenario poison_scenario(std::uint64_t seed) {
  auto s = draw(seed, seed % 4 == 0);
  std::mt19937_64 dice(seed * 5 + 1);
  s.ranks = std::max(s.ranks, 3);
  if (s.sizes.empty()) s.sizes.push_back(2);
  s.poison = dice() % s.sizes.size();
  s.victim = dice() % 4;
  s.sizes[*s.poison] = std::max(s.sizes[*s.poison], 1 + static_cast<int>(s.victim));
  s.last_words = dice() % 2 == 0;
  s.most_losses = 1 + static_cast<unsigned>(dice() % 3);
  if (seed % 4 != 0) s.deaths = s.suspicions = 0;
  s.stops_early = false;
  s.other_call = {};
  s.source_fails_at = s.sink_fails_at = s.sink_stops_at = {};
  s.overruns = 0;
  std::erase_if(s.throws, [&](auto const& t) { return t.task == *s.poison; });
  std::erase(s.restored, *s.poison);
  return s;
}

summary run(scenario const& s, fault* f) { return harness_common::run<world>(s, f); }

}  // namespace team_harness
