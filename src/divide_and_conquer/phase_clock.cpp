#include "phase_clock.hpp"

#include <algorithm>
#include <array>

#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {
constexpr std::array<char const*, 4> phase_names{"divide", "sequential", "exchange", "combine"};
constexpr std::uint64_t most_levels = 64;
}  // namespace

void phase_clock::add(phase what, int level, double seconds, std::uint64_t bytes, problem_sizes sizes) {
  add({what, level}, {seconds, bytes, std::move(sizes)});
}

void phase_clock::add(std::pair<phase, int> where, entry e) {
  auto& all = entries_[where];
  // Take the sizes of the slowest entry that has sizes.
  if (all.sizes.empty() || (!e.sizes.empty() && e.seconds > all.seconds)) all.sizes = std::move(e.sizes);
  all.seconds = std::max(all.seconds, e.seconds);
  all.bytes = std::max(all.bytes, e.bytes);
}

void phase_clock::exchange(int level, double seconds, std::uint64_t bytes) {
  auto& e = exchanges_[level];
  e.busy += seconds;
  e.bytes += bytes;
}

phase_clock phase_clock::with_own_exchanges() const {
  auto all = *this;
  for (auto const& [level, e] : exchanges_) all.add(phase::exchange, level, e.busy, e.bytes);
  return all;
}

void phase_clock::sent(int level, double now) { exchanges_[level].sent = now; }

void phase_clock::received(int level, double now) {
  auto& e = exchanges_[level];
  if (e.received < 0) e.received = now;
}

std::map<int, double> phase_clock::waits() const {
  auto all = other_waits_;
  for (auto const& [level, e] : exchanges_) {
    if (e.sent < 0 || e.received < 0) continue;
    double const wait = std::max(0.0, e.received - e.sent);
    // The message came before this rank had sent, so this rank did not wait. Its partner knows the duration.
    if (wait <= 0) continue;
    auto const [at, is_new] = all.try_emplace(level, wait);
    if (!is_new) at->second = std::min(at->second, wait);
  }
  return all;
}

void phase_clock::pack(std::vector<std::byte>& out) const {
  auto const entries = with_own_exchanges().entries_;
  bytes::put_varint(out, entries.size());
  for (auto const& [where, e] : entries) {
    out.push_back(static_cast<std::byte>(where.first));
    bytes::put_varint(out, static_cast<std::uint64_t>(where.second));
    bytes::put_raw(out, e.seconds);
    bytes::put_varint(out, e.bytes);
    bytes::put_varint(out, e.sizes.size());
    for (auto const& [name, value] : e.sizes) {
      bytes::put_text(out, name);
      bytes::put_raw(out, value);
    }
  }
  auto const all = waits();
  bytes::put_varint(out, all.size());
  for (auto const& [level, wait] : all) {
    bytes::put_varint(out, static_cast<std::uint64_t>(level));
    bytes::put_raw(out, wait);
  }
}

void phase_clock::merge(std::span<std::byte const>& in) {
  auto const level_of = [&] {
    auto const level = bytes::get_varint(in);
    if (level > most_levels) throw protocol_error("message holds a phase of an impossible level");
    return static_cast<int>(level);
  };
  for (auto n = bytes::get_varint(in); n > 0; --n) {
    auto const what = bytes::get_raw<std::uint8_t>(in);
    if (what >= phase_names.size()) throw protocol_error("message holds an unknown phase");
    auto const level = level_of();
    entry e;
    e.seconds = bytes::get_raw<double>(in);
    e.bytes = bytes::get_varint(in);
    for (auto sizes = bytes::get_varint(in); sizes > 0; --sizes) {
      auto name = bytes::get_text(in);
      e.sizes.emplace_back(std::move(name), bytes::get_raw<double>(in));
    }
    add({static_cast<phase>(what), level}, std::move(e));
  }
  for (auto n = bytes::get_varint(in); n > 0; --n) {
    auto const level = level_of();
    auto const wait = bytes::get_raw<double>(in);
    auto const [at, is_new] = other_waits_.try_emplace(level, wait);
    if (!is_new) at->second = std::min(at->second, wait);
  }
}

std::vector<phase_report> phase_clock::phases() const {
  std::vector<phase_report> all;
  auto const shortest = waits();
  auto const entries = with_own_exchanges().entries_;
  for (auto const& [where, e] : entries) {
    auto seconds = e.seconds;
    // The exchange and combination on a level belong to the problem that was divided there.
    auto const divided = entries.find({phase::divide, where.second});
    auto const& sizes = e.sizes.empty() && divided != entries.end() ? divided->second.sizes : e.sizes;
    if (where.first == phase::exchange)
      if (auto const at = shortest.find(where.second); at != shortest.end()) seconds += at->second;
    all.push_back(
        {phase_names.at(static_cast<std::size_t>(where.first)), where.second, seconds, e.bytes, sizes});
  }
  return all;
}

}  // namespace skel::detail
