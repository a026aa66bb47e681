// Calls the user's code and captures its exceptions.
#pragma once

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>

namespace skel::detail {

/// Thrown when the engine fails between two slices of a quantum. Not the task's fault, although it
/// propagates through the code that runs the task.
struct wires_failed {
  std::exception_ptr why;
};

/// Calls code of the library from within thrown_by().
template <class F>
void not_of_the_user(F&& f) {
  try {
    std::forward<F>(f)();
  } catch (...) {
    throw wires_failed{std::current_exception()};
  }
}

/// Calls the user's code and returns the text of its exception, if any.
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
