// On the root of a divide_and_conquer call: decides which rank may do the work of lost ranks.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "divide_and_conquer/role/groups.hpp"
#include "divide_and_conquer/role/message.hpp"
#include "protocol/suspects.hpp"

namespace skel::role {

/// Work that ends its process must not end one rank after another. A rank asks before it does the
/// work of lost ranks (takeover_turn).
///
/// - One rank at a time does the work, until a rank has survived it. Then all others that ask may do it too.
/// - The root does it last: while another rank lives, it leaves the work to one that did not ask.
/// - The work is blamed after `most_losses` losses of ranks that had permission and therefore ran nothing
///   else. The original owners do not count, because it is unknown what they ran when they were lost. Once
///   only the root is left, their losses count too. Both cases follow the rule of `suspects`.
///
/// Idle without losses. Events append their actions to `out`.
class divide_root {
 public:
  divide_root() = default;
  /// `most_losses`: 0 never blames and always permits.
  divide_root(divide_config const& config, unsigned most_losses)
      : groups_(config),
        most_losses_(most_losses),
        suspects_{books::value_type(most_losses == 0 ? 0 : most_losses + 1), books::value_type(most_losses)} {
  }

  /// Returns true if the message was for this class.
  bool on(rank_id from, divide_message const& m, divide_actions& out);
  void lost(rank_id rank, divide_actions& out);
  void from_outside(rank_id rank) {
    for (auto& s : suspects_) s.from_outside(rank);
  }
  /// Ongoing losses have been repeated since the last tick.
  void tick(divide_actions& out);

  auto fields() const { return std::tie(suspects_, lost_, all_); }

 private:
  // One book while other ranks than the root live, and one for when only the root is left.
  using books = std::array<suspects<group_work>, 2>;
  struct takeover {
    std::set<rank_id> waiting{};     // for permission
    std::set<rank_id> running{};     // with permission
    std::optional<rank_id> first{};  // the one of these that the others wait for
    bool survived = false;           // a rank has done it
    std::set<rank_id> counted{};     // lost ranks that owned the work
  };

  void ended(rank_id from, divide::end_takeover const& m);
  void heard(rank_id rank);
  void count_losses(group_work work, takeover& t);
  void lose_runner(rank_id rank, group_work work, takeover& t);
  void add_loss(rank_id rank, group_work work, takeover& t, bool alone);
  void serve(group_work work, takeover& t, divide_actions& out);
  void serve_all(divide_actions& out);
  void allow_first(group_work work, takeover& t, divide_actions& out);
  void allow(rank_id rank, group_work work, takeover& t, divide_actions& out);
  [[nodiscard]] std::optional<rank_id> other_than_root(rank_span group) const;
  [[nodiscard]] std::size_t book() const { return other_than_root({}) ? 0 : 1; }

  divide_groups groups_;
  unsigned most_losses_ = 0;
  books suspects_{books::value_type(0), books::value_type(0)};
  membership lost_;
  std::map<group_work, takeover> all_;
};

}  // namespace skel::role
