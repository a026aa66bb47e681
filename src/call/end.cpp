#include "end.hpp"

#include <algorithm>
#include <utility>

#include "base/format.hpp"
#include "skel/error.hpp"

namespace skel::detail {

call_end::call_end(engine& of, stop_condition stop, std::optional<double> limit)
    : engine_(of), stop_(std::move(stop)), time_limit_(limit) {
  if (time_limit_) *time_limit_ += of.now();
}

std::optional<double> call_end::latest() const {
  auto const& job = engine_.job.ends;
  return time_limit_ && job ? std::min(*time_limit_, *job) : time_limit_ ? time_limit_ : job;
}

bool call_end::stop_due() {
  if (stop_sent_) return false;
  stop_sent_ = (time_limit_ && engine_.now() >= *time_limit_) || stop_.stop_requested() ||
               (!is_nested_ && engine_.calls().stop_requested().load());
  return stop_sent_;
}

void call_end::peer_left(std::string const& text) {
  if (!left_) left_ = {engine_.now(), text};
}

std::optional<std::string> call_end::missed_by_root() const {
  constexpr double patience_with_root = 5;  // it may have ended the call: its word is under way
  if (!left_ || engine_.now() - left_->since <= patience_with_root) return std::nullopt;
  return left_->text;
}

report call_end::result_or_throw(report r) const {
  if (error_) std::rethrow_exception(error_);
  auto const& o = *outcome_;
  switch (o.how) {
    case role::outcome::status::task_failed:
      throw task_error(o.task, o.rank, o.text, o.more);
    case role::outcome::status::sink_failed:
      throw sink_error(o.task, o.text);
    case role::outcome::status::source_failed:
      throw source_error("the source of tasks failed: " + o.text);
    case role::outcome::status::part_lost:
      throw lost_rank_error(o.rank,
                            detail::format("lost rank {}, which held data that no other rank has", o.rank));
    case role::outcome::status::refused:
      throw usage_error(o.text);
    default:
      return r;
  }
}

}  // namespace skel::detail
