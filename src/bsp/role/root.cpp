#include "bsp/role/root.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

namespace skel::role {

namespace {
constexpr unsigned patience_with_commit = 8;  // ticks after a loss
constexpr unsigned patience_with_member = 8;  // ticks until a restart is repeated
constexpr std::size_t most_usable = 16;       // more than a store keeps

void send_all(std::vector<rank_id> const& to, bsp_message const& what, bsp_actions& out) {
  for (rank_id const r : to) out.emplace_back(bsp::send{r, what});
}
}  // namespace

bsp_root::bsp_root(bsp_root_config config)
    : config_(std::move(config)),
      living_(static_cast<std::size_t>(config_.ranks)),
      usable_(config_.usable),
      watch_(config_.max_losses),
      checkpoint_(config_.newest) {
  std::iota(living_.begin(), living_.end(), 0);
}

// What the root says to members that it is one of comes back to it: `goes_on` from itself is for its member.
bool bsp_root::on(rank_id from, bsp_message const& m, bsp_actions& out) {
  return std::visit(
      [&]<class M>(M const& own) {
        constexpr bool both_ways = std::is_same_v<M, bsp::goes_on>;
        if (both_ways && from == config_.self) return false;
        if constexpr (requires { take(from, own, out); }) take(from, own, out);
        return both_ways;
      },
      m);
}

// --- epochs

void bsp_root::restart(bsp_actions& out) {
  auto const from = usable_.empty() ? bsp_generation{} : usable_.front();
  now_ = {now_.epoch + 1, from.number, config_.stamp, living_, from.stamp};
  watch_.begin(living_, usable_.empty() ? std::uint64_t{0} : from.step);
  begun_ = false;
  checkpoint_.abandon();
  lost_.reset();
  ticks_ = 0;
  idle_.begin_epoch();
  leavers_.begin_epoch();
  for (rank_id r = 0; r < config_.ranks; ++r)
    out.emplace_back(bsp::send{r, now_});  // one that only seems lost has no part any more
}

void bsp_root::lost(rank_id rank, bsp_actions& out) {
  bool const is_new = std::erase(living_, rank) > 0;
  leavers_.lost(rank);
  if (stopped_) return;
  if (!is_new || !config_.neighbours)
    watch_.lost(rank);
  else if (watch_.lost_somewhere(rank, living_))
    send_all(living_, bsp::where{now_.epoch, 0}, out);
  if (!is_new) return;
  if (!lost_) waited_ = 0;
  lost_ = rank;
  go_on_without_lost(out);
}

void bsp_root::take(rank_id from, bsp::reached const& r, bsp_actions& out) {
  if (r.epoch != now_.epoch || stopped_) return;
  for (auto const& p : r.finished)
    if (p.next > 0) watch_.finished(p.rank, p.next - 1);
  if (r.generation == 0) {
    if (watch_.heard_from(from)) go_on_without_lost(out);
  } else if (auto const step = checkpoint_.reached(from, r.next, now_.members.size())) {
    send_all(now_.members, bsp::save_before{now_.epoch, r.generation, *step}, out);
  }
}

void bsp_root::go_on_without_lost(bsp_actions& out) {
  if (!lost_ || stopped_ || watch_.may_blame()) return;
  if (checkpoint_.committing() != 0 && waited_ < patience_with_commit) return;
  if (usable_.empty() || fits(usable_.front())) {
    restart(out);
    return;
  }
  stopped_ = true;
  out.emplace_back(tell_root{part_lost{*std::exchange(lost_, std::nullopt)}});
}

// A generation that looked valid cannot be read: all ranks fall back to the one before.
void bsp_root::take(rank_id /*from*/, bsp::unreadable const& u, bsp_actions& out) {
  if (u.epoch != now_.epoch || stopped_ || watch_.may_blame()) return;
  std::erase_if(usable_, [&](auto const& g) { return g.number == now_.generation || !fits(g); });
  if (usable_.empty() && !config_.usable.empty() && !moved_ && !config_.begins_anew) {
    stopped_ = true;
    out.emplace_back(bsp::refuse{u.text});
    return;
  }
  out.emplace_back(bsp::fall_back{now_.generation, newest_usable()});
  restart(out);
}

void bsp_root::tick(bsp_actions& out) {
  if (stopped_) return;
  if (auto const v = watch_.tick()) return blame(*v, out);
  if (lost_) {
    ++waited_;
    go_on_without_lost(out);
  }
  if (leavers_.tick()) go_on(out);
  if (++ticks_ % patience_with_member != 0) return;
  for (rank_id const r : now_.members)
    if (r != config_.self && !watch_.has_joined(r)) out.emplace_back(bsp::send{r, now_});
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

void bsp_root::take(rank_id from, bsp::idle const& i, bsp_actions& out) {
  if (i.epoch != now_.epoch || stopped_) return;
  watch_.finished(from, i.step);
  idle_.idle(from, i, config_.self, now_.members, out);
}

void bsp_root::take(rank_id /*from*/, bsp::goes_on const& g, bsp_actions& out) {
  if (g.epoch == now_.epoch) idle_.member_continues(g.epoch, g.until, out);
}

// --- checkpoints

void bsp_root::begins(std::uint64_t epoch, std::uint64_t step, bool due, bsp_actions& out) {
  if (epoch != now_.epoch || stopped_) return;
  for (auto& g : usable_)
    if (!begun_ && g.number == now_.generation) g.step = step;
  // A superstep that ends with the neighbours tells nothing about distant members.
  bool const distant = config_.neighbours && watch_.first() && step > *watch_.first() + 1;
  if (!distant) watch_.begins(step);
  moved_ = moved_ || begun_;
  begun_ = true;
  if (!(due || wants_stop_ || leavers_.want_checkpoint()) || !checkpoint_.idle() || lost_) return;
  checkpoint_.begin(step + 1, wants_stop_);
  out.emplace_back(bsp::announce{checkpoint_.saving()});
  if (leavers_.any() && !wants_stop_) {
    leavers_.hold(checkpoint_.saving());
    send_all(now_.members, bsp::hold{now_.epoch, checkpoint_.saving()}, out);
  }
  if (config_.neighbours && step > *watch_.first())
    send_all(living_, bsp::where{now_.epoch, checkpoint_.saving()}, out);
}

void bsp_root::take(rank_id from, bsp::joined const& j, bsp_actions& /*out*/) {
  if (j.epoch == now_.epoch) watch_.joined(from);
}

void bsp_root::take(rank_id from, bsp::bundle const& b, bsp_actions& out) {
  if (b.epoch != now_.epoch) return;
  watch_.finished(from, b.step);
  if (config_.neighbours) idle_.member_continues(b.epoch, b.step + (b.more ? 1 : 0), out);
}

// The members up to `from` have finished the superstep.
void bsp_root::take(rank_id from, bsp::tally const& t, bsp_actions& /*out*/) {
  if (t.epoch != now_.epoch) return;
  auto const& members = now_.members;
  auto const at = std::find(members.begin(), members.end(), from);
  if (at == members.end()) return;
  auto place = static_cast<std::size_t>(at - members.begin());
  auto const finished = std::min(std::size_t{1} << t.round, members.size());
  for (std::size_t i = 0; i < finished; ++i) {
    watch_.finished(members[place], t.step);
    place = (place == 0 ? members.size() : place) - 1;
  }
}

void bsp_root::take(rank_id from, bsp::saved const& s, bsp_actions& out) {
  if (checkpoint_.saving() == 0 || s.generation != checkpoint_.saving()) return;
  if (!s.well) {
    checkpoint_.abandon();
    out.emplace_back(bsp::abandon{s.generation});
    leavers_.failed(s.generation);
    go_on(out);
    maybe_stop_after(s.generation, out);
  } else if (auto const whole = checkpoint_.saved(from, now_.members)) {
    out.emplace_back(bsp::commit{whole->number, whole->parts});
  }
}

void bsp_root::committed(std::uint64_t generation, bool well, bsp_actions& out) {
  if (generation != checkpoint_.committing()) return;
  auto g = checkpoint_.committed();
  g.stamp = config_.stamp;
  if (well) {
    usable_.insert(usable_.begin(), g);
    if (usable_.size() > most_usable) usable_.resize(most_usable);
  }
  maybe_stop_after(generation, out);
  auto const leaver = well && !lost_ ? leavers_.committed(generation) : std::nullopt;
  if (leaver) {
    out.emplace_back(bsp::send{leaver->first, bsp::released{leaver->second}});
  } else {
    if (!well) leavers_.failed(generation);
    go_on(out);
  }
  go_on_without_lost(out);
}

// --- ranks that leave

// Without a checkpoint, or if the others cannot take over its state, a rank stays to the end.
void bsp_root::take(rank_id from, bsp::retires const& r, bsp_actions& out) {
  if (stopped_ || !config_.saves || !config_.splits || std::ranges::count(living_, from) == 0) return;
  if (leavers_.asks(from, r.number)) go_on(out);
}

void bsp_root::go_on(bsp_actions& out) {
  if (leavers_.go_on()) send_all(now_.members, bsp::hold{now_.epoch, 0}, out);
}

// --- an early end

void bsp_root::please_stop(bsp_actions& out) {
  wants_stop_ = true;
  if (!config_.saves && !stopped_) out.emplace_back(close{{.how = outcome::status::stopped_early}});
}

void bsp_root::maybe_stop_after(std::uint64_t generation, bsp_actions& out) {
  if (checkpoint_.is_last(generation) && !stopped_)
    out.emplace_back(close{{.how = outcome::status::stopped_early}});
}

}  // namespace skel::role
