// The next events of a simulated farm: all possible ones, a random one, or those that make it end.
#include <fmt/format.h>

#include <algorithm>

#include "harness.hpp"

namespace harness {

using kind = event::kind;

bool world::may_die(int rank) const {
  if (rank == 0 || !at(rank).alive || state_.deaths >= scenario_->deaths) return false;
  return !at(rank).ended;
}

std::vector<event> world::possible(int early_ticks) const {
  std::vector<event> list;
  auto const& s = *scenario_;
  for (int r = 0; r < s.ranks; ++r) {
    auto const& n = at(r);
    if (!n.alive) {
      if (!state_.detected[static_cast<std::size_t>(r)]) list.push_back({kind::detect, r});
      continue;
    }
    if (!n.begun) list.push_back({kind::begin, r});
    if (n.begun && !n.ended)
      for (int t = 0; t < static_cast<int>(n.threads.size()); ++t) {
        auto const& todo = n.threads[static_cast<std::size_t>(t)].todo;
        if (todo) {
          list.push_back({kind::finish, r, t, todo->count, 0});
        } else {
          auto copy = n.worker;  // only if it changes something
          role::farm_actions actions;
          copy.idle(s.most_at_once, actions);
          if (!(copy == n.worker) || !actions.empty()) list.push_back({kind::idle, r, t, s.most_at_once});
        }
      }
  }
  for (int from = 0; from < s.ranks; ++from)
    for (int to = 0; to < s.ranks; ++to)
      if (deliverable(from, to)) list.push_back({kind::deliver, from, to});
  if (at(0).begun && !at(0).ended) {
    if (!state_.source_ended) list.push_back({kind::supply, 0, 0, 1, 1});
    if (!state_.sink_queue.empty()) list.push_back({kind::sink, 0, 0, s.tasks});
    for (int r = 1; r < s.ranks; ++r)
      if (at(r).alive && state_.suspicions < s.suspicions && !lost(r)) list.push_back({kind::suspect, r});
    if (s.stops_early && !state_.asked_to_stop) list.push_back({kind::stop_early});
  }
  for (int r = 1; r < s.ranks; ++r)
    if (at(r).alive && state_.suspected[static_cast<std::size_t>(r)]) list.push_back({kind::heartbeat, r});
  bool const quiet = list.empty();
  require(!quiet || state_.ticks < 400, "the run is stuck");
  if (quiet) list.push_back({kind::tick, everybody});  // time passes for all ranks at once
  if (!quiet && state_.ticks < early_ticks)
    for (int r = 0; r < s.ranks; ++r)
      if (at(r).alive && at(r).begun && !at(r).ended) list.push_back({kind::tick, r});
  for (int r = 1; r < s.ranks; ++r)
    if (may_die(r))
      for (std::size_t n = 0; n <= state_.wires[wire(r, 0)].size(); ++n) list.push_back({kind::die, r, 0, n});
  return list;
}

std::optional<event> world::random_event(std::mt19937_64& dice) const {
  auto const& s = *scenario_;
  auto const below = [&](std::uint64_t n) { return n == 0 ? 0 : dice() % n; };
  auto const rank = static_cast<int>(below(static_cast<std::uint64_t>(s.ranks)));
  auto const& n = at(rank);
  bool const here = n.alive && n.begun && !n.ended;
  bool const root_here = at(0).begun && !at(0).ended;
  auto const index = n.threads.empty() ? 0 : static_cast<int>(below(n.threads.size()));
  switch (below(32)) {
    case 0:
      if (here && s.ticks && below(4) == 0) return event{kind::tick, rank};
      break;
    case 1:
      if (root_here && !state_.source_ended) return event{kind::supply, 0, 0, below(5), below(2)};
      break;
    case 2:
      if (s.source_fails_at && !state_.source_failed && state_.supplied >= *s.source_fails_at && root_here)
        return event{kind::source_fails};
      break;
    case 3:
      if (s.holds_back && root_here && below(4) == 0) return event{kind::hold_back, 0, 0, below(2)};
      [[fallthrough]];
    case 4:
      if (!state_.sink_queue.empty() && root_here) return event{kind::sink, 0, 0, 1 + below(4)};
      break;
    case 5:
      if (may_die(rank) && below(8) == 0)
        return event{kind::die, rank, 0, below(state_.wires[wire(rank, 0)].size() + 1)};
      break;
    case 6:
      if (!n.alive && !state_.detected[static_cast<std::size_t>(rank)] && root_here)
        return event{kind::detect, rank};
      if (n.alive && state_.suspected[static_cast<std::size_t>(rank)]) return event{kind::heartbeat, rank};
      break;
    case 7:
      if (rank != 0 && n.alive && root_here && state_.suspicions < s.suspicions && !lost(rank) &&
          below(4) == 0)
        return event{kind::suspect, rank};
      break;
    case 8:
      if (s.stops_early && below(16) == 0 && here) {
        if (rank == 0) return event{kind::stop_early};
        if (!n.stop_asked) return event{kind::please_stop, rank};
      }
      break;
    case 9:
      if (n.alive && !n.begun && (rank < s.ranks - s.late || below(32) == 0)) return event{kind::begin, rank};
      break;
    case 10:
    case 11:
    case 12:
    case 13:
    case 14:
      if (here && !n.threads.empty()) {
        auto const& t = n.threads[static_cast<std::size_t>(index)];
        if (!t.todo && !n.rested) return event{kind::idle, rank, index, 1 + below(s.most_at_once)};
      }
      break;
    case 15:
    case 16:
    case 17:
      if (here && !n.threads.empty()) {
        auto const& t = n.threads[static_cast<std::size_t>(index)];
        if (t.todo)
          return event{kind::finish, rank, index, below(3) == 0 ? 1 + below(t.todo->count) : t.todo->count,
                       below(s.most_at_once + 1)};
      }
      break;
    default: {
      auto const from = static_cast<int>(below(static_cast<std::uint64_t>(s.ranks)));
      for (int i = 0; i < s.ranks; ++i) {
        int const f = (from + i) % s.ranks;
        if (!deliverable(f, rank)) continue;
        bool const again = s.duplicated_in > 0 && below(s.duplicated_in) == 0;
        return event{kind::deliver, f, rank, again ? 1U : 0U, again ? below(4) : 0};
      }
    }
  }
  return std::nullopt;
}

bool world::step(std::mt19937_64& dice) {
  auto const e = random_event(dice);
  if (e) apply(*e);
  return e.has_value();
}

// All events that need no time to pass.
void world::work_off(std::mt19937_64& dice) {
  auto const& s = *scenario_;
  for (bool moved = true; moved && !ended();) {
    moved = false;
    for (int r = 0; r < s.ranks; ++r) {
      for (int from = 0; from < s.ranks; ++from)
        while (deliverable(from, r)) apply({kind::deliver, from, r}), moved = true;
      auto& n = at(r);
      if (!n.alive) continue;
      for (int t = 0; t < static_cast<int>(n.threads.size()); ++t) {
        auto& todo = n.threads[static_cast<std::size_t>(t)].todo;
        if (n.ended) break;
        if (!todo && !n.rested) apply({kind::idle, r, t, 1 + dice() % s.most_at_once});
        if (todo) apply({kind::finish, r, t, todo->count, dice() % 2}), moved = true;
      }
    }
    if (!at(0).ended && !state_.source_ended) {
      if (s.source_fails_at && !state_.source_failed)
        apply({kind::source_fails});
      else
        apply({kind::supply, 0, 0, s.tasks, 1});
      moved = true;
    }
    if (!state_.sink_queue.empty()) apply({kind::sink, 0, 0, s.tasks}), moved = true;
  }
}

void world::settle(std::mt19937_64& dice) {
  constexpr int most_ticks = 400;
  auto const& s = *scenario_;
  if (state_.root_died) return;
  for (int r = 0; r < s.ranks; ++r)
    if (at(r).alive && !at(r).begun) apply({kind::begin, r});
  for (int r = 1; r < s.ranks; ++r) {
    if (!at(r).alive && !state_.detected[static_cast<std::size_t>(r)]) apply({kind::detect, r});
    if (at(r).alive && state_.suspected[static_cast<std::size_t>(r)]) apply({kind::heartbeat, r});
  }
  for (int round = 0; round < most_ticks; ++round) {
    for (int r = 1; r < s.ranks; ++r)  // killed by a task
      if (!at(r).alive && !state_.detected[static_cast<std::size_t>(r)]) apply({kind::detect, r});
    work_off(dice);
    if (ended()) return;
    require(s.ticks, "the run does not end without a tick");
    for (int r = 0; r < s.ranks; ++r)
      if (at(r).alive && !at(r).ended) apply({kind::tick, r});
  }
  std::string text =
      fmt::format("the run is stuck: {} of {} recorded, {} sunk, {} in the pool{}", state_.ledger.recorded(),
                  s.tasks, state_.sunk, state_.ledger.pooled(), state_.ledger.stopping() ? ", stopping" : "");
  for (int r = 0; r < s.ranks; ++r)
    text += fmt::format("; rank {}: {}", r,
                        !at(r).alive ? "dead"
                        : at(r).ended
                            ? "ended"
                            : fmt::format("{} queued, {} unsent{}", at(r).worker.queued(),
                                          at(r).worker.unsent(), at(r).worker.waiting() ? ", waiting" : ""));
  throw violation(text);
}

}  // namespace harness
