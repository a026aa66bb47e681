// Which members of a bsp call wait for a distant member, if the program names neighbours.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "bsp/role/action.hpp"
#include "bsp/role/message.hpp"

namespace skel::role {

/// A member whose neighbours and itself do not continue asks the root whether a distant member does. The root
/// asks the members that do not wait, and answers as soon as it knows.
///
/// A regular value.
class idle_members {
 public:
  void begin_epoch() { *this = idle_members(); }
  /// A member continues after each superstep before `until`.
  void member_continues(std::uint64_t epoch, std::uint64_t until, bsp_actions& out) {
    goes_on_until_ = std::max(goes_on_until_, until);
    std::erase_if(idle_, [&](auto const& i) {
      if (i.second >= goes_on_until_) return false;
      out.emplace_back(bsp::send{i.first, bsp::goes_on{epoch, goes_on_until_}});
      return true;
    });
  }
  /// `root` asks the others only when it waits itself.
  void idle(rank_id from, bsp::idle const& i, rank_id root, std::vector<rank_id> const& members,
            bsp_actions& out) {
    idle_[from] = i.step;
    member_continues(i.epoch, i.step, out);  // after all earlier supersteps
    auto const waits = [&](rank_id r) {
      auto const at = idle_.find(r);
      return at != idle_.end() && at->second == i.step;
    };
    if (std::all_of(members.begin(), members.end(), waits)) {
      out.emplace_back(bsp::no_more{i.epoch});
      return;
    }
    if (!waits(root) || asked_ >= i.step) return;
    asked_ = i.step;
    for (rank_id const r : members)
      if (!waits(r)) out.emplace_back(bsp::send{r, bsp::ask{i.epoch, i.step}});
  }
  friend bool operator==(idle_members const&, idle_members const&) = default;
  auto fields() const { return std::tie(idle_, goes_on_until_, asked_); }

 private:
  std::map<rank_id, std::uint64_t> idle_;  // members that wait after this superstep
  std::uint64_t goes_on_until_ = 0;        // a member continues after each superstep before this one
  std::optional<std::uint64_t> asked_;     // the latest superstep after which all were asked to continue
};

}  // namespace skel::role
