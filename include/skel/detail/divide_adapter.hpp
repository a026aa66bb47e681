// Adapter of divide_and_conquer: presents the user's problem and job as a divide_work.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "skel/bytes.hpp"
#include "skel/detail/contents.hpp"
#include "skel/detail/divide_work.hpp"
#include "skel/detail/type_names.hpp"
#include "skel/divide_and_conquer.hpp"
#include "skel/transfer.hpp"

namespace skel {

namespace detail {

// The number of problems that each division on the way down made. Solutions are combined once that
// many are complete.
using division_counts = std::vector<std::uint32_t>;

template <class Problem>
struct typed_problem final : divide_problem {
  std::vector<Problem> items;
  division_counts divisions;
};

template <class Solution>
struct typed_solution final : divide_solution {
  std::vector<Solution> items;
  division_counts divisions;
};

template <class T>
void pack_items(std::vector<T> const& items, division_counts const& divisions, std::vector<std::byte>& out) {
  bytes::put_varint(out, divisions.size());
  for (auto const n : divisions) bytes::put_varint(out, n);
  bytes::put_varint(out, items.size());
  for (auto const& item : items) skel::pack(item, out);
}

template <class T>
void unpack_items(std::span<std::byte const> in, std::vector<T>& items, division_counts& divisions,
                  std::shared_ptr<void const> const& owner = nullptr) {
  for (auto n = bytes::get_varint(in); n > 0; --n)
    divisions.push_back(static_cast<std::uint32_t>(bytes::get_varint(in)));
  for (auto n = bytes::get_varint(in); n > 0; --n) {
    if (owner)
      items.push_back(skel::unpack<T>(in, owner));
    else
      items.push_back(skel::unpack<T>(in));
  }
}

template <class S>
inline constexpr bool is_replicated_problem = false;
template <class P>
inline constexpr bool is_replicated_problem<replicated_problem<P>> = true;

template <class Source, class Job>
class divide_work_of final : public divide_work {
  using problem = typename Job::problem;
  using solution = typename Job::solution;
  using problems = typed_problem<problem>;
  using solutions = typed_solution<solution>;

 public:
  divide_work_of(Source& source, Job const& job) : source_(source), job_(job) {}

  [[nodiscard]] std::string types() const override { return type_names(typeid(problem), typeid(solution)); }
  [[nodiscard]] std::string function() const override { return typeid(Job).name(); }
  [[nodiscard]] std::optional<std::uint64_t> contents(std::optional<bool> check) const override {
    if constexpr (is_replicated_problem<Source>)
      return value_contents(static_cast<problem const&>(source_.problem), check);
    else
      return static_cast<void>(check), std::nullopt;
  }
  [[nodiscard]] bool solves_with_threads() const override {
    return detail::solves_with_threads<Job> && !knows_small<Job>;
  }

  [[nodiscard]] problem_ptr open(int depth) override {
    auto p = std::make_shared<problems>();
    if constexpr (is_on_root<Source>)
      p->items.push_back(source_.open());
    else
      p->items.push_back(source_.problem);
    p->divisions.assign(static_cast<std::size_t>(depth), 2);  // parts are combined in pairs
    return p;
  }

  [[nodiscard]] std::optional<std::pair<problem_ptr, problem_ptr>> divide(divide_problem const& p,
                                                                          double share) const override {
    auto const& from = static_cast<problems const&>(p);
    auto items = from.items;
    auto divisions = from.divisions;
    if (items.size() == 1) {
      if (is_undivided(items.front())) return std::nullopt;
      items = divided(items.front(), share);
      divisions.push_back(static_cast<std::uint32_t>(items.size()));
    }
    auto const exact = static_cast<double>(items.size()) * share;
    auto const below = static_cast<std::ptrdiff_t>(exact);
    auto const rounded = exact - static_cast<double>(below) < 0.5 ? below : below + 1;
    auto const most = static_cast<std::ptrdiff_t>(items.size()) - 1;
    auto const left = rounded < 1 ? 1 : rounded < most ? rounded : most;
    auto const half = [&](auto begin, auto end) {
      auto h = std::make_shared<problems>();
      h->items.assign(std::make_move_iterator(begin), std::make_move_iterator(end));
      h->divisions = divisions;
      return problem_ptr(std::move(h));
    };
    return std::pair{half(items.begin(), items.begin() + left), half(items.begin() + left, items.end())};
  }

  [[nodiscard]] solution_ptr solve(divide_problem const& p, unsigned threads) const override {
    auto const& from = static_cast<problems const&>(p);
    auto s = std::make_unique<solutions>();
    s->divisions = from.divisions;
    for (auto const& item : from.items) s->items.push_back(solved(item, threads, 0));
    return s;
  }

  [[nodiscard]] solution_ptr combine(solution_ptr left, solution_ptr right) const override {
    auto* const s = static_cast<solutions*>(left.get());
    auto& more = static_cast<solutions&>(*right).items;
    s->items.insert(s->items.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
    if (!s->divisions.empty() && s->items.size() == s->divisions.back()) {
      s->divisions.pop_back();
      auto all = combined(std::move(s->items));
      s->items.clear();
      s->items.push_back(std::move(all));
    }
    return left;
  }

  [[nodiscard]] problem_sizes measure(divide_problem const& p) const override {
    problem_sizes sizes;
    if constexpr (measures<Job>) {
      auto const& items = static_cast<problems const&>(p).items;
      for (auto const& item : items) {  // the cost of a group of problems is the sum of their sizes
        problem_sizes const more = job_.measure(item);
        if (sizes.empty())
          sizes = more;
        else
          for (std::size_t i = 0; i < sizes.size() && i < more.size(); ++i) sizes[i].second += more[i].second;
      }
    }
    return sizes;
  }

  void pack(divide_problem const& p, std::vector<std::byte>& out) const override {
    // Only a problem on the root travels; other problems need not be transferable.
    if constexpr (is_on_root<Source>) {
      auto const& from = static_cast<problems const&>(p);
      pack_items(from.items, from.divisions, out);
    }
  }
  void pack(divide_solution const& s, std::vector<std::byte>& out) const override {
    auto const& from = static_cast<solutions const&>(s);
    pack_items(from.items, from.divisions, out);
  }
  [[nodiscard]] problem_ptr unpack_problem(std::span<std::byte const> in) const override {
    auto p = std::make_shared<problems>();
    if constexpr (is_on_root<Source>) unpack_items(in, p->items, p->divisions);
    return p;
  }
  [[nodiscard]] solution_ptr unpack_solution(std::span<std::byte const> in,
                                             std::shared_ptr<void const> const& owner) const override {
    auto s = std::make_unique<solutions>();
    unpack_items(in, s->items, s->divisions, owner);
    return s;
  }

 private:
  [[nodiscard]] bool is_undivided(problem const& p) const {
    if constexpr (knows_small<Job>)
      if (job_.small(p)) return true;
    return job_.trivial(p);
  }

  [[nodiscard]] std::vector<problem> divided(problem const& p, double share) const {
    std::vector<problem> items;
    constexpr double even = 0.5;
    if constexpr (divides_unevenly<Job>)
      if (share != even)
        for (auto& part : job_.divide(p, share)) items.push_back(std::move(part));
    if (!divides_unevenly<Job> || share == even)
      for (auto&& part : job_.divide(p)) items.push_back(std::move(part));
    if (items.size() < 2) throw error("divide returned fewer than two problems");
    return items;
  }

  [[nodiscard]] solution combined(std::vector<solution> all) const {
    if constexpr (combines_all<Job>) {
      return job_.combine(std::move(all));
    } else {
      solution sum = std::move(all.front());
      for (std::size_t i = 1; i < all.size(); ++i) sum = job_.combine(std::move(sum), std::move(all[i]));
      return sum;
    }
  }

  // Upper bound on nested divisions. Without it, a problem that never becomes trivial would end in
  // a stack overflow without a message.
  static constexpr unsigned most_divisions = 10000;

  [[nodiscard]] solution recursion(problem const& p, unsigned threads, unsigned depth) const {
    if (depth == most_divisions)
      throw error("a problem is not trivial after " + std::to_string(depth) +
                  " nested divisions: repeated division must lead to a trivial problem");
    std::vector<solution> all;
    constexpr double even = 0.5;
    for (auto const& part : divided(p, even)) all.push_back(solved(part, threads, depth + 1));
    return combined(std::move(all));
  }

  [[nodiscard]] solution solved(problem const& p, unsigned threads, unsigned depth) const {
    if (job_.trivial(p)) return job_.conquer(p);
    if constexpr (knows_small<Job>)
      if (!job_.small(p)) return recursion(p, threads, depth);
    if constexpr (detail::solves_with_threads<Job>)
      return job_.solve(p, threads);
    else if constexpr (solves<Job>)
      return job_.solve(p);
    else
      return recursion(p, threads, depth);
  }

  Source& source_;
  Job const& job_;
};

}  // namespace detail

template <problem_source Source, class Job>
result<placed_solution<detail::solution_of<Job>>> divide_and_conquer(
    context& ctx, Source&& source, Job const& job, any_division const& how,
    divide_and_conquer_options const& options) {
  static_assert(divide_and_conquer_problem<Job>,
                "skel::divide_and_conquer: the job must have nested types problem and solution, and const "
                "members bool trivial(problem const&), solution conquer(problem const&), divide(problem "
                "const&) that returns an array or vector of problems, and solution combine(solution, "
                "solution) or combine(std::vector<solution>). None of them may take or return another "
                "arithmetic type, which would change values.");
  if constexpr (divide_and_conquer_problem<Job>) {
    using source_type = std::remove_cvref_t<Source>;
    using problem = typename Job::problem;
    using solution = typename Job::solution;
    constexpr bool same_problem =
        std::is_convertible_v<typename detail::problem_of<source_type>::type, problem> &&
        detail::holds_small<typename detail::problem_of<source_type>::type, problem>();
    constexpr bool problem_travels = is_on_root<source_type>;
    static_assert(same_problem, "skel::divide_and_conquer: the source must provide the job's problem type.");
    static_assert(detail::can_travel<problem, problem_travels>(),
                  "skel::divide_and_conquer: the problem type cannot be sent. Make it a plain struct "
                  "without pointers or views, give it a serialize() function (skel/serialization.hpp), or "
                  "specialise skel::transfer_traits; or use a "
                  "replicated_problem.");
    static_assert(detail::can_travel<solution>(),
                  "skel::divide_and_conquer: the solution type cannot be sent. Make it a plain struct "
                  "without pointers or views, give it a serialize() function (skel/serialization.hpp), or "
                  "specialise skel::transfer_traits.");
    result<placed_solution<solution>> all;
    if constexpr (same_problem && transferable<solution> && (!problem_travels || transferable<problem>)) {
      constexpr auto from = problem_travels                              ? division::placement::on_root
                            : detail::is_replicated_problem<source_type> ? division::placement::everywhere
                                                                         : division::placement::in_parts;
      auto const kind = detail::kind_of(how, from);
      detail::divide_work_of<source_type, Job> work(const_cast<source_type&>(source), job);
      detail::solution_ptr mine;
      all.report = detail::run_divide_and_conquer(ctx, work, kind, options, mine);
      all.value.where = kind.to;
      if (mine) all.value.parts = std::move(static_cast<detail::typed_solution<solution>&>(*mine).items);
    }
    return all;
  } else {
    return {};
  }
}

// Anything else than a source.
template <class Source, class Job, class... More>
  requires(!problem_source<Source>)
result<placed_solution<detail::solution_of<Job>>> divide_and_conquer(context&, Source&&, Job const&,
                                                                     More&&...) {
  static_assert(detail::never<Source>,
                "skel::divide_and_conquer: the problem comes from skel::on_root(function), "
                "skel::replicated_problem{...} or skel::own_part{...}: wrap a problem that every rank has in "
                "skel::replicated_problem{...}.");
  return {};
}

}  // namespace skel
