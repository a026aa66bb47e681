#include "piece_runner.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "call/quantum.hpp"
#include "call/user_code.hpp"
#include "multi_host/role/groups.hpp"
#include "skel/bytes.hpp"

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

// Results of a unit that this rank leads leave when all of them are here, so the message is not read while a
// thread appends to it. A piece that was taken back from a rank which lives after all is processed twice, and
// its unit may leave while a thread works on it; from then on, results are kept apart. Results for other
// hosts are kept apart too: they may be sent after each job.
std::shared_ptr<transport::packet> piece_runner::room_for_results(unsigned thread, process_job const& j,
                                                                  bool taken_back) {
  if (j.packet->stays) return nullptr;
  auto& out = outgoing_[thread];
  bool const together = j.packet->own && !taken_back;
  bool const goes_on = together && out.term == j.packet->term && out.unit == j.pieces.unit;
  if (goes_on && out.packed && !out.packed->empty()) return out.packed;
  auto& carrier = engine_.wires().carrier();
  auto fresh = carrier.share(transport::packet(carrier.buffer()));
  if (together) out = {j.packet->term, j.pieces.unit, fresh};
  return fresh;
}

void piece_runner::run(unsigned thread, process_job const& j,
                       std::shared_ptr<transport::packet> const& together, std::atomic<bool> const& draining,
                       outcome& to) {
  auto& p = *j.packet;
  std::call_once(p.opened, [&] {
    if (!p.object) p.object = work_.unpack_packet(p.packed.bytes());
  });
  worker_info const where{setup_.rank, thread, static_cast<unsigned>(outgoing_.size()),
                          engine_.place.device(thread)};
  for (std::uint64_t i = 0; i < j.pieces.count; ++i) {
    held_piece held;
    held.object = work_.process(*p.object, j.pieces.first - p.first + i, where);
    if (j.on_trial) trial_.measure_sending(*p.object, *held.object);
    if (!p.stays) {
      held.at = together->size() + bytes::most_varint;
      bytes::put_block_by(together->body(), [&](auto& body) { work_.pack(*held.object, body); });
      held.size = together->size() - held.at;
      held.object.reset();
      held.whole = together;
      to.bytes += held.size;
    }
    // Results for this rank itself are due at once: they do not travel yet.
    if (p.own) to.bytes = role::default_results_level;
    to.results.push_back(std::move(held));
    if (draining.load(std::memory_order_relaxed)) break;
    double const begin = engine_.now();
    not_of_the_user([&] {
      if (engine_.driver().try_progress(slice_seconds)) to.away += engine_.now() - begin;
    });
  }
}

}  // namespace skel::detail
