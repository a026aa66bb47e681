// Routes each message of a multi_host call to the roles that answer it.
#pragma once

#include <variant>

#include "multi_host/role/host.hpp"
#include "multi_host/role/member.hpp"
#include "multi_host/role/root.hpp"

namespace skel::role {

/// The roles of one rank. `root` is null except on the root while the run goes on.
struct group_roles {
  group_root* root = nullptr;
  group_host& host;
  group_member& member;
};

/// Passes a message to the roles that answer it. The caller passes it to the roll call first.
inline void route(rank_id from, group_message const& m, group_roles const& to, group_actions& out) {
  if (to.root != nullptr) to.root->heard(from, out);
  std::visit(
      [&](auto const& x) {
        if constexpr (requires { to.host.on(from, x, out); }) to.host.on(from, x, out);
        if constexpr (requires { to.member.on(from, x, out); }) to.member.on(from, x, out);
        if constexpr (requires { to.root->on(from, x, out); })
          if (to.root != nullptr) to.root->on(from, x, out);
      },
      m);
}

}  // namespace skel::role
