#include "clock_offsets.hpp"

#include <algorithm>

namespace skel::observe {

void clock_offsets::add(clock_sample const& sample) {
  constexpr double least_distance = 1;
  if (samples_.empty() || sample.at - samples_.back().at >= least_distance)
    samples_.push_back(sample);
  else if (sample.round_trip < samples_.back().round_trip)
    samples_.back() = sample;
}

double clock_offsets::to_root(double t) const {
  if (samples_.empty()) return t;
  auto const next =
      std::find_if(samples_.begin(), samples_.end(), [&](clock_sample const& s) { return s.at > t; });
  if (next == samples_.begin()) return t + next->offset;
  auto const before = next - 1;
  if (next == samples_.end()) return t + before->offset;
  double const share = (t - before->at) / (next->at - before->at);
  return t + before->offset + share * (next->offset - before->offset);
}

}  // namespace skel::observe
