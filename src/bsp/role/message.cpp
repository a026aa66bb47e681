#include "bsp/role/message.hpp"

#include "skel/error.hpp"

namespace skel::role::bsp_message {

using kind = peer_message_kind;

peer_message restart::encoded() const {
  peer_message m{.kind = kind::restart, .number = epoch, .ids = {generation, stamp}};
  for (rank_id const r : members) m.ids.push_back(static_cast<std::uint64_t>(r));
  return m;
}

restart restart::decoded(peer_message const& m) {
  if (m.ids.size() < 3) throw protocol_error("an epoch without members");
  restart r{m.number, m.ids[0], m.ids[1]};
  for (auto at = m.ids.begin() + 2; at != m.ids.end(); ++at) r.members.push_back(static_cast<rank_id>(*at));
  return r;
}

peer_message bundle::encoded() const {
  return {.kind = kind::bundle, .number = epoch, .ids = {step, more ? 1U : 0U, save}};
}

bundle bundle::decoded(peer_message const& m) {
  if (m.ids.size() != 3) throw protocol_error("a bundle without its superstep");
  return {m.number, m.ids[0], m.ids[1] != 0, m.ids[2]};
}

peer_message saved::encoded() const {
  return {.kind = kind::saved, .number = epoch, .ids = {generation, well ? 1U : 0U}};
}

saved saved::decoded(peer_message const& m) {
  if (m.ids.size() != 2) throw protocol_error("a part that was saved as no generation");
  return {m.number, m.ids[0], m.ids[1] != 0};
}

peer_message unreadable::encoded() const { return {.kind = kind::unreadable, .number = epoch, .text = text}; }

unreadable unreadable::decoded(peer_message const& m) { return {m.number, m.text}; }

}  // namespace skel::role::bsp_message
