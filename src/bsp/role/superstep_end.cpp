#include "bsp/role/superstep_end.hpp"

#include <algorithm>

namespace skel::role {

void superstep_end::computed(bool more, std::uint64_t save, std::vector<std::uint32_t> const& bundles_to) {
  computed_ = true;
  more_ = more_ || more;
  save_ = std::max(save_, save);
  for (auto const to : bundles_to) ++announced_[to];
}

void superstep_end::received(rank_id from, bsp::bundle const& b) {
  came_.insert(std::lower_bound(came_.begin(), came_.end(), from), from);
  more_ = more_ || b.more;
}

bool superstep_end::came_from(std::vector<rank_id> const& ranks) const {
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](rank_id r) { return std::binary_search(came_.begin(), came_.end(), r); });
}

void superstep_end::received(rank_id /*from*/, bsp::tally const& t) {
  heard_ |= std::uint64_t{1} << t.round;
  more_ = more_ || t.more;
  save_ = std::max(save_, t.save);
  for (auto const& n : t.notices) announced_[n.to] += n.bundles;
}

bool superstep_end::heard_all_before(unsigned round) const {
  auto const all = (std::uint64_t{1} << round) - 1;
  return (heard_ & all) == all;
}

std::optional<bsp::tally> superstep_end::next(std::size_t place, std::size_t members) {
  if (!computed_ || sent_ == rounds(members) || !heard_all_before(sent_)) return {};
  bsp::tally t{0, 0, sent_++, more_, save_, {}};
  std::erase_if(announced_, [&](auto const& a) {
    auto const distance = (a.first + members - place) % members;
    if ((distance >> t.round & 1U) == 0) return false;
    t.notices.push_back({a.first, a.second});
    return true;
  });
  return t;
}

bool superstep_end::over(std::size_t place, std::size_t members) const {
  auto const all = rounds(members);
  if (!computed_ || sent_ < all || !heard_all_before(all)) return false;
  auto const mine = announced_.find(static_cast<std::uint32_t>(place));
  return came_.size() == (mine == announced_.end() ? 0 : mine->second);
}

namespace {
auto place_in(auto& all, std::uint64_t epoch, std::uint64_t step) {
  return std::find_if(all.begin(), all.end(),
                      [&](auto const& e) { return std::tie(e.epoch, e.step) >= std::tie(epoch, step); });
}
}  // namespace

superstep_end* superstep_ends::find(std::uint64_t epoch, std::uint64_t step) {
  auto const at = place_in(all_, epoch, step);
  return at != all_.end() && at->epoch == epoch && at->step == step ? &at->end : nullptr;
}

superstep_end& superstep_ends::at(std::uint64_t epoch, std::uint64_t step) {
  auto const at = place_in(all_, epoch, step);
  if (at != all_.end() && at->epoch == epoch && at->step == step) return at->end;
  return all_.emplace(at, epoch, step)->end;
}

void superstep_ends::erase(std::uint64_t epoch, std::uint64_t step) {
  std::erase_if(all_, [&](auto const& e) { return e.epoch == epoch && e.step == step; });
}

void superstep_ends::forget_before(std::uint64_t epoch) {
  std::erase_if(all_, [&](auto const& e) { return e.epoch < epoch; });
}

}  // namespace skel::role
