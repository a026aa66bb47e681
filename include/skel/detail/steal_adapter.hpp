// Adapter of ring_steal: presents the user's source and job as a steal_work.
#pragma once

#include <atomic>
#include <cstddef>
#include <iterator>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "skel/bytes.hpp"
#include "skel/detail/contents.hpp"
#include "skel/detail/steal_bound.hpp"
#include "skel/detail/steal_work.hpp"
#include "skel/detail/type_names.hpp"
#include "skel/ring_steal.hpp"
#include "skel/sink.hpp"
#include "skel/transfer.hpp"

namespace skel {

namespace detail {

// Checks of run and merge, possible if they are neither overloaded nor templates.
template <class Job>
constexpr bool run_adds_to_copy() {
  constexpr std::size_t sum = 2;
  if constexpr (requires { &Job::run; })
    return takes_copy<decltype(&Job::run), sum>;
  else
    return false;
}
template <class Job>
constexpr bool merge_receives_results() {
  if constexpr (requires { &Job::merge; })
    return receives<decltype(&Job::merge), typename Job::result, typename Job::result>;
  else
    return true;
}

inline constexpr auto* steal_task_name = "ring_steal: the job's task type";

// Each compute thread owns one of each, on separate cache lines: sharing lines makes two threads as
// slow as one.
inline constexpr std::size_t own_lines = 128;

template <class Task>
struct alignas(own_lines) typed_bag final : task_bag {
  std::vector<Task> tasks;
  std::size_t first = 0;  // tasks before it have been moved away
  [[nodiscard]] std::size_t size() const override { return tasks.size() - first; }
};

template <class Result>
struct alignas(own_lines) typed_merged final : merged_result {
  Result value{};
};

template <class Source, class Job>
class steal_work_of final : public steal_work {
  using task = typename Job::task;
  using result = typename Job::result;
  using bag = typed_bag<task>;
  using cell = typed_merged<result>;
  static constexpr bool bounded = !std::is_void_v<bound_of<Job>>;

 public:
  steal_work_of(Source& source, Job const& job) : source_(source), job_(job) {}

  [[nodiscard]] std::string types() const override {
    auto names = type_names(typeid(task), typeid(result));
    if constexpr (bounded)
      return names + ", bound " + typeid(bound_of<Job>).name();
    else
      return names;
  }
  [[nodiscard]] std::string function() const override { return typeid(Job).name(); }
  [[nodiscard]] std::optional<std::uint64_t> tasks() const override {
    if constexpr (is_on_root<Source>)
      return std::nullopt;
    else
      return source_.size();
  }
  [[nodiscard]] std::optional<std::uint64_t> contents(std::optional<bool> check) const override {
    if constexpr (is_on_root<Source>)
      return static_cast<void>(check), std::nullopt;
    else
      return list_contents(source_, check);
  }
  [[nodiscard]] std::optional<std::uint64_t> members() const override { return members_of(job_); }
  [[nodiscard]] std::atomic<std::uint64_t>* bound() override {
    if constexpr (bounded)
      return &best_.key();
    else
      return nullptr;
  }
  [[nodiscard]] std::unique_ptr<task_bag> make_bag() const override { return std::make_unique<bag>(); }
  [[nodiscard]] std::unique_ptr<merged_result> make_result() const override {
    return std::make_unique<cell>();
  }

  void open_source(task_bag& into) override {
    auto& tasks = static_cast<bag&>(into).tasks;
    auto const add = [&tasks](auto&& t) {
      require_held<task>(steal_task_name, t);
      if constexpr (std::integral<task>)
        tasks.push_back(as_parameter<task>(t));
      else
        tasks.push_back(std::forward<decltype(t)>(t));
    };
    if constexpr (is_on_root<Source>) {
      for (auto&& t : source_.open()) add(std::forward<decltype(t)>(t));
    } else {
      for (std::uint64_t i = 0; i < source_.size(); ++i) add(source_[i]);
    }
  }

  void run(task_bag& from, merged_result& into, std::uint64_t most, std::uint64_t& done,
           worker_info const& where) const override {
    auto& b = static_cast<bag&>(from);
    auto& c = static_cast<cell&>(into);
    // Local variables while tasks run: writes of a task cannot reach them, so they stay in
    // registers.
    struct borrowed {
      bag& home_of_tasks;
      cell& home_of_sum;
      std::uint64_t& home_of_done;
      std::vector<task> tasks = std::move(home_of_tasks.tasks);
      result sum = std::move(home_of_sum.value);
      std::uint64_t done = home_of_done;
      ~borrowed() {  // also if a task throws
        home_of_tasks.tasks = std::move(tasks);
        home_of_sum.value = std::move(sum);
        home_of_done = done;
      }
    } mine{b, c, done};
    std::size_t const first = b.first;
    auto more = spawner_into(mine.tasks);
    for (; mine.done < most && mine.tasks.size() > first; ++mine.done) {
      task const next = std::move(mine.tasks.back());
      mine.tasks.pop_back();
      if constexpr (runs_tasks_with_worker<Job>)
        job_.run(next, more, mine.sum, where);
      else
        job_.run(next, more, mine.sum);
    }
  }

  void move_oldest(task_bag& from, std::size_t n, task_bag& to) const override {
    auto& a = static_cast<bag&>(from);
    auto const begin = a.tasks.begin() + static_cast<std::ptrdiff_t>(a.first);
    append(begin, begin + static_cast<std::ptrdiff_t>(n), static_cast<bag&>(to));
    a.first += n;
    if (a.first * 2 < a.tasks.size()) return;
    a.tasks.erase(a.tasks.begin(), a.tasks.begin() + static_cast<std::ptrdiff_t>(a.first));
    a.first = 0;
  }
  void move_newest(task_bag& from, std::size_t n, task_bag& to) const override {
    auto& a = static_cast<bag&>(from);
    auto& b = static_cast<bag&>(to);
    if (n == a.size() && b.size() == 0) {
      std::swap(a.tasks, b.tasks);
      std::swap(a.first, b.first);
      a.tasks.clear();
      a.first = 0;
      return;
    }
    append(a.tasks.end() - static_cast<std::ptrdiff_t>(n), a.tasks.end(), b);
    a.tasks.erase(a.tasks.end() - static_cast<std::ptrdiff_t>(n), a.tasks.end());
  }

  void merge(merged_result& into, merged_result& from) const override {
    auto& a = static_cast<cell&>(into).value;
    a = job_.merge(std::move(a), std::move(static_cast<cell&>(from).value));
  }

  void pack_bag(task_bag const& from, std::vector<std::byte>& out) const override {
    auto const& b = static_cast<bag const&>(from);
    bytes::put_varint(out, b.size());
    for (std::size_t i = b.first; i < b.tasks.size(); ++i) pack(b.tasks[i], out);
  }
  void unpack_bag(std::span<std::byte const>& in, task_bag& into) const override {
    auto& tasks = static_cast<bag&>(into).tasks;
    for (auto n = bytes::get_varint(in); n > 0; --n) tasks.push_back(unpack<task>(in));
  }
  void pack_result(merged_result const& from, std::vector<std::byte>& out) const override {
    pack(static_cast<cell const&>(from).value, out);
  }
  void unpack_result(std::span<std::byte const>& in, merged_result& into) const override {
    static_cast<cell&>(into).value = unpack<result>(in);
  }

 private:
  [[nodiscard]] spawner_of<Job> spawner_into(std::vector<task>& tasks) const {
    if constexpr (bounded)
      return {tasks, best_};
    else
      return spawner_of<Job>(tasks);
  }
  template <class It>
  static void append(It begin, It end, bag& to) {
    to.tasks.insert(to.tasks.end(), std::make_move_iterator(begin), std::make_move_iterator(end));
  }
  struct none {};
  Source& source_;
  Job const& job_;
  // Compute threads change it in run(), which is const.
  alignas(own_lines) mutable std::conditional_t<bounded, best_known<bound_of<Job>>, none> best_{};
};

}  // namespace detail

template <task_source Source, class Job, std::same_as<schedule::stealing> S>
skel::result<detail::result_of<Job>> ring_steal(context& ctx, Source&& source, Job const& job, S const& how,
                                                ring_steal_options const& options) {
  static_assert(
      spawning_task<Job>,
      "skel::ring_steal: the job must have nested types task and result, and const members "
      "run(task const&, spawner<task>&, result&) and result merge(result, result). With a nested type "
      "bound, skel::maximise<T> or skel::minimise<T>, run takes a spawner<task, bound>&.");
  if constexpr (spawning_task<Job>) {
    using source_type = std::remove_cvref_t<Source>;
    using task = typename Job::task;
    using result = typename Job::result;
    static_assert(
        !detail::run_adds_to_copy<Job>(),
        "skel::ring_steal: run must take the result by reference, result&: additions to a copy are lost.");
    static_assert(detail::merge_receives_results<Job>(),
                  "skel::ring_steal: merge must take values of the result type: another arithmetic type "
                  "would change them.");
    constexpr bool same_task = std::is_convertible_v<detail::source_task<source_type>, task> &&
                               detail::holds_numbers<detail::source_task<source_type>, task>();
    static_assert(same_task, "skel::ring_steal: the source's elements must be the job's tasks.");
    static_assert(detail::can_travel<task>(),
                  "skel::ring_steal: the task type cannot be sent. Make it a plain struct without "
                  "pointers or views, give it a serialize() function (skel/serialization.hpp), or specialise "
                  "skel::transfer_traits.");
    static_assert(detail::can_travel<result>(),
                  "skel::ring_steal: the result type cannot be sent. Make it a plain struct without "
                  "pointers or views, give it a serialize() function (skel/serialization.hpp), or specialise "
                  "skel::transfer_traits.");
    static_assert(exact_merge<result>,
                  "skel::ring_steal: results merge in any order, so the result type must merge exactly: use "
                  "an integer or a type of skel/exact_merges.hpp, or specialise skel::exact_merge.");
    skel::result<result> all;
    if constexpr (same_task && transferable<task> && transferable<result>) {
      detail::require_all_held<task>(detail::steal_task_name, source);
      detail::steal_work_of<source_type, Job> work(const_cast<source_type&>(source), job);
      detail::typed_merged<result> total;
      all.report = detail::run_ring_steal(ctx, work, how, options, total);
      all.value = std::move(total.value);
    }
    return all;
  } else {
    return {};
  }
}

template <task_source Source, class Job>
skel::result<detail::result_of<Job>> ring_steal(context& ctx, Source&& source, Job const& job,
                                                ring_steal_options const& options) {
  return ring_steal(ctx, source, job, schedule::stealing{}, options);
}

// Anything else than a source.
template <class Source, class Job, class... More>
  requires(!task_source<Source>)
skel::result<detail::result_of<Job>> ring_steal(context&, Source&&, Job const&, More&&...) {
  static_assert(detail::never<Source>,
                "skel::ring_steal: the tasks come from skel::indices(n), skel::replicated(list) or "
                "skel::on_root(function): wrap a list that every rank has in skel::replicated(...).");
  return {};
}

}  // namespace skel
