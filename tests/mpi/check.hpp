// Checks of programs that run under mpiexec. A failed check throws: run_main then ends all ranks with one
// line.
#pragma once

#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace test {

inline void check(bool ok, std::string_view what,
                  std::source_location where = std::source_location::current()) {
  if (ok) return;
  std::string_view file = where.file_name();
  file.remove_prefix(file.rfind('/') + 1);
  throw std::runtime_error(std::string(file) + ":" + std::to_string(where.line()) + ": " + std::string(what));
}

template <class A, class B>
void check_equal(A const& a, B const& b, std::string_view what,
                 std::source_location where = std::source_location::current()) {
  if constexpr (requires { std::to_string(a) + std::to_string(b); })
    check(a == b, std::string(what) + ": " + std::to_string(a) + " is not " + std::to_string(b), where);
  else if constexpr (requires { std::string(a) + std::string(b); })
    check(std::string(a) == std::string(b),
          std::string(what) + ": \"" + std::string(a) + "\" is not \"" + std::string(b) + "\"", where);
  else
    check(a == b, what, where);
}

/// The exception of type E that `call` throws; anything else fails the test.
template <class E, class F>
E thrown_by(F&& call, std::string_view what, std::source_location where = std::source_location::current()) {
  try {
    call();
  } catch (E const& e) {
    return e;
  } catch (std::exception const& e) {
    check(false, std::string(what) + " threw another exception: " + e.what(), where);
  }
  check(false, std::string(what) + " threw nothing", where);
  throw std::logic_error("unreachable");
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// A result that depends on every bit of its task.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace test
