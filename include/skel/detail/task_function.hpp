// Calls the task function of a farm, which may take a worker_info or a team.
#pragma once

#include <type_traits>
#include <utility>

#include "skel/detail/conversion.hpp"
#include "skel/sink.hpp"
#include "skel/worker.hpp"

namespace skel::detail {

template <class F, class Task>
inline constexpr bool takes_worker = std::is_invocable_v<F const&, Task const&, worker_info const&>;

template <class F, class Task>
inline constexpr bool takes_team = !takes_worker<F, Task> && !std::is_invocable_v<F const&, Task const&> &&
                                   std::is_invocable_v<F const&, context&, Task const&>;

/// The type of F's parameter that receives the task, or `unseen`.
template <class F, class Task>
using task_parameter = std::remove_cvref_t<parameter<F, takes_team<F, Task> ? 1 : 0>>;
inline constexpr auto* task_parameter_name = "farm: the parameter of the task function";

/// `team` is null unless the function takes one.
template <class F, class Task>
decltype(auto) call_task(F const& f, Task const& given, worker_info const& where, context* team) {
  auto&& task = as_parameter<task_parameter<F, Task>>(given);
  if constexpr (takes_team<F, Task>)
    return f(*team, task);
  else if constexpr (takes_worker<F, Task>)
    return static_cast<void>(team), f(task, where);
  else
    return static_cast<void>(team), static_cast<void>(where), f(task);
}

template <class F, class Task>
struct task_result {
  using raw = std::remove_cvref_t<decltype(call_task(std::declval<F const&>(), std::declval<Task const&>(),
                                                     std::declval<worker_info const&>(),
                                                     static_cast<context*>(nullptr)))>;
  using type = std::conditional_t<std::is_void_v<raw>, no_result, raw>;
};

}  // namespace skel::detail
