// Implements broadcast as a divide_and_conquer over the bytes of the value.
#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "skel/bytes.hpp"
#include "skel/detail/broadcast_adapter.hpp"
#include "skel/divide_and_conquer.hpp"
#include "skel/error.hpp"
#include "skel/source.hpp"
#include "skel/transfer.hpp"

namespace skel {

namespace detail {
namespace {

/// A range of the value's bytes. Halves share the buffer.
struct byte_stretch {
  std::shared_ptr<std::vector<std::byte> const> of;
  std::size_t first = 0, count = 0;
  [[nodiscard]] std::span<std::byte const> bytes() const { return std::span(*of).subspan(first, count); }
};

/// Divides the bytes among the ranks, which then exchange their parts until each has all.
struct broadcast_job {
  using problem = byte_stretch;
  using solution = std::vector<std::byte>;

  [[nodiscard]] bool trivial(problem const& p) const { return p.count <= 1; }
  [[nodiscard]] solution conquer(problem const& p) const { return solve(p); }
  [[nodiscard]] solution solve(problem const& p) const {
    auto const b = p.bytes();
    return {b.begin(), b.end()};
  }
  [[nodiscard]] std::array<problem, 2> divide(problem const& p) const { return divide(p, 0.5); }
  [[nodiscard]] std::array<problem, 2> divide(problem const& p, double share) const {
    auto const most = p.count - 1;
    auto const asked = 1 + static_cast<std::size_t>(static_cast<double>(most) * share);
    auto const left = asked < most ? asked : most;
    return {problem{p.of, p.first, left}, problem{p.of, p.first + left, p.count - left}};
  }
  [[nodiscard]] solution combine(solution a, solution const& b) const {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
};

}  // namespace
}  // namespace detail

template <>
struct transfer_traits<detail::byte_stretch> {
  static void pack(detail::byte_stretch const& s, std::vector<std::byte>& out) {
    bytes::put_block(out, s.bytes());
  }
  static detail::byte_stretch unpack(std::span<std::byte const>& in) {
    auto block = bytes::get_block(in);
    auto const count = block.size();
    return {std::make_shared<std::vector<std::byte> const>(std::move(block)), 0, count};
  }
};

namespace detail {

report broadcast_alone(context& ctx, function_reference<void()> open) {
  call_slot const call(ctx);
  try {
    open();
  } catch (std::exception const& e) {
    call.throw_if_nested();
    throw source_error(std::string("the source of the broadcast failed: ") + e.what());
  }
  call.throw_if_nested();
  report r;
  r.skeleton = "broadcast";
  r.ranks = 1;
  return r;
}

result<std::optional<std::vector<std::byte>>> broadcast_bytes(
    context& ctx, function_reference<std::vector<std::byte>()> packed, std::string const& label) {
  auto const open = [&] {
    auto bytes = std::make_shared<std::vector<std::byte> const>(packed());
    auto const count = bytes->size();
    return byte_stretch{std::move(bytes), 0, count};
  };
  divide_and_conquer_options options;
  options.label = label;
  options.max_losses_per_task = 0;  // no code of the user runs on the ranks, so that no work is to blame
  auto all = divide_and_conquer(ctx, on_root(open), broadcast_job{}, division::hypercube{}, options);
  all.report.skeleton = "broadcast";
  if (!all.value.here()) return {std::nullopt, std::move(all.report)};
  return {std::move(*all.value), std::move(all.report)};
}

}  // namespace detail
}  // namespace skel
