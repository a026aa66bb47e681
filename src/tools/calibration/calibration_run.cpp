#include "calibration_run.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/format.hpp"
#include "engine/context_access.hpp"
#include "skel/error.hpp"
#include "skel/serialization.hpp"
#include "skel/transfer.hpp"

namespace skel::model {

namespace {

// Values sent as bytes, and values sent pair by pair through Boost.Serialization.
using raw_value = std::vector<std::byte>;
using number_pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
struct serialised_value {
  number_pairs pairs;
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& pairs;
  }
};

constexpr double idle_pause = 1e-3;  // seconds; pause of ranks that take no part
constexpr double attentive = 5e-3;   // seconds; a rank does not pause this soon after a request

std::size_t pairs_in(std::uint64_t bytes) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(bytes / sizeof(number_pairs::value_type)));
}

void pack_value(exercise const& what, std::vector<std::byte>& out) {
  if (what.serialised)
    pack(serialised_value{number_pairs(pairs_in(what.bytes), {1, 2})}, out);
  else
    pack(raw_value(static_cast<std::size_t>(what.bytes)), out);
}

}  // namespace

calibration_run::calibration_run(context& ctx)
    : ctx_(ctx),
      engine_(detail::context_access::engine_of(ctx)),
      slot_(ctx),
      key_{detail::context_access::id(ctx), slot_.number()},
      offsets_(static_cast<std::size_t>(ctx.size())) {}

double calibration_run::wire_bytes(exercise const& what) {
  std::vector<std::byte> body;
  pack_value(what, body);
  // Kind, superstep and packing mode, followed by the link's header.
  return static_cast<double>(1 + sizeof(std::uint32_t) + 1 + body.size() + sizeof(transport::header));
}

// --- messages

void calibration_run::send(int to, kind what, std::vector<std::byte> const& content) {
  transport::packet p;
  bytes::put_raw(p.body(), what);
  p.body().insert(p.body().end(), content.begin(), content.end());
  std::lock_guard const lock(engine_.mutex());
  engine_.calls().send(to, key_, std::move(p));
}

void calibration_run::send_data(int to, exercise const& what) {
  transport::packet p(engine_.wires().buffer());
  bytes::put_raw(p.body(), kind::data);
  bytes::put_raw(p.body(), step_);
  bytes::put_raw(p.body(), what.serialised);
  pack_value(what, p.body());
  std::lock_guard const lock(engine_.mutex());
  engine_.calls().send(to, key_, std::move(p));
}

void calibration_run::on_message(int from, std::span<std::byte const> body, transport::packet& whole) {
  switch (bytes::get_raw<kind>(body)) {
    case kind::data: {
      auto const step = bytes::get_raw<std::uint32_t>(body);
      if (bytes::get_raw<bool>(body))
        std::ignore = unpack<serialised_value>(body);
      else
        std::ignore = unpack<raw_value>(body);
      ++had_[step];
      engine_.wires().recycle(std::move(whole).release());
      break;
    }
    case kind::clock:  // the request is empty, the reply carries the clock
      if (body.empty()) {
        transport::packet p;
        bytes::put_raw(p.body(), kind::clock);
        bytes::put_raw(p.body(), engine_.now());
        engine_.calls().send(from, key_, std::move(p));
        break;
      }
      [[fallthrough]];
    case kind::done:
      told_[from] = bytes::get_raw<double>(body);
      break;
    case kind::start: {
      order o{};
      o.what = bytes::get_raw<exercise>(body);
      o.when = bytes::get_raw<double>(body);
      o.step = bytes::get_raw<std::uint32_t>(body);
      orders_.push_back(o);
      break;
    }
    case kind::finish:
      finished_ = true;
      break;
  }
}

void calibration_run::on_rank_lost(int rank) {
  if (lost_ < 0) lost_ = rank;
}

// --- waiting

template <class Ready>
void calibration_run::wait_for(Ready const& ready, double pause) {
  std::unique_lock lock(engine_.mutex());
  while (true) {
    engine_.driver().progress();
    engine_.farewell().throw_if_peer_failed();
    if (lost_ >= 0) throw lost_rank_error(lost_, detail::format("lost rank {} while calibrating", lost_));
    if (ready()) return;
    // A sleeping rank replies late, and half of the delay would be counted as a difference of
    // clocks.
    bool const asked = !engine_.owns_time() && engine_.now() - engine_.driver().last_arrival() < attentive;
    engine_.driver().rest(lock, asked ? 0 : pause);
  }
}

void calibration_run::wait_until(double when) {
  while (engine_.now() < when) {
    {
      std::lock_guard const lock(engine_.mutex());
      engine_.driver().progress();
    }
    double const left = when - engine_.now();
    if (left > 0) engine_.wires().wait(engine_.owns_time() ? left : 0);
  }
}

// --- the patterns

void calibration_run::superstep(exercise const& what) {
  auto const rank = static_cast<std::uint32_t>(ctx_.rank());
  std::uint32_t expected = 0;
  if (what.what == pattern::all_to_all) {
    expected = (what.ranks - 1) * what.messages;
    for (std::uint32_t m = 0; m < what.messages; ++m)
      for (std::uint32_t d = 1; d < what.ranks; ++d)
        send_data(static_cast<int>((rank + d) % what.ranks), what);
  } else if (what.what == pattern::exchange) {
    auto const partner = rank ^ 1U;
    if (partner < what.ranks) {
      expected = 1;
      send_data(static_cast<int>(partner), what);
    }
  } else if (rank == 0 || rank == what.ranks - 1) {  // each sends half of a ping-pong
    expected = 1;
    if (rank == 0) send_data(static_cast<int>(what.ranks - 1), what);
  }
  wait_for([&] { return had_[step_] >= expected; }, 0);
  if (what.what == pattern::ping_pong && rank != 0 && rank == what.ranks - 1) send_data(0, what);
  had_.erase(step_);
  ++step_;
}

double calibration_run::perform(exercise const& what, double when) {
  wait_until(when);
  for (std::uint32_t s = 0; s < what.supersteps; ++s) superstep(what);
  return engine_.now();
}

// --- root and other ranks

void calibration_run::compare_clocks() {
  constexpr int rounds = 8;
  for (int r = 1; r < ctx_.size(); ++r) {
    double shortest = HUGE_VAL;
    for (int i = 0; i < rounds; ++i) {
      told_.clear();
      double const sent = engine_.now();
      send(r, kind::clock, {});
      wait_for([&] { return told_.contains(r); }, 0);
      double const back = engine_.now();
      if (back - sent >= shortest) continue;
      shortest = back - sent;
      offsets_[static_cast<std::size_t>(r)] = told_.at(r) - (sent + back) / 2;
    }
    round_trip_ = std::max(round_trip_, shortest);
  }
}

double calibration_run::time(exercise const& what) {
  constexpr double least_lead = 100e-6;
  double const when = engine_.now() + least_lead + 2 * round_trip_;
  told_.clear();
  for (std::uint32_t r = 1; r < what.ranks; ++r) {
    std::vector<std::byte> content;
    bytes::put_raw(content, what);
    bytes::put_raw(content, when + offsets_[r]);
    bytes::put_raw(content, step_);
    send(static_cast<int>(r), kind::start, content);
  }
  double last = perform(what, when);
  wait_for([&] { return told_.size() + 1 >= what.ranks; }, 0);
  for (auto const& [rank, t] : told_) last = std::max(last, t - offsets_[static_cast<std::size_t>(rank)]);
  return last - when;
}

void calibration_run::finish() {
  for (int r = 1; r < ctx_.size(); ++r) send(r, kind::finish, {});
}

void calibration_run::obey() {
  while (true) {
    wait_for([&] { return finished_ || !orders_.empty(); }, idle_pause);
    if (orders_.empty()) return;
    auto const o = orders_.front();
    orders_.erase(orders_.begin());
    step_ = o.step;
    double const end = perform(o.what, o.when);
    std::vector<std::byte> content;
    bytes::put_raw(content, end);
    send(0, kind::done, content);
  }
}

void calibration_run::execute(std::function<void()> const& on_root) {
  {
    std::lock_guard const lock(engine_.mutex());
    engine_.farewell().throw_if_peer_failed();
    engine_.open(key_, *this);
  }
  auto const close = [&] {
    std::unique_lock lock(engine_.mutex());
    engine_.driver().flush(lock, 5.0);
    engine_.close(key_);
  };
  try {
    engine_.helper().with_pool(*this, 1, [&] {
      engine_.helper().rest(true);  // this thread polls all the time
      if (ctx_.is_root()) {
        compare_clocks();
        on_root();
        finish();
      } else {
        obey();
      }
      engine_.helper().rest(false);
    });
  } catch (...) {
    engine_.helper().rest(false);
    close();
    throw;
  }
  close();
}

}  // namespace skel::model
