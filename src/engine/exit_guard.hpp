// exit() inside a task would end the rank with the task's code, and no result, as if all were well.
#pragma once

namespace skel::detail {

class engine;

/// A call begins on this engine, or ends. While one is in progress, exit() ends the process as
/// engine::end_by_exit() says.
void guard_exit(engine& of, bool begins);

}  // namespace skel::detail
