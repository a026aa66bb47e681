#include <algorithm>
#include <cstring>
#include <memory>

#include "big_array.hpp"
#include "catch.hpp"

using namespace components;

namespace {

struct freed {
  void operator()(void* memory) const { std::free(memory); }
};

}  // namespace

TEST_CASE("memory on large pages starts at a page boundary") {
  for (std::size_t const bytes : {std::size_t{1}, large_page - 1, large_page, 3 * large_page + 5}) {
    std::unique_ptr<void, freed> const memory(allocate_on_large_pages(bytes));
    REQUIRE(memory);
    CHECK(reinterpret_cast<std::uintptr_t>(memory.get()) % large_page == 0);
    std::memset(memory.get(), 1, bytes);
  }
  CHECK(allocate_on_large_pages(SIZE_MAX) == nullptr);
  CHECK(allocate_on_large_pages(SIZE_MAX / 2) == nullptr);
}

TEST_CASE("arrays keep their values when they grow beyond a large page") {
  big_array<std::uint32_t> growing, whole(large_page);
  CHECK(reinterpret_cast<std::uintptr_t>(whole.data()) % large_page == 0);
  for (std::uint32_t i = 0; i < large_page; ++i) growing.push_back(i);
  whole.resize(whole.size() + 1);
  std::uint64_t sum = 0;
  for (auto const v : growing) sum += v;
  CHECK(sum == std::uint64_t{large_page} * (large_page - 1) / 2);
  auto const copy = growing;
  CHECK(copy.data() != growing.data());
  CHECK(std::equal(copy.begin(), copy.end(), growing.begin(), growing.end()));
  CHECK_THROWS_AS(growing.reserve(SIZE_MAX / 4), std::bad_alloc);
}
