// Gives each fiber its own state of exceptions, which the C++ runtime keeps per thread.
#pragma once

#include <cxxabi.h>

#include <cstring>

namespace skel::sim {

/// Must enclose every call that may switch to another fiber. The exceptions being handled belong to a fiber,
/// but the runtime keeps them per thread (Itanium C++ ABI, 2.2.2: a pointer and a count). No exception may
/// leave the scope.
class exceptions_of_this_fiber {
 public:
  exceptions_of_this_fiber() : shared_(abi::__cxa_get_globals()) {
    std::memcpy(&own_, shared_, size);
    std::memset(shared_, 0, size);
  }
  ~exceptions_of_this_fiber() { std::memcpy(shared_, &own_, size); }
  exceptions_of_this_fiber(exceptions_of_this_fiber const&) = delete;
  exceptions_of_this_fiber& operator=(exceptions_of_this_fiber const&) = delete;

 private:
  struct globals {
    void* caught;
    unsigned uncaught;
  };
  static constexpr std::size_t size = sizeof(void*) + sizeof(unsigned);
  void* shared_;
  globals own_{};
};

}  // namespace skel::sim
