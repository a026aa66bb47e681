#include "piece_pace.hpp"

#include <algorithm>

#include "call/quantum.hpp"

namespace skel::detail {

namespace {
// Work in a packet, per thread, at most. It leaves work for ranks that join the group later.
constexpr double packet_seconds = 0.02;
}  // namespace

bool piece_pace::restart(role::term_id term) {
  if (term == term_) return false;
  term_ = term;
  pace_ = 1;
  std::fill(costs_.begin(), costs_.end(), 0.0);
  return true;
}

bool piece_pace::measured(unsigned thread, role::term_id term, std::uint64_t pieces, double seconds) {
  if (pieces == 0) return false;
  auto& cost = costs_[thread];
  cost = std::max(seconds / static_cast<double>(pieces), 1e-9);
  if (term != term_) return false;
  // The pace at most doubles: a cheap piece says little about the next one.
  pace_ = std::min(2 * pace_, tasks_in(packet_seconds, cost, most_tasks_of_quantum));
  return true;
}

std::uint64_t piece_pace::quantum(unsigned thread) const {
  return tasks_in(quantum_seconds, costs_[thread], most_tasks_of_quantum);
}

}  // namespace skel::detail
