#include "led_share.hpp"

#include <utility>

namespace skel::detail {

void led_share::add(role::group_act::read const& r) {
  if (!data_) {
    data_ = std::make_shared<data>();
    data_->term = r.term;
    data_->carried = work_.make_state();
  }
  auto const& unit = data_->units[r.unit] = work_.make_unit();
  reads_.push_back({data_, unit, r.unit, r.fresh, r.alone});
}

// Results of one message lie in order; those that another rank has sent before are skipped.
void led_share::keep(role::piece_run const& fresh, group_cargo& with) {
  auto& all = data_->kept[fresh.unit];
  if (all.size() < fresh.first + fresh.count) all.resize(fresh.first + fresh.count);
  for (auto p = fresh.first; p < fresh.first + fresh.count; ++p) {
    while (with.pieces.at(with.used).unit != fresh.unit || with.pieces[with.used].piece != p) ++with.used;
    all[p] = std::move(with.pieces[with.used++].held);
  }
}

std::shared_ptr<host_packet const> led_share::cut(role::piece_run const& pieces) const {
  return work_.cut(*data_->units.at(pieces.unit), pieces.first, pieces.count);
}

unit_of_results led_share::remove(std::uint64_t unit) {
  data_->units.erase(unit);
  auto const results = data_->kept.extract(unit);
  return results ? std::move(results.mapped()) : unit_of_results{};
}

void led_share::close() {
  reads_.clear();
  deliveries_.clear();
  data_.reset();
}

std::optional<led_share::read_job> led_share::next_read(bool quiet) {
  if (reads_.empty() || (reads_.front().alone && !quiet)) return {};
  auto next = std::move(reads_.front());
  reads_.pop_front();
  return next;
}

std::optional<led_share::sink_job> led_share::next_delivery() {
  if (deliveries_.empty() || delivering_) return {};
  auto next = std::move(deliveries_.front());
  deliveries_.pop_front();
  delivering_ = true;
  return next;
}

}  // namespace skel::detail
