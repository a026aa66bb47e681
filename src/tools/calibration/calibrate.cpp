#include "tools/calibration/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/format.hpp"
#include "calibration_run.hpp"
#include "model/least_squares.hpp"
#include "model/statistics.hpp"
#include "skel/error.hpp"

namespace skel::model {

namespace {

constexpr double word = 4;  // bytes; the unit of [Hyper, §5.1]

// Measures all patterns for one number of ranks and one kind.
class measuring {
 public:
  measuring(calibration_run& run, calibrate_options const& options, int ranks, std::string const& kind)
      : run_(run), options_(options) {
    found_.ranks = ranks;
    found_.kind = kind;
    base_.ranks = static_cast<std::uint32_t>(ranks);
    base_.serialised = kind == "serialised";
  }

  machine_at all() {
    by_size();
    latency_by_number();
    gap_by_number();
    // The worst case, as in [Hyper, §5.1].
    found_.latency_seconds = std::max(found_.latency_by_size, found_.latency_by_number);
    // Noise may tilt both lines until no latency is left. The time of one word is an upper bound.
    if (found_.latency_seconds <= 0) found_.latency_seconds = one_word_seconds_;
    found_.gap_seconds_per_byte = std::max(found_.gap_by_size, found_.gap_by_number);
    found_.ping_pong = sweep(pattern::ping_pong, "ping-pong");
    found_.exchange = sweep(pattern::exchange, "exchange");
    return std::move(found_);
  }

 private:
  [[nodiscard]] double others() const { return found_.ranks - 1; }

  // Returns the median of the repetitions. The first repetition warms up and is discarded.
  timing repeat(exercise const& what, std::string const& name) {
    run_.time(what);
    std::vector<double> seconds;
    seconds.reserve(static_cast<std::size_t>(options_.repetitions));
    for (int i = 0; i < options_.repetitions; ++i) seconds.push_back(run_.time(what));
    timing t;
    t.pattern = name;
    t.bytes = calibration_run::wire_bytes(what);
    t.messages = what.messages * what.supersteps;
    double const middle = median(seconds);
    t.seconds = options_.least ? *std::ranges::min_element(seconds) : middle;
    for (double& s : seconds) s = std::abs(s - middle) / middle;
    t.deviation = median(seconds);
    found_.timings.push_back(t);
    return t;
  }

  // Doubles the size, starting with one word, until one pattern takes too long.
  template <class Point>
  std::vector<std::pair<double, double>> sizes(exercise what, std::string const& name, double largest,
                                               Point const& point) {
    std::vector<std::pair<double, double>> points;
    double spent = 0;
    for (double bytes = word; bytes <= largest && spent < options_.seconds_per_pattern; bytes *= 2) {
      what.bytes = static_cast<std::uint64_t>(bytes);
      auto const t = repeat(what, name);
      spent += t.seconds * (options_.repetitions + 1);
      points.push_back(point(t));
    }
    return points;
  }

  // Full all-to-all, one message to each rank; the bytes that a rank sends vary.
  void by_size() {
    auto what = base_;
    auto const points =
        sizes(what, "all-to-all by size", std::max(word * 8, options_.largest_bytes / others()),
              [&](timing const& t) { return std::pair(others() * t.bytes, t.seconds); });
    found_.all_to_all = fit_curve(points);
    if (!points.empty()) one_word_seconds_ = points.front().second;
    if (found_.all_to_all.empty()) return;
    found_.latency_by_size = found_.all_to_all.pieces.front().latency_seconds;
    found_.gap_by_size = found_.all_to_all.pieces.back().gap_seconds_per_byte;
  }

  // One word to each rank; the number of consecutive exchanges varies. The cost of the bytes is
  // subtracted.
  void latency_by_number() {
    std::vector<std::pair<double, double>> points;
    double bytes = 0;
    constexpr std::uint32_t most = 32;
    for (std::uint32_t n = 1; n <= most; n *= 2) {
      auto what = base_;
      what.supersteps = n;
      auto const t = repeat(what, "latency by number");
      points.emplace_back(n, t.seconds);
      bytes = others() * t.bytes;
    }
    double const per_superstep = fit_line(points).slope;
    double const gap = found_.all_to_all.empty() ? 0 : found_.all_to_all.pieces.front().gap_seconds_per_byte;
    found_.latency_by_number = std::max(0.0, per_superstep - bytes * gap);
  }

  // Blocks of equal size to each rank; the number of simultaneous blocks varies.
  void gap_by_number() {
    constexpr double block = 16384;
    std::vector<std::pair<double, double>> points;
    constexpr std::uint32_t most = 16;
    double spent = 0;
    for (std::uint32_t n = 1; n <= most && spent < options_.seconds_per_pattern; n *= 2) {
      auto what = base_;
      what.messages = n;
      what.bytes =
          static_cast<std::uint64_t>(std::clamp(options_.largest_bytes / others() / most, word, block));
      auto const t = repeat(what, "gap by number");
      spent += t.seconds * (options_.repetitions + 1);
      points.emplace_back(others() * t.bytes * n, t.seconds);
    }
    if (points.size() >= 2) found_.gap_by_number = fit_line(points).slope;
  }

  curve sweep(pattern which, std::string const& name) {
    auto what = base_;
    what.what = which;
    what.supersteps = 4;
    double const halves = which == pattern::ping_pong ? 2 : 1;
    return fit_curve(sizes(what, name, options_.largest_bytes, [&](timing const& t) {
      return std::pair(t.bytes, t.seconds / what.supersteps / halves);
    }));
  }

  calibration_run& run_;
  calibrate_options const& options_;
  exercise base_;
  machine_at found_;
  double one_word_seconds_ = 0;
};

std::vector<int> checked_ranks(context const& ctx, calibrate_options const& options) {
  if (ctx.size() < 2)
    throw usage_error("calibrate: expected at least 2 ranks: mpiexec -n 4 skel-model calibrate …");
  if (options.repetitions < 5)  // a median of fewer repetitions is unreliable
    throw usage_error(detail::format("{} repetitions, expected at least 5", options.repetitions));
  std::set<int> ranks(options.ranks.begin(), options.ranks.end());
  if (ranks.empty()) {
    for (int p = 2; p <= ctx.size(); p *= 2) ranks.insert(p);
    ranks.insert(ctx.size());
  }
  if (*ranks.begin() < 2 || *ranks.rbegin() > ctx.size())
    throw usage_error(detail::format("--ranks: found {} to {}, expected 2 to {}, the number of ranks started",
                                     *ranks.begin(), *ranks.rbegin(), ctx.size()));
  return {ranks.begin(), ranks.end()};
}

}  // namespace

machine calibrate(context& ctx, calibrate_options const& options) {
  auto const ranks = checked_ranks(ctx, options);
  machine found;
  found.name = ctx.host();
  calibration_run run(ctx);
  run.execute([&] {
    for (int const p : ranks)
      for (auto const& kind : options.kinds) found.at.push_back(measuring(run, options, p, kind).all());
  });
  return found;
}

}  // namespace skel::model
