// The errors that a caller can see. docs/reference/failure-contract.md states when each is thrown, on which
// ranks, and what can still be used afterwards.
#pragma once

#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#if defined(__GNUC__) && (!defined(__cpp_exceptions) || !defined(__GXX_RTTI))
#error \
    "skel reports errors by exceptions and compares types by typeid: compile without -fno-exceptions and -fno-rtti"
#endif

namespace skel {

/// Base of all errors that skel throws. what() is one line, without the program's name.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Bad options, bad input, or choices that exclude each other. Thrown before anything is computed.
class usage_error : public error {
 public:
  using error::error;
};

/// A task function threw. Every rank throws the same task_error after the run has drained.
class task_error : public error {
 public:
  /// Reports that task `task` threw `text` on `rank` and that `more` other tasks failed too.
  task_error(std::uint64_t task, int rank, std::string const& text, std::uint64_t more);
  /// The number of the task.
  [[nodiscard]] std::uint64_t task() const noexcept { return task_; }
  /// The rank on which it threw.
  [[nodiscard]] int rank() const noexcept { return rank_; }
  /// what() of the exception that the task threw.
  [[nodiscard]] std::string const& text() const noexcept { return text_; }
  /// The number of further tasks that failed in the same run.
  [[nodiscard]] std::uint64_t more() const noexcept { return more_; }

 private:
  std::uint64_t task_;
  int rank_;
  std::string text_;
  std::uint64_t more_;
};

/// The sink threw on the root. Every rank throws the same sink_error after the run has drained.
class sink_error : public error {
 public:
  /// Reports that the sink threw `text` when it received the result of `task`.
  sink_error(std::uint64_t task, std::string const& text);
  /// The task whose result the sink received.
  [[nodiscard]] std::uint64_t task() const noexcept { return task_; }
  /// what() of the exception that the sink threw.
  [[nodiscard]] std::string const& text() const noexcept { return text_; }

 private:
  std::uint64_t task_;
  std::string text_;
};

/// A source of tasks threw, or does not fit the checkpoint.
class source_error : public error {
 public:
  using error::error;
};

/// A rank was lost that held data no other rank has, such as the root of a farm.
class lost_rank_error : public error {
 public:
  /// Reports the loss of `rank`.
  lost_rank_error(int rank, std::string const& text) : error(text), rank_(rank) {}
  /// The rank that was lost.
  [[nodiscard]] int rank() const noexcept { return rank_; }

 private:
  int rank_;
};

/// A call of the MPI library failed.
class mpi_error : public error {
 public:
  /// Reports that `call` returned `code`, which MPI describes as `text`.
  mpi_error(std::string const& call, int code, std::string const& text, int rank);
  /// The error code of the MPI library.
  [[nodiscard]] int code() const noexcept { return code_; }
  /// The rank that made the call.
  [[nodiscard]] int rank() const noexcept { return rank_; }

 private:
  int code_;
  int rank_;
};

/// The ranks do not make the same call (they differ in skeleton, schedule, number of tasks, type or
/// program), or a message cannot be read. Names the rank that differs.
class protocol_error : public error {
 public:
  using error::error;
};

namespace detail {

[[noreturn]] void refuse_count(std::string_view where, std::string_view what, std::int64_t n,
                               std::uint64_t least);

/// Throws usage_error `where: what must be at least ..., found ...`. Detects negative numbers
/// converted to unsigned by their highest bit.
template <std::unsigned_integral N>
void require_count(std::string_view where, std::string_view what, N n, std::uint64_t least = 0) {
  auto const given = static_cast<std::make_signed_t<N>>(n);
  if (given < 0 || n < least) refuse_count(where, what, given, least);
}

/// Throws usage_error unless `seconds` is at least 0. Infinity is allowed.
void require_seconds(std::string_view where, std::string_view what, double seconds);

}  // namespace detail

}  // namespace skel
