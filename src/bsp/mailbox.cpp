#include "mailbox.hpp"

namespace skel::detail {

mailbox::bundles& mailbox::empty(std::size_t members) {
  outgoing_.resize(members);
  for (auto& bundle : outgoing_) bundle.clear();
  return outgoing_;
}

std::vector<std::uint32_t> const& mailbox::addressees() {
  addressees_.clear();
  for (std::uint32_t to = 0; to < outgoing_.size(); ++to)
    if (!outgoing_[to].empty()) addressees_.push_back(to);
  return addressees_;
}

mailbox::superstep* mailbox::find(std::uint64_t epoch, std::uint64_t step) {
  for (auto& s : received_)
    if (s.step == step && s.epoch == epoch && !s.messages.empty()) return &s;
  return nullptr;
}

void mailbox::keep(std::uint64_t epoch, std::uint64_t step, int from, transport::packet&& messages) {
  auto* at = find(epoch, step);
  for (auto s = received_.begin(); at == nullptr && s != received_.end(); ++s)
    if (s->messages.empty()) at = &*s;
  if (at == nullptr) at = &received_.emplace_back();
  at->epoch = epoch;
  at->step = step;
  at->messages.emplace_back(from, std::move(messages));
}

void mailbox::forget_before(std::uint64_t epoch) {
  for (auto& s : received_)
    if (s.epoch < epoch) s.messages.clear();
}

void mailbox::open(std::uint64_t epoch, std::uint64_t step, role::bsp_epoch const& receiver) {
  came_.clear();
  came_from_.clear();
  auto* const at = find(epoch, step - 1);
  if (at == nullptr) return;
  came_.swap(at->messages);
  came_from_.resize(receiver.members.size());
  for (auto const& b : came_)
    if (auto const place = receiver.place_of(b.from)) came_from_[*place] = b.messages.bytes();
}

}  // namespace skel::detail
