// Routes each message of a multi_host call to the roles that answer it.
#pragma once

#include <variant>

#include "multi_host/role/host.hpp"
#include "multi_host/role/member.hpp"
#include "multi_host/role/root.hpp"

namespace skel::role {

/// Passes a message to the roles that answer it. The caller passes it to the roll call first. `root` is null
/// except on the root while the run goes on.
inline void route(rank_id from, group_message const& m, group_root* root, group_host& host,
                  group_member& member, group_actions& out) {
  if (root != nullptr) root->heard(from, out);
  std::visit(
      [&](auto const& x) {
        if constexpr (requires { host.on(from, x, out); }) host.on(from, x, out);
        if constexpr (requires { member.on(from, x, out); }) member.on(from, x, out);
        if constexpr (requires { root->on(from, x, out); })
          if (root != nullptr) root->on(from, x, out);
      },
      m);
}

}  // namespace skel::role
