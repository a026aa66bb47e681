#include "call_memory.hpp"

namespace skel::detail {

call_memory::call_memory(call_entry const& entry, call_description const& call)
    : call_(call),
      engine_(context_access::engine_of(entry.ctx)),
      job_(context_access::is_observed(entry.ctx) ? engine_.job.memory.get() : nullptr),
      is_root_(entry.ctx.is_root()),
      began_(engine_.now()) {}

bool call_memory::keeps_value(std::size_t bytes) const {
  // Without spare ranks the next attempt begins with the end of the root.
  bool const may_need = !is_root_ || engine_.wires().carrier().spares() > 0;
  return job_ != nullptr && may_need && remembered_results::pays(bytes, engine_.now() - began_);
}

void call_memory::keep_value(std::uint64_t tasks, std::span<std::byte const> value) {
  if (keeps_value(value.size()) && this->value() == nullptr) job_->add(id(), {{0, tasks, 1}}, value);
}

remembered_results::piece const* call_memory::value() {
  if (job_ == nullptr) return nullptr;
  auto const found = pieces();
  return found.empty() ? nullptr : found.front();
}

}  // namespace skel::detail
