// The harness's version of the work the engine does for bsp's roles, and checks of the roles' decisions.
#include <algorithm>

#include "harness.hpp"

namespace bsp_harness {

namespace act = role::bsp;

void world::perform(int rank, role::bsp_actions& list, letter const& came) {
  auto& n = at(rank);
  if (fault_ != nullptr) fault_->wants(*this, rank, list);
  for (auto const& action : std::exchange(list, {})) {
    if (auto const* const s = std::get_if<act::send>(&action)) {
      send(rank, s->to, s->what);
    } else if (auto const* k = std::get_if<act::keep>(&action)) {
      auto const own = k->from == rank;
      auto const& content = own ? n.outgoing.at(n.role.epoch().place) : came;
      require(n.kept[{k->epoch, k->step}].emplace(k->from, content).second, "a bundle is kept twice");
    } else if (auto const* f = std::get_if<act::forget>(&action)) {
      std::erase_if(n.kept, [&](auto const& x) { return x.first.first < f->epoch; });
    } else if (auto const* r = std::get_if<act::restore>(&action)) {
      n.jobs.push_back({*r});
    } else if (auto const* w = std::get_if<act::save>(&action)) {
      require(!n.writing, "two parts are saved at a time");
      require(announced_.at(w->generation) == w->epoch, "a generation is saved in another epoch");
      if (w->generation == open_) saves_.insert(rank);
      n.jobs.push_back({*w});
    } else if (auto const* c = std::get_if<act::compute>(&action)) {
      n.jobs.push_back({*c});
    } else if (std::holds_alternative<role::drain>(action)) {
      n.draining = true;
      n.jobs.clear();
      if (rank == 0) n.root.stop();
    } else if (!performs(rank, action)) {
      perform_for_root(rank, action);
    }
  }
}

void world::perform_for_root(int rank, role::bsp_action const& action) {
  require(rank == 0, "a member acts as the root");
  auto& n = at(rank);
  if (auto const* const close = std::get_if<role::close>(&action)) {
    expect_close(close->how);
    call_roll(&role::roll_call::close, close->how);
  } else if (auto const* end = std::get_if<act::no_more>(&action)) {
    role::bsp_actions list;
    n.role.no_more(end->epoch, list);
    perform(rank, list);
  } else if (auto const* a = std::get_if<act::announce>(&action)) {
    require(open_ == 0 && !committing_, "two checkpoints at a time");
    require(store_.upper_bound(a->generation - 1) == store_.end(), "a number is used twice");
    open_ = a->generation;
    save_at_.reset();
    if (!scenario_->neighbours || n.role.step() == first_) save_at_ = begins_with_[open_] = n.role.step() + 1;
    announced_[open_] = epoch_.epoch;
    opened_at_ = n.role.step();
    saves_.clear();
    told_.clear();
    n.role.announce(open_);
    if (stop_heard_) saved_for_stop_ = open_;
  } else if (auto const* b = std::get_if<act::abandon>(&action)) {
    require(b->generation == open_, "a checkpoint is abandoned that is not open");
    open_ = 0;
  } else if (auto const* c = std::get_if<act::commit>(&action)) {
    auto const g = store_.find(c->generation);
    require(g != store_.end() && g->second.whole() && g->second.parts == c->parts,
            "a generation is committed that is not whole");
    require(!committing_ && c->generation > last_committed_, "commits are not in order");
    last_committed_ = c->generation;
    committing_ = {c->generation, c->parts};
    open_ = 0;
  } else if (auto const* f = std::get_if<act::fall_back>(&action)) {
    expect_fall_back(*f);
  } else if (auto const* r = std::get_if<act::refuse>(&action)) {
    expect_refusal();
    refused_ = true;
    n.failure = r->text;
    n.ended = true;
    call_roll(&role::roll_call::abort, r->text);
  }
}

void world::expect_close(role::outcome const& how) {
  if (how.how == role::outcome::status::done) {
    require(!complete_, "the call completes twice");
    complete_ = true;
    if (scenario_->neighbours) gather_result();
  } else if (how.how == role::outcome::status::stopped_early) {
    require(stop_heard_, "the call ends early, but no rank asked for that");
    require(scenario_->every == 0 || (saved_for_stop_ != 0 && saved_for_stop_ != open_ &&
                                      !(committing_ && committing_->number == saved_for_stop_)),
            "the call ends early before its latest state is saved");
  } else {
    expect_blame(how);
    blamed_ = how.task;
    failed_ = true;
  }
}

void world::send(int rank, int to, role::bsp_message const& what) {
  auto& n = at(rank);
  auto p = packet_of(what);
  auto const* const t = std::get_if<act::tally>(&what);
  if (std::holds_alternative<act::bundle>(what) || (t != nullptr && t->round == 0)) {
    p.content = n.outgoing.at(n.role.epoch().place_of(to).value());
    require(p.content.sent || t != nullptr || scenario_->neighbours, "a bundle without messages is sent");
  } else if (auto const* r = std::get_if<act::restart>(&what)) {
    expect_restart(*r);
  } else if (auto const* b = std::get_if<act::save_before>(&what)) {
    require(b->generation == open_, "a superstep begins with a checkpoint that is not open");
    require(complete_ || at(to).role.step() < b->step || at(to).role.epoch().number != b->epoch,
            "a superstep is to begin with a checkpoint that has begun already");
    save_at_ = begins_with_[open_] = b->step;
  } else if (auto const* s = std::get_if<act::saved>(&what)) {
    if (s->generation == open_) {
      saves_.insert(rank);
      told_.insert(rank);
    }
  } else if (auto const* call = std::get_if<role::call_message>(&what);
             call != nullptr && std::holds_alternative<role::part_lost>(*call)) {
    require(!known_.empty() && known_.front().parts != living(),
            "a part is reported lost that can be restored");
  }
  post(rank, to, std::move(p));
}

// --- jobs

void world::follow_up(int rank) {
  auto& n = at(rank);
  if (!active(rank)) return;
  while (!n.draining && !n.running && !n.jobs.empty()) start_next(rank);
  if (!n.draining || n.running || n.ended) return;
  role::bsp_actions list;
  n.role.quiet(list);
  perform(rank, list);
}

void world::start_next(int rank) {
  auto& n = at(rank);
  auto j = n.jobs.front();
  n.jobs.pop_front();
  bool const stale =
      std::visit([&](auto const& what) { return what.epoch != n.role.epoch().number; }, j.what);
  auto const* s = std::get_if<save>(&j.what);
  auto const* c = std::get_if<compute>(&j.what);
  if (stale) {
    role::bsp_actions list;
    if (s != nullptr) n.role.saved(s->generation, false, list);
    perform(rank, list);
    return;
  }
  j.place = n.role.epoch().place;
  j.members = n.role.epoch().members;
  if (s != nullptr || c != nullptr) {
    auto const step = s != nullptr ? s->step : c->step;
    auto came = n.kept.extract({n.role.epoch().number, step - 1});
    if (!came.empty()) j.came = std::move(came.mapped());
  }
  if (c != nullptr && open_ != 0 && c->epoch == epoch_.epoch && save_at_ && c->step >= *save_at_)
    require(saves_.contains(rank), "a member does not save its part");
  if (rank == 0 && c != nullptr) root_begins(*c);
  n.running = std::move(j);
}

void world::root_begins(compute const& c) {
  if (c.epoch == epoch_.epoch && begun_in_epoch_++ > 0) moved_ = true;
  // All members have begun the previous superstep, and a member asked to save does that first.
  if (open_ != 0 && c.step >= opened_at_ + 2 && !scenario_->neighbours)
    require(saves_.size() == epoch_.members.size(), "a member does not save its part");
  bool const due = scenario_->every != 0 && ++root_steps_ % scenario_->every == 0;
  role::bsp_actions list;
  note_begin(c.step);
  at(0).root.begins(c.epoch, c.step, due, list);
  perform(0, list);
}

// --- expected decisions of the root

std::uint32_t world::living() const {
  return static_cast<std::uint32_t>(scenario_->ranks) - static_cast<std::uint32_t>(gone_.size());
}

void world::expect_restart(act::restart const& r) {
  if (r.epoch == epoch_.epoch) {
    require(r == epoch_, "a repeated restart differs from the first");
    return;
  }
  require(r.epoch == epoch_.epoch + 1, "epochs are not in order");
  require(r.generation == newest_known(), "an epoch does not restore the newest known generation");
  require(r.generation == 0 || scenario_->splits || known_.front().parts == living(),
          "a state that cannot be split is restored on other ranks");
  require(r.members.size() == living() &&
              std::none_of(r.members.begin(), r.members.end(), [&](int m) { return gone_.contains(m); }),
          "the members of an epoch are not the living ranks");
  require(!waited_ || !committing_ || *waited_ >= 8, "an epoch begins before the commit under way ends");
  waited_.reset();
  require(uncounted_.empty(), "an epoch begins before a loss is counted");
  unheard_.clear();
  save_at_.reset();
  require(std::none_of(losses_.begin(), losses_.end(), [&](auto const& x) { return to_blame(x.first); }),
          "an epoch begins while a superstep is to blame");
  told_of_.clear();
  for (int const m : r.members) told_of_[m] = {};
  auto const at = begins_with_.find(r.generation);
  first_ = r.generation == 0 ? superstep{0} : at == begins_with_.end() ? superstep{} : superstep{at->second};
  counted_ = false;
  if (r.epoch > 1) ++again_;
  epoch_ = r;
  begun_in_epoch_ = 0;
  open_ = 0;
}

void world::expect_fall_back(act::fall_back const& f) {
  require(f.bad == epoch_.generation, "a generation is given up that is not in use");
  expect_bad(f.bad);
  waited_.reset();  // the next epoch also excludes the lost ranks
  std::erase_if(known_, [&](auto const& g) {
    return g.number == f.bad || (!scenario_->splits && g.parts != living());
  });
  require(f.instead == newest_known(), "the root does not fall back to the newest remaining generation");
  require(f.instead > 0 || !resumes_ || moved_, "a run that must resume starts over");
  ++fallen_back_;
}

void world::expect_bad(std::uint64_t generation) const {
  auto const g = store_.find(generation);
  require(g == store_.end() || !g->second.damaged.empty(), "an undamaged generation is given up");
}

void world::expect_refusal() const {
  expect_bad(epoch_.generation);
  require(resumes_ && !moved_, "a run is refused after it has computed");
  require(std::none_of(known_.begin(), known_.end(),
                       [&](auto const& g) {
                         return g.number != epoch_.generation && (scenario_->splits || g.parts == living());
                       }),
          "a readable store is refused");
}

// --- losses

void world::note_begin(std::uint64_t step) {
  if (at(0).role.epoch().number != epoch_.epoch) return;
  if (!first_) first_ = begins_with_[epoch_.generation] = step;
  if (scenario_->neighbours && step > *first_ + 1) return;  // tells nothing about distant members
  std::erase_if(losses_, [&](auto const& x) { return x.first < superstep{step}; });
  if (step == *first_) return;
  for (int const r : epoch_.members) note_finished(r, step - 1);
}

void world::note_finished(int rank, std::uint64_t step) {
  auto const at = told_of_.find(rank);
  if (at != told_of_.end()) at->second = {true, std::max(at->second.next, superstep{step + 1})};
}

// If members may be several supersteps apart, the root asks where they are before it counts a loss.
void world::hear_of_loss(int rank) {
  bool const is_new = gone_.insert(rank).second;
  if (is_new && !waited_) waited_ = 0;
  if (!scenario_->neighbours) return note_loss(rank);
  if (!is_new) return;
  if (uncounted_.empty())
    for (int r = 0; r < scenario_->ranks; ++r)
      if (!gone_.contains(r)) unheard_.insert(r);
  uncounted_.push_back(rank);
  unheard_.erase(rank);
  count_losses();
}

void world::count_losses() {
  if (!unheard_.empty()) return;
  for (int const r : std::exchange(uncounted_, {})) note_loss(r);
}

void world::note_loss(int rank) {
  auto const found = told_of_.find(rank);
  if (found == told_of_.end()) return;
  auto oldest = superstep{~std::uint64_t{0}};
  for (auto const& [r, p] : told_of_) oldest = std::min(oldest, p.next ? p.next : first_);
  std::erase_if(losses_, [&](auto const& x) { return x.first < oldest; });
  auto const p = found->second;
  told_of_.erase(found);
  if (auto const died = poisoned_in_.find(rank);
      died != poisoned_in_.end() && died->second == epoch_.epoch && !p.joined) {
    auto const coming = under_way(rank, 0);
    require(std::any_of(coming.begin(), coming.end(),
                        [](auto const& x) { return std::holds_alternative<act::joined>(x.what); }),
            "a rank has not reported that it has joined");
  }
  bool const computes = p.joined && (p.next ? p.next : first_) == oldest;
  if (std::exchange(counted_, counted_ || computes) || !computes) return;
  losses_[oldest].insert(rank);
}

std::set<int> world::losses_at(superstep step) const {
  std::set<int> all;
  if (auto const at = losses_.find(step); at != losses_.end())
    for (int const r : at->second)
      if (lost_[wire(0, r)]) all.insert(r);
  return all;
}

bool world::to_blame(superstep step) const {
  return scenario_->max_losses > 0 && losses_at(step).size() >= std::max(2U, scenario_->max_losses);
}

void world::expect_blame(role::outcome const& b) const {
  auto const step = losses_.contains(superstep{}) && b.task == 0 ? superstep{} : superstep{b.task};
  auto const ranks = losses_at(step);
  require(to_blame(step), "a superstep is blamed that has not lost enough ranks");
  require(ranks.contains(b.rank), "a superstep is blamed for a rank that was not lost in it");
  for (int const r : ranks)
    require((b.text + ",").find(" " + std::to_string(r) + ",") != std::string::npos,
            "a lost rank is not named");
}

// --- state hash

void node::add_to(role::digest& d) const {
  d.add(role).add(root).add(retires).add(state).add(kept).add(jobs).add(running).add(writing);
}

void world::add_to(role::digest& d) const {
  d.add(store_)
      .add(full_disks_)
      .add(lost_commits_)
      .add(damages_)
      .add(reruns_)
      .add(nodes_.size())
      .add(retirements_)
      .add(left_);
  d.add(known_).add(committing_).add(announced_).add(waited_).add(gone_.size()).add(moved_);
  d.add(open_).add(opened_at_).add(stop_heard_).add(saved_for_stop_).add(saves_.size()).add(told_.size());
  d.add(told_of_).add(losses_).add(uncounted_).add(unheard_).add(save_at_).add(counted_).add(first_);
  for (auto const& [by, cells] : last_cells_) d.add(by);
  d.add(last_cells_.size()).add(scenario_->every == 0 ? 0 : root_steps_ % scenario_->every);
}

}  // namespace bsp_harness
