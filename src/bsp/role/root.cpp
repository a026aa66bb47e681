#include "bsp/role/root.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace skel::role {

namespace {
constexpr unsigned patience_with_commit = 8;  // ticks after a loss
constexpr unsigned patience_with_member = 8;  // ticks until a restart is repeated
constexpr std::size_t most_usable = 16;       // more than a store keeps
}  // namespace

bsp_root::bsp_root(bsp_root_config config)
    : config_(std::move(config)),
      living_(static_cast<std::size_t>(config_.ranks)),
      usable_(config_.usable),
      watch_(config_.max_losses),
      newest_(config_.newest) {
  std::iota(living_.begin(), living_.end(), 0);
}

// --- epochs

void bsp_root::restart(bsp_actions& out) {
  ++epoch_;
  generation_ = newest_usable();
  members_ = living_;
  watch_.begin(members_, usable_.empty() ? std::uint64_t{0} : usable_.front().step);
  begun_ = false;
  saving_ = 0;
  lost_.reset();
  ticks_ = 0;
  idle_.clear();
  goes_on_until_ = 0;
  asked_.reset();
  unheard_.clear();
  held_.clear();
  for (rank_id r = 0; r < config_.ranks; ++r)
    tell_restart(r, out);  // one that only seems lost has no part any more
}

void bsp_root::tell_restart(rank_id to, bsp_actions& out) const {
  out.emplace_back(bsp::send{to, bsp::restart{epoch_, generation_, config_.stamp, members_}});
}

void bsp_root::lost(rank_id rank, bsp_actions& out) {
  if (stopped_) {
    std::erase(living_, rank);
    return;
  }
  bool const is_new = std::erase(living_, rank) > 0;
  bool const counts_later =
      config_.neighbours && (is_new || std::count(uncounted_.begin(), uncounted_.end(), rank) > 0);
  if (!counts_later) watch_.lost(rank);
  if (!is_new) return;
  if (counts_later) {
    if (uncounted_.empty()) {
      unheard_ = {living_.begin(), living_.end()};
      ask_where(0, out);
    }
    uncounted_.push_back(rank);
    unheard_.erase(rank);
    count_losses();
  }
  if (!lost_) waited_ = 0;
  lost_ = rank;
  go_on_without_lost(out);
}

void bsp_root::ask_where(std::uint64_t generation, bsp_actions& out) {
  for (rank_id const r : living_) out.emplace_back(bsp::send{r, bsp::where{epoch_, generation}});
}

void bsp_root::count_losses() {
  if (!unheard_.empty()) return;
  for (rank_id const r : std::exchange(uncounted_, {})) watch_.lost(r);
}

void bsp_root::on(rank_id from, bsp::reached const& r, bsp_actions& out) {
  if (r.epoch != epoch_ || stopped_) return;
  for (auto const& p : r.finished)
    if (p.next > 0) watch_.finished(p.rank, p.next - 1);
  if (r.generation == 0) {
    if (unheard_.erase(from) == 0) return;
    count_losses();
    go_on_without_lost(out);
    return;
  }
  held_[from] = r.next;
  if (held_.size() < members_.size()) return;
  std::uint64_t step = 0;
  for (auto const& [rank, next] : std::exchange(held_, {})) step = std::max(step, next);
  saving_step_ = step;
  for (rank_id const m : members_)
    out.emplace_back(bsp::send{m, bsp::save_before{epoch_, r.generation, step}});
}

void bsp_root::go_on_without_lost(bsp_actions& out) {
  if (!lost_ || stopped_ || !uncounted_.empty() || watch_.blames()) return;
  if (committing_.number != 0 && waited_ < patience_with_commit) return;
  if (usable_.empty() || fits(usable_.front())) {
    restart(out);
    return;
  }
  stopped_ = true;
  out.emplace_back(tell_root{part_lost{*std::exchange(lost_, std::nullopt)}});
}

void bsp_root::on(bsp::unreadable const& u, bsp_actions& out) {
  if (u.epoch != epoch_ || stopped_ || !uncounted_.empty() || watch_.blames()) return;
  std::erase_if(usable_, [&](auto const& g) { return g.number == generation_ || !fits(g); });
  if (usable_.empty() && !config_.usable.empty() && !moved_) {
    stopped_ = true;
    out.emplace_back(bsp::refuse{u.text});
    return;
  }
  out.emplace_back(bsp::fall_back{generation_, newest_usable()});
  restart(out);
}

void bsp_root::tick(bsp_actions& out) {
  if (stopped_) return;
  if (auto const v = watch_.tick()) return blame(*v, out);
  if (lost_) {
    ++waited_;
    go_on_without_lost(out);
  }
  if (++ticks_ % patience_with_member != 0) return;
  for (rank_id const r : members_)
    if (r != config_.self && !watch_.has_joined(r)) tell_restart(r, out);
}

void bsp_root::blame(superstep_watch::verdict const& v, bsp_actions& out) {
  std::string text;
  for (rank_id const r : v.ranks) text += (text.empty() ? "" : ", ") + std::to_string(r);
  auto const step = v.work ? "superstep " + std::to_string(*v.work) : std::string("the first superstep");
  auto const what = v.work == watch_.first() ? step + ", or making the state for it," : step;
  text = what + " was running on each of the lost ranks " + text;
  stopped_ = true;
  out.emplace_back(close{{.how = outcome::status::task_failed,
                          .task = v.work.value_or(0),
                          .rank = v.ranks.empty() ? 0 : v.ranks.back(),
                          .text = std::move(text)}});
}

// --- whether any member continues

void bsp_root::on(rank_id from, bsp::idle const& i, bsp_actions& out) {
  if (i.epoch != epoch_ || stopped_) return;
  watch_.finished(from, i.step);
  idle_[from] = i.step;
  member_continues(i.step, out);  // after all earlier supersteps
  auto const waits = [&](rank_id r) {
    auto const at = idle_.find(r);
    return at != idle_.end() && at->second == i.step;
  };
  if (std::all_of(members_.begin(), members_.end(), waits)) {
    out.emplace_back(bsp::no_more{epoch_});
    return;
  }
  if (!waits(config_.self) || asked_ >= i.step) return;
  asked_ = i.step;
  for (rank_id const r : members_)
    if (!waits(r)) out.emplace_back(bsp::send{r, bsp::ask{epoch_, i.step}});
}

void bsp_root::on(bsp::goes_on const& g, bsp_actions& out) {
  if (g.epoch == epoch_) member_continues(g.until, out);
}

void bsp_root::member_continues(std::uint64_t until, bsp_actions& out) {
  goes_on_until_ = std::max(goes_on_until_, until);
  std::erase_if(idle_, [&](auto const& i) {
    if (i.second >= goes_on_until_) return false;
    out.emplace_back(bsp::send{i.first, bsp::goes_on{epoch_, goes_on_until_}});
    return true;
  });
}

// --- checkpoints

void bsp_root::begins(std::uint64_t epoch, std::uint64_t step, bool due, bsp_actions& out) {
  if (epoch != epoch_ || stopped_) return;
  for (auto& g : usable_)
    if (!begun_ && g.number == generation_) g.step = step;
  // A superstep that ends with the neighbours tells nothing about distant members.
  bool const distant = config_.neighbours && watch_.first() && step > *watch_.first() + 1;
  if (!distant) watch_.begins(step);
  moved_ = moved_ || begun_;
  begun_ = true;
  if (!(due || wants_stop_) || saving_ != 0 || committing_.number != 0 || lost_) return;
  saving_ = ++newest_;
  if (wants_stop_) last_saving_ = saving_;
  saving_step_ = step + 1;
  saved_.clear();
  out.emplace_back(bsp::announce{saving_});
  if (config_.neighbours && step > *watch_.first()) ask_where(saving_, out);
}

void bsp_root::on(rank_id from, bsp::joined const& j) {
  if (j.epoch == epoch_) watch_.joined(from);
}

void bsp_root::on(rank_id from, bsp::bundle const& b, bsp_actions& out) {
  if (b.epoch != epoch_) return;
  watch_.finished(from, b.step);
  if (config_.neighbours) member_continues(b.step + (b.more ? 1 : 0), out);
}

void bsp_root::on(rank_id from, bsp::tally const& t) {
  if (t.epoch != epoch_) return;
  auto const at = std::find(members_.begin(), members_.end(), from);
  if (at == members_.end()) return;
  auto place = static_cast<std::size_t>(at - members_.begin());
  auto const finished = std::min(std::size_t{1} << t.round, members_.size());
  for (std::size_t i = 0; i < finished; ++i) {
    watch_.finished(members_[place], t.step);
    place = (place == 0 ? members_.size() : place) - 1;
  }
}

void bsp_root::on(rank_id from, bsp::saved const& s, bsp_actions& out) {
  if (saving_ == 0 || s.generation != saving_) return;
  if (!s.well) {
    out.emplace_back(bsp::abandon{std::exchange(saving_, 0)});
    maybe_stop_after(s.generation, out);
    return;
  }
  saved_.insert(from);
  if (!std::all_of(members_.begin(), members_.end(), [&](rank_id r) { return saved_.contains(r); })) return;
  committing_ = {std::exchange(saving_, 0), static_cast<std::uint32_t>(members_.size()), saving_step_};
  out.emplace_back(bsp::commit{committing_.number, committing_.parts});
}

void bsp_root::committed(std::uint64_t generation, bool well, bsp_actions& out) {
  if (generation != committing_.number) return;
  auto const g = std::exchange(committing_, {});
  if (well) {
    usable_.insert(usable_.begin(), g);
    if (usable_.size() > most_usable) usable_.resize(most_usable);
  }
  maybe_stop_after(generation, out);
  go_on_without_lost(out);
}

// --- an early end

void bsp_root::please_stop(bsp_actions& out) {
  wants_stop_ = true;
  if (!config_.saves && !stopped_) out.emplace_back(close{{.how = outcome::status::stopped_early}});
}

void bsp_root::maybe_stop_after(std::uint64_t generation, bsp_actions& out) {
  if (generation == last_saving_ && !stopped_)
    out.emplace_back(close{{.how = outcome::status::stopped_early}});
}

}  // namespace skel::role
