// Calls into code of the user's, and what may come out of them.
#pragma once

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>

namespace skel::detail {

/// What escapes from the engine between two slices of a quantum: not the task's fault, though it passes
/// through where the task ran.
struct wires_failed {
  std::exception_ptr why;
};

/// Calls what is not the user's from within thrown_by().
template <class F>
void not_of_the_user(F&& f) {
  try {
    std::forward<F>(f)();
  } catch (...) {
    throw wires_failed{std::current_exception()};
  }
}

/// Calls code of the user's, and says what it threw.
template <class F>
std::optional<std::string> thrown_by(F&& f) {
  try {
    std::forward<F>(f)();
    return std::nullopt;
  } catch (wires_failed const& failure) {
    std::rethrow_exception(failure.why);
  } catch (std::bad_alloc const&) {
    return "out of memory";
  } catch (std::exception const& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace skel::detail
