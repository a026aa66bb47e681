#include "clocks.hpp"

#include <algorithm>
#include <cmath>

#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {

enum clock_control : std::uint8_t { ask_time, tell_time, measured };
constexpr unsigned rounds = 8;

template <class... Values>
transport::packet clock_message(clock_control what, Values const&... values) {
  transport::packet p;
  p.body().push_back(static_cast<std::byte>(what));
  (bytes::put_raw(p.body(), values), ...);
  return p;
}

}  // namespace

void clocks::measure(std::uint32_t call) {
  if (wires_.rank() == 0 || wires_.owns_time()) return;
  measurement_.call = call;
  measurement_.rounds_left = rounds;
  ask_for_time();
}

void clocks::measure_once() {
  if (std::isinf(measurement_.asked)) measure(0);
}

void clocks::ask_for_time() {
  measurement_.asked = wires_.now();
  wires_.send(0, key_of(part::clocks), clock_message(ask_time, measurement_.asked));
}

bool clocks::measures(std::uint32_t call) const {
  if (wires_.rank() != 0) return measurement_.rounds_left > 0 && !wires_.is_lost(0);
  return std::any_of(clocks_.begin(), clocks_.end(),
                     [&](auto const& c) { return !wires_.is_lost(c.first) && c.second.measured_in < call; });
}

double clocks::root_time(int rank, double t) const {
  auto const at = clocks_.find(rank);
  return at == clocks_.end() ? t : at->second.offsets.to_root(t);
}

bool clocks::knows(int rank) const {
  auto const at = clocks_.find(rank);
  return rank == 0 || wires_.owns_time() || (at != clocks_.end() && !at->second.offsets.empty());
}

void clocks::on_control(int from, std::span<std::byte const> body) {
  double const t = wires_.now();
  switch (std::to_integer<std::uint8_t>(bytes::get_bytes(body, 1)[0])) {
    case ask_time:
      clocks_.try_emplace(from);  // this rank will report
      wires_.send(from, key_of(part::clocks), clock_message(tell_time, bytes::get_raw<double>(body), t));
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
        wires_.send(0, key_of(part::clocks), clock_message(measured, m.call, m.best));
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
