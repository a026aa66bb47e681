// Guards against exit() inside a task, which would end the rank with the task's exit code and no
// result.
#pragma once

namespace skel::detail {

class engine;

/// Marks the beginning or end of a call on this engine. During a call, exit() ends the process as
/// described at engine::end_by_exit().
void guard_exit(engine& of, bool begins);

}  // namespace skel::detail
