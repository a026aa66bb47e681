// Draws scenarios from seeds.
#include <fmt/format.h>

#include <array>

#include "harness.hpp"
#include "protocol/deal.hpp"

namespace farm_harness {

std::string scenario::describe() const {
  auto const at = [](char const* what, auto const& optional) {
    return optional ? fmt::format(", {} {}", what, *optional) : std::string();
  };
  return describe_ranks() +
         fmt::format("{}, {} tasks{}{}, {}, {}{}{}, window {}, {} threads of {}",
                     root_serves ? " (the root serves)" : "", tasks, stream ? " (a stream)" : "",
                     costly ? " of known cost" : "", skel::to_string(policy), skel::to_string(results),
                     ordered ? ", ordered" : "", merged ? ", merged" : "", window, threads, most_at_once) +
         (late > 0 ? fmt::format(", late {}", late) : "") + at("failing from", failing_from) +
         at("failing rank", failing_rank) + at("sink fails at", sink_fails_at) +
         at("source fails at", source_fails_at) +
         (resumed ? fmt::format(", {} restored", restored.size()) : "") +
         (poison.empty() ? "" : fmt::format(", poison {}", fmt::join(poison, " "))) +
         (on_error.goes_on() ? ", on_error " + skel::to_string(on_error) : "") +
         (steered ? ", steered" : "") + (heavy_every > 0 ? fmt::format(", 1 of {} heavy", heavy_every) : "") +
         at("small rank", small_rank) + at("late from", late_from) +
         (audit > 0 ? fmt::format(", audit {}{}", audit, audit_holds ? ", results held" : "") : "") +
         (liar ? fmt::format(", rank {} lies in 1 of {}", *liar, lies_in) : "") +
         (most_losses > 0 ? fmt::format(", blamed after {}", most_losses) : "") + describe_trouble();
}

namespace {

template <class Below>
void draw_own(scenario& s, Below const& below) {
  s.root_serves = below(4) == 0;
  s.tasks = below(8) == 0 ? below(3) : below(40);
  s.threads = 1 + static_cast<int>(below(3));
  s.most_at_once = 1 + below(below(2) == 0 ? 1 : 12);
  if (below(3) == 0) s.results = skel::results::streamed(1 + below(6));
  auto const how = below(11);
  if (how == 0) {
    s.policy = skel::schedule::blocks{}.policy();
  } else if (how == 1) {
    s.policy = skel::schedule::interleaved{}.policy();
  } else if (how < 4) {
    skel::schedule::first_come f{.chunk = 1 + below(4), .early = below(4) != 0};
    if (below(2) == 0) f.threshold = below(4);
    s.policy = f.policy();
  } else if (how == 4) {
    s.policy = skel::schedule::guided{.min = 1 + below(3)}.policy();
  } else if (how < 8) {
    s.policy = skel::schedule::ring{.take = below(2) == 0 ? skel::schedule::steal_size::one
                                                          : skel::schedule::steal_size::half,
                                    .give = static_cast<skel::schedule::steal_end>(below(2)),
                                    .order = static_cast<skel::schedule::ring_order>(below(3)),
                                    .after_loss = static_cast<skel::schedule::takeover>(below(2))}
                   .policy();
    if (below(3) == 0) s.policy = skel::for_stream(s.policy);
  } else if (how < 10) {
    s.policy = skel::schedule::adaptive{}.policy();
    s.policy.copies = below(3) != 0;
  } else {
    skel::schedule::hybrid h;
    h.cut = below(2) == 0 ? skel::schedule::cut_at::percent(static_cast<double>(below(101)))
                          : skel::schedule::cut_at(below(50));
    h.threshold = below(3);
    if (below(2) == 0)
      for (int r = 0; r < s.ranks; ++r) h.power.push_back(0.25 * static_cast<double>(1 + below(16)));
    s.policy = h.policy();
  }
  bool const directed = s.policy.more == skel::schedule::more_from::root_then_ranks;
  bool const copies = s.policy.more == skel::schedule::more_from::ring ? below(3) == 0 : s.policy.copies;
  bool const pulls = s.policy.start == skel::schedule::start_with::nothing;
  s.merged = below(4) == 0;
  s.ordered = !s.merged && below(3) == 0;
  if (pulls && below(2) == 0) {
    s.stream = true;
    s.window = 1 + below(12);
  } else if (pulls && below(3) == 0) {
    s.window = 1 + below(12);
  } else if (below(4) == 0) {
    s.results = skel::results::concentrated();
  }
  s.policy.copies = copies && !s.merged && (!s.stream || directed);
  auto const trouble = below(10);
  if (trouble == 0) s.failing_from = below(40);
  s.failing_every = 1 + below(3);
  if (trouble == 1) s.sink_fails_at = below(20);
  if (trouble == 2 && s.stream) s.source_fails_at = below(20);
  s.stops_early = trouble == 3;
  if (below(4) == 0) s.late = static_cast<int>(below(static_cast<std::uint64_t>(s.ranks)));
  if (s.ranks > 1 && below(8) == 0) s.lost_in = 40;
  s.ticks = below(2) == 0;
  if (below(3) == 0) s.first_grant = 1 + below(4);
  s.timed = below(4) != 0;
  s.holds_back = below(4) == 0;
  s.costly = !s.stream && s.seed % 4 == 1;
}

scenario draw(std::uint64_t seed, bool must_die) {
  auto s = harness_common::draw_scenario<scenario>(
      seed, must_die, [](scenario& own, auto const& below) { draw_own(own, below); }, 1, 400);
  s.failing.reset();
  if (s.calm()) return s;
  s.ticks = true;
  s.other_call = {};
  return s;
}

}  // namespace

scenario random_scenario(std::uint64_t seed) { return draw(seed, false); }
scenario death_scenario(std::uint64_t seed) { return draw(seed, true); }

scenario resumed_scenario(std::uint64_t seed) {
  std::mt19937_64 dice(seed * 7 + 3);
  auto s = draw(seed, dice() % 2 == 0);
  s.resumed = true;
  auto const in = 1 + dice() % 6;  // one task in this many is left to do
  for (task_id id = 0; id < s.tasks; ++id)
    if (dice() % in != 0 || dice() % 32 == 0) s.restored.push_back(id);
  if (s.results.concentrated) s.send_after_ticks = static_cast<unsigned>(dice() % 3);
  return s;
}

scenario failing_scenario(std::uint64_t seed) {
  std::mt19937_64 dice(seed * 3 + 2);
  auto s = draw(seed, dice() % 3 == 0);
  auto const times = 1 + static_cast<unsigned>(dice() % 3);
  bool const elsewhere = dice() % 4 != 0;
  if (dice() % 2 == 0)
    s.on_error = skel::on_error::retry{times, elsewhere};
  else
    s.on_error = skel::on_error::collect{times, elsewhere};
  s.sink_fails_at = s.source_fails_at = {};
  s.other_call = {};
  s.failing_from = dice() % 40;
  s.failing_every = 1 + dice() % 8;
  if (dice() % 3 == 0) s.failing_rank = static_cast<int>(dice() % static_cast<std::uint64_t>(s.ranks));
  return s;
}

scenario poison_scenario(std::uint64_t seed) {
  std::mt19937_64 dice(seed * 5 + 1);
  auto s = draw(seed, dice() % 6 == 0);
  s.ranks = 3 + static_cast<int>(dice() % 6);
  if (!s.policy.power.empty()) s.policy.power.assign(static_cast<std::size_t>(s.ranks), 1.0);
  s.root_serves = dice() % 8 != 0;
  s.tasks = std::max<std::uint64_t>(1, s.tasks);
  s.ticks = true;
  s.lost_in = 0;
  s.suspicions = dice() % 8 == 0 ? 1 : 0;
  s.failing_from = s.sink_fails_at = s.source_fails_at = {};
  s.stops_early = false;
  s.other_call = {};
  s.most_losses = dice() % 4 == 0 ? 1 + static_cast<unsigned>(dice() % 3) : 2;
  s.poison.push_back(dice() % s.tasks);
  s.last_words = s.deaths == 0 && dice() % 2 == 0;
  if (dice() % 4 == 0) s.poison.push_back(dice() % s.tasks);
  if (seed % 4 == 0) s.on_error = skel::on_error::collect{};
  return s;
}

scenario blaming_scenario(std::uint64_t seed) {
  auto s = draw(seed, seed % 4 != 0);
  s.most_losses = 1 + static_cast<unsigned>(seed % 3);
  s.from_outside = s.poison.empty() && seed % 2 == 0;
  return s;
}

scenario audited_scenario(std::uint64_t seed) {
  std::mt19937_64 dice(seed * 11 + 4);
  auto s = draw(seed, dice() % 3 == 0);
  s.ranks = std::max(s.ranks, 2 + static_cast<int>(dice() % 3));
  s.root_serves = s.root_serves && s.ranks > 2;
  if (!s.policy.power.empty()) s.policy.power.assign(static_cast<std::size_t>(s.ranks), 1.0);
  s.ticks = true;
  s.merged = false;
  s.other_call = {};
  if (seed % 4 == 0) s.on_error = skel::on_error::collect{1 + static_cast<unsigned>(dice() % 2)};
  s.audit = std::array{0.1, 0.5, 1.0}.at(dice() % 3);
  s.audit_holds = !s.stream && s.window == 0 && dice() % 4 != 0;
  if (dice() % 3 != 0) s.liar = static_cast<int>(dice() % static_cast<std::uint64_t>(s.ranks));
  s.lies_in = 1 + dice() % 8;
  return s;
}

scenario crowded_scenario(std::uint64_t seed) {
  std::mt19937_64 dice(seed * 17 + 8);
  auto s = draw(seed, dice() % 3 == 0);
  s.policy.copies = false;
  s.threads = 1 + static_cast<int>(dice() % 4);
  s.heavy_every = 1 + dice() % 4;
  s.other_call = {};
  if (dice() % 3 == 0) s.small_rank = static_cast<int>(dice() % static_cast<std::uint64_t>(s.ranks));
  if (dice() % 4 == 0) s.late_from = dice() % 40;
  if (dice() % 4 == 0) s.on_error = skel::on_error::collect{};
  return s;
}

scenario steered_scenario(std::uint64_t seed) {
  std::mt19937_64 dice(seed * 13 + 6);
  auto s = draw(seed, dice() % 3 == 0);
  if (s.policy.start != skel::schedule::start_with::nothing) s.policy = skel::schedule::adaptive{}.policy();
  if (s.policy.more == skel::schedule::more_from::ring) s.policy.copies = false;
  s.steered = s.stream = true;
  s.merged = s.costly = false;
  s.results = skel::results::streamed();
  s.failing_from = s.sink_fails_at = s.source_fails_at = {};
  s.other_call = {};
  if (dice() % 4 == 0) s.most_losses = 2;
  return s;
}

scenario wide_ring_scenario(std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  scenario s;
  s.seed = seed;
  s.ranks = 64;
  s.tasks = 64 + dice() % 256;
  s.policy = skel::schedule::ring{.order = static_cast<skel::schedule::ring_order>(dice() % 3)}.policy();
  if (dice() % 3 == 0) s.results = skel::results::concentrated();
  s.deaths = static_cast<int>(dice() % 17);
  s.chaos = 500 + dice() % 1000;
  return s;
}

summary run(scenario const& s, fault* f) { return harness_common::run<world>(s, f); }

}  // namespace farm_harness
