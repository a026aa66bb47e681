#include "skel/detail/result_store.hpp"

#include <atomic>

namespace skel::detail {

bool one_at_a_time::enter() { return !std::atomic_ref(busy_).exchange(true, std::memory_order_acquire); }

void one_at_a_time::leave() { std::atomic_ref(busy_).store(false, std::memory_order_release); }

}  // namespace skel::detail
