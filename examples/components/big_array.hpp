// Arrays of hundreds of megabytes: uninitialised, grown without a second copy, and on large pages
// if their size is known in advance.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "program/large_pages.hpp"

namespace components {

using skel::program::large_page, skel::program::prefer_large_pages;

/// Like std::malloc, to be released with std::free; nullptr if there is no memory. Random access to 8 MB
/// costs a tenth less than on pages of 4 KB. The first access to each page takes 3 ms there, 0.4 ms here.
[[nodiscard]] inline void* allocate_on_large_pages(std::size_t bytes) noexcept {
  if (bytes > PTRDIFF_MAX - large_page) return nullptr;
  auto const whole = (bytes + large_page - 1) / large_page * large_page;
  void* const memory = std::aligned_alloc(large_page, whole);
  if (memory != nullptr) prefer_large_pages(memory, whole);
  return memory;
}

/// A fixed or growing array of plain values. std::vector would initialise all of them before they
/// are written, and hold two copies while it grows; glibc's realloc moves large blocks by changing
/// page tables.
template <class T>
class big_array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  big_array() = default;
  explicit big_array(std::size_t size) { resize(size); }
  big_array(big_array const& other) : big_array(other.size_) {
    std::copy(other.begin(), other.end(), begin());
  }
  big_array(big_array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  big_array& operator=(big_array other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~big_array() { std::free(data_); }

  /// New values are not initialised. Throws std::bad_alloc.
  void resize(std::size_t size) {
    if (size > capacity_) reserve(size);
    size_ = size;
  }
  void push_back(T const& value) {
    if (size_ == capacity_) reserve(capacity_ < 4096 ? 4096 : capacity_ + capacity_ / 2);
    data_[size_++] = value;
  }
  void append(std::span<T const> values) {
    if (capacity_ - size_ < values.size())
      reserve(std::max(size_ + values.size(), capacity_ + capacity_ / 2));
    std::copy(values.begin(), values.end(), data_ + size_);
    size_ += values.size();
  }

  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    if (capacity > PTRDIFF_MAX / sizeof(T)) throw std::bad_alloc();
    auto const bytes = capacity * sizeof(T);
    auto* const grown =
        static_cast<T*>(data_ == nullptr && bytes >= large_page ? allocate_on_large_pages(bytes)
                                                                : std::realloc(data_, bytes));
    if (grown == nullptr) throw std::bad_alloc();
    data_ = grown;
    capacity_ = capacity;
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] T const* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  T const& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] T* begin() noexcept { return data_; }
  [[nodiscard]] T* end() noexcept { return data_ + size_; }
  [[nodiscard]] T const* begin() const noexcept { return data_; }
  [[nodiscard]] T const* end() const noexcept { return data_ + size_; }
  [[nodiscard]] std::span<T const> span() const noexcept { return {data_, size_}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace components
