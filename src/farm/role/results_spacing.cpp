#include "farm/role/results_spacing.hpp"

namespace skel::role {

namespace {
// The root spends at most a third of its time on results messages.
constexpr double most_per_message_time = 3;
constexpr std::uint64_t shortest = 100, longest = 204'800;  // microseconds
}  // namespace

// Rounded to powers of two, so that small changes cause no messages.
void results_spacing::message_cost(double seconds, rank_id workers) {
  double const all = most_per_message_time * static_cast<double>(workers) * seconds;
  std::uint64_t wanted = shortest;
  while (wanted < longest && static_cast<double>(wanted) * 1e-6 < all) wanted *= 2;
  microseconds_ = wanted == shortest ? 0 : wanted;  // results of a quantum travel together anyway
}

}  // namespace skel::role
