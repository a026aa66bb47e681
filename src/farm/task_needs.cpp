#include "skel/task_needs.hpp"

#include "base/format.hpp"
#include "call/call_description.hpp"
#include "skel/error.hpp"

namespace skel {

void needs_of_task::check(std::type_info const& tasks) const {
  if (takes_ == nullptr || *takes_ == tasks) return;
  throw usage_error(detail::format("farm: the function of task.needs takes {}, but the tasks are {}",
                                   detail::demangled(takes_->name()), detail::demangled(tasks.name())));
}

}  // namespace skel
