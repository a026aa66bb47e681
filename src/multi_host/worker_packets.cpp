#include "worker_packets.hpp"

#include <utility>

namespace skel::detail {

void worker_packets::accept(role::group_act::accept const& a, group_cargo& with) {
  auto p = std::make_shared<worker_packet>();
  p->term = a.term;
  p->first = a.pieces.first;
  p->unfinished = a.pieces.count;
  p->own = with.object != nullptr;
  p->stays = p->own && own_stay_;
  p->object = std::move(with.object);
  p->packed = std::move(with.packed);
  packets_[a.id] = std::move(p);
}

bool worker_packets::finished(process_job const& j, std::vector<held_piece>& results) {
  auto const packet = packets_.find(j.id);
  if (packet == packets_.end()) return false;
  auto const n = results.size();
  for (std::uint64_t i = 0; i < n; ++i)
    finished_.emplace(std::array{j.packet->term, j.pieces.unit, j.pieces.first + i}, std::move(results[i]));
  j.packet->unfinished -= n;
  if (j.packet->unfinished == 0) packets_.erase(packet);
  return true;
}

held_piece worker_packets::take(role::term_id term, std::uint64_t unit, std::uint64_t piece) {
  auto node = finished_.extract(finished_.find({term, unit, piece}));
  return std::move(node.mapped());
}

void worker_packets::forget(role::term_id term) {
  std::erase_if(packets_, [&](auto const& p) { return p.second->term == term; });
  std::erase_if(finished_, [&](auto const& p) { return p.first[0] == term; });
}

void worker_packets::clear() {
  packets_.clear();
  finished_.clear();
}

}  // namespace skel::detail
