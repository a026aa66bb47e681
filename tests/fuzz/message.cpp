// libFuzzer: any bytes give a message, which is rewritten identically, or a protocol_error.
#include "bsp/role/message.hpp"

#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "disks/disk_message.hpp"
#include "divide_and_conquer/phase_clock.hpp"
#include "divide_and_conquer/role/message.hpp"
#include "farm/role/message.hpp"
#include "fuzz.hpp"
#include "multi_host/role/message.hpp"
#include "ring_steal/role/message.hpp"
#include "skel/transfer.hpp"
#include "team_farm/role/message.hpp"

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

template <class T>
void value_round_trip(std::span<std::byte const> bytes) {
  auto const value = skel::unpack<T>(bytes);
  std::vector<std::byte> again;
  skel::pack(value, again);
  std::span<std::byte const> second(again);
  if (skel::unpack<T>(second) != value || !second.empty()) std::abort();
}

template <class... T>
void values(std::span<std::byte const> bytes) {
  (fuzz::expect_error_or_result([&] { value_round_trip<T>(bytes); }), ...);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const bytes = fuzz::input{data, size}.bytes();
  round_trip<skel::role::farm_message>(bytes);
  round_trip<skel::role::team_message>(bytes);
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
  using text = std::string;
  values<text, std::vector<text>, std::vector<bool>, std::vector<std::uint64_t>, std::pair<bool, text>,
         std::tuple<int, text, std::vector<std::vector<text>>>, std::array<text, 3>, std::optional<text>,
         std::variant<std::monostate, text, std::vector<int>>, std::map<text, std::vector<text>>,
         std::unordered_set<std::uint32_t>>(bytes);
  namespace detail = skel::detail;
  fuzz::expect_error_or_result([&] { (void)detail::kind_of(bytes); });
  fuzz::expect_error_or_result([&] { (void)detail::decode_request(bytes); });
  fuzz::expect_error_or_result([&] { (void)detail::decode_answer(bytes); });
  fuzz::expect_error_or_result([&] { (void)detail::read_content<detail::opened_file>(bytes); });
  fuzz::expect_error_or_result([&] { (void)detail::read_content<std::vector<text>>(bytes); });
  return 0;
}
