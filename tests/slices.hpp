// A job for multi_host whose results show whether units were read in order, with their history.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "skel/multi_host.hpp"
#include "skel/serialization.hpp"

namespace groups {

constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x + 1) * 0x9e3779b97f4a7c15U;
  return x ^ (x >> 29);
}

/// Slices 0, 1, 2, ...; a unit needs its slice and the two before it, as cubes of C1 polynomials do.
struct slices {
  struct carried {
    std::vector<std::uint64_t> last;  // of the latest slices, the newest first
  };
  struct unit {
    std::vector<std::uint64_t> rows;
  };
  struct packet {
    std::uint64_t unit = 0;
    std::vector<std::uint64_t> rows;
    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& unit& rows;
    }
  };
  using result = std::vector<std::uint32_t>;

  int rows = 6;
  std::chrono::microseconds read_time{}, process_time{};
  std::string fails{};  // which function
  std::uint64_t fails_at = 0;
  std::atomic<int>* reads = nullptr;
  std::atomic<int>* processed = nullptr;

  [[nodiscard]] static std::uint64_t history() { return 2; }
  [[nodiscard]] std::uint64_t pieces(std::uint64_t number) const {
    return number == 0 ? 0 : (number * 7 + 3) % static_cast<std::uint64_t>(rows + 1);
  }
  void maybe_fail(char const* where, std::uint64_t number) const {
    if (fails == where && number == fails_at) throw std::runtime_error(std::string("no luck in ") + where);
  }
  std::uint64_t read(std::uint64_t number, carried& c, unit& into) const {
    if (reads != nullptr) ++*reads;
    if (read_time.count() > 0) std::this_thread::sleep_for(read_time);
    maybe_fail("read", number);
    c.last.insert(c.last.begin(), mix(number));
    if (c.last.size() > 3) c.last.pop_back();
    std::uint64_t sum = number;
    for (auto const v : c.last) sum = sum * 31 + v;
    into.rows.clear();
    for (std::uint64_t r = 0; r < pieces(number); ++r) into.rows.push_back(mix(sum + r));
    return into.rows.size();
  }
  [[nodiscard]] packet cut(unit const& from, std::uint64_t first, std::uint64_t count) const {
    maybe_fail("cut", fails_at);
    auto const begin = from.rows.begin() + static_cast<std::ptrdiff_t>(first);
    return {0, {begin, begin + static_cast<std::ptrdiff_t>(count)}};
  }
  [[nodiscard]] result process(packet const& p, std::size_t i) const {
    if (process_time.count() > 0) std::this_thread::sleep_for(process_time);
    if (processed != nullptr) ++*processed;
    auto const row = p.rows.at(i);
    if (fails == "process" && row % 5 == fails_at % 5) throw std::runtime_error("no luck in process");
    result all;
    for (std::uint64_t k = 0; k < row % 9; ++k) all.push_back(static_cast<std::uint32_t>(mix(row + k)));
    return all;
  }

  /// The data that cut() copies for this piece.
  [[nodiscard]] std::uint64_t row(std::uint64_t number, std::uint64_t piece) const {
    carried c;
    unit u;
    slices const quick;
    for (std::uint64_t n = 0; n <= number; ++n) quick.read(n, c, u);
    return u.rows.at(piece);
  }

  /// The output of one loop that reads everything in order.
  [[nodiscard]] std::vector<std::uint64_t> expected(std::uint64_t units) const {
    std::vector<std::uint64_t> text;
    carried c;
    for (std::uint64_t n = 0; n < units; ++n) {
      std::uint64_t sum = n;
      c.last.insert(c.last.begin(), mix(n));
      if (c.last.size() > 3) c.last.pop_back();
      for (auto const v : c.last) sum = sum * 31 + v;
      for (std::uint64_t r = 0; r < pieces(n); ++r) {
        text.push_back(n);
        text.push_back(r);
        auto const row = mix(sum + r);
        for (std::uint64_t k = 0; k < row % 9; ++k) text.push_back(static_cast<std::uint32_t>(mix(row + k)));
      }
    }
    return text;
  }
};

/// A sink that keeps everything in the order in which it came.
struct written {
  std::vector<std::uint64_t> text;
  void operator()(std::uint64_t unit, std::uint64_t piece, slices::result&& r) {
    text.push_back(unit);
    text.push_back(piece);
    text.insert(text.end(), r.begin(), r.end());
  }
};

}  // namespace groups
