// A bulk synchronous program with a known result, stores for its checkpoints, and functions that run it over
// the ranks of one process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <numeric>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "observe/support.hpp"
#include "protocol/deal.hpp"
#include "skel/bsp.hpp"
#include "transport/hub_transport.hpp"

namespace bsp_test {

using namespace std::chrono_literals;

inline constexpr std::uint64_t cells = 37, rounds = 30;

// Mixes a cell with its left neighbour on the circle.
inline std::uint64_t mixed(std::uint64_t own, std::uint64_t left) {
  return (own ^ (left << 7)) * 0x9e3779b97f4a7c15U + (left >> 3);
}

inline std::vector<std::uint64_t> expected() {
  std::vector<std::uint64_t> now(cells);
  std::iota(now.begin(), now.end(), 1);
  for (std::uint64_t r = 0; r < rounds; ++r) {
    auto const old = now;
    for (std::uint64_t i = 0; i < cells; ++i) now[i] = mixed(old[i], old[(i + cells - 1) % cells]);
  }
  return now;
}

// Each rank holds a contiguous part of the circle and sends its last cell to the next rank that has cells.
struct circle {
  struct state {
    std::uint64_t first = 0;
    std::vector<std::uint64_t> cells, whole;
  };
  using message =
      std::pair<std::uint64_t, std::vector<std::uint64_t>>;  // number of the first cell, and cells

  std::function<void(int rank, std::uint64_t number)> event = [](int, std::uint64_t) {};

  [[nodiscard]] state begin(int rank, int size) const {
    auto const mine = skel::contiguous_share(cells, size, rank);
    state s;
    s.first = mine.first;
    for (std::uint64_t i = 0; i < mine.count; ++i) s.cells.push_back(mine[i] + 1);
    return s;
  }
  bool step(state& s, skel::superstep<message>& now) const {
    event(now.rank(), now.number());
    if (now.number() > rounds) {
      for (auto& l : now.received()) {
        s.whole.resize(cells);
        std::ranges::copy(l.content.second, s.whole.begin() + static_cast<std::ptrdiff_t>(l.content.first));
      }
      return false;
    }
    if (now.number() > 0 && !s.cells.empty()) {
      REQUIRE(now.received().size() == 1);
      auto left = now.received()[0].content.second.at(0);
      for (auto& c : s.cells) left = std::exchange(c, mixed(c, left));
    }
    if (s.cells.empty()) return true;
    if (now.number() == rounds)
      now.send(0, {s.first, s.cells});
    else
      now.send(owner((s.first + s.cells.size()) % cells, now.size()), {0, {s.cells.back()}});
    return true;
  }
  [[nodiscard]] static int owner(std::uint64_t cell, int size) {
    for (int r = 0; r < size; ++r) {
      auto const part = skel::contiguous_share(cells, size, r);
      if (cell >= part.first && cell < part.first + part.count) return r;
    }
    return -1;
  }
};

}  // namespace bsp_test

template <>
struct skel::transfer_traits<bsp_test::circle::state> {
  using state = bsp_test::circle::state;
  static void pack(state const& s, std::vector<std::byte>& out) {
    skel::pack(s.first, out);
    skel::pack(s.cells, out);
    skel::pack(s.whole, out);
  }
  static state unpack(std::span<std::byte const>& in) {
    state s;
    s.first = skel::unpack<std::uint64_t>(in);
    s.cells = skel::unpack<std::vector<std::uint64_t>>(in);
    s.whole = skel::unpack<std::vector<std::uint64_t>>(in);
    return s;
  }
};

namespace bsp_test {

// A circle that can be split. The cells are gathered and cut again; the message from the left neighbour is
// that neighbour's last cell.
struct splitting_circle : circle {
  [[nodiscard]] skel::bsp_part<splitting_circle> split(skel::bsp_parts<splitting_circle> const& parts,
                                                       int rank, int size) const {
    return cut(parts, rank, size);
  }
  template <class P>
  static skel::bsp_part<P> cut(skel::bsp_parts<P> const& parts, int rank, int size) {
    std::vector<std::uint64_t> all;
    skel::bsp_part<P> part;
    bool begun = false, gathered = false;
    for (int i = 0; i < parts.size(); ++i) {
      auto const from = parts[i];
      all.insert(all.end(), from.state.cells.begin(), from.state.cells.end());
      begun = begun || !from.received.empty();
      gathered = gathered || from.received.size() > 1;
      if (i == 0 && rank == 0 && from.received.size() > 1) part.received = from.received;
    }
    auto const mine = skel::contiguous_share(cells, size, rank);
    part.state.first = mine.first;
    for (std::uint64_t i = 0; i < mine.count; ++i) part.state.cells.push_back(all.at(mine[i]));
    if (begun && !gathered && mine.count > 0)
      part.received = {{0, {0, {all[(mine.first + cells - 1) % cells]}}}};
    return part;
  }
};

// The same circle, whose ranks wait for their neighbours only. The last superstep leaves the cells where they
// are: `whole` is this rank's part.
struct neighbour_circle : splitting_circle {
  [[nodiscard]] std::vector<int> neighbours(int rank, int size) const {
    auto const mine = skel::contiguous_share(cells, size, rank);
    if (mine.count == 0) return {};
    return {owner((mine.first + mine.count) % cells, size), owner((mine.first + cells - 1) % cells, size)};
  }
  bool step(state& s, skel::superstep<message>& now) const {
    if (now.number() < rounds) return circle::step(s, now);
    if (now.number() == rounds) {
      event(now.rank(), now.number());
      if (!s.cells.empty()) {
        auto left = now.received().at(0).content.second.at(0);
        for (auto& c : s.cells) left = std::exchange(c, mixed(c, left));
      }
      s.whole = s.cells;
    }
    return false;
  }
  [[nodiscard]] skel::bsp_part<neighbour_circle> split(skel::bsp_parts<neighbour_circle> const& parts,
                                                       int rank, int size) const {
    return cut(parts, rank, size);
  }
};

struct store {
  test::temporary_directory root;
  std::vector<std::string> directories;
  std::vector<std::string> named;  // as named in the options
  store() {
    make("d", 4);
    named = directories;
  }
  /// A store on the own disks of `ranks` ranks, one host per rank as in hub::job.
  explicit store(int ranks) : named{"ranks:" + root.file("%h")} { make("host", ranks); }
  void make(std::string const& name, int number) {
    for (int i = 0; i < number; ++i) {
      directories.push_back(root.file(name + std::to_string(i)));
      std::filesystem::create_directory(directories.back());
    }
  }
  /// Waits for a committed checkpoint of the ranks' states. Returns whether there is one.
  bool wait_for_checkpoint() const {
    auto const holds_manifest = [](std::string const& directory) {
      std::set<std::string> parts, manifests;  // the numbers of their generations
      for (auto const& f : std::filesystem::directory_iterator(directory)) {
        auto const name = f.path().filename().string();
        auto const dot = name.find('.');
        auto const number = name.substr(dot + 1, name.find('.', dot + 1) - dot - 1);
        if (name.starts_with("rank.")) parts.insert(number);
        if (name.starts_with("manifest.")) manifests.insert(number);
      }
      return std::ranges::any_of(manifests, [&](auto const& number) { return parts.contains(number); });
    };
    auto const all_hold = [&] { return std::ranges::all_of(directories, holds_manifest); };
    // A loaded disk takes long to make one durable.
    for (int i = 0; i < 4000 && !all_hold(); ++i) std::this_thread::sleep_for(5ms);
    return all_hold();
  }
  [[nodiscard]] skel::bsp_options options(bool resume, std::string const& code = "ida:2,2") const {
    skel::checkpoint_options c;
    c.code = code;
    c.store = named;
    c.every_seconds = 0;
    c.resume =
        resume ? skel::checkpoint_options::resume_mode::yes : skel::checkpoint_options::resume_mode::no;
    c.program = {"test_bsp", "1"};
    c.problem = "circle";
    skel::bsp_options o;
    o.checkpoint = c;
    return o;
  }
};

struct ended {
  std::vector<std::uint64_t> whole;
  skel::report run;
  std::vector<std::string> errors;
};

template <class P>
ended run(hub::job& job, int ranks, P const& program, skel::bsp_options const& options) {
  ended e;
  job.run([&](skel::context& ctx) {
    auto r = skel::bsp(ctx, program, options);
    if (!ctx.is_root()) return;
    e.whole = r.value.whole;
    e.run = r.report;
  });
  for (int r = 0; r < ranks; ++r) e.errors.push_back(job.error(r));
  return e;
}

template <class P>
ended run(int ranks, P const& program, skel::bsp_options const& options) {
  hub::job job(ranks, 1);
  return run(job, ranks, program, options);
}

// From superstep 12 on, each takes longer than the one before: some are left when a loaded disk has saved.
inline void linger(std::uint64_t superstep) {
  if (superstep >= 12) std::this_thread::sleep_for(20ms * (superstep - 11));
}

// Runs the program and stops it in superstep `last`, or later if there is no checkpoint yet.
template <class P>
void run_until(int ranks, P program, store const& where, std::uint64_t last) {
  auto options = where.options(false);
  std::stop_source stop;
  options.stop = stop.get_token();
  program.event = [&](int, std::uint64_t n) {
    if (n < last || !where.wait_for_checkpoint()) return;
    stop.request_stop();
    // Keeps all ranks from finishing, for 16 s if it must: a checkpoint on a loaded disk delays the stop.
    std::this_thread::sleep_for(300ms * (n - last + 1));
  };
  auto const e = run(ranks, program, options);
  CHECK(e.run.stopped_early);
  REQUIRE(e.run.checkpoint);
  CHECK(e.run.checkpoint->saved >= 1);
}

}  // namespace bsp_test
