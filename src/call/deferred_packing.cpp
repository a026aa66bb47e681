#include "skel/detail/deferred_packing.hpp"

namespace skel::detail {

void deferred_bytes::complete(std::vector<std::byte>& out) {
  auto size = packed.size();
  for (auto const& d : deferred) size += d.size;
  out.clear();
  out.reserve(size);
  auto from = packed.cbegin();
  for (auto& d : deferred) {
    auto const to = packed.cbegin() + static_cast<std::ptrdiff_t>(d.offset);
    out.insert(out.end(), std::exchange(from, to), to);
    d.pack(d.value.get(), out);
    d.value.reset();
  }
  out.insert(out.end(), from, packed.cend());
  deferred.clear();
}

}  // namespace skel::detail
