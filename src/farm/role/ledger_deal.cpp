// What the root deals by itself: the first part of a hybrid, and the rest of a farm that goes on.
#include <algorithm>

#include "farm/role/ledger.hpp"
#include "role/deal.hpp"

namespace skel::role {

namespace {

// Those tasks of `all` that stand at these positions.
range_list at_positions(range_list const& all, range_list const& positions) {
  range_list chosen;
  for (auto const& p : positions) {
    std::uint64_t before = 0;  // tasks in the ranges that were passed
    std::size_t k = 0;
    for (std::uint64_t i = 0; i < p.count;) {
      while (p[i] - before >= all[k].count) before += all[k++].count;
      auto const within = p[i] - before;
      auto const n = std::min(p.count - i, (all[k].count - within + p.stride - 1) / p.stride);
      append(chosen, {all[k][within], n, all[k].stride * p.stride});
      i += n;
    }
  }
  return chosen;
}

}  // namespace

// One list per taker: which of the tasks `left`, of which the first `cut` are dealt, it starts with.
std::vector<range_list> ledger::shares_of(std::vector<std::size_t> const& takers, range_list const& left,
                                          std::uint64_t cut) const {
  std::vector<range_list> shares;
  auto const n = static_cast<int>(takers.size());
  if (config_.policy.start == start_with::weighted) {
    std::vector<double> power;
    for (auto const i : takers) {
      auto const rank = static_cast<std::size_t>(config_.ranks[i]);
      double const given = rank < config_.policy.power.size() ? config_.policy.power[rank] : 0;
      double const measured = peers_[i].power > 0 ? peers_[i].power : 1.0;
      power.push_back(given > 0 ? given : measured * std::max(1, peers_[i].threads));
    }
    shares = weighted_shares(cut, power);
  } else {
    bool const contiguous = config_.policy.start == start_with::contiguous;
    for (int k = 0; k < n; ++k)
      shares.push_back({contiguous ? contiguous_share(cut, n, k) : interleaved_share(cut, n, k)});
  }
  for (auto& s : shares) s = at_positions(left, s);
  return shares;
}

// As soon as everybody who lives has said that it is there, and how fast it is.
void ledger::deal_shares(actions& out) {
  if (dealt_ || stopping_ || !source_ended_) return;
  std::vector<std::size_t> takers;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    auto const& p = peers_[i];
    if (!p.computes || !p.alive) continue;
    if (!p.hello) return;
    takers.push_back(i);
  }
  if (takers.empty()) return;
  dealt_ = true;
  auto const left = recorded_.missing(0, available_, {});
  auto const all = count_tasks(left);
  auto const cut = config_.policy.start == start_with::weighted ? config_.policy.cut.of(all) : all;
  auto shares = shares_of(takers, left, cut);
  for (std::size_t k = 0; k < takers.size(); ++k) {
    auto const n = count_tasks(shares[k]);
    if (n == 0) continue;
    given_ += n;
    if (stock_round_)
      for (auto const& r : shares[k]) claimed_.insert(r);
    expect(takers[k], shares[k]);
    out.push_back(
        send{config_.ranks[takers[k]], {.kind = message_kind::grant, .ranges = std::move(shares[k])}});
    peers_[takers[k]].waiting = false;
  }
  if (cut < all) add_to_pool(at_positions(left, {{cut, all - cut, 1}}));
  serve_waiting(out);
}

}  // namespace skel::role
