#include "farewell.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "exit_status.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {
enum farewell_control : std::uint8_t { failing, bye, decision, ending };
// A rank inside a long computation learns of another rank's failure only at its next call to skel.
// After this time it is left behind; if the root is gone, it ends.
constexpr double patience_seconds = 10;
// For a call of skel to return on this rank once it has failed; then the process ends.
constexpr double last_second = 1;
}  // namespace

void farewell::send(int to, std::uint8_t kind, departure const& d) {
  transport::packet p;
  auto& out = p.body();
  out.push_back(static_cast<std::byte>(kind));
  out.push_back(static_cast<std::byte>(d.own | (d.lost << 1) | (d.returned << 2) | (d.by_loss << 3)));
  bytes::put_varint(out, static_cast<std::uint64_t>(d.code));
  bytes::put_text(out, d.text);
  calls_.send(to, key_of(part::farewell), std::move(p));
}

void farewell::on_control(int from, std::span<std::byte const> body) {
  auto const head = bytes::get_bytes(body, 2);
  departure d;
  d.own = (head[1] & std::byte{1}) != std::byte{0};
  d.lost = (head[1] & std::byte{2}) != std::byte{0};
  d.returned = (head[1] & std::byte{4}) != std::byte{0};
  d.by_loss = (head[1] & std::byte{8}) != std::byte{0};
  d.code = static_cast<int>(bytes::get_varint(body));
  d.text = bytes::get_text(body);
  switch (std::to_integer<std::uint8_t>(head[0])) {
    case failing:
      peer_failed_ = true;
      disks_.set_failed();
      calls_.work_arrived().notify_all();
      break;
    case bye:
      departures_[from] = d;
      if (!d.failed())
        for (auto const& [key, running] : calls_.runs()) running->on_left(from);
      break;
    case decision:
      verdict_ = d;
      break;
    case ending:
      ends_at_ = wires_.now() + last_second;
      ends_by_loss_ = false;
      break;
    default:
      throw protocol_error("unknown control message from rank " + std::to_string(from));
  }
}

void farewell::tell_left(run& r) const {
  for (auto const& [rank, d] : departures_)
    if (!d.failed()) r.on_left(rank);
}

void farewell::tell_failure(departure const& own) {
  for (int r = 0; r < wires_.size(); ++r)
    if (r != wires_.rank()) send(r, failing, own);
}

void farewell::tell_end() {
  for (int r = 1; r < wires_.size(); ++r) send(r, ending, {.code = 1});
}

// A task may run for hours, or wait for the root itself.
void farewell::on_root_lost() {
  if (program.empty() || begun_) return;
  ends_at_ = std::min(ends_at_, wires_.now() + (calls_.has(0) ? last_second : patience_seconds));
  ends_by_loss_ = true;
}

void farewell::end_if_due(double t) const {
  if (t < ends_at_) return;
  if (ends_by_loss_)
    std::fprintf(stderr, "%s: lost the root (rank 0): rank %d ends inside %s\n", program.c_str(),
                 wires_.rank(), calls_.runs().empty() ? "the program's own code" : "a skeleton call");
  end_process(wires_.rank(), 1, ends_by_loss_ ? loss_ended_the_job : "");
}

void farewell::end_if_left(double seconds) const {
  if (seconds < 2 * wires_.detector().patience() + patience_seconds) return;
  std::fprintf(
      stderr,
      "%s: more than half of the ranks are silent, and may have gone on without the root: rank %d ends\n",
      program.c_str(), wires_.carrier().in_job(wires_.rank()));
  end_process(wires_.rank(), 1, "");
}

void farewell::end_view() {
  if (std::exchange(view_over_, true)) return;
  for (auto const& [key, running] : calls_.runs())
    running->on_failure(std::make_exception_ptr(view_over()), false);
  calls_.work_arrived().notify_all();
}

void farewell::begin(departure const& own) {
  begun_ = true;
  begun_at_ = wires_.now();
  wires_.detector().reset(begun_at_);
  // Gave up the root, which may be heard again by now. The others notice that this rank is gone.
  bool const leaves_alone = ends_by_loss_ && own.by_loss;
  forget_root_lost();
  // Every rank detects a lost root and reports it itself.
  if (own.own && own.failed() && !wires_.is_lost(0) && !leaves_alone) tell_failure(own);
  if (own.failed()) failed_since_ = leaves_alone ? -std::numeric_limits<double>::infinity() : wires_.now();
  if (leaves_alone) return;
  if (wires_.rank() == 0)
    departures_[0] = own;
  else
    send(0, bye, own);
}

bool farewell::waits() {
  bool const told_to_end = !ends_by_loss_ && ends_at_ < std::numeric_limits<double>::infinity();
  bool const hopes = !wires_.is_lost(0) || !wires_.ends_calls(0) || told_to_end;
  bool const more = wires_.rank() == 0 ? missing() > 0 : !verdict_ && hopes;
  return more && !view_over_ && !given_up();
}

int farewell::missing() const {
  auto const& lost = wires_.lost();
  auto const left = std::count_if(lost.begin(), lost.end(), [&](int r) { return departures_.contains(r); });
  return wires_.size() - static_cast<int>(departures_.size() + lost.size()) + static_cast<int>(left);
}

// While the ranks that are left agree on going on without the root, its loss may be why they have failed.
bool farewell::given_up() {
  if (peer_failed_ && !failed_since_) failed_since_ = wires_.now();
  bool const agreeing = wires_.is_lost(0) && !wires_.ends_calls(0);
  return failed_since_ && !agreeing && wires_.now() - *failed_since_ > patience_seconds;
}

void farewell::refuse_early_calls() {
  // A team of a farm may have lost a rank before this one has heard of it: its messages wait here for
  // nothing.
  bool const sure = wires_.lost().empty() || wires_.now() - begun_at_ > patience_seconds;
  auto const early = calls_.early_rank(sure);
  if (wires_.rank() != 0 || departures_[0].failed() || peer_failed_ || !early) return;
  departures_[0] = {
      1, true,
      "rank " + std::to_string(*early) +
          " makes a skeleton call that rank 0 does not make: all ranks must make the same calls"};
  tell_failure(departures_[0]);
}

// The root may have died before all have heard it. Those that have leave now, and the others could not go on.
// In a simulation no rank serves after its end, and none is lost.
void farewell::pass_on_verdict() {
  if (!wires_.carrier().any_time()) return;
  for (int distance = 1; distance < wires_.size(); distance *= 2)
    if (int const to = (wires_.rank() + distance) % wires_.size(); to != 0) send(to, decision, *verdict_);
}

bool farewell::conclude(departure const& own) {
  if (wires_.rank() != 0) {
    if (verdict_) return true;
    // Rank 0 is lost or hangs: printing twice is better than not at all.
    verdict_ = own;
    verdict_->code = own.code != 0 ? own.code : 1;
    verdict_->lost = true;
    verdict_->by_loss = own.by_loss || wires_.is_lost(0);
    if (verdict_->by_loss && own.text.empty() && (own.code == 0 || !own.returned))
      verdict_->text = own.code == 0 ? "lost the root (rank 0) at the end of the job"
                                     : "lost the root (rank 0) after another rank had failed";
    return false;
  }
  // Chooses the lowest rank that failed by itself; otherwise the lowest whose body returned a
  // nonzero code.
  departure heard;
  for (auto const& [rank, d] : departures_)
    if (d.own && d.code != 0 && (heard.code == 0 || (heard.returned && d.failed()))) heard = d;
  // Suspected ranks are notified too, since most of them live.
  heard.lost =
      !wires_.lost().empty() || missing() > 0 ||
      std::any_of(departures_.begin(), departures_.end(), [](auto const& d) { return d.second.lost; });
  verdict_ = heard;
  return true;
}

void farewell::announce() {
  if (wires_.rank() != 0) return pass_on_verdict();
  for (int r = 1; r < wires_.size(); ++r) {
    send(r, decision, *verdict_);
    if (wires_.is_lost(r)) wires_.send_anyway(r);
  }
}

}  // namespace skel::detail
