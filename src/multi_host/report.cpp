// Builds the report, the progress and the state of a multi_host call.
#include <algorithm>
#include <vector>

#include "base/format.hpp"
#include "run.hpp"

namespace skel::detail {

namespace {

// Mean idle times of hosts and of the other ranks.
void add_idle_times(group_report& g, std::vector<rank_report> const& rows,
                    std::vector<group_plan> const& plan) {
  double hosts = 0, workers = 0, least = 0, most = 0;
  int host_count = 0, worker_count = 0;
  for (auto const& row : rows) {
    bool const led =
        std::any_of(plan.begin(), plan.end(), [&](auto const& p) { return p.leader == row.rank; });
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
  if (worker_count > 0) g.worker_idle_seconds = std::max(0.0, workers / worker_count - g.preload_seconds);
  g.worker_idle_spread = most - least;
}

}  // namespace

void group_run::describe(report& r) const {
  r.skeleton = "multi_host";
  r.results = setup_.results();
  auto const& o = setup_.options;
  r.schedule = detail::format(
      "groups:size={}{}{}{}{}", o.group_size == 0 ? "auto" : detail::format("{}", o.group_size),
      o.measures.reassign ? "" : ",reassign=no", o.measures.split_shares ? "" : ",split=no",
      o.measures.preload ? ",preload=yes" : "", o.measures.host_helps ? "" : ",host=serves");
  if (!root_role_) return;
  r.lost_ranks = lost_ranks();
  r.tasks_handed_out_again = clock_.taken_back + host_.units().taken_back() + root_role_->taken_over();
  group_report g;
  for (auto const& p : root_role_->plan()) g.sizes.push_back(p.ranks);
  g.size_found = trial_.found();
  g.reassigned = root_role_->reassigned();
  g.split = root_role_->split();
  g.taken_over = root_role_->taken_over();
  g.units_read = clock_.units_read;
  if (clock_.units_read > 0) g.read_seconds = clock_.read_seconds / static_cast<double>(clock_.units_read);
  if (setup_.units > 0) {
    g.compute_seconds = clock_.compute_seconds / static_cast<double>(setup_.units);
    g.send_seconds = clock_.send_seconds / static_cast<double>(setup_.units);
    if (!setup_.sink_on_hosts()) g.sink_seconds = sink_.seconds() / static_cast<double>(setup_.units);
  }
  if (o.measures.preload && clock_.started_at >= 0) {
    g.preload_seconds = clock_.started_at - start_;
    r.seconds -= g.preload_seconds;
  }
  add_idle_times(g, r.per_rank, root_role_->plan());
  r.groups = std::move(g);
}

void group_run::describe(observe::progress_state& s, bool last) const {
  s.done = last && outcome_ ? outcome_->tasks : sink_.sunk();
  s.total = setup_.units;
  s.lost_ranks = static_cast<int>(lost_ranks().size());
}

std::string group_run::state() const {
  std::string text = detail::format(
      "rank {}: multi_host {} (context {}): {} pieces queued, {} running, {} finished and not sent", rank_,
      key_.number, key_.context, member_.queued(), member_.running(), member_.unsent());
  if (member_.waiting()) text += detail::format(", waits for rank {}", *member_.host());
  if (host_.active())
    text += detail::format("; leads with {} units open, {} pieces to give, {} workers waiting{}",
                           host_.units().size(), host_.units().pooled(), host_.dealer().waiting(),
                           host_.reading() ? ", reading" : "");
  if (roll_ && !roll_->stopping()) text += "; root: waits for " + root_role_->waits_for();
  return text + waits_to_stop();
}

}  // namespace skel::detail
