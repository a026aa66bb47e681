// What a multi_host call says of itself.
#include <algorithm>

#include "base/format.hpp"
#include "run.hpp"
#include "skel/bytes.hpp"

namespace skel::detail {

void group_clock::add(group_clock const& other) {
  units_read += other.units_read;
  read_seconds += other.read_seconds;
  pieces += other.pieces;
  compute_seconds += other.compute_seconds;
  pieces_sent += other.pieces_sent;
  send_seconds += other.send_seconds;
}

void group_clock::pack(std::vector<std::byte>& out) const {
  for (auto const n : {units_read, pieces, pieces_sent}) bytes::put_varint(out, n);
  for (auto const s : {read_seconds, compute_seconds, send_seconds}) bytes::put_raw(out, s);
}

group_clock group_clock::unpack(std::span<std::byte const>& in) {
  group_clock c;
  for (auto* const n : {&c.units_read, &c.pieces, &c.pieces_sent}) *n = bytes::get_varint(in);
  for (auto* const s : {&c.read_seconds, &c.compute_seconds, &c.send_seconds})
    *s = bytes::get_raw<double>(in);
  return c;
}

void group_run::describe(report& r) const {
  r.skeleton = "multi_host";
  r.results = options_.results == unit_results::in_order       ? "in_order"
              : options_.results == unit_results::as_they_come ? "as_they_come"
                                                               : "on_hosts";
  r.schedule = detail::format(
      "groups:size={}{}{}{}{}", options_.group_size == 0 ? "auto" : detail::format("{}", options_.group_size),
      options_.paper.reassign ? "" : ",reassign=no", options_.paper.split_shares ? "" : ",split=no",
      options_.paper.preload ? ",preload=yes" : "", options_.paper.host_helps ? "" : ",host=serves");
  if (!arbiter_) return;
  r.lost_ranks = lost_ranks();
  r.tasks_handed_out_again = taken_back_ + host_.taken_back() + arbiter_->taken_over();
  group_report g;
  for (auto const& p : arbiter_->plan()) g.sizes.push_back(p.ranks);
  g.size_found = size_found_;
  g.reassigned = arbiter_->reassigned();
  g.split = arbiter_->split();
  g.taken_over = arbiter_->taken_over();
  g.units_read = clock_.units_read;
  if (clock_.units_read > 0) g.read_seconds = clock_.read_seconds / static_cast<double>(clock_.units_read);
  if (units_ > 0) {
    g.compute_seconds = clock_.compute_seconds / static_cast<double>(units_);
    g.send_seconds = clock_.send_seconds / static_cast<double>(units_);
    if (!sink_on_hosts_) g.sink_seconds = sink_seconds_ / static_cast<double>(units_);
  }
  if (options_.paper.preload && started_at_ >= 0) {
    g.preload_seconds = started_at_ - start_;
    r.seconds -= g.preload_seconds;
  }
  double hosts = 0, workers = 0, least = 0, most = 0;
  int host_count = 0, worker_count = 0;
  for (auto const& row : r.per_rank) {
    bool const led = std::any_of(arbiter_->plan().begin(), arbiter_->plan().end(),
                                 [&](auto const& p) { return p.leader == row.rank; });
    if (led) {
      hosts += row.idle_seconds;
      ++host_count;
      continue;
    }
    workers += row.idle_seconds;
    least = worker_count == 0 ? row.idle_seconds : std::min(least, row.idle_seconds);
    most = std::max(most, row.idle_seconds);
    ++worker_count;
  }
  if (host_count > 0) g.host_idle_seconds = hosts / host_count;
  // Workers wait while hosts preload, before the clock starts.
  if (worker_count > 0) g.slave_idle_seconds = std::max(0.0, workers / worker_count - g.preload_seconds);
  g.slave_idle_spread = most - least;
  r.groups = std::move(g);
}

void group_run::describe(observe::progress_state& s, bool last) const {
  s.done = last && outcome_ ? outcome_->tasks : sunk_.load();
  s.total = units_;
  s.lost_ranks = static_cast<int>(lost_ranks().size());
}

std::string group_run::state() const {
  std::string text = detail::format(
      "rank {}: multi_host {} (context {}): {} pieces queued, {} running, {} finished and not sent", rank_,
      key_.number, key_.context, worker_.queued(), worker_.running(), worker_.unsent());
  if (worker_.waiting()) text += detail::format(", waits for rank {}", *worker_.host());
  if (host_.active())
    text += detail::format("; leads with {} units open, {} pieces to give, {} workers waiting{}",
                           host_.units_open(), host_.pooled(), host_.waiting(),
                           host_.reading() ? ", reading" : "");
  if (roll_ && !roll_->stopping()) text += "; root: waits for " + arbiter_->waits_for();
  return text + waits_to_stop();
}

}  // namespace skel::detail
