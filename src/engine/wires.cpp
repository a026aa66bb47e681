#include "wires.hpp"

#include <algorithm>

namespace skel::detail {

double patience_of(transport::transport const& carrier, context_options const& options) {
  constexpr double ordinary_patience = 5;
  return options.suspect_after_seconds.value_or(carrier.any_thread() ? ordinary_patience : 0);
}

wires::wires(std::unique_ptr<transport::transport> carrier, context_options const& options)
    : carrier_(std::move(carrier)),
      clock_(&carrier_->below()),
      rank_(carrier_->rank()),
      size_(carrier_->size()),
      any_thread_(carrier_->any_thread()),
      any_time_(carrier_->any_time() && any_thread_),
      owns_time_(carrier_->owns_time()),
      largest_message_(std::max<std::size_t>(1, options.largest_message)) {
  detector_ = detail::detector(rank_, size_, patience_of(*carrier_, options), any_time_ || owns_time_, now());
}

void wires::send(int to, run_key key, transport::packet body) {
  auto& l = link_to(to);
  if (is_lost(to) || !may_call()) return l.push(key.context, key.number, std::move(body));
  if (auto p = l.pass(key.context, key.number, std::move(body))) {
    transmit(to, *std::move(p));
    send_waiting(to, l);
  }
}

void wires::send_waiting() {
  for (auto& [peer, link] : links_)
    if (!is_lost(peer)) send_waiting(peer, link);
}

void wires::send_waiting(int to, transport::link& l) {
  if (l.waiting() == 0) return;
  while (auto p = l.pop()) transmit(to, *std::move(p));
}

void wires::put(int to, transport::packet&& p) {
  ++messages_sent_;
  bytes_sent_ += p.size();
  carrier_->send(to, std::move(p));
}

bool wires::sending() const {
  return std::any_of(links_.begin(), links_.end(), [&](auto const& l) {
    return !is_lost(l.first) && (l.second.waiting() > 0 || carrier_->unsent(l.first) > 0);
  });
}

bool wires::quiet() const {
  return std::none_of(
             links_.begin(), links_.end(),
             [&](auto const& l) { return l.second.waiting() > 0 || carrier_->unsent(l.first) > 0; }) &&
         !carrier_->any_arriving();
}

}  // namespace skel::detail
