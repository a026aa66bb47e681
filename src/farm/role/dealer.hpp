// Which rank of a farm gets which tasks: who asks for how much, and what there is to give.
#pragma once

#include <optional>
#include <vector>

#include "farm/role/task_pool.hpp"
#include "skel/schedule.hpp"

namespace skel::role {

/// The answer to a rank: these tasks are yours.
struct assignment {
  std::size_t rank = 0;
  range_list tasks{};  ///< empty: there is nothing more
  friend bool operator==(assignment const&, assignment const&) = default;
};
using assignments = std::vector<assignment>;

/// Decides by the farm's policy. Ranks are named by their index. A regular value; decisions are appended to
/// `out`.
class farm_dealer {
 public:
  farm_dealer() = default;
  /// `computes`: per rank. `first_grant`: see farm_ledger_config.
  farm_dealer(farm_policy policy, std::uint64_t first_grant, std::vector<bool> const& computes,
              std::size_t root, task_pool pool);

  // --- the ranks
  /// It takes part. True: it had not said so before.
  bool hello(std::size_t index, std::uint64_t threads, double power);
  void lost(std::size_t index);
  void heard(std::size_t index) { ranks_[index].alive = true; }
  /// It wants `n` tasks; said again, it changes nothing.
  void asks(std::size_t index, std::uint64_t n);
  /// While `on`, other ranks wait for more, and the root does what is left itself.
  void hold_back(bool on) { held_back_ = on; }
  /// A root that only serves works when no other rank is left that could.
  void enlist_root(assignments& out);

  // --- tasks
  /// The ranks know their shares, `tasks` in all.
  void known_shares(std::uint64_t tasks) { given_ = tasks; }
  /// The pool opens with deal().
  void wait_for_deal() { dealt_ = false; }
  /// All living ranks that compute have said hello, and deal() has not been called yet.
  [[nodiscard]] bool may_deal() const;
  /// Deals the tasks `left` over the ranks; what the policy does not deal goes to the pool.
  void deal(range_list const& left, assignments& out);
  /// Answers a request, if it is time to. `last`: no more tasks will come into the pool.
  void serve(std::size_t index, bool last, assignments& out);
  void serve_all(bool last, assignments& out);
  /// Tasks that came back go to ranks that do not ask any more, an even part to each.
  void push(assignments& out);
  /// A task is given to a rank without its asking.
  void count_given() { ++given_; }
  /// Nothing is given any more.
  void stop();

  [[nodiscard]] task_pool& pool() { return pool_; }
  [[nodiscard]] task_pool const& pool() const { return pool_; }
  [[nodiscard]] bool dealt() const { return dealt_; }
  [[nodiscard]] bool holds_back() const { return held_back_; }
  /// Tasks given, each grant counted.
  [[nodiscard]] std::uint64_t given() const { return given_; }
  [[nodiscard]] std::size_t threads(std::size_t index) const {
    return static_cast<std::size_t>(ranks_[index].threads);
  }
  [[nodiscard]] bool computes(std::size_t index) const {
    return ranks_[index].alive && ranks_[index].computes;
  }
  [[nodiscard]] bool said_hello(std::size_t index) const { return ranks_[index].hello; }
  [[nodiscard]] bool alive(std::size_t index) const { return ranks_[index].alive; }
  /// It asks for no tasks any more, or never did.
  [[nodiscard]] bool closed(std::size_t index) const { return ranks_[index].closed; }
  /// The ranks that may be given a suspect, those that wait for tasks first; the root only if no other rank
  /// computes, since no rank could take its place.
  [[nodiscard]] std::vector<std::size_t> takers_of_suspects() const;
  friend bool operator==(farm_dealer const&, farm_dealer const&) = default;
  void hash(digest& d) const;

 private:
  struct rank {
    bool alive = true;
    bool computes = false;
    bool hello = false;
    bool waiting = false;  // asked and was not served yet
    bool closed = false;   // was told that there is nothing more, or never asks: new work is pushed
    int threads = 1;
    double power = 0;
    std::uint64_t wanted = 1;
    unsigned grants = 0;
    friend bool operator==(rank const&, rank const&) = default;
  };

  void give(std::size_t index, std::uint64_t n, assignments& out);
  [[nodiscard]] std::uint64_t grant_for(std::size_t index);
  [[nodiscard]] bool keeps_for_root(std::size_t index) const;
  [[nodiscard]] int all_threads() const;
  [[nodiscard]] std::vector<range_list> shares_of(std::vector<std::size_t> const& takers,
                                                  range_list const& left, std::uint64_t cut) const;

  farm_policy policy_;
  std::uint64_t first_grant_ = 0;
  std::size_t root_ = 0;
  std::vector<rank> ranks_;
  task_pool pool_;
  bool dealt_ = true;
  std::uint64_t given_ = 0;
  bool held_back_ = false;
  bool stopped_ = false;
  std::optional<std::size_t> last_lost_;
};

}  // namespace skel::role
