// Draws scenarios from a seed and runs them.
#include "harness.hpp"

namespace bsp_harness {

std::string scenario::describe() const {
  auto text =
      describe_ranks() + ", " + std::to_string(cells) + " cells, " + std::to_string(rounds) + " rounds";
  if (sends != pattern::all) text += sends == pattern::ring ? ", a ring" : ", changing pattern";
  if (neighbours) text += ", names neighbours";
  if (!splits) text += ", cannot be split";
  text += every == 0 ? ", no checkpoints" : ", a checkpoint every " + std::to_string(every) + " supersteps";
  auto const add = [&](int n, char const* what) {
    if (n > 0) text += ", " + std::to_string(n) + " " + what;
  };
  add(full_disks, "full disks");
  add(lost_commits, "lost commits");
  add(damages, "damaged parts");
  add(reruns, "further jobs");
  add(retirements, "retirements");
  if (commits_hang) text += ", commits hang";
  if (poison && *poison == restoring) text += ", restoring kills";
  if (poison && *poison != restoring) text += ", superstep " + std::to_string(*poison) + " kills";
  if (max_losses == 0) text += ", no superstep is blamed";
  return text + describe_trouble();
}

namespace {

scenario draw(std::uint64_t seed, bool must_die) {
  auto const own = [](scenario& s, auto const& below) {
    auto const some = [&](std::uint64_t one_in, std::uint64_t most) {
      return below(one_in) == 0 ? 1 + static_cast<int>(below(most)) : 0;
    };
    s.cells = 1 + static_cast<int>(below(9));
    s.rounds = 1 + below(6);
    s.splits = below(3) != 0;
    s.every = below(4);
    s.full_disks = some(3, 2);
    s.lost_commits = some(3, 2);
    s.damages = some(3, 3);
    s.reruns = some(3, 3);
    s.commits_hang = below(5) == 0;
    s.sends = static_cast<pattern>(below(3));
    s.neighbours = below(2) == 0;
  };
  auto s = harness_common::draw_scenario<scenario>(seed, must_die, own, 5, 400);
  std::mt19937_64 dice(seed * 3 + 5);
  if (dice() % 2 == 0 && s.splits && s.every > 0) s.retirements = 1 + static_cast<int>(dice() % 5);
  return s;
}

}  // namespace

scenario random_scenario(std::uint64_t seed) { return draw(seed, false); }

// The deaths are unrelated to the work, so three of four scenarios never blame a superstep.
scenario death_scenario(std::uint64_t seed) {
  auto s = draw(seed, true);
  if (seed % 4 != 0) s.max_losses = 0;
  return s;
}

scenario rerun_scenario(std::uint64_t seed) {
  auto s = draw(seed, false);
  s.ranks = 1 + static_cast<int>(seed % 4);
  s.rounds = 3 + seed % 6;
  s.every = 1 + seed % 2;
  s.reruns = 1 + static_cast<int>(seed % 4);
  s.damages = static_cast<int>(seed % 5);
  s.commits_hang = false;
  s.failing.reset();
  s.other_call.reset();
  s.stops_early = false;
  s.chaos = 800;
  return s;
}

scenario retirement_scenario(std::uint64_t seed) {
  auto s = draw(seed, false);
  s.ranks = std::max(s.ranks, 2);
  s.rounds = 3 + seed % 6;
  s.splits = true;
  s.every = 1 + seed % 4 * 5;
  s.retirements = 1 + static_cast<int>(seed % 4);
  s.deaths = s.suspicions = s.full_disks = s.lost_commits = s.damages = s.reruns = 0;
  s.failing.reset();
  s.other_call.reset();
  s.stops_early = false;
  return s;
}

scenario poison_scenario(std::uint64_t seed) {
  auto s = draw(seed, false);
  s.ranks = 5 + static_cast<int>(seed % 4);
  s.splits = true;
  s.poison = seed % 5 == 0 ? scenario::restoring : seed % (s.rounds + 2);
  s.failing.reset();
  s.other_call.reset();
  s.stops_early = false;
  s.reruns = 0;
  s.commits_hang = false;  // each loss would wait for a commit
  s.retirements = 0;
  if (seed % 2 != 0) return s;
  s.deaths = s.suspicions = 0;
  s.damages = 0;
  s.chaos = 0;
  return s;
}

summary run(scenario const& s, fault* f) { return harness_common::run<world>(s, f); }

}  // namespace bsp_harness
