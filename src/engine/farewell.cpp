// How the ranks of run_main leave together: each reports how it ended, and rank 0 decides which
// failure is printed.
#include <algorithm>
#include <cstdio>

#include "base/one_line.hpp"
#include "engine.hpp"
#include "exit_status.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {
enum control : std::uint8_t { failing = 1, bye = 2, verdict = 3, lost = 4, found = 5, ending = 6 };
// A rank inside a long computation learns of another rank's failure only at its next call to skel.
// After this time it is left behind; if the root is gone, it ends.
constexpr double patience_seconds = 10;
// For a call of skel to return on this rank once it has failed; then the process ends.
constexpr double last_second = 1;
}  // namespace

void engine::send_control(int to, std::uint8_t kind, farewell const& f) {
  transport::packet p;
  auto& out = p.body();
  out.push_back(static_cast<std::byte>(kind));
  out.push_back(static_cast<std::byte>(f.own | (f.lost << 1) | (f.returned << 2) | (f.by_loss << 3)));
  bytes::put_varint(out, static_cast<std::uint64_t>(f.code));
  bytes::put_text(out, f.text);
  send(to, {0, 0}, std::move(p));
}

void engine::on_control(int from, std::span<std::byte const> body) {
  if (!body.empty() && std::to_integer<std::uint8_t>(body[0]) >= first_clock_control)
    return on_clock_control(from, body);
  if (!body.empty() && std::to_integer<std::uint8_t>(body[0]) >= first_call_control)
    return on_call_control(from, body);
  auto const head = bytes::get_bytes(body, 2);
  farewell f;
  f.own = (head[1] & std::byte{1}) != std::byte{0};
  f.lost = (head[1] & std::byte{2}) != std::byte{0};
  f.returned = (head[1] & std::byte{4}) != std::byte{0};
  f.by_loss = (head[1] & std::byte{8}) != std::byte{0};
  f.code = static_cast<int>(bytes::get_varint(body));
  f.text = bytes::get_text(body);
  switch (std::to_integer<int>(head[0])) {
    case failing:
      if (!failed_peer_) failed_peer_.emplace(from, f.text);
      disks_.set_failed();
      work_arrived_.notify_all();
      break;
    case bye:
      farewells_[from] = f;
      if (!f.failed())
        for (auto const& [key, running] : runs_) running->on_left(from);
      break;
    case verdict:
      verdict_ = f;
      break;
    case ending:
      ends_at_ = now() + last_second;
      ends_by_loss_ = false;
      break;
    case control::lost:
      on_opinion(from, f.code, true);
      break;
    case control::found:
      on_opinion(from, f.code, false);
      break;
    default:
      throw protocol_error("unknown control message from rank " + std::to_string(from));
  }
}

// Sends the root's view of a rank.
void engine::send_opinion(int to, int about) {
  send_control(to, is_lost(about) ? control::lost : control::found, {.code = about});
}

void engine::report(int about, bool lost) {
  send_control(0, lost ? control::lost : control::found, {.code = about});
}

// The root decides which ranks are lost. Leaders report to it. Other ranks ask it when they hear a lost rank,
// which may be dead: its message may be late. A rank that was thought lost learns that it was found, and then
// which ranks are lost.
void engine::on_opinion(int from, int about, bool lost) {
  if (about < 0 || about >= size_) return;
  auto const& tree = detector_.tree();
  if (rank_ == 0) {
    if (about == 0) return;
    if (about == tree.leader_of(from)) detector_.adopt(from, lost);
    if (from != tree.leader_of(about)) {
      if (!lost && is_lost(about)) send_opinion(from, about);
    } else if (lost) {
      if (!detector_.has_adopted(about)) declare_lost(about);
    } else if (is_lost(about)) {
      found(about);
    }
  } else if (from != 0) {
    if (about == 0 && lost && from == tree.leader_of(rank_)) detector_.doubt_root();
  } else if (about == rank_) {
    for (auto const all = lost_; int const r : all)
      if (r != 0) forget_loss(r);
  } else if (about != 0 && lost) {
    declare_lost(about);
  } else if (about != 0) {
    forget_loss(about);
  }
}

void engine::forget_loss(int rank) {
  lost_.erase(rank);
  lost_outside_.erase(rank);
  disks_.set_lost(rank, false);
}

void engine::tell_failure(farewell const& own) {
  for (int r = 0; r < size_; ++r)
    if (r != rank_) send_control(r, failing, own);
}

void engine::end_job() {
  if (rank_ == 0)
    for (int r = 1; r < size_; ++r) send_control(r, ending, {.code = 1});
  for (double const end = now() + last_second; size_ > 1 && now() < end;) {
    progress();
    wires_->wait(1e-3);
  }
  end_process(rank_, 1);
}

// A task may run for hours, or wait for the root itself.
void engine::end_without_root() {
  bool const fails = std::any_of(runs_.begin(), runs_.end(), [&](auto const& r) {
    auto const& team = ranks_of(r.first.context);
    return team.empty() || std::find(team.begin(), team.end(), 0) != team.end();
  });
  ends_at_ = std::min(ends_at_, now() + (fails ? last_second : patience_seconds));
  ends_by_loss_ = true;
}

void engine::end_if_due(double t) {
  if (t < ends_at_) return;
  if (ends_by_loss_)
    std::fprintf(stderr, "%s: lost the root (rank 0): rank %d ends inside %s\n", program_of_run_main.c_str(),
                 rank_, runs_.empty() ? "the program's own code" : "a skeleton call");
  end_process(rank_, 1, ends_by_loss_ ? loss_ended_the_job : "");
}

// Called without the lock by the helper, which has not got it since locked_since_.
void engine::end_if_locked() {
  double const limit = options_.watchdog_seconds;
  double const quiet = now() - std::max(locked_since_, last_progress());
  if (limit <= 0 || quiet < limit + watchdog_patience) return;
  std::fprintf(
      stderr,
      "skel: no progress for %.0f s: rank %d: a merge, or a function that packs or unpacks, does not "
      "return\n",
      quiet, rank_);
  end_process(rank_, 1);
}

int engine::say_farewell(farewell own, std::string const& program) {
  auto const print = [&](std::string const& text) {
    if (!text.empty() && !program.empty())
      std::fprintf(stderr, "%s: %s\n", program.c_str(), one_line(text).c_str());
  };
  if (size_ == 1) {
    print(own.text);
    return own.code;
  }
  std::unique_lock lock(mutex_);
  says_farewell_ = true;
  forget_end();
  // Every rank detects a lost root and reports it itself.
  if (own.own && own.failed() && !is_lost(0)) tell_failure(own);
  auto const pause = [&](unsigned round) { rest(lock, round < 200 ? 0 : 200e-6); };
  double failed_since = own.failed() ? now() : -1;
  auto const given_up = [&] {
    if (failed_peer_ && failed_since < 0) failed_since = now();
    return failed_since >= 0 && now() - failed_since > patience_seconds;
  };
  if (rank_ != 0) {
    send_control(0, bye, own);
    for (unsigned round = 0; !verdict_ && !is_lost(0) && !given_up(); ++round) {
      progress();
      if (!verdict_) pause(round);
    }
    if (!verdict_) {  // rank 0 is lost or hangs: printing twice is better than not at all
      leaves_abruptly_ = true;
      ended_by_loss_ = is_lost(0);
      print(own.text);
      return own.code != 0 ? own.code : 1;
    }
    flush(lock, 1.0);
    leaves_abruptly_ = verdict_->lost;
    ended_by_loss_ = verdict_->by_loss;
    return verdict_->code;
  }
  farewells_[0] = own;
  auto const missing = [&] {
    auto const left =
        std::count_if(lost_.begin(), lost_.end(), [&](int r) { return farewells_.contains(r); });
    return size_ - static_cast<int>(farewells_.size() + lost_.size()) + static_cast<int>(left);
  };
  for (unsigned round = 0; missing() > 0 && !given_up(); ++round) {
    progress();
    if (!farewells_[0].failed() && !failed_peer_ && !early_.empty()) {  // it would wait for this rank forever
      own = {1, true,
             "rank " + std::to_string(early_.front().from) +
                 " makes a skeleton call that rank 0 does not make: all ranks must make the same calls"};
      farewells_[0] = own;
      for (int r = 1; r < size_; ++r) send_control(r, failing, own);
    }
    if (missing() > 0) pause(round);
  }
  // Chooses the lowest rank that failed by itself; otherwise the lowest whose body returned a
  // nonzero code.
  farewell heard;
  for (auto const& [rank, f] : farewells_)
    if (f.own && f.code != 0 && (heard.code == 0 || (heard.returned && f.failed()))) heard = f;
  // Suspected ranks are notified too, since most of them live.
  leaves_abruptly_ =
      any_lost() || missing() > 0 ||
      std::any_of(farewells_.begin(), farewells_.end(), [](auto const& f) { return f.second.lost; });
  heard.lost = leaves_abruptly_;
  ended_by_loss_ = heard.by_loss;
  for (int r = 1; r < size_; ++r) {
    send_control(r, verdict, heard);
    if (is_lost(r)) transmit(r, link_to(r));
  }
  flush(lock, 1.0);
  lock.unlock();
  print(heard.text);
  return heard.code;
}

}  // namespace skel::detail
