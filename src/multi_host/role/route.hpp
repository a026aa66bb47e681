// Routes each message of a multi_host call to the role that answers it.
#pragma once

#include <concepts>
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

namespace detail {
template <class T, class... Others>
concept one_of = (std::same_as<T, Others> || ...);
}  // namespace detail

/// Passes a message to the role that answers it. The caller passes it to the roll call first.
inline void route(rank_id from, group_message const& m, group_roles const& to, group_actions& out) {
  using namespace group_msg;
  using detail::one_of;
  if (to.root != nullptr) to.root->heard(from, out);
  std::visit(
      [&]<class M>(M const& x) {
        if constexpr (one_of<M, lead, go, split, last_resort, request, begins, returned>) {
          to.host.on(from, x, out);
        } else if constexpr (one_of<M, packet>) {  // NOLINT(bugprone-branch-clone): a line per role
          to.member.on(from, x, out);
        } else if constexpr (one_of<M, serve>) {
          to.host.on(from, x, out);
          to.member.on(from, x, out);
        } else if constexpr (one_of<M, loaded, opens, left, unit_done, let_go>) {
          if (to.root != nullptr) to.root->on(from, x, out);
        } else if (!for_roll_call(x)) {
          to.member.on(from, x, out);
        } else if (auto const* const h = std::get_if<hello>(&x); h != nullptr && to.root != nullptr) {
          to.root->on(from, *h, out);
        }
      },
      m);
}

}  // namespace skel::role
