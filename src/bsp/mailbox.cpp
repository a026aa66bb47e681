#include "mailbox.hpp"

namespace skel::detail {

mailbox::bundles mailbox::empty(std::size_t members) {
  outgoing_.resize(members);
  for (auto& bundle : outgoing_) bundle.clear();
  return std::move(outgoing_);
}

std::vector<std::uint32_t> const& mailbox::addressees() {
  addressees_.clear();
  for (std::uint32_t to = 0; to < outgoing_.size(); ++to)
    if (!outgoing_[to].empty()) addressees_.push_back(to);
  return addressees_;
}

void mailbox::keep(std::uint64_t epoch, std::uint64_t step, int from, transport::packet&& messages) {
  if (spare_.empty()) {
    received_[{epoch, step}].emplace_back(from, std::move(messages));
    return;
  }
  spare_.key() = {epoch, step};
  auto added = received_.insert(std::move(spare_));
  spare_ = std::move(added.node);
  added.position->second.emplace_back(from, std::move(messages));
}

void mailbox::forget_before(std::uint64_t epoch) {
  std::erase_if(received_, [&](auto const& b) { return b.first.first < epoch; });
}

void mailbox::open(std::uint64_t epoch, std::uint64_t step, role::bsp_member const& receiver) {
  came_.clear();
  came_from_.clear();
  auto const at = received_.find({epoch, step - 1});
  if (at == received_.end()) return;
  came_.swap(at->second);
  spare_ = received_.extract(at);
  came_from_.resize(receiver.members().size());
  for (auto const& b : came_)
    if (auto const place = receiver.place_of(b.from)) came_from_[*place] = b.messages.bytes();
}

}  // namespace skel::detail
