#include "transport/link.hpp"

#include <algorithm>
#include <utility>

#include "skel/error.hpp"

namespace skel::transport {

void link::push(std::uint64_t context, std::uint32_t run, packet body) {
  auto const whole = body.bytes();
  if (whole.size() <= largest_piece_) {
    queue_.push_back({context, run, false, std::move(body)});
    return;
  }
  for (std::size_t at = 0; at < whole.size(); at += largest_piece_) {
    auto const part = whole.subspan(at, std::min(largest_piece_, whole.size() - at));
    packet piece;
    piece.body().insert(piece.body().end(), part.begin(), part.end());
    bool const last = at + part.size() == whole.size();
    queue_.push_back({context, run, !last, std::move(piece)});
  }
}

packet link::with_header(packet body, header h) const {
  body.prepend(std::as_bytes(std::span(&h, 1)));
  return body;
}

std::optional<packet> link::pass(std::uint64_t context, std::uint32_t run, packet body) {
  if (queue_.empty() && has_credit() && body.size() <= largest_piece_)
    return next_packet(std::move(body), context, run, false);
  push(context, run, std::move(body));
  return pop();
}

std::optional<packet> link::pop() {
  if (queue_.empty() || !has_credit()) return std::nullopt;
  auto next = std::move(queue_.front());
  queue_.pop_front();
  return next_packet(std::move(next.body), next.context, next.run, next.more);
}

packet link::next_packet(packet body, std::uint64_t context, std::uint32_t run, bool more) {
  told_ = received_;
  return with_header(std::move(body), {context, run, more, ++sent_, received_});
}

std::optional<packet> link::acknowledgement() {
  if (received_ - told_ < acknowledge_every) return std::nullopt;
  return heartbeat();
}

packet link::heartbeat() {
  told_ = received_;
  return with_header(packet(), {0, 0, false, 0, received_});
}

std::optional<link::delivery> link::accept(packet from_wire) {
  header h;
  if (from_wire.size() < sizeof h) throw protocol_error("message shorter than its header");
  std::memcpy(&h, from_wire.bytes().data(), sizeof h);
  from_wire.drop_front(sizeof h);
  // Sequence numbers wrap around, but differences remain valid.
  if (static_cast<std::int32_t>(h.acknowledged - acknowledged_) > 0 && sent_ - h.acknowledged <= credits)
    acknowledged_ = h.acknowledged;
  if (h.sequence == 0 && !h.more() && h.context() == 0 && h.run() == 0 && from_wire.empty())
    return std::nullopt;
  if (static_cast<std::int32_t>(h.sequence - received_) <= 0) return std::nullopt;  // a duplicate
  received_ = h.sequence;
  if (h.more() || !pieces_.empty()) {
    auto const part = from_wire.bytes();
    pieces_.insert(pieces_.end(), part.begin(), part.end());
    if (h.more()) return std::nullopt;
    return delivery{h.context(), h.run(), packet::received(std::exchange(pieces_, {}))};
  }
  return delivery{h.context(), h.run(), std::move(from_wire)};
}

}  // namespace skel::transport
