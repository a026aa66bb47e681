// One function object of several, for std::visit.
#pragma once

namespace skel {

template <class... F>
struct overloaded : F... {
  using F::operator()...;
};
template <class... F>
overloaded(F...) -> overloaded<F...>;

}  // namespace skel
