// Draws scenarios from a seed and runs them.
#include <array>

#include "harness.hpp"

namespace group_harness {

std::string scenario::describe() const {
  auto const flag = [](bool on, char const* name) { return on ? std::string(", ") + name : std::string(); };
  return describe_ranks() + ", " + std::to_string(units) + " units of up to " + std::to_string(most_pieces) +
         " pieces, groups of " + std::to_string(group_size) + ", " + std::to_string(threads) +
         " threads, reads ahead " + std::to_string(read_ahead) + flag(reassigns, "reassigns") +
         flag(splits, "splits") + flag(hosts_help, "hosts help") + flag(preloads, "preloads") +
         flag(uneven, "uneven") + flag(slow_delivery, "slow delivery") + ", left alone with " +
         std::to_string(left_alone) + " thousandths" + describe_deadly() +
         (retirements > 0 ? ", " + std::to_string(retirements) + " retirements" : std::string()) +
         describe_trouble();
}

std::string scenario::describe_deadly() const {
  if (!is_deadly()) return {};
  return (deadly_piece ? ", deadly piece " + std::to_string(deadly_piece->piece) + " of unit " +
                             std::to_string(deadly_piece->unit)
                       : ", deadly unit " + std::to_string(*deadly_unit)) +
         ", blamed after " + std::to_string(most_losses) + (last_words ? ", last words" : "");
}

namespace {

scenario draw(std::uint64_t seed, bool must_die) {
  auto const own = [](scenario& s, auto const& below) {
    auto const maybe = [&] { return below(2) == 0; };
    s.units = below(3) == 0 ? below(25) : below(9);
    s.most_pieces = below(6);
    s.group_size = static_cast<unsigned>(below(5));
    s.threads = 1 + static_cast<unsigned>(below(2));
    s.read_ahead = static_cast<unsigned>(below(3));
    s.results_level = below(4);
    s.reassigns = below(4) != 0;
    s.splits = below(4) != 0;
    s.hosts_help = maybe();
    s.preloads = maybe();
    s.uneven = maybe();
    s.slow_delivery = maybe();
    constexpr std::uint64_t whole = role::whole_unit;
    s.left_alone = std::array{role::default_left_alone, std::uint64_t{0}, whole / 2, whole - 1}[below(4)];
  };
  auto s = harness_common::draw_scenario<scenario>(seed, must_die, own, 4, 300);
  std::mt19937_64 dice(seed * 3 + 5);
  if (dice() % 3 == 0) s.retirements = 1 + static_cast<int>(dice() % 5);
  return s;
}

}  // namespace

scenario random_scenario(std::uint64_t seed) { return draw(seed, false); }
scenario death_scenario(std::uint64_t seed) { return draw(seed, true); }

scenario retirement_scenario(std::uint64_t seed) {
  auto s = draw(seed, false);
  s.ranks = 3 + static_cast<int>(seed % 6);
  s.units += 4;
  s.retirements = 1 + static_cast<int>(seed % 5);
  s.deaths = s.suspicions = 0;
  s.failing.reset();
  s.other_call.reset();
  s.stops_early = false;
  return s;
}

scenario deadly_scenario(std::uint64_t seed) {
  std::mt19937_64 dice(seed * 5 + 1);
  auto s = draw(seed, false);
  s.ranks = 3 + static_cast<int>(dice() % 6);
  s.retirements = 0;
  s.units = 1 + dice() % 12;
  s.most_pieces = 1 + dice() % 5;
  s.failing.reset();
  s.other_call.reset();
  s.stops_early = false;
  s.suspicions = dice() % 8 == 0 ? 1 : 0;
  s.deaths = dice() % 8 == 0 ? 1 : 0;
  s.last_words = dice() % 3 != 0;
  s.most_losses = dice() % 4 == 0 ? 1 + static_cast<unsigned>(dice() % 3) : 2;
  auto const unit = dice() % s.units;
  if (dice() % 3 == 0 || s.pieces(unit) == 0)
    s.deadly_unit = unit;
  else
    s.deadly_piece = {unit, dice() % s.pieces(unit)};
  return s;
}

summary run(scenario const& s, fault* f) { return harness_common::run<world>(s, f); }

}  // namespace group_harness
