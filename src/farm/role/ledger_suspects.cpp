// Tasks that were running on lost ranks: a task that ends its process must not end one rank after another.
#include <algorithm>
#include <utility>

#include "farm/role/ledger.hpp"
#include "role/deal.hpp"

namespace skel::role {

namespace {

// Ticks for which the ranks must stay lost before a task is blamed: suspicions are mostly taken back sooner.
constexpr unsigned suspects_patience = 8;

bool holds(task_range const& r, task_id id) {
  return id >= r.first && id <= r.last() && (id - r.first) % r.stride == 0;
}

bool holds(range_list const& ranges, task_id id) {
  return std::any_of(ranges.begin(), ranges.end(), [&](auto const& r) { return holds(r, id); });
}

}  // namespace

// The share of a list that this worker knows by itself.
range_list ledger::first_share(std::size_t index) const {
  if (!config_.tasks || config_.resumed) return {};
  auto const& workers = config_.workers;
  auto const at = std::find(workers.begin(), workers.end(), config_.ranks[index]);
  auto const n = static_cast<int>(workers.size()), k = static_cast<int>(at - workers.begin());
  if (k == n) return {};
  if (config_.policy.start == start_with::contiguous) return {contiguous_share(*config_.tasks, n, k)};
  if (config_.policy.start == start_with::interleaved) return {interleaved_share(*config_.tasks, n, k)};
  return {};
}

// A rank with a free thread begins what it is given. Otherwise the results that it sends next say what it
// begins.
void ledger::expect(std::size_t index, range_list const& given) {
  auto& p = peers_[index];
  if (config_.most_losses == 0 || config_.ranks[index] == config_.root) return;
  auto const threads = static_cast<std::size_t>(p.threads);
  for (auto const& r : given)
    for (std::uint64_t i = 0; i < r.count && p.running.size() < threads; ++i)
      p.running.push_back({r[i], 1, 1});
}

void ledger::on_begins(std::size_t index, message const& m, actions& out) {
  auto& p = peers_[index];
  if (config_.most_losses == 0 || config_.ranks[index] == config_.root) return;
  // A thread's range is done when its last task is.
  std::erase_if(p.running, [&](auto const& r) { return holds(m.ranges, r.last()); });
  if (m.running.empty() || !tasks_exist(index, m.running, out)) return;
  if (m.kind == message_kind::begins) p.running.clear();
  p.running.insert(p.running.end(), m.running.begin(), m.running.end());
  // What is older than the latest range of each thread is done, or was a guess.
  auto const threads = static_cast<std::size_t>(p.threads);
  if (auto const n = p.running.size(); n > threads)
    p.running.erase(p.running.begin(), p.running.begin() + static_cast<std::ptrdiff_t>(n - threads));
}

bool ledger::blames(task_id id) const {
  auto const at = suspects_.find(id);
  return at != suspects_.end() && blamed(at->second);
}

// What a rank was running when it was lost is known for certain only where it was running a suspect. One loss
// may be less certain, so that the second one tells. Where other threads were running other tasks it may have
// been one of these, and it takes one more loss.
bool ledger::blamed(suspect const& s) const {
  if (config_.most_losses == 0) return false;
  unsigned all = 0, watched = 0, alone = 0;
  for (auto const& l : s.losses) {
    if (!still_lost(l)) continue;
    all += 1;
    watched += l.watched ? 1 : 0;
    alone += l.alone ? 1 : 0;
  }
  auto const enough = std::max(1U, config_.most_losses - 1);
  return all >= config_.most_losses && watched >= enough && (alone >= enough || all > enough + 1);
}

// At the end of a round of stock-taking: what is neither recorded nor claimed, and was running on a rank that
// was lost before the round began. Suspects are given one by one, so they are claimed from here on.
void ledger::find_suspects() {
  auto const missing = [&](task_id id) { return !recorded_.contains(id) && !claimed_.contains(id); };
  for (std::size_t index = 0; index < peers_.size(); ++index) {
    auto& p = peers_[index];
    if (!p.judged || p.alive) continue;
    auto const running = std::exchange(p.running, {});
    for (auto const& r : running)
      for (std::uint64_t i = 0; i < r.count; ++i) {
        if (!missing(r[i])) continue;
        auto& s = suspects_[r[i]];
        std::erase_if(s.losses, [&](auto const& l) { return l.peer == index; });
        bool const watched = s.holder == index;
        s.losses.push_back({index, watched, watched && running.size() == 1});
      }
  }
  for (auto& [id, s] : suspects_) {
    if (!missing(id)) continue;
    if (s.given) ++handed_out_again_;
    s.given = false;
    s.holder.reset();
    claimed_.insert(id);
  }
}

// Whoever has brought a result for a task has survived it.
void ledger::acquit(range_list const& done, actions& out) {
  if (suspects_.empty()) return;
  if (std::erase_if(suspects_, [&](auto const& s) { return holds(done, s.first); }) > 0) give_suspects(out);
}

// One at a time to each rank, so that it is known which one ended the next. The root is the last to run them:
// nobody could take its place.
void ledger::give_suspects(actions& out) {
  if (stopping_ || suspects_.empty()) return;
  auto const computes = [&](std::size_t i) { return peers_[i].alive && peers_[i].computes; };
  std::vector<bool> busy(peers_.size());
  bool others = false;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    others = others || (computes(i) && config_.ranks[i] != config_.root);
    busy[i] = !computes(i) || !peers_[i].hello;
  }
  for (auto const& [id, s] : suspects_)
    if (s.holder) busy[*s.holder] = true;
  std::vector<std::size_t> takers;  // those that wait for work first
  for (bool const waiting : {true, false})
    for (std::size_t i = 0; i < peers_.size(); ++i)
      if (!busy[i] && peers_[i].waiting == waiting && !(others && config_.ranks[i] == config_.root))
        takers.push_back(i);
  auto next = takers.begin();
  for (auto& [id, s] : suspects_) {
    if (s.given || blamed(s)) continue;
    if (next == takers.end()) return;
    auto const to = *next++;
    s.given = true;
    s.holder = to;
    ++given_;
    if (stock_round_) claimed_.insert(id);
    out.push_back(
        send{config_.ranks[to],
             {.kind = message_kind::grant, .extra = may_be_held + are_suspects, .ranges = {{id, 1, 1}}}});
  }
}

// Called on every tick.
void ledger::blame(actions& out) {
  std::vector<task_id> guilty;
  for (auto const& [id, s] : suspects_)
    if (blamed(s)) guilty.push_back(id);
  if (guilty.empty()) {
    blame_ticks_ = 0;
    return;
  }
  if (++blame_ticks_ < suspects_patience) return;
  std::string ranks;
  for (auto const& l : suspects_[guilty.front()].losses) {
    if (!still_lost(l)) continue;
    outcome_.rank = config_.ranks[l.peer];
    ranks += (ranks.empty() ? "" : ", ") + std::to_string(outcome_.rank);
  }
  outcome_.how = outcome::status::task_failed;
  outcome_.task = guilty.front();
  outcome_.more = guilty.size() - 1;
  outcome_.text = "it was running on each of the lost ranks " + ranks;
  begin_stop(out);
}

}  // namespace skel::role
