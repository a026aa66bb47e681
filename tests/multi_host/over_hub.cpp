// multi_host has the same output for every grouping.
#include "over_hub.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <thread>

#include "catch.hpp"

using namespace std::chrono_literals;
using groups::run;
using groups::size;
using groups::slices;
using groups::written;

namespace {

// Numbers computed on this rank, or left in the message that brought them.
struct in_message {
  std::vector<std::uint64_t> own;
  std::span<std::byte const> there{};
  std::shared_ptr<void const> message{};

  [[nodiscard]] std::vector<std::uint64_t> all() const {
    if (!message) return own;
    std::vector<std::uint64_t> copy(there.size() / sizeof(std::uint64_t));
    std::memcpy(copy.data(), there.data(), there.size());
    return copy;
  }
};

}  // namespace

template <>
struct skel::transfer_traits<in_message> {
  static void pack(in_message const& m, std::vector<std::byte>& out) { skel::pack(m.own, out); }
  static in_message unpack(std::span<std::byte const>& in) {
    return {skel::unpack<std::vector<std::uint64_t>>(in)};
  }
  static in_message unpack(std::span<std::byte const>& in, std::shared_ptr<void const> const& owner) {
    auto const n = bytes::get_varint(in);
    return {{}, bytes::get_bytes(in, n * sizeof(std::uint64_t)), owner};
  }
};

TEST_CASE("results arrive unit by unit in any order, or stay on the hosts") {
  slices const what;
  hub::job job(6, 2);
  auto how = size(2);
  how.results = skel::multi_host_options::unit_results::as_they_come;
  std::map<std::uint64_t, std::vector<std::uint64_t>> by_unit;
  std::vector<std::uint64_t> order;
  auto const text_of = [](auto const& units) {
    std::vector<std::uint64_t> text;
    for (auto const& [unit, part] : units) text.insert(text.end(), part.begin(), part.end());
    return text;
  };
  auto const add = [](auto& to, auto unit, auto piece, auto& result) {
    to[unit].push_back(unit);
    to[unit].push_back(piece);
    to[unit].insert(to[unit].end(), result.begin(), result.end());
  };
  job.run([&](skel::context& ctx) {
    skel::multi_host(
        ctx, 25, what, [&](auto unit, auto piece, auto&& r) { add(by_unit, unit, piece, r); }, how);
  });
  CHECK(text_of(by_unit) == what.expected(25));

  how.results = skel::multi_host_options::unit_results::on_hosts;
  how.measures.split_shares = false;  // the first hosts lead until the end
  std::mutex mutex;
  std::map<std::uint64_t, std::vector<std::uint64_t>> here;
  std::set<int> hosts;
  job.run([&](skel::context& ctx) {
    auto const r = skel::multi_host(
                       ctx, 25, what,
                       [&](auto unit, auto piece, auto&& result) {
                         std::lock_guard const lock(mutex);
                         hosts.insert(ctx.rank());
                         add(here, unit, piece, result);
                       },
                       how)
                       .report;
    if (ctx.is_root()) CHECK(r.tasks == 25);
  });
  CHECK(text_of(here) == what.expected(25));
  CHECK(hosts == std::set<int>{0, 2, 4});
}

TEST_CASE("results may refer to their messages after the call") {
  struct numbers {
    using carried = int;
    using unit = std::uint64_t;
    using packet = std::uint64_t;
    using result = in_message;
    std::uint64_t pieces = 5;
    std::size_t length = 3000;
    std::uint64_t read(std::uint64_t number, carried&, unit& into) const {
      into = number;
      return pieces;
    }
    packet cut(unit u, std::uint64_t first, std::uint64_t) const { return u * pieces + first; }
    result process(packet p, std::size_t i) const { return {std::vector<std::uint64_t>(length, p + i)}; }
  };
  numbers const numbered;
  hub::job job(3, GENERATE(1U, 2U));
  std::vector<in_message> kept;
  auto how = size(GENERATE(1U, 3U));
  constexpr std::uint64_t units = 40;
  job.run([&](skel::context& ctx) {
    skel::multi_host(
        ctx, units, numbered, [&](auto, auto, in_message&& m) { kept.push_back(std::move(m)); }, how);
  });
  REQUIRE(kept.size() == units * numbered.pieces);
  for (std::size_t i = 0; i < kept.size(); ++i)
    CHECK(kept[i].all() == std::vector<std::uint64_t>(numbered.length, i));
}

TEST_CASE("idle ranks lead the end of another share; the output is the same") {
  slices what;
  what.process_time = 200us;
  for (auto const where :
       {skel::multi_host_options::unit_results::in_order, skel::multi_host_options::unit_results::on_hosts}) {
    hub::job job(3, 1);
    auto how = size(1);
    how.results = where;
    how.power = {4, 1, 1};  // in fact, all ranks are alike
    std::mutex mutex;
    std::map<std::uint64_t, std::vector<std::uint64_t>> by_unit;
    skel::report report;
    job.run([&](skel::context& ctx) {
      auto r = skel::multi_host(
                   ctx, 60, what,
                   [&](auto unit, auto piece, auto&& result) {
                     std::lock_guard const lock(mutex);
                     auto& to = by_unit[unit];
                     to.push_back(unit);
                     to.push_back(piece);
                     to.insert(to.end(), result.begin(), result.end());
                   },
                   how)
                   .report;
      if (ctx.is_root()) report = std::move(r);
    });
    std::vector<std::uint64_t> text;
    for (auto const& [unit, part] : by_unit) text.insert(text.end(), part.begin(), part.end());
    CHECK(text == what.expected(60));
    REQUIRE(report.groups);
    CHECK(report.groups->split > 0);
    CHECK(report.groups->sizes == std::vector<int>{1, 1, 1});
    CHECK(report.tasks == 60);
  }
}

TEST_CASE("pieces leave while their unit is being read, and a new host uses read_first") {
  // Reads row by row, and returns only after another rank has processed the first row.
  struct by_rows : slices {
    std::atomic<int>* first_rows = nullptr;
    std::uint64_t read(std::uint64_t number, carried& c, unit& into, skel::pieces_ready const& ready) const {
      auto const n = slices::read(number, c, into);
      for (std::uint64_t i = 1; i <= n; ++i) ready(i);
      for (int k = 0; number == 1 && n > 1 && *processed == 0 && k < 5000; ++k)
        std::this_thread::sleep_for(1ms);
      return n;
    }
    std::uint64_t read_first(std::uint64_t number, carried& c, unit& into,
                             skel::pieces_ready const& ready) const {
      if (number > 0) ++*first_rows;
      for (auto u = number - std::min<std::uint64_t>(2, number); u < number; ++u) {
        unit unused;
        slices::read(u, c, unused);
      }
      return read(number, c, into, ready);
    }
  };
  std::atomic<int> processed{0}, first{0};
  by_rows what;
  what.processed = &processed;
  what.first_rows = &first;
  hub::job job(4, 1);
  written out;
  auto how = size(2);
  how.measures.split_shares = false;
  job.run([&](skel::context& ctx) { skel::multi_host(ctx, 12, what, std::ref(out), how); });
  CHECK(out.text == what.expected(12));
  CHECK(first == 1);  // one of the two groups starts in the middle
}

TEST_CASE("the report describes the groups and their work") {
  slices what;
  what.read_time = 200us;
  what.process_time = 100us;
  std::atomic<int> reads{0};
  what.reads = &reads;
  hub::job job(8, 1);
  skel::report r;
  CHECK(run(job, 40, what, size(2), &r) == what.expected(40));
  CHECK(r.skeleton == "multi_host");
  CHECK(r.schedule == "groups:size=2");
  CHECK(r.tasks == 40);
  REQUIRE(r.groups.has_value());
  auto const& g = *r.groups;
  CHECK(g.sizes == std::vector<int>{2, 2, 2, 2});
  CHECK_FALSE(g.size_found);
  CHECK(g.units_read == 40 + (3 + g.split) * 2);
  CHECK(static_cast<int>(g.units_read) == reads);
  CHECK(g.read_seconds >= 200e-6);
  CHECK(g.compute_seconds > 200e-6);
  CHECK(g.sink_seconds > 0);
  CHECK(g.preload_seconds == 0);
  auto how = size(2);
  how.measures.preload = true;
  run(job, 40, what, how, &r);
  CHECK(r.groups->preload_seconds >= 3 * 200e-6);  // history and the first unit
  how.measures.reassign = false;
  run(job, 40, what, how, &r);
  CHECK(r.groups->reassigned == 0);
}

TEST_CASE("the trial finds large groups if reading is fast, small ones if it is slow") {
  slices what;
  what.rows = 12;
  hub::job job(6, 1);
  skel::report r;
  what.read_time = 100us;
  what.process_time = 2ms;
  CHECK(run(job, 24, what, size(0), &r) == what.expected(24));
  REQUIRE(r.groups.has_value());
  CHECK(r.groups->size_found);
  what.read_time = 30ms;
  what.process_time = 100us;
  CHECK(run(job, 12, what, size(0), &r) == what.expected(12));
  CHECK(r.groups->size_found);
  CHECK(r.groups->sizes.size() > 2);  // many readers
}
