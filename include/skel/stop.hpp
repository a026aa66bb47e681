// Ends a call early, from outside.
//
//     std::stop_source enough;  // requested by another thread, or by the sink
//     skel::farm(ctx, source, f, schedule, sink, {.stop = enough.get_token()});
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace skel {

/// Decides when a call ends early: a std::stop_token, or a copyable object with `bool
/// stop_requested() const`, which any thread may call at any time. Default: never.
class stop_condition {
 public:
  stop_condition() = default;
  /// Keeps a copy of `token`.
  template <class Token>
    requires(!std::is_same_v<Token, stop_condition> &&
             requires(Token const& t) {
               { t.stop_requested() } -> std::convertible_to<bool>;
             })
  stop_condition(Token token)  // NOLINT(google-explicit-constructor): .stop = source.get_token()
      : token_(std::make_shared<Token const>(std::move(token))),
        requested_([](void const* t) -> bool { return static_cast<Token const*>(t)->stop_requested(); }) {}

  /// Whether the call should end now.
  [[nodiscard]] bool stop_requested() const { return requested_ != nullptr && requested_(token_.get()); }

 private:
  std::shared_ptr<void const> token_;
  bool (*requested_)(void const*) = nullptr;
};

}  // namespace skel
