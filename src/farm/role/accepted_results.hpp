// Which results of a farm count.
#pragma once

#include <string>
#include <vector>

#include "farm/role/audits.hpp"
#include "farm/role/book.hpp"

namespace skel::role {

/// The first result of each task counts; a merged value as a whole or not at all; with audits (farm_audits)
/// the version on which two ranks agree: some tasks run again on another rank, a third rank settles a
/// difference, and the results of a rank at fault are computed again. A regular value, part of farm_root.
class accepted_results {
 public:
  accepted_results() = default;
  explicit accepted_results(farm_root_config const& config);

  /// The versions of the audited results in the message that take() receives next.
  void compared(std::vector<task_version> versions) { versions_ = std::move(versions); }
  /// Results have come. Returns true if a rank turns out to be at fault: what it holds must run elsewhere.
  bool take(rank_id rank, range_list const& ranges, farm_book& book, farm_actions& out);
  /// The task threw on a rank. Returns false if it is no repetition.
  bool threw(task_id task, rank_id rank);
  void lost(rank_id rank) { audits_.lost(rank); }
  /// Asks other ranks to repeat open audits.
  void give_audits(farm_book& book, farm_actions& out);
  /// At the end of a round of stock-taking: claims the open audits, which are given again if no rank has
  /// them.
  void claim_audits(stock_taking& stock);
  /// All tasks have a result: none need wait any more.
  void complete(farm_actions& out);
  /// If no other rank computes any more, the root does, unless it is at fault itself.
  void enlist_root(farm_book& book, farm_actions& out) const;

  [[nodiscard]] farm_audits const& audits() const { return audits_; }
  friend bool operator==(accepted_results const&, accepted_results const&) = default;

 private:
  void record(range_list const& ranges, farm_book& book, farm_actions& out) const;
  void record_merged(range_list const& ranges, farm_book& book, farm_actions& out) const;
  bool audit(rank_id rank, range_list const& ranges, farm_book& book, farm_actions& out);
  bool judge(task_id id, farm_book& book, farm_actions& out);
  void disagree(task_id id, std::string text, farm_book& book, farm_actions& out) const;
  bool settle(task_id id, std::uint64_t version, bool checked, farm_book& book, farm_actions& out);
  void give_up(task_id id, farm_book& book, farm_actions& out);
  void release_of(rank_id rank, farm_actions& out);
  void release(rank_id rank, farm_actions& out);
  void dismiss(rank_id rank, task_id task, farm_book& book, farm_actions& out);

  rank_id root_ = 0;
  bool merged_ = false;
  bool holds_ = false;
  farm_audits audits_;
  std::vector<task_version> versions_;
};

}  // namespace skel::role
