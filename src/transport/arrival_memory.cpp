#include "transport/arrival_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>

namespace skel::transport {

namespace {
constexpr std::size_t large_page = std::size_t{2} << 20U;
constexpr std::size_t most_blocks = 8;  // blocks kept for reuse; others are released with their last message
constexpr std::size_t alignment = 64;   // of a message: no two share a cache line

constexpr std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }
}  // namespace

struct arrival_memory::block {
  explicit block(std::size_t bytes)
      : size(rounded(bytes, large_page)),
        memory(static_cast<std::byte*>(std::aligned_alloc(large_page, size))) {
    if (memory == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    ::madvise(memory, size, MADV_HUGEPAGE);  // if refused, pages are small
#endif
  }
  ~block() { std::free(memory); }
  block(block const&) = delete;
  block& operator=(block const&) = delete;

  std::size_t size;
  std::byte* memory;
  std::atomic<std::size_t> messages{0};
};

std::shared_ptr<std::byte> arrival_memory::take(std::size_t bytes) {
  auto const needed = rounded(std::max<std::size_t>(1, bytes), alignment);
  if (!blocks_.empty() && blocks_.front()->messages.load(std::memory_order_acquire) == 0) used_ = 0;
  if (blocks_.empty() || blocks_.front()->size - used_ < needed) {
    blocks_.insert(blocks_.begin(), free_block(needed));
    used_ = 0;
  }
  auto const& from = blocks_.front();
  ++from->messages;
  auto* const begin = from->memory + std::exchange(used_, used_ + needed);
  return {begin, [from](std::byte*) { from->messages.fetch_sub(1, std::memory_order_release); }};
}

std::shared_ptr<arrival_memory::block> arrival_memory::free_block(std::size_t bytes) {
  auto const at = std::ranges::find_if(blocks_, [&](auto const& b) {
    return b->size >= bytes && b->messages.load(std::memory_order_acquire) == 0;
  });
  if (at == blocks_.end()) {
    if (blocks_.size() == most_blocks) blocks_.pop_back();
    return std::make_shared<block>(bytes);
  }
  auto found = std::move(*at);
  blocks_.erase(at);
  return found;
}

}  // namespace skel::transport
