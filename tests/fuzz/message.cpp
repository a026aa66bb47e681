// libFuzzer: any bytes are a message or a protocol_error, and what was read is written the same again.
#include "bsp/role/message.hpp"

#include <cstdlib>
#include <vector>

#include "disks/disk_message.hpp"
#include "divide_and_conquer/phase_clock.hpp"
#include "divide_and_conquer/role/message.hpp"
#include "farm/role/message.hpp"
#include "fuzz.hpp"
#include "multi_host/role/message.hpp"
#include "ring_steal/role/message.hpp"

namespace {

template <class Message>
void round_trip(std::span<std::byte const> bytes) {
  fuzz::expect_error_or_result([&] {
    auto rest = bytes;
    auto const m = skel::role::decode<Message>(rest);
    std::vector<std::byte> again;
    skel::role::encode(m, again);
    std::span<std::byte const> second(again);
    if (!(skel::role::decode<Message>(second) == m) || !second.empty()) std::abort();
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const bytes = fuzz::input{data, size}.bytes();
  round_trip<skel::role::farm_message>(bytes);
  round_trip<skel::role::steal_message>(bytes);
  round_trip<skel::role::divide_message>(bytes);
  round_trip<skel::role::group_message>(bytes);
  round_trip<skel::role::bsp_message>(bytes);
  fuzz::expect_error_or_result([&] {
    skel::detail::phase_clock clock;
    auto rest = bytes;
    clock.merge(rest);
    (void)clock.phases();
  });
  namespace detail = skel::detail;
  fuzz::expect_error_or_result([&] { (void)detail::kind_of(bytes); });
  fuzz::expect_error_or_result([&] { (void)detail::decode_request(bytes); });
  fuzz::expect_error_or_result([&] { (void)detail::decode_answer(bytes); });
  fuzz::expect_error_or_result([&] { (void)detail::decode_opened(bytes); });
  fuzz::expect_error_or_result([&] { (void)detail::decode_texts(bytes); });
  return 0;
}
