// One rank of a farm of teams: runs the tasks that the root gives to its teams.
#pragma once

#include <optional>
#include <string>

#include "message.hpp"
#include "protocol/attendance.hpp"
#include "protocol/leave_request.hpp"

namespace skel::role {

struct team_member_config {
  rank_id self = 0;
  rank_id root = 0;
  std::uint64_t call_hash = 0;
  bool computes = true;  ///< false: the root may still need it when no other rank is left
};

/// Runs one task at a time. Events append their actions to `out`.
class team_member {
 public:
  team_member() = default;
  explicit team_member(team_member_config const& config)
      : config_(config), attendance_(config.self, config.root) {}

  void begin(team_actions& out) const { say_hello(out); }
  /// The task of the latest begin action has ended here; `failure`: what it threw.
  void ended(std::optional<std::string> failure, team_actions& out);
  /// It runs for longer than it may, and cannot be interrupted.
  void overran(std::string text, team_actions& out);
  void on(rank_id from, team_message const& m, team_actions& out);
  void lost(rank_id rank, team_actions& out);
  void tick(team_actions& out);
  void please_stop(team_actions& out) { attendance_.please_stop(out); }
  /// This rank is to leave the job, or not after all.
  void retire(bool does, team_actions& out);
  /// Whether neither the root nor another rank of its latest team needs this rank.
  [[nodiscard]] bool vacant() const { return attendance_.active() && leave_.granted(); }

  /// The task that runs here, if any.
  [[nodiscard]] std::optional<team::run> const& job() const { return job_; }
  /// Whether this rank holds the result of its job: it is the team's root.
  [[nodiscard]] bool leads() const { return job_ && job_->ranks.front().first == own_number(); }
  [[nodiscard]] bool cancelled() const { return cancelled_; }

 private:
  [[nodiscard]] std::uint64_t own_number() const { return static_cast<std::uint64_t>(config_.self); }
  void say_hello(team_actions& out) const;
  void say(team_message m, team_actions& out) const { out.push_back(team::send{config_.root, std::move(m)}); }
  void cancel(rank_id because_of, std::string text, team_actions& out);

  team_member_config config_;
  attendance attendance_;
  std::optional<team::run> job_;
  bool cancelled_ = false;
  std::optional<rank_id> lost_{};  // of the team: this rank has cancelled the task because of it
  leave_request leave_;
  unsigned ticks_ = 0;
};

}  // namespace skel::role
