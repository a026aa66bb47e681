// Scenarios drawn from a seed, and running them.
#include <array>

#include "harness.hpp"

namespace group_harness {

std::string scenario::describe() const {
  auto const flag = [](bool on, char const* name) { return on ? std::string(", ") + name : std::string(); };
  return describe_ranks() + ", " + std::to_string(units) + " units of up to " + std::to_string(most_pieces) +
         " pieces, groups of " + std::to_string(group_size) + ", " + std::to_string(threads) +
         " threads, reads ahead " + std::to_string(read_ahead) + ", buffers " + std::to_string(buffers) +
         flag(shrinking, "shrinking") + flag(reassigns, "reassigns") + flag(splits, "splits") +
         flag(hosts_help, "hosts help") + flag(preloads, "preloads") + flag(uneven, "uneven") +
         flag(slow_delivery, "slow delivery") + ", left alone with " + std::to_string(left_alone) +
         " thousandths" + describe_trouble();
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
    s.buffers = static_cast<unsigned>(below(3));
    s.least_pieces = 1 + below(3);
    s.shrinking = maybe();
    if (maybe()) s.threshold.reset();
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
  return harness_common::draw_scenario<scenario>(seed, must_die, own, 4, 300);
}

}  // namespace

scenario random_scenario(std::uint64_t seed) { return draw(seed, false); }
scenario death_scenario(std::uint64_t seed) { return draw(seed, true); }

summary run(scenario const& s, fault* f) { return harness_common::run<world>(s, f); }

}  // namespace group_harness
