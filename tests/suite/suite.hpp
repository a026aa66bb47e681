// The contract of collective calls: the same cases on each wire, that is over ranks that are threads of one
// process (wire_threads.cpp), over MPI (wire_mpi.cpp) and on simulated ranks (wire_sim.cpp). Cases with the
// tag [clock] need threads of their own or the real clock, which a simulation does not have.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <source_location>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "skel/farm.hpp"

namespace suite {

/// Calls the body on every rank, in each of the wire's jobs; under MPI there is one. Throws what escapes from
/// the body, and all ranks end.
void on_ranks(std::function<void(skel::context&)> const& body);

/// Lets a task take this long.
void spend(std::chrono::microseconds time);

/// Throws unless the condition holds, as Catch2's own checks must not: they are not for several threads.
inline void check(Catch::ITransientExpression const& holds, char const* text, std::source_location where) {
  if (holds.getResult()) return;
  std::string_view const file = where.file_name();
  std::ostringstream out;
  out << file.substr(file.rfind('/') + 1) << ':' << where.line() << ": " << text << "  (";
  holds.streamReconstructedExpression(out);
  throw std::runtime_error(out.str() + ")");
}
template <class T>
void check(Catch::ExprLhs<T> const& holds, char const* text, std::source_location where) {
  check(static_cast<Catch::ITransientExpression const&>(holds.makeUnaryExpr()), text, where);
}

// clang-format off
#undef CHECK
#define CHECK(...) \
  do { \
    CATCH_INTERNAL_START_WARNINGS_SUPPRESSION CATCH_INTERNAL_SUPPRESS_PARENTHESES_WARNINGS \
    suite::check(Catch::Decomposer() <= __VA_ARGS__, #__VA_ARGS__, std::source_location::current()); \
    CATCH_INTERNAL_STOP_WARNINGS_SUPPRESSION \
  } while (false)
// clang-format on

/// The exception of type E that `call` throws.
template <class E, class F>
E thrown_by(F&& call, std::source_location where = std::source_location::current()) {
  try {
    call();
  } catch (E const& e) {
    return e;
  }
  throw std::runtime_error("line " + std::to_string(where.line()) + ": nothing was thrown");
}
/// The same, and its text must be the same on all ranks.
template <class E, class F>
E thrown_by(skel::context& ctx, F&& call, std::source_location where = std::source_location::current()) {
  auto e = thrown_by<E>(std::forward<F>(call), where);
  ctx.require_same(std::string("the text \"") + e.what() + '"', e.what());
  return e;
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

constexpr std::uint64_t add(std::uint64_t a, std::uint64_t b) { return a + b; }

/// The sum of the numbers below n, on the root.
inline std::uint64_t sum_of(skel::context& ctx, std::uint64_t n) {
  std::uint64_t total = 0;
  skel::farm(
      ctx, skel::indices(n), [](std::uint64_t i) { return i; }, skel::schedule::guided{},
      skel::reduced(total, add));
  return total;
}

/// Checks that the next call works.
inline void usable(skel::context& ctx) {
  auto const total = sum_of(ctx, 100);
  if (ctx.is_root()) CHECK(total == 4950);
}

/// The values of all ranks in their order, on the root.
template <class T>
std::vector<T> gathered(skel::context& ctx, T const& mine) {
  std::vector<T> all;
  skel::farm(
      ctx, skel::indices(static_cast<std::uint64_t>(ctx.size())), [&](std::uint64_t) { return mine; },
      skel::schedule::interleaved{}, skel::into(all));
  return all;
}

/// Every schedule, with options that change what messages travel.
inline constexpr char const* schedules[] = {"blocks",
                                            "interleaved",
                                            "first-come",
                                            "first-come:chunk=3",
                                            "first-come:chunk=3,threshold=2",
                                            "first-come:chunk=2,threshold=0",
                                            "guided",
                                            "guided:min=5",
                                            "hybrid",
                                            "hybrid:cut=10,threshold=0",
                                            "hybrid:cut=0%",
                                            "hybrid:cut=100%",
                                            "ring",
                                            "ring:take=one,order=predecessors",
                                            "ring:order=doubling",
                                            "ring:copies=yes",
                                            "auto"};

}  // namespace suite
