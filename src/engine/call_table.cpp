// Control messages between engines about calls, common to all skeletons: failures of a call, and
// which call a rank makes if messages cannot be decoded.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "context_access.hpp"
#include "engine.hpp"
#include "exit_guard.hpp"
#include "exit_status.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {

// In addition to those of farewell.cpp.
enum call_control : std::uint8_t { call_failed = first_call_control, describe, description, doubt };

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

}  // namespace

call_failure const* engine::out_of_step(run_key call) const {
  auto const at = out_of_step_.find(call.context);
  return at != out_of_step_.end() && fails_with(at->second, call) ? &at->second : nullptr;
}

void engine::fail_call(call_failure const& failure) {
  auto const& team = ranks_of(failure.call.context);
  auto const ranks = team.empty() ? size_ : static_cast<int>(team.size());
  for (int i = 0; i < ranks; ++i) {
    int const r = team.empty() ? i : team[static_cast<std::size_t>(i)];
    if (r == rank_) continue;
    auto p = call_message(call_failed, failure.call);
    bytes::put_varint(p.body(), static_cast<std::uint64_t>(failure.what));
    bytes::put_varint(p.body(), failure.out_of_step ? 1 : 0);
    bytes::put_text(p.body(), failure.text);
    send(r, {0, 0}, std::move(p));
  }
  on_call_failure(failure);
}

void engine::on_call_failure(call_failure const& failure) {
  auto const& call = failure.call;
  if (failure.out_of_step) {
    // This rank may be past that call, in a later one that fails too, or before it: an earlier call
    // that has ended on the failing rank may still be ending here and must succeed.
    auto const [first, added] = out_of_step_.try_emplace(call.context, failure);
    if (!added && first->second.call.number <= call.number) return;
    first->second = failure;
    gate_.shut(call.context, call.number, std::make_exception_ptr(usage_error(failure.text)));
    for (auto const& [key, running] : runs_)
      if (fails_with(failure, key)) running->on_failure(failure);
    std::erase_if(early_, [&](early const& e) { return fails_with(failure, e.key); });
    return;
  }
  if (auto const at = runs_.find(call); at != runs_.end())
    at->second->on_failure(failure);
  else if (call.number > newest_run_[call.context])
    failed_early_.insert_or_assign(call, failure);
}

void engine::cancel_team(context_id id, std::exception_ptr const& why) {
  for (auto& [other, t] : teams_) {  // a team is made after its parent, but may have a lower number
    if (!is_within(other, id)) continue;
    cancelled_.emplace(other, why);
    if (auto const revoke = std::exchange(t.revoke, {})) revoke();
  }
  for (auto const& [other, reason] : cancelled_) gate_.shut(other, 0, reason);
  for (auto const& [key, running] : runs_)
    if (cancelled_.contains(key.context)) running->on_cancelled(why);
  std::erase_if(early_, [&](early const& e) { return cancelled_.contains(e.key.context); });
}

void engine::on_cancel(context_id id, std::function<void()> revoke) {
  if (cancelled_.contains(id))
    revoke();
  else
    teams_.at(id).revoke = std::move(revoke);
}

bool engine::is_within(context_id team, context_id other) const {
  while (team != other) {
    auto const at = teams_.find(team);
    if (at == teams_.end()) return false;
    team = at->second.parent;
  }
  return true;
}

void engine::settle_failures() {
  if (!gate_.has_failures()) return;
  for (auto const& failure : gate_.take_failures()) fail_call(failure);
}

void engine::ask_call(int rank, run_key call) { send(rank, {0, 0}, call_message(describe, call)); }

void engine::tell_doubt(run_key call, int about, std::string const& text) {
  auto p = call_message(doubt, call);
  bytes::put_varint(p.body(), static_cast<std::uint64_t>(about));
  bytes::put_text(p.body(), text);
  auto const& team = ranks_of(call.context);
  send(team.empty() ? 0 : team.front(), {0, 0}, std::move(p));
}

void engine::on_call_control(int from, std::span<std::byte const> body) {
  auto const what = std::to_integer<std::uint8_t>(bytes::get_bytes(body, 1)[0]);
  run_key call;
  call.context = bytes::get_varint(body);
  call.number = static_cast<std::uint32_t>(bytes::get_varint(body));
  auto const at = runs_.find(call);
  switch (what) {
    case call_failed: {
      call_failure failure{call};
      failure.what = bytes::get_varint(body) == 0 ? call_failure::kind::usage : call_failure::kind::protocol;
      failure.out_of_step = bytes::get_varint(body) != 0;
      failure.text = bytes::get_text(body);
      on_call_failure(failure);
      break;
    }
    case describe: {
      auto p = call_message(description, call);
      bool const made = newest_run_[call.context] == call.number;
      bytes::put_text(p.body(), made ? newest_call_[call.context] : std::string());
      send(from, {0, 0}, std::move(p));
      break;
    }
    case description:
      if (at != runs_.end()) at->second->on_description(from, bytes::get_text(body));
      break;
    case doubt:
      if (auto const about = static_cast<int>(bytes::get_varint(body)); at != runs_.end())
        at->second->on_doubt(from, about, bytes::get_text(body));
      break;
    default:
      throw protocol_error("unknown control message from rank " + std::to_string(from));
  }
}

void engine::end_by_exit() {
  constexpr auto patience = std::chrono::seconds(1);
  std::string const text =
      "exit() was called during a skeleton call: tasks, merges, sources and sinks must return or throw";
  auto const say = [&] {
    std::fprintf(stderr, "%s: %s\n", program_of_run_main.empty() ? "skel" : program_of_run_main.c_str(),
                 text.c_str());
    end_process(rank_, 1);
  };
  if (size_ == 1) say();
  // A merge that exits holds the lock.
  auto const give_up = std::chrono::steady_clock::now() + patience;
  std::unique_lock lock(mutex_, std::try_to_lock);
  while (!lock && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::ignore = lock.try_lock();
  }
  if (!lock) say();
  try {
    farewell const own{.code = 1, .own = true, .text = text, .lost = true};
    if (!program_of_run_main.empty()) {
      lock.unlock();
      end_process(rank_, say_farewell(own, program_of_run_main));
    }
    tell_failure(own);
    flush(lock, std::chrono::duration<double>(patience).count());
  } catch (std::exception const&) {
    // The transport has failed. The other ranks detect that themselves.
  }
  say();
  _exit(1);
}

call_slot::call_slot(context const& ctx)
    : engine_(context_access::engine_of(ctx)),
      context_(context_access::id(ctx)),
      number_(engine_.gate().enter(context_, engine_.owns_this_thread())) {
  guard_exit(engine_, true);
}

void call_slot::throw_if_nested() const {
  for (auto const& failure : engine_.gate().take_failures({context_, number_}))
    throw usage_error(failure.text);
}

call_slot::~call_slot() {
  guard_exit(engine_, false);
  engine_.gate().leave(context_);
}

}  // namespace skel::detail
