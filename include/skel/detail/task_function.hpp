// Calls the task function of a farm, with or without a worker_info.
#pragma once

#include <type_traits>
#include <utility>

#include "skel/sink.hpp"
#include "skel/worker.hpp"

namespace skel::detail {

template <class F, class Task>
inline constexpr bool takes_worker = std::is_invocable_v<F const&, Task const&, worker_info const&>;

template <class F, class Task>
decltype(auto) call_task(F const& f, Task const& task, worker_info const& where) {
  if constexpr (takes_worker<F, Task>)
    return f(task, where);
  else
    return f(task);
}

template <class F, class Task>
struct task_result {
  using raw = std::remove_cvref_t<decltype(call_task(std::declval<F const&>(), std::declval<Task const&>(),
                                                     std::declval<worker_info const&>()))>;
  using type = std::conditional_t<std::is_void_v<raw>, no_result, raw>;
};

}  // namespace skel::detail
