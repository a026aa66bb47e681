// Large blocks of a program that is linked with this file are on large pages, those of messages too.
#include "large_pages.hpp"

#include <new>

namespace {

constexpr std::size_t large_block = skel::components::large_page / 2;

}  // namespace

// Not inlined: GCC would warn that free() is given what operator new has returned.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  for (;;) {
    void* const memory = bytes >= large_block ? skel::components::allocate_on_large_pages(bytes)
                                              : std::malloc(bytes == 0 ? 1 : bytes);
    if (memory != nullptr) return memory;
    auto const handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
