// The feed of a steered source: keeps the tasks from ask() until tell() and the farm are done with them.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "skel/detail/contents.hpp"
#include "skel/detail/farm_work.hpp"
#include "skel/detail/pack.hpp"
#include "skel/detail/steered_book.hpp"
#include "skel/outcome.hpp"
#include "skel/sink.hpp"
#include "skel/steered.hpp"

namespace skel::detail {

template <class State, class Task, class Value>
concept hears = requires(State& s, Task const& t, Value const& v) { s.tell(task_id{}, t, v); };
template <class State, class Task, class Value>
concept hears_and_steers =
    requires(State& s, Task const& t, Value const& v, steering& run) { s.tell(task_id{}, t, v, run); };
/// Whether tell() can be called with a Value, which is a result or an outcome.
template <class State, class Task, class Value>
inline constexpr bool can_tell = hears<State, Task, Value> || hears_and_steers<State, Task, Value>;
/// Whether it then returns a bool, which does not say what true means.
template <class State, class Task, class Value>
constexpr bool tell_returns_bool() {
  if constexpr (hears<State, Task, Value>)
    return requires(State& s, Task const& t, Value const& v) {
      { s.tell(task_id{}, t, v) } -> std::same_as<bool>;
    };
  else
    return requires(State& s, Task const& t, Value const& v, steering& run) {
      { s.tell(task_id{}, t, v, run) } -> std::same_as<bool>;
    };
}

template <class Source>
class steered_feed final : public task_feed {
 public:
  using task = typename Source::task;

  explicit steered_feed(Source& source)
      : source_(source),
        book_(source.window(), [this](std::uint64_t n, bool hashes) { return ask(n, hashes); }) {}

  pulled_tasks pull(std::uint64_t idle, std::uint64_t /*most_bytes*/) override {
    auto const got = book_.pull(idle);
    pulled_ = got.tasks;
    return {.count = got.tasks, .bytes = got.tasks * sizeof(task), .ended = got.ended};
  }
  void accept_pulled() override { book_.accept(pulled_); }
  [[nodiscard]] task_payload payload_of(task_id id) const override {
    auto what = task_of(id);
    auto const* const at = what.get();
    return {std::move(what), at, {}};
  }
  void pack_task(task_id id, std::vector<std::byte>& out) const override { pack(*task_of(id), out); }
  void forget(task_range const& range) override {
    for (std::uint64_t i = 0; i < range.count; ++i) done_with(range[i], &entry::needed_by_farm);
  }
  [[nodiscard]] steered_book* book() override { return &book_; }

  /// Tells what became of a task, a result or an outcome. Returns whether it was told or left out, and not
  /// cancelled. `go_on`: false if the state ends the run.
  template <class Result, class Value>
  bool tell(task_id id, Value const& value, bool& go_on) {
    return book_.settle(id, std::is_same_v<Result, Value>, [&](std::vector<task_id>& cancelled) {
      auto const what = task_of(id);
      steering run(cancelled);
      go_on = tell_state<Result>(id, *what, value, run);
      done_with(id, &entry::needed_by_state);
      for (task_id const c : cancelled) done_with(c, &entry::needed_by_state);
    });
  }

 private:
  struct entry {
    std::shared_ptr<task const> what;
    bool needed_by_farm = true, needed_by_state = true;
  };

  std::optional<steered_book::answer> ask(std::uint64_t n, bool hashes) {
    auto got = source_.state().ask(n);
    if (!got) return std::nullopt;
    steered_book::answer a;
    contents_hasher hash;  // of equal tasks, padding bytes may differ
    for (auto&& t : *got) {
      auto what = std::make_shared<task const>(std::move(t));
      if (hashes) add_contents(hash, *what);
      std::lock_guard const lock(mutex_);
      tasks_.emplace_hint(tasks_.end(), next_++, entry{std::move(what)});
      ++a.tasks;
    }
    a.hash = hash.value();
    return a;
  }
  template <class Result, class Value>
  bool tell_state(task_id id, task const& what, Value const& value, steering& run) {
    using state = std::remove_reference_t<decltype(source_.state())>;
    using heard = outcome<Result>;
    if constexpr (can_tell<state, task, Value>)
      return flow_of([&]() -> decltype(auto) {
        if constexpr (hears<state, task, Value>)
          return source_.state().tell(id, what, value);
        else
          return source_.state().tell(id, what, value, run);
      });
    else if constexpr (!std::is_same_v<Value, heard>)
      return tell_state<Result>(id, what, heard(value), run);
    else
      return static_cast<void>(run), true;  // it hears of results only
  }
  template <class Call>
  static bool flow_of(Call const& call) {
    if constexpr (std::is_same_v<decltype(call()), results::flow>)
      return call() == results::flow::go_on;
    else
      return static_cast<void>(call()), true;
  }
  [[nodiscard]] std::shared_ptr<task const> task_of(task_id id) const {
    std::lock_guard const lock(mutex_);
    return tasks_.at(id).what;
  }
  void done_with(task_id id, bool entry::*needed) {
    std::lock_guard const lock(mutex_);
    auto const at = tasks_.find(id);
    if (at == tasks_.end()) return;
    at->second.*needed = false;
    if (!at->second.needed_by_farm && !at->second.needed_by_state) tasks_.erase(at);
  }

  Source& source_;
  steered_book book_;
  std::uint64_t pulled_ = 0;
  mutable std::mutex mutex_;  // of what follows
  std::map<task_id, entry> tasks_;
  task_id next_ = 0;
};

}  // namespace skel::detail
