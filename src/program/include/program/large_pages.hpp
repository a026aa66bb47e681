// Large pages for large arrays: the first access to each page takes a large part of the time to fill one.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace skel::program {

inline constexpr std::size_t large_page = std::size_t{1} << 21;  ///< bytes

/// Asks the system to use large pages for the whole large pages within this memory.
inline void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  auto const before = -reinterpret_cast<std::uintptr_t>(memory) % large_page;
  if (bytes >= before + large_page)
    ::madvise(static_cast<std::byte*>(memory) + before, (bytes - before) / large_page * large_page,
              MADV_HUGEPAGE);
#endif
}

}  // namespace skel::program
