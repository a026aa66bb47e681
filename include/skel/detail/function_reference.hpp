// A reference to a function object, valid during a call: <functional> takes 0.05 s to compile.
#pragma once

#include <type_traits>
#include <utility>

namespace skel::detail {

template <class Signature>
class function_reference;

template <class R, class... Arguments>
class function_reference<R(Arguments...)> {
 public:
  template <class F>
    requires(!std::is_same_v<F, function_reference> && !std::is_function_v<F>)
  function_reference(F const& f)  // NOLINT(google-explicit-constructor)
      : object_(&f), call_([](void const* object, Arguments... arguments) -> R {
          return (*static_cast<F const*>(object))(std::forward<Arguments>(arguments)...);
        }) {}
  template <class F>
    requires std::is_function_v<F>
  function_reference(F& f)  // NOLINT(google-explicit-constructor)
      : object_(reinterpret_cast<void const*>(&f)),
        call_([](void const* object, Arguments... arguments) -> R {
          return (*reinterpret_cast<F*>(const_cast<void*>(object)))(std::forward<Arguments>(arguments)...);
        }) {}

  R operator()(Arguments... arguments) const { return call_(object_, std::forward<Arguments>(arguments)...); }

 private:
  void const* object_;
  R (*call_)(void const*, Arguments...);
};

}  // namespace skel::detail
