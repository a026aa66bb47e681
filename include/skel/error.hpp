// The errors a caller can see. docs/failure-contract.md says which is thrown when, on which ranks, and what
// can still be used afterwards.
#pragma once

#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace skel {

/// Base of all errors thrown by skel. what() is one line, without the program's name.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Bad options, bad input, or choices that exclude each other. Found before anything was computed.
class usage_error : public error {
 public:
  using error::error;
};

/// A task function threw. Every rank throws the same task_error after the run has drained.
class task_error : public error {
 public:
  task_error(std::uint64_t task, int rank, std::string const& text, std::uint64_t more);
  [[nodiscard]] std::uint64_t task() const noexcept { return task_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  /// what() of the exception that the task threw
  [[nodiscard]] std::string const& text() const noexcept { return text_; }
  /// how many further tasks failed in the same run
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
  sink_error(std::uint64_t task, std::string const& text);
  [[nodiscard]] std::uint64_t task() const noexcept { return task_; }
  [[nodiscard]] std::string const& text() const noexcept { return text_; }

 private:
  std::uint64_t task_;
  std::string text_;
};

/// The source of an on_root farm threw while tasks were pulled from it.
class source_error : public error {
 public:
  using error::error;
};

/// A rank was lost that held what nobody else has (for a farm: the root).
class lost_rank_error : public error {
 public:
  lost_rank_error(int rank, std::string const& text) : error(text), rank_(rank) {}
  [[nodiscard]] int rank() const noexcept { return rank_; }

 private:
  int rank_;
};

/// A call of the MPI library failed.
class mpi_error : public error {
 public:
  mpi_error(std::string const& call, int code, std::string const& text, int rank);
  [[nodiscard]] int code() const noexcept { return code_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }

 private:
  int code_;
  int rank_;
};

/// The ranks of one run do not agree about it (another skeleton, schedule, task count, type or program), or a
/// message could not be understood. Names the rank that differs.
class protocol_error : public error {
 public:
  using error::error;
};

namespace detail {

[[noreturn]] void refuse_count(std::string_view where, std::string_view what, std::int64_t n,
                               std::uint64_t least);

/// Throws usage_error `where: what must be at least ..., got ...`. No count has its highest bit set, but a
/// negative number that became one has.
template <std::unsigned_integral N>
void require_count(std::string_view where, std::string_view what, N n, std::uint64_t least = 0) {
  auto const given = static_cast<std::make_signed_t<N>>(n);
  if (given < 0 || n < least) refuse_count(where, what, given, least);
}

/// Throws usage_error unless `seconds` is a number from 0 on, infinity included.
void require_seconds(std::string_view where, std::string_view what, double seconds);

}  // namespace detail

}  // namespace skel
