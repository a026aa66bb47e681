// Routes the messages of a bsp call to its roles.
#pragma once

#include "bsp/role/member.hpp"
#include "bsp/role/root.hpp"

namespace skel::role {

/// Passes a message of rank `from` to the roles that handle it. `root`: the root's; null on
/// other ranks. Messages with for_roll_call() go to the root's roll call instead.
inline void route(rank_id from, bsp_message const& m, bsp_member& member, bsp_root* root, bsp_actions& out) {
  if (auto const* call = std::get_if<call_message>(&m)) {
    member.on(*call, out);
  } else if (auto const* r = std::get_if<bsp::restart>(&m)) {
    member.on(*r, out);
  } else if (auto const* b = std::get_if<bsp::bundle>(&m)) {
    if (root != nullptr) root->on(from, *b, out);
    member.on(from, *b, out);
  } else if (auto const* t = std::get_if<bsp::tally>(&m)) {
    if (root != nullptr) root->on(from, *t);
    member.on(from, *t, out);
  } else if (auto const* a = std::get_if<bsp::ask>(&m)) {
    member.on(*a, out);
  } else if (auto const* w = std::get_if<bsp::where>(&m)) {
    member.on(*w, out);
  } else if (auto const* sb = std::get_if<bsp::save_before>(&m)) {
    member.on(*sb, out);
  } else if (auto const* g = std::get_if<bsp::goes_on>(&m)) {
    if (root != nullptr && !root->is(from))
      root->on(*g, out);
    else
      member.on(*g, out);
  } else if (root == nullptr) {
    return;
  } else if (auto const* i = std::get_if<bsp::idle>(&m)) {
    root->on(from, *i, out);
  } else if (auto const* p = std::get_if<bsp::reached>(&m)) {
    root->on(from, *p, out);
  } else if (auto const* j = std::get_if<bsp::joined>(&m)) {
    root->on(from, *j);
  } else if (auto const* s = std::get_if<bsp::saved>(&m)) {
    root->on(from, *s, out);
  } else if (auto const* u = std::get_if<bsp::unreadable>(&m)) {
    root->on(*u, out);
  }
}

}  // namespace skel::role
