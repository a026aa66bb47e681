#include "size_trial.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "multi_host/role/groups.hpp"

namespace skel::detail {

namespace {
constexpr std::uint64_t trial_pieces = 4;  // per thread
}  // namespace

void size_trial::unit_read(std::uint64_t pieces) {
  if (pieces > 0) ++units_;
  pieces_ += pieces;
}

void size_trial::measure_sending(host_packet const& packet, piece_result const& result) {
  double const begin = engine_.now();
  auto const message = std::make_shared<std::vector<std::byte>>();
  work_.pack(packet, *message);
  std::ignore = work_.unpack_packet(*message);
  message->clear();
  work_.pack(result, *message);
  std::ignore = work_.unpack_result(*message, message);
  double const seconds = engine_.now() - begin;
  std::lock_guard const lock(engine_.mutex());
  clock_.send_seconds += seconds;
  ++clock_.pieces_sent;
}

bool size_trial::measured() const {
  if (units_ == 0 || clock_.pieces == 0) return false;
  return clock_.pieces >= trial_pieces * threads_ || clock_.pieces >= pieces_;
}

unsigned size_trial::find_size() {
  auto const per_unit = static_cast<double>(pieces_) / static_cast<double>(units_);
  unit_times times;
  times.read_seconds = clock_.read_seconds / static_cast<double>(clock_.units_read);
  times.compute_seconds = clock_.compute_seconds / static_cast<double>(clock_.pieces) * per_unit;
  if (clock_.pieces_sent > 0)
    times.send_seconds = clock_.send_seconds / static_cast<double>(clock_.pieces_sent) * per_unit;
  // Threads share the processing, not the reading.
  times.compute_seconds /= threads_;
  auto const units = setup_.units;
  auto const history = static_cast<unsigned>(std::min<std::uint64_t>(work_.history(units), units));
  found_ = true;
  return best_group_size(times, setup_.size, units, history, setup_.options.measures.reassign);
}

}  // namespace skel::detail
