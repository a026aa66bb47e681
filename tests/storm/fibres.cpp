#include "fibres.hpp"

#include <cxxabi.h>
#include <sys/mman.h>

#include <cstring>
#include <new>
#include <utility>
#include <vector>

#if defined(SKEL_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#endif

namespace storm {

namespace {

constexpr std::size_t stack_size = std::size_t{1} << 20;  // only touched pages count
constexpr std::size_t guard_size = 4096;

// Stacks are used again: their pages are in memory.
std::vector<void*>& spare_stacks() {
  static std::vector<void*> all;
  return all;
}

void* take_stack() {
  auto& spare = spare_stacks();
  if (!spare.empty()) {
    void* const s = spare.back();
    spare.pop_back();
    return s;
  }
  void* const s = ::mmap(nullptr, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (s == MAP_FAILED || ::mprotect(s, guard_size, PROT_NONE) != 0) throw std::bad_alloc();
  return s;
}

// AddressSanitizer must know which stack is used.
#if defined(SKEL_ADDRESS_SANITIZER)
void start_switch(void** fake, void const* bottom, std::size_t size) {
  __sanitizer_start_switch_fiber(fake, bottom, size);
}
void finish_switch(void* fake, void const** bottom, std::size_t* size) {
  __sanitizer_finish_switch_fiber(fake, bottom, size);
}
#else
void start_switch(void** /*fake*/, void const* /*bottom*/, std::size_t /*size*/) {}
void finish_switch(void* /*fake*/, void const** /*bottom*/, std::size_t* /*size*/) {}
#endif

fibre* beginning = nullptr;  // enters its function

}  // namespace

fibre::fibre(std::function<void()> what) : what_(std::move(what)), stack_(take_stack()) {
  ::getcontext(&own_);
  own_.uc_stack.ss_sp = stack_;
  own_.uc_stack.ss_size = stack_size;
  own_.uc_link = nullptr;
  ::makecontext(&own_, &fibre::enter, 0);
}

fibre::~fibre() { spare_stacks().push_back(stack_); }

void fibre::enter() { beginning->live(); }

void fibre::live() {
  finish_switch(nullptr, &caller_bottom_, &caller_size_);
  what_();
  ended_ = true;
  what_ = nullptr;
  leave();
}

void fibre::swap_exceptions() {
  constexpr std::size_t size = sizeof(void*) + sizeof(unsigned);
  auto* const shared = abi::__cxa_get_globals();
  exceptions own;
  std::memcpy(static_cast<void*>(&own), static_cast<void const*>(shared), size);
  std::memcpy(static_cast<void*>(shared), static_cast<void const*>(&of_the_other_), size);
  of_the_other_ = own;
}

void fibre::resume() {
  beginning = this;
  swap_exceptions();
  void* fake = nullptr;
  start_switch(&fake, stack_, stack_size);
  ::swapcontext(&caller_, &own_);
  finish_switch(fake, nullptr, nullptr);
  swap_exceptions();
}

void fibre::yield() { leave(); }

void fibre::leave() {
  start_switch(ended_ ? nullptr : &fake_stack_, caller_bottom_, caller_size_);
  ::swapcontext(&own_, &caller_);
  finish_switch(fake_stack_, &caller_bottom_, &caller_size_);
}

}  // namespace storm
