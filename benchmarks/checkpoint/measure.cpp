#include "measure.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "clock.hpp"

namespace bench {

void buffer::release::operator()(std::byte* p) const noexcept {
  std::free(p);  // NOLINT(cppcoreguidelines-no-malloc): allocated by aligned_alloc
}

buffer::buffer(std::size_t size, std::uint64_t seed) {
  constexpr std::size_t page = 2U << 20U;
  size = (size + page - 1) / page * page;
  bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(page, size)));
  if (bytes_ == nullptr) throw std::bad_alloc();
  ::madvise(bytes_.get(), size, MADV_HUGEPAGE);
  std::uint64_t x = 2 * seed + 1;
  for (std::size_t at = 0; at < size; at += sizeof x) {
    x ^= x << 13U;
    x ^= x >> 7U;
    x ^= x << 17U;
    std::memcpy(bytes_.get() + at, &x, sizeof x);
  }
}

shard_buffers::shard_buffers(std::size_t m, std::size_t k, std::size_t total)
    : size(std::max<std::size_t>(4096, total / m / 4096 * 4096)) {
  for (std::size_t i = 0; i < m; ++i) data.emplace_back(size, i);
  for (std::size_t i = 0; i < k; ++i) parity.emplace_back(size, m + i);
  for (std::size_t i = 0; i < std::min(m, k); ++i) recovered.emplace_back(size, m + k + i);
}

std::vector<std::byte*> pointers(std::vector<buffer> const& buffers) {
  std::vector<std::byte*> p;
  p.reserve(buffers.size());
  for (auto const& b : buffers) p.push_back(b.data());
  return p;
}

void read_all(std::vector<std::byte const*> const& sources, std::size_t size) {
  constexpr std::size_t step = 256, ahead = 4096;
  std::uint64_t sum = 0;
  for (auto const* const source : sources)
    for (std::size_t at = 0; at + step <= size; at += step) {
      for (std::size_t i = 0; i < step; i += 64) __builtin_prefetch(source + at + ahead + i, 0, 2);
      std::uint64_t words[step / sizeof sum];
      std::memcpy(words, source + at, step);
      for (auto const w : words) sum ^= w;
    }
  static std::atomic<std::uint64_t> kept;  // keeps the compiler from removing the loop
  kept = sum;
}

void take_turns(std::vector<contestant>& all, int rounds) {
  for (int round = 0; round <= rounds; ++round)
    for (auto& c : all) {
      auto const start = processor_seconds(CLOCK_THREAD_CPUTIME_ID);
      c.run();
      if (auto const end = processor_seconds(CLOCK_THREAD_CPUTIME_ID); round > 0)
        c.seconds.push_back(end - start);
    }
}

spread spread_of(std::vector<double> values) {
  std::ranges::sort(values);
  return {values[values.size() / 2], values.front(), values.back()};
}

spread ratio(contestant const& a, contestant const& b) {
  std::vector<double> ratios;
  ratios.reserve(a.seconds.size());
  for (std::size_t i = 0; i < a.seconds.size(); ++i) ratios.push_back(b.seconds[i] / a.seconds[i]);
  return spread_of(std::move(ratios));
}

}  // namespace bench
