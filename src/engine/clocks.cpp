// The offsets of the ranks' clocks against the root's, for traces: each rank asks the root for its
// time, several times in a row, and reports the answer with the shortest round trip.
#include <algorithm>
#include <cmath>

#include "engine.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {

enum clock_control : std::uint8_t { ask_time = first_clock_control, tell_time, measured };
constexpr unsigned rounds = 8;
// Of waiting for other ranks at the end of a call. A rank that computes answers within 2 ms.
constexpr double longest_wait = 50e-3;

template <class... Values>
transport::packet clock_message(clock_control what, Values const&... values) {
  transport::packet p;
  p.body().push_back(static_cast<std::byte>(what));
  (bytes::put_raw(p.body(), values), ...);
  return p;
}

}  // namespace

void engine::measure_clock(std::uint32_t call) {
  if (rank_ == 0 || owns_time_) return;
  measurement_.call = call;
  measurement_.rounds_left = rounds;
  ask_for_time();
}

void engine::measure_clock_once() {
  if (std::isinf(measurement_.asked)) measure_clock(0);
}

void engine::ask_for_time() {
  measurement_.asked = now();
  send(0, {0, 0}, clock_message(ask_time, measurement_.asked));
}

void engine::measure_clock_at_end(std::unique_lock<std::mutex>& lock, std::uint32_t call) {
  if (owns_time_ || size_ == 1) return;
  double const end = now() + longest_wait;
  measure_clock(call);
  auto const waiting = [&] {
    if (failed_peer_) return false;
    if (rank_ != 0) return measurement_.rounds_left > 0 && !is_lost(0);
    return std::any_of(clocks_.begin(), clocks_.end(),
                       [&](auto const& c) { return !is_lost(c.first) && c.second.measured_in < call; });
  };
  while (waiting() && now() < end) {
    progress();
    if (waiting()) rest(lock, 0);
  }
  measurement_.rounds_left = 0;
}

double engine::root_time(int rank, double t) const {
  auto const at = clocks_.find(rank);
  return at == clocks_.end() ? t : at->second.offsets.to_root(t);
}

bool engine::knows_clock(int rank) const {
  auto const at = clocks_.find(rank);
  return rank == 0 || owns_time_ || (at != clocks_.end() && !at->second.offsets.empty());
}

void engine::on_clock_control(int from, std::span<std::byte const> body) {
  double const t = now();
  switch (std::to_integer<std::uint8_t>(bytes::get_bytes(body, 1)[0])) {
    case ask_time:
      clocks_.try_emplace(from);  // this rank will report
      send(from, {0, 0}, clock_message(tell_time, bytes::get_raw<double>(body), t));
      break;
    case tell_time: {
      auto const asked = bytes::get_raw<double>(body);
      auto const theirs = bytes::get_raw<double>(body);
      auto& m = measurement_;
      if (m.rounds_left == 0 || asked != m.asked) return;  // of an earlier measurement
      double const trip = t - asked, middle = asked + trip / 2;
      if (m.rounds_left == rounds || trip < m.best.round_trip) m.best = {middle, theirs - middle, trip};
      if (--m.rounds_left > 0)
        ask_for_time();
      else
        send(0, {0, 0}, clock_message(measured, m.call, m.best));
      break;
    }
    case measured: {
      auto const call = bytes::get_raw<std::uint32_t>(body);
      auto& c = clocks_[from];
      c.measured_in = std::max(c.measured_in, call);
      c.offsets.add(bytes::get_raw<observe::clock_sample>(body));
      break;
    }
    default:
      throw protocol_error("unknown control message from rank " + std::to_string(from));
  }
}

}  // namespace skel::detail
