// The farm's adapter: the user's source, function and sink as a farm_work.
#pragma once

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <typeinfo>
#include <utility>
#include <vector>

#include "skel/detail/contents.hpp"
#include "skel/detail/farm_work.hpp"
#include "skel/detail/result_store.hpp"
#include "skel/detail/route.hpp"
#include "skel/detail/steered_feed.hpp"
#include "skel/detail/task_function.hpp"
#include "skel/detail/task_store.hpp"
#include "skel/detail/type_names.hpp"
#include "skel/farm.hpp"

namespace skel {

namespace detail {

template <class Source>
class source_feed final : public task_feed {
 public:
  explicit source_feed(Source& source) : source_(source) {}

  pulled_tasks pull(std::uint64_t most, std::uint64_t most_bytes) override {
    pulled_tasks got;
    if (!range_) {
      range_.emplace(source_.open());
      next_.emplace(std::ranges::begin(*range_));
    }
    for (; pulled_.size() < most && got.bytes < most_bytes && *next_ != std::ranges::end(*range_); ++*next_) {
      pulled_.push_back(**next_);
      pulled_now_.store(pulled_.size(), std::memory_order_relaxed);
      got.bytes += std::max(sizeof(task), packed_size(pulled_.back()));
    }
    got.ended = *next_ == std::ranges::end(*range_);
    got.count = pulled_.size();
    return got;
  }
  void accept_pulled() override {
    pulled_now_ = 0;
    tasks_.add(std::exchange(pulled_, {}));
  }
  [[nodiscard]] task_payload payload_of(task_id id) const override { return tasks_.payload_of(id); }
  void pack_task(task_id id, std::vector<std::byte>& out) const override { pack(tasks_[id], out); }
  void forget(task_range const& range) override {
    for (std::uint64_t i = 0; i < range.count; ++i) tasks_.forget(range[i]);
  }

 private:
  using task = source_task<Source>;
  using stream_range = typename kept<typename Source::opened>::type;
  Source& source_;
  std::optional<stream_range> range_;
  std::optional<std::ranges::iterator_t<stream_range>> next_;
  std::vector<task> pulled_;
  task_store<task> tasks_;
};
template <class Source>
struct no_feed {
  explicit no_feed(Source const& /*source*/) {}
};
template <class Source>
struct feed_of {
  using type = std::conditional_t<is_on_root<Source>, source_feed<Source>, no_feed<Source>>;
};
template <class State>
struct feed_of<steered<State>> {
  using type = steered_feed<steered<State>>;
};

// Whether the state of a steered source hears of failed tasks.
template <class Source, class R>
constexpr bool tells_outcomes = false;
template <class State, class R>
constexpr bool tells_outcomes<steered<State>, R> =
    !can_tell<std::remove_reference_t<State>, typename steered<State>::task, R> &&
    can_tell<std::remove_reference_t<State>, typename steered<State>::task, outcome<R>>;

// Whether the state of a steered source can be told results of type R, and a sentence about why not.
template <class Source, class Sink, class R>
constexpr bool steers() {
  if constexpr (is_steered<Source>) {
    using state = std::remove_reference_t<decltype(std::declval<Source&>().state())>;
    constexpr bool told =
        can_tell<state, typename Source::task, R> || can_tell<state, typename Source::task, outcome<R>>;
    static_assert(told,
                  "skel::farm: the state of a steered source must have tell(task_id, task const&, result "
                  "const&), with or without a skel::steering& behind it.");
    if constexpr (requires { &state::tell; }) {
      using tell = decltype(&state::tell);
      static_assert(holds_task_ids<std::remove_cvref_t<parameter<tell, 0>>> &&
                        holds_every<typename Source::task, std::remove_cvref_t<parameter<tell, 1>>>() &&
                        holds_every<R, std::remove_cvref_t<parameter<tell, 2>>>(),
                    "skel::farm: a parameter of tell() of a steered source cannot hold every value: expected "
                    "task_id, task const&, result const&.");
    }
    static_assert(!tell_returns_bool<state, typename Source::task, R>() &&
                      !tell_returns_bool<state, typename Source::task, outcome<R>>(),
                  "skel::farm: tell() of a steered source must return void or skel::results::flow: bool does "
                  "not say what true means.");
    static_assert(!is_reduced<Sink>,
                  "skel::farm: a steered source is told single results, but a reduced sink merges them on "
                  "each rank: merge in tell().");
    return told && !is_reduced<Sink>;
  } else {
    return true;
  }
}

// One per compute thread.
struct own_teams {
  std::vector<context> teams;
};
struct no_teams {};

template <class Source, class F, class Sink>
class farm_work_of final : public farm_work {
  using task = source_task<Source>;
  using result = typename task_result<F, task>::type;
  static constexpr bool payload = !is_replicated<Source>;
  static constexpr bool merged = is_reduced<Sink>;
  static constexpr bool takes_outcomes =
      !merged && takes_outcome<typename function_of_sink<Sink>::type, result>;
  static constexpr bool in_place = has_places<Sink, result> && !payload;
  using store = typed_results<result>;

 public:
  farm_work_of(Source& source, F const& f, Sink& sink) : source_(source), f_(f), sink_(sink), feed_(source) {}

  [[nodiscard]] farm_traits traits() const override {
    farm_traits t;
    if constexpr (!payload) t.tasks = source_.size();
    t.ordered = is_ordered<Sink>;
    t.merged = merged;
    t.in_place = in_place;
    t.takes_team = takes_team<F, task>;
    t.hears_failures = takes_outcomes || tells_outcomes<Source, result>;
    if constexpr (is_steered<Source>) {
      t.steered = source_.window();
      t.ordered = t.ordered || source_.window() > 0;
    }
    t.checked = checked_build;
    t.comparable = surely_comparable<result>();
    if constexpr (is_ordered<Sink>) {
      require_count("farm", "the window of an ordered sink", sink_.window);
      t.window = sink_.window;
    }
    t.task_bytes = sizeof(task);
    t.result_bytes = sizeof(result);
    t.result_is_raw = route_of<result> == route::raw;
    return t;
  }

  [[nodiscard]] std::string types() const override { return type_names(typeid(task), typeid(result)); }
  [[nodiscard]] std::string function() const override { return typeid(F).name(); }
  [[nodiscard]] std::optional<std::uint64_t> contents(std::optional<bool> check) const override {
    if constexpr (payload)
      return static_cast<void>(check), std::nullopt;
    else
      return list_contents(source_, check);
  }

  [[nodiscard]] std::optional<std::uint64_t> members() const override { return members_of(f_); }

  void run_packed(task_range const& range, std::uint64_t& at, std::uint64_t end,
                  std::span<task_payload const> payloads, worker_info const& where,
                  std::vector<std::byte>& out) const override {
    for (; at < end; ++at) {
      auto const before = out.size();
      try {
        pack(compute(range[at], at, payloads, where), out);
      } catch (...) {
        out.erase(out.begin() + static_cast<std::ptrdiff_t>(before), out.end());  // half a result is none
        throw;
      }
    }
  }

  [[nodiscard]] std::unique_ptr<local_results> make_local() const override {
    return std::unique_ptr<local_results>(new store(pool_));  // one pointer type less to compile
  }

  void run_local(task_range const& range, std::uint64_t& at, std::uint64_t end,
                 std::span<task_payload const> payloads, worker_info const& where,
                 local_results& out) const override {
    auto& values = static_cast<store&>(out).values;
    for (; at < end; ++at) {
      if constexpr (merged) {
        result r = compute(range[at], at, payloads, where);
        if (values.empty())
          values.emplace_back(std::move(r));
        else
          merge_into(values[0].value, std::move(r));
      } else {
        values.emplace_back(
            constructed_by{[&]() -> result { return compute(range[at], at, payloads, where); }});
      }
    }
  }

  [[nodiscard]] task_needs needs_of(task_id id, task_payload const& from,
                                    needs_of_task const& known) const override {
    return with_task(id, from, known);
  }

  void alone_teams(std::vector<context> teams) override {
    if constexpr (takes_team<F, task>) alone_.teams = std::move(teams);
  }

  void run_team(context& team, task_id id, task_payload const& from,
                std::vector<std::byte>* out) const override {
    if constexpr (takes_team<F, task>) {
      result r = compute_in(&team, id, from, {});
      if (out != nullptr) pack(r, *out);
    }
  }

  void make_places() override {
    if constexpr (!payload) {
      if constexpr (requires(Sink& sink) { sink.make_places(0); })
        sink_.make_places(source_.size());
      else if constexpr (requires(Sink& sink) { sink.function.make_places(0); })  // ordered(into(results))
        sink_.function.make_places(source_.size());
    }
  }

  void run_in_place(task_range const& range, std::uint64_t& at, std::uint64_t end,
                    worker_info const& where) const override {
    if constexpr (in_place) {
      for (; at < end; ++at) {
        result& to = sink_.place(task_at(range[at]));
        // Constructed there where nothing has to be destroyed: assigning would write it twice.
        if constexpr (std::is_trivially_copyable_v<result>)
          ::new (static_cast<void*>(&to)) result(compute(range[at], at, {}, where));
        else
          to = compute(range[at], at, {}, where);
      }
    }
  }

  void pack_in_place(task_range const& range, std::vector<std::byte>& out) const override {
    if constexpr (in_place)
      for (std::uint64_t i = 0; i < range.count; ++i) pack(sink_.place(task_at(range[i])), out);
  }

  void merge(local_results& into, local_results& from) const override {
    if constexpr (merged) {
      auto& a = static_cast<store&>(into).values;
      auto& b = static_cast<store&>(from).values;
      if (b.empty()) return;
      if (a.empty())
        a = std::move(b);
      else
        a[0].value = sink_.merge(std::move(a[0].value), std::move(b[0].value));
    }
  }

  void pack_merged(local_results& from, std::vector<std::byte>& out) const override {
    if constexpr (merged)
      for (auto const& c : static_cast<store&>(from).values) pack(c.value, out);
  }

  void merge_packed(std::vector<std::byte>& into, std::span<std::byte const> more) const override {
    if constexpr (merged) {
      std::span<std::byte const> from = into;
      result sum = sink_.merge(unpack<result>(from), unpack<result>(more));
      into.clear();
      pack(sum, into);
    }
  }

  void pack_local(std::uint64_t count, std::uint64_t index, local_results const& from,
                  std::vector<std::byte>& out) const override {
    auto const& values = static_cast<store const&>(from).values;
    for (std::uint64_t i = index; i < index + count; ++i) pack(values[i].value, out);
  }

  bool sink_local(task_range const& piece, std::uint64_t& done, std::uint64_t index,
                  local_results& from) override {
    auto& values = static_cast<store&>(from).values;
    if constexpr (merged) {
      if (!values.empty()) *sink_.total = sink_.merge(std::move(*sink_.total), std::move(values[0].value));
      done = piece.count;
      return true;
    } else {
      for (; done < piece.count; ++done)
        if (!give(task_at(piece[done]), std::move(values[index + done].value))) return ++done, false;
      return true;
    }
  }

  bool sink_packed(task_range const& piece, std::uint64_t& done, std::span<std::byte const>& from) override {
    if constexpr (merged) {
      if (!from.empty()) *sink_.total = sink_.merge(std::move(*sink_.total), unpack<result>(from));
      done = piece.count;
      return true;
    } else {
      for (; done < piece.count; ++done)
        if (!give_packed(task_at(piece[done]), from)) return ++done, false;
      return true;
    }
  }

  bool sink_failed(task_failure const& why) override {
    if constexpr (takes_outcomes || is_steered<Source>)
      return give(why.task, outcome<result>(why));
    else
      return static_cast<void>(why), true;
  }

  void skip_packed(std::uint64_t count, std::span<std::byte const>& from) const override {
    for (; count > 0; --count) static_cast<void>(unpack<result>(from));
  }

  [[nodiscard]] std::vector<std::byte> compared(std::span<std::byte const> packed) const override {
    if constexpr (compared_as_sent<result>) return {packed.begin(), packed.end()};
    contents_bytes bytes;
    add_contents(bytes, unpack<result>(packed));
    return std::move(bytes.all);
  }

  [[nodiscard]] task_feed* feed() override {
    if constexpr (payload)
      return &feed_;
    else
      return nullptr;
  }

 private:
  void merge_into(result& total, result&& more) const {
    try {
      total = sink_.merge(std::move(total), std::move(more));
    } catch (...) {
      throw merge_failure{std::current_exception()};
    }
  }

  result compute(task_id id, std::uint64_t at, std::span<task_payload const> payloads,
                 worker_info const& where) const {
    context* alone = nullptr;
    if constexpr (takes_team<F, task>) alone = &alone_.teams[where.thread];
    if constexpr (payload)
      return compute_in(alone, id, payloads[at], where);
    else
      return compute_in(alone, id, {}, where);
  }

  result compute_in(context* team, task_id id, task_payload const& from, worker_info const& where) const {
    return with_task(id, from, [&](task const& t) -> result {
      if constexpr (!counts_up<Source>) require_held<task_parameter<F, task>>(task_parameter_name, t);
      if constexpr (std::is_void_v<typename task_result<F, task>::raw>)
        return call_task(f_, t, where, team), no_result{};
      else
        return call_task(f_, t, where, team);
    });
  }

  template <class Call>
  auto with_task(task_id id, task_payload const& from, Call const& call) const {
    if constexpr (payload) {
      if (from.typed != nullptr) return call(*static_cast<task const*>(from.typed));
      auto bytes = from.bytes;
      return call(unpack<task>(bytes));
    } else {
      return static_cast<void>(from), call(source_[task_at(id)]);
    }
  }

  // Results that are bytes are copied from the message to where they stay, and nowhere else.
  bool give_packed(task_id id, std::span<std::byte const>& from) {
    if constexpr (raw_bytes<result> && !has_transfer_traits<result> && in_place) {
      auto const bytes = bytes::get_bytes(from, sizeof(result));
      sink_.make_room(id + 1);
      std::memcpy(static_cast<void*>(&sink_.place(id)), bytes.data(), bytes.size());
      return true;
    } else if constexpr (raw_bytes<result> && !has_transfer_traits<result> && alignof(result) == 1) {
      auto* const bytes = const_cast<std::byte*>(bytes::get_bytes(from, sizeof(result)).data());  // owned
      return give(id, std::move(*reinterpret_cast<result*>(bytes)));
    } else {
      return give(id, unpack<result>(from));
    }
  }

  // A result, or an outcome without one.
  template <class Value>
  bool give(task_id id, Value&& r) {
    bool go_on = true;
    if constexpr (is_steered<Source>)
      if (!feed_.template tell<result>(id, std::as_const(r), go_on)) return true;
    if constexpr (std::is_same_v<Value, result> || takes_outcomes) {
      if constexpr (is_ordered<Sink>)
        go_on = call_sink(sink_.function, id, r) && go_on;
      else
        go_on = call_sink(sink_, id, r) && go_on;
    }
    return go_on;
  }

  Source& source_;
  F const& f_;
  Sink& sink_;
  mutable result_pool<result> pool_;
  typename feed_of<Source>::type feed_;
  mutable std::conditional_t<takes_team<F, task>, own_teams, no_teams> alone_;
};

// Whether a farm's results may go to this sink, and a sentence about why not.
template <class Sink, class R>
constexpr bool fits_farm() {
  if constexpr (is_reduced<Sink>) {
    constexpr bool exact = exact_merge<R>;
    constexpr bool same = std::is_same_v<typename Sink::value_type, R>;
    constexpr bool mergeable = merges<typename Sink::merge_type, R>;
    static_assert(exact,
                  "skel::farm: a reduced sink merges in any order, so the result type must merge exactly: "
                  "use an integer or a type of skel/exact_merges.hpp, or specialise skel::exact_merge.");
    static_assert(same,
                  "skel::farm: the total of a reduced sink must have the type that the task function "
                  "returns: each rank merges its results in that type.");
    static_assert(mergeable,
                  "skel::farm: the merge of a reduced sink must be callable as merge(result, result) on a "
                  "const object, and neither take nor return another type of number, which changes values.");
    return exact && same && mergeable;
  } else {
    using function = typename function_of_sink<Sink>::type;
    constexpr bool callable = callable_sink<function, R>;
    static_assert(callable, "skel::farm: the sink must be callable as sink(task_id, result&&).");
    if constexpr (callable) {
      static_assert(keeps_values<function, R>,
                    "skel::farm: the sink's parameters, first a task_id and then the result, cannot hold "
                    "every task number and every result: they are swapped, or too narrow.");
      static_assert(
          !sink_returns_bool<function, R>(),
          "skel::farm: the sink returns a bool, which ends nothing: return skel::results::flow::stop or "
          "skel::results::flow::go_on, or void.");
    }
    return callable;
  }
}

}  // namespace detail

template <farm_source Source, class F, farm_schedule S, class Sink>
skel::result<void> farm(context& ctx, Source&& source, F const& f, S const& how, Sink&& sink,
                        farm_options const& options) {
  using source_type = std::remove_cvref_t<Source>;
  using task = detail::source_task<source_type>;
  constexpr bool takes_team = detail::takes_team<F, task>;
  constexpr bool callable =
      std::is_invocable_v<F const&, task const&> || detail::takes_worker<F, task> || takes_team;
  static_assert(callable,
                "skel::farm: the task function must be callable as f(task const&), f(task const&, "
                "worker_info const&) or f(context& team, task const&) on a const function object.");
  static_assert(detail::holds_numbers<task, detail::task_parameter<F, task>>(),
                "skel::farm: the parameter of the task function cannot hold every task: it has fewer than 32 "
                "bits, or loses the fraction or the precision of a floating-point number.");
  if constexpr (callable) {
    using result = typename detail::task_result<F, task>::type;
    static_assert(
        detail::can_travel<result>(),
        "skel::farm: the result type cannot be sent. Make it a plain struct without pointers or views, "
        "give it a serialize() function (skel/serialization.hpp), or specialise skel::transfer_traits.");
    static_assert(
        detail::can_travel<task, !is_replicated<source_type>>(),
        "skel::farm: the task type of an on_root or steered source cannot be sent. Make it a plain struct "
        "without pointers or views, give it a serialize() function (skel/serialization.hpp), or "
        "specialise skel::transfer_traits.");
    // A const sink is copied.
    using given = std::remove_reference_t<Sink>;
    using kept = std::conditional_t<std::is_const_v<given>, std::remove_const_t<given>, given&>;
    using sink_type = std::remove_reference_t<kept>;
    constexpr bool fits =
        detail::fits_farm<sink_type, result>() && detail::steers<source_type, sink_type, result>();
    if constexpr (fits && transferable<result> && (is_replicated<source_type> || transferable<task>)) {
      options.task.needs.template check<task>();
      detail::require_all_held<detail::task_parameter<F, task>>(detail::task_parameter_name, source);
      kept to = sink;
      detail::farm_work_of<source_type, F, sink_type> work(const_cast<source_type&>(source), f, to);
      return {detail::run_farm(ctx, work, how.policy(), options)};
    }
  }
  return {};
}

template <farm_source Source, class F, class Sink>
  requires(!farm_schedule<std::remove_cvref_t<Sink>>)
skel::result<void> farm(context& ctx, Source&& source, F const& f, Sink&& sink, farm_options const& options) {
  return farm(ctx, std::forward<Source>(source), f, schedule::adaptive{}, std::forward<Sink>(sink), options);
}

// Anything else than a source.
template <class Source, class F, class... More>
  requires(!farm_source<Source>)
skel::result<void> farm(context&, Source&&, F const&, More&&...) {
  static_assert(detail::never<Source>,
                "skel::farm: the tasks come from skel::indices(n), skel::replicated(list), "
                "skel::on_root(function) or skel::steered(state): wrap a list that every rank has in "
                "skel::replicated(...).");
  return {};
}

}  // namespace skel
