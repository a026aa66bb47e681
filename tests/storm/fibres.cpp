#include "fibres.hpp"

#include <cxxabi.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#else
namespace {
void __sanitizer_start_switch_fiber(void**, void const*, std::size_t) {}
void __sanitizer_finish_switch_fiber(void*, void const**, std::size_t*) {}
}  // namespace
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

}  // namespace

fibre::fibre(std::function<void()> what) : what_(std::move(what)), stack_(take_stack()) {
  ::getcontext(&own_);
  own_.uc_stack.ss_sp = stack_;
  own_.uc_stack.ss_size = stack_size;
  own_.uc_link = nullptr;
  auto const self = reinterpret_cast<std::uintptr_t>(this);
  ::makecontext(&own_, reinterpret_cast<void (*)()>(&fibre::enter), 2, static_cast<unsigned>(self >> 32),
                static_cast<unsigned>(self));
}

fibre::~fibre() { spare_stacks().push_back(stack_); }

void fibre::enter(unsigned high, unsigned low) {
  reinterpret_cast<fibre*>((std::uintptr_t{high} << 32) | low)->live();
}

void fibre::live() {
  __sanitizer_finish_switch_fiber(nullptr, &caller_bottom_, &caller_size_);
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
  swap_exceptions();
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, stack_, stack_size);
  ::swapcontext(&caller_, &own_);
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
  swap_exceptions();
}

void fibre::yield() { leave(); }

void fibre::leave() {
  __sanitizer_start_switch_fiber(ended_ ? nullptr : &fake_stack_, caller_bottom_, caller_size_);
  ::swapcontext(&own_, &caller_);
  __sanitizer_finish_switch_fiber(fake_stack_, &caller_bottom_, &caller_size_);
}

}  // namespace storm
