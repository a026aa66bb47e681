#include "skel/error.hpp"

#include "format.hpp"

namespace skel {

namespace {

std::string and_more(std::uint64_t more) { return more == 0 ? "" : detail::format(" (and {} more)", more); }

}  // namespace

task_error::task_error(std::uint64_t task, int rank, std::string const& text, std::uint64_t more)
    : error(detail::format("task {} failed on rank {}: {}{}", task, rank, text, and_more(more))),
      task_(task),
      rank_(rank),
      text_(text),
      more_(more) {}

sink_error::sink_error(std::uint64_t task, std::string const& text)
    : error(detail::format("the sink failed on the result of task {}: {}", task, text)),
      task_(task),
      text_(text) {}

mpi_error::mpi_error(std::string const& call, int code, std::string const& text, int rank)
    : error(detail::format("{} failed on rank {}: {} (code {})", call, rank, text, code)),
      code_(code),
      rank_(rank) {}

namespace detail {

void refuse_count(std::string_view where, std::string_view what, std::int64_t n, std::uint64_t least) {
  throw usage_error(detail::format("{}: {} must be at least {}, found {}", where, what, least, n));
}

void require_seconds(std::string_view where, std::string_view what, double seconds) {
  if (!(seconds >= 0))
    throw usage_error(
        detail::format("{}: {} must be a number of seconds from 0 on, found {}", where, what, seconds));
}

}  // namespace detail

}  // namespace skel
