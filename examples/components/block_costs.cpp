#include "block_costs.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "program/csv_table.hpp"
#include "program/text.hpp"
#include "skel/atomic_file.hpp"
#include "skel/error.hpp"

namespace components {

namespace {

constexpr char const* header = "call,rank,phase,number,seconds";

std::map<block_key, double> read_trace(std::string const& path) {
  skel::program::csv_table file(path, header);
  std::map<block_key, double> trace;
  auto const whole = [&](std::size_t i) {
    double const x = file.number(i);
    file.expect(x >= 0 && x <= 1e9 && x == std::floor(x), header);
    return static_cast<int>(x);
  };
  while (file.next()) {
    file.expect(file.size() == 5 && file.number(4) >= 0 && file.number(4) <= 1e9, header);
    trace[{whole(0), whole(1), file.text(2), whole(3)}] = file.number(4);
  }
  return trace;
}

// Makes a standard normal number from two hashes of the block's name (Box and Muller). The result
// is independent of the order of the blocks and of the standard library.
double normal(block_key const& k, std::uint64_t seed) {
  std::seed_seq name{static_cast<std::uint32_t>(seed),
                     static_cast<std::uint32_t>(seed >> 32),
                     static_cast<std::uint32_t>(k.call),
                     static_cast<std::uint32_t>(k.rank),
                     static_cast<std::uint32_t>(k.phase.front()),
                     static_cast<std::uint32_t>(k.number)};
  std::mt19937_64 dice(name);
  auto const unit = [&] { return (static_cast<double>(dice() >> 11) + 0.5) * 0x1p-53; };
  double const radius = std::sqrt(-2 * std::log(unit()));
  return radius * std::cos(2 * std::numbers::pi * unit());
}

}  // namespace

block_costs::block_costs(settings const& s) : settings_(s) {
  if (!s.replay.empty()) trace_ = read_trace(s.replay);
}

double block_costs::next(int call, int rank, std::string const& phase, std::vector<double> measured) {
  block_key const k{call, rank, phase, numbers_[{call, rank, phase}]++};
  std::ranges::sort(measured);
  double cost = measured[measured.size() / 2];
  if (!settings_.replay.empty()) {
    auto const at = trace_.find(k);
    if (at == trace_.end())
      throw skel::usage_error(skel::program::one_line(
          fmt::format("{}: missing {} {} of call {} on rank {}: the trace was recorded with "
                      "other ranks, graphs, kind or repetitions",
                      settings_.replay, k.phase, k.number, k.call, k.rank)));
    cost = at->second;
  }
  used_[k] = cost;
  constexpr double most = 3;
  double const factor =
      settings_.noise > 0 ? 1 + settings_.noise * std::clamp(normal(k, settings_.seed), -most, most) : 1;
  cost *= settings_.scale * std::max(0.0, factor);
  total_ += cost;
  return cost;
}

void block_costs::save(std::string const& path) const {
  std::string text = std::string(header) + "\n";
  for (auto const& [k, seconds] : used_)
    text += fmt::format("{},{},{},{},{}\n", k.call, k.rank, k.phase, k.number, seconds);
  skel::write_file_atomically(path, text);
}

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace components
