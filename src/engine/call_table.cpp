#include "call_table.hpp"

#include <algorithm>
#include <utility>

#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {

enum call_control : std::uint8_t { call_failed, describe, description, doubt };

transport::packet call_message(call_control what, run_key call) {
  transport::packet p;
  auto& out = p.body();
  out.push_back(static_cast<std::byte>(what));
  bytes::put_varint(out, call.context);
  bytes::put_varint(out, call.number);
  return p;
}

// Whether a context that is out of step since `failure` makes this call fail too.
bool fails_with(call_failure const& failure, run_key call) {
  return call.context == failure.call.context && call.number >= failure.call.number;
}

std::exception_ptr error_of(call_failure const& failure) {
  switch (failure.what) {
    case call_failure::kind::usage:
      return std::make_exception_ptr(usage_error(failure.text));
    case call_failure::kind::lost_root:
      return std::make_exception_ptr(lost_rank_error(0, failure.text));
    default:
      return std::make_exception_ptr(protocol_error(failure.text));
  }
}

}  // namespace

void call_table::add_team(context_id id, context_id parent, std::vector<int> const& ranks) {
  teams_.try_emplace(id, team_entry{parent, ranks});
  if (auto const at = cancelled_.find(parent); at != cancelled_.end()) {
    cancelled_.emplace(id, at->second);
    gate_.shut(id, 0, at->second);
  }
}

std::vector<int> const& call_table::ranks_of(context_id id) const {
  static std::vector<int> const all;
  auto const at = teams_.find(id);
  return at == teams_.end() ? all : at->second.ranks;
}

void call_table::cancel_team(context_id id, std::exception_ptr const& why) {
  for (auto& [other, t] : teams_) {  // a team is made after its parent, but may have a lower number
    if (!is_within(other, id)) continue;
    cancelled_.emplace(other, why);
    if (auto const revoke = std::exchange(t.revoke, {})) revoke();
  }
  for (auto const& [other, reason] : cancelled_) gate_.shut(other, 0, reason);
  for (auto const& [key, running] : runs_)
    if (cancelled_.contains(key.context)) running->on_failure(why, false);
  std::erase_if(early_, [&](early const& e) { return cancelled_.contains(e.key.context); });
}

void call_table::on_cancel(context_id id, std::function<void()> revoke) {
  if (cancelled_.contains(id))
    revoke();
  else
    teams_.at(id).revoke = std::move(revoke);
}

bool call_table::is_within(context_id team, context_id other) const {
  while (team != other) {
    auto const at = teams_.find(team);
    if (at == teams_.end()) return false;
    team = at->second.parent;
  }
  return true;
}

bool call_table::is_nested(context_id of) const {
  return std::any_of(runs_.begin(), runs_.end(),
                     [&](auto const& r) { return r.first.context != of && is_within(of, r.first.context); });
}

void call_table::open(run_key key, run& r) {
  if (runs_.empty()) wires_.detector().reset(wires_.now());
  runs_[key] = &r;
  newest_run_[key.context] = std::max(newest_run_[key.context], key.number);
  auto* const described = r.described();
  newest_call_[key.context] = described != nullptr ? described->description() : std::string();
  std::vector<early> mine;
  for (auto it = early_.begin(); it != early_.end();) {
    if (it->key == key) {
      mine.push_back(std::move(*it));
      it = early_.erase(it);
    } else {
      ++it;
    }
  }
  for (auto& e : mine) r.on_message(e.from, e.body.bytes(), e.body);
  if (auto const failed = failed_early_.extract(key)) r.on_failure(error_of(failed.mapped()), true);
  if (auto const* failure = out_of_step(key)) r.on_failure(error_of(*failure), true);
  if (auto const at = cancelled_.find(key.context); at != cancelled_.end()) r.on_failure(at->second, false);
}

void call_table::close(run_key key) {
  runs_.erase(key);
  if (runs_.empty()) wires_.detector().reset(wires_.now());
}

bool call_table::has(int rank) const {
  return std::any_of(runs_.begin(), runs_.end(), [&](auto const& r) {
    auto const& team = ranks_of(r.first.context);
    return team.empty() || std::find(team.begin(), team.end(), rank) != team.end();
  });
}

std::optional<int> call_table::early_rank(bool with_teams) const {
  for (auto const& e : early_)
    if (with_teams || (e.key.context >> 63) == 0) return e.from;
  return std::nullopt;
}

void call_table::on_message(int from, run_key key, transport::packet& body) {
  if (auto const at = runs_.find(key); at != runs_.end()) {
    at->second->on_message(from, body.bytes(), body);
  } else if (key.number > newest_run_[key.context] && !out_of_step(key) &&
             !cancelled_.contains(key.context)) {
    early_.push_back({key, from, std::move(body)});
  }  // else: a late message of a run that has ended, or one of a run that cannot begin here
}

call_failure const* call_table::out_of_step(run_key call) const {
  auto const at = out_of_step_.find(call.context);
  return at != out_of_step_.end() && fails_with(at->second, call) ? &at->second : nullptr;
}

void call_table::fail_call(call_failure const& failure) {
  auto const& team = ranks_of(failure.call.context);
  auto const ranks = team.empty() ? wires_.size() : static_cast<int>(team.size());
  for (int i = 0; i < ranks; ++i) {
    int const r = team.empty() ? i : team[static_cast<std::size_t>(i)];
    if (r != wires_.rank()) tell_failure(r, failure);
  }
  on_failure(failure);
}

void call_table::tell_failure(int to, call_failure const& failure) {
  auto p = call_message(call_failed, failure.call);
  bytes::put_varint(p.body(), static_cast<std::uint64_t>(failure.what));
  bytes::put_varint(p.body(), failure.out_of_step ? 1 : 0);
  bytes::put_text(p.body(), failure.text);
  send(to, key_of(part::calls), std::move(p));
}

void call_table::tell_root_lost(run_key call, std::string const& text) {
  auto const& team = ranks_of(call.context);
  if (!team.empty()) tell_failure(team.front(), {call, call_failure::kind::lost_root, text});
}

void call_table::on_failure(call_failure const& failure) {
  auto const& call = failure.call;
  if (failure.out_of_step) {
    // This rank may be past that call, in a later one that fails too, or before it: an earlier call
    // that has ended on the failing rank may still be ending here and must succeed.
    auto const [first, added] = out_of_step_.try_emplace(call.context, failure);
    if (!added && first->second.call.number <= call.number) return;
    first->second = failure;
    gate_.shut(call.context, call.number, std::make_exception_ptr(usage_error(failure.text)));
    for (auto const& [key, running] : runs_)
      if (fails_with(failure, key)) running->on_failure(error_of(failure), true);
    std::erase_if(early_, [&](early const& e) { return fails_with(failure, e.key); });
    return;
  }
  if (auto const at = runs_.find(call); at != runs_.end())
    at->second->on_failure(error_of(failure), true);
  else if (call.number > newest_run_[call.context])
    failed_early_.insert_or_assign(call, failure);
}

void call_table::settle_failures() {
  if (!gate_.has_failures()) return;
  for (auto const& failure : gate_.take_failures()) fail_call(failure);
}

void call_table::ask_call(int rank, run_key call) {
  send(rank, key_of(part::calls), call_message(describe, call));
}

void call_table::tell_doubt(run_key call, int about, std::string const& text) {
  auto p = call_message(doubt, call);
  bytes::put_varint(p.body(), static_cast<std::uint64_t>(about));
  bytes::put_text(p.body(), text);
  auto const& team = ranks_of(call.context);
  send(team.empty() ? 0 : team.front(), key_of(part::calls), std::move(p));
}

void call_table::on_control(int from, std::span<std::byte const> body) {
  auto const what = std::to_integer<std::uint8_t>(bytes::get_bytes(body, 1)[0]);
  run_key call;
  call.context = bytes::get_varint(body);
  call.number = static_cast<std::uint32_t>(bytes::get_varint(body));
  auto const at = runs_.find(call);
  auto* const described = at == runs_.end() ? nullptr : at->second->described();
  switch (what) {
    case call_failed: {
      call_failure failure{call};
      auto const kind = bytes::get_varint(body);
      if (kind > static_cast<unsigned>(call_failure::kind::lost_root))
        throw protocol_error("unknown failure from rank " + std::to_string(from));
      failure.what = static_cast<call_failure::kind>(kind);
      failure.out_of_step = bytes::get_varint(body) != 0;
      failure.text = bytes::get_text(body);
      // Ranks of the team may join the call after they have heard that its root lives.
      if (auto const& team = ranks_of(call.context);
          failure.what == call_failure::kind::lost_root && !team.empty() && team.front() == wires_.rank() &&
          (at != runs_.end() || call.number > newest_run_[call.context]))
        fail_call(failure);
      else
        on_failure(failure);
      break;
    }
    case describe: {
      auto p = call_message(description, call);
      bool const made = newest_run_[call.context] == call.number;
      bytes::put_text(p.body(), made ? newest_call_[call.context] : std::string());
      send(from, key_of(part::calls), std::move(p));
      break;
    }
    case description:
      if (described != nullptr) described->on_description(from, bytes::get_text(body));
      break;
    case doubt:
      if (auto const about = static_cast<int>(bytes::get_varint(body)); described != nullptr)
        described->on_doubt(from, about, bytes::get_text(body));
      break;
    default:
      throw protocol_error("unknown control message from rank " + std::to_string(from));
  }
}

}  // namespace skel::detail
