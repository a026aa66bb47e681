// Bulk synchronous programs over several ranks in one process: messages, checkpoints, losses, other numbers
// of ranks. What is expected is computed without supersteps.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>

#include "../../examples/matmul/product.hpp"
#include "catch.hpp"
#include "hub_transport.hpp"
#include "observe_support.hpp"
#include "skel/bsp.hpp"
#include "skel/error.hpp"
#include "skel/schedule/deal.hpp"

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t cells = 37, rounds = 30;

// Each cell becomes a mixture of itself and of its left neighbour, on a circle.
std::uint64_t mixed(std::uint64_t own, std::uint64_t left) {
  return (own ^ (left << 7)) * 0x9e3779b97f4a7c15U + (left >> 3);
}

std::vector<std::uint64_t> expected() {
  std::vector<std::uint64_t> now(cells);
  std::iota(now.begin(), now.end(), 1);
  for (std::uint64_t r = 0; r < rounds; ++r) {
    auto const old = now;
    for (std::uint64_t i = 0; i < cells; ++i) now[i] = mixed(old[i], old[(i + cells - 1) % cells]);
  }
  return now;
}

// The cells of the circle in contiguous parts; the last one of each goes to the next rank that has any.
struct circle {
  struct state {
    std::uint64_t first = 0;
    std::vector<std::uint64_t> cells, whole;
  };
  using message = std::pair<std::uint64_t, std::vector<std::uint64_t>>;  // where they belong

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

}  // namespace

template <>
struct skel::transfer_traits<circle::state> {
  static void pack(circle::state const& s, std::vector<std::byte>& out) {
    skel::pack(s.first, out);
    skel::pack(s.cells, out);
    skel::pack(s.whole, out);
  }
  static circle::state unpack(std::span<std::byte const>& in) {
    circle::state s;
    s.first = skel::unpack<std::uint64_t>(in);
    s.cells = skel::unpack<std::vector<std::uint64_t>>(in);
    s.whole = skel::unpack<std::vector<std::uint64_t>>(in);
    return s;
  }
};

namespace {

// One that can be split: all cells again, cut anew; what its left neighbour has sent is that one's last cell.
struct splitting_circle : circle {
  [[nodiscard]] skel::bsp_part<splitting_circle> split(skel::bsp_parts<splitting_circle> const& parts,
                                                       int rank, int size) const {
    std::vector<std::uint64_t> all;
    skel::bsp_part<splitting_circle> part;
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

struct store {
  test::temporary_directory root;
  std::vector<std::string> directories;
  std::vector<std::string> named;  // as the options name them
  store() {
    make("d", 4);
    named = directories;
  }
  /// Of so many ranks' own disks, as hub::job names their hosts.
  explicit store(int ranks) : named{"ranks:" + root.file("%h")} { make("host", ranks); }
  void make(std::string const& name, int number) {
    for (int i = 0; i < number; ++i) {
      directories.push_back(root.file(name + std::to_string(i)));
      std::filesystem::create_directory(directories.back());
    }
  }
  /// Until a checkpoint is committed, or half a second; whether there is one.
  bool wait_for_checkpoint() const {
    auto const holds_manifest = [](std::string const& directory) {
      auto const files = std::filesystem::directory_iterator(directory);
      return std::any_of(begin(files), end(files),
                         [](auto const& f) { return f.path().filename().string().starts_with("manifest."); });
    };
    auto const all_hold = [&] { return std::ranges::all_of(directories, holds_manifest); };
    for (int i = 0; i < 100 && !all_hold(); ++i) std::this_thread::sleep_for(5ms);
    return all_hold();
  }
  [[nodiscard]] skel::bsp_options options(bool resume, std::string const& code = "ida:2,2") const {
    skel::checkpoint_options c;
    c.code = code;
    c.store = named;
    c.every_seconds = 0;
    c.resume = resume;
    c.program = "test_bsp";
    c.version = "1";
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
    e.whole = r.state.whole;
    e.run = r.run;
  });
  for (int r = 0; r < ranks; ++r) e.errors.push_back(job.error(r));
  return e;
}

template <class P>
ended run(int ranks, P const& program, skel::bsp_options const& options) {
  hub::job job(ranks, 1);
  return run(job, ranks, program, options);
}

// A run that is stopped in this superstep, when there is a checkpoint.
template <class P>
void run_until(int ranks, P program, store const& where, std::uint64_t last) {
  auto options = where.options(false);
  std::stop_source stop;
  options.stop = stop.get_token();
  program.event = [&](int, std::uint64_t n) {
    if (n < last || !where.wait_for_checkpoint()) return;
    stop.request_stop();
    std::this_thread::sleep_for(300ms);  // nobody gets to the end
  };
  auto const e = run(ranks, program, options);
  CHECK(e.run.stopped_early);
  REQUIRE(e.run.checkpoint);
  CHECK(e.run.checkpoint->saved >= 1);
}

}  // namespace

TEST_CASE("supersteps give what a sequential program gives, on any number of ranks") {
  for (int ranks : {1, 2, 3, 5, 8}) {
    INFO(ranks);
    auto const e = run(ranks, circle{}, {});
    for (auto const& text : e.errors) CHECK(text.empty());
    CHECK(e.whole == expected());
    CHECK(e.run.tasks == rounds + 2);
  }
}

TEST_CASE("a run goes on from its last checkpoint, on as many ranks or on others") {
  for (auto const& [before, after] : {std::pair{3, 3}, {3, 2}, {2, 5}, {1, 3}, {4, 1}}) {
    INFO(before << " ranks, then " << after);
    store const where;
    run_until(before, splitting_circle{}, where, 20);
    std::atomic<std::uint64_t> least{rounds};
    splitting_circle later;
    later.event = [&](int, std::uint64_t n) {
      for (auto seen = least.load(); n < seen && !least.compare_exchange_weak(seen, n);) {
      }
    };
    auto const e = run(after, later, where.options(true));
    for (auto const& text : e.errors) CHECK(text.empty());
    CHECK(e.whole == expected());
    CHECK(least > 0);  // not from the beginning
  }
}

TEST_CASE("a rank alone commits while it computes") {
  store const where;
  bool committed = false;
  circle p;
  p.event = [&](int, std::uint64_t n) {
    if (n == 5) committed = where.wait_for_checkpoint();  // within the superstep
  };
  auto const e = run(1, p, where.options(false));
  CHECK(committed);
  CHECK(e.whole == expected());
  REQUIRE(e.run.checkpoint);
  CHECK(e.run.checkpoint->saved > 0);
  CHECK(e.run.checkpoint->failed == 0);
}

TEST_CASE("a directory may be gone, and a bit of another turn over") {
  store const where;
  run_until(3, circle{}, where, 20);
  std::filesystem::remove_all(where.directories[1]);
  std::filesystem::create_directory(where.directories[1]);
  int turned = 0;
  for (auto const& f : std::filesystem::directory_iterator(where.directories[2])) {
    auto bytes = test::read_file(f.path().string());
    if (bytes.size() < 100) continue;
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
    test::write_file(f.path().string(), bytes);
    ++turned;
  }
  CHECK(turned > 0);
  auto const e = run(3, circle{}, where.options(true));
  for (auto const& text : e.errors) CHECK(text.empty());
  CHECK(e.whole == expected());
}

namespace {

// One of four ranks is lost after there was a checkpoint.
void check_goes_on_without(int victim, store const& where) {
  hub::job job(4, 1);
  std::atomic<std::uint64_t> newest{0};
  std::atomic<bool> dead{false};
  std::atomic<std::uint64_t> least_after{rounds + 2};
  splitting_circle p;
  p.event = [&](int, std::uint64_t n) {
    if (n == 20) where.wait_for_checkpoint();
    if (n >= 20 && !dead) std::this_thread::sleep_for(20ms);
    if (dead)
      for (auto seen = least_after.load(); n < seen && !least_after.compare_exchange_weak(seen, n);) {
      }
    newest = std::max(newest.load(), n);
  };
  std::thread killer([&] {
    while (newest < 20) std::this_thread::sleep_for(1ms);
    dead = true;
    job.kill(victim);
  });
  auto const e = run(job, 4, p, where.options(false));
  killer.join();
  CHECK(e.errors[0].empty());
  CHECK(e.whole == expected());
  CHECK(e.run.lost_ranks == std::vector<int>{victim});
  CHECK(least_after > 0);  // not from the beginning
}

}  // namespace

TEST_CASE("the ranks that are left go on from the checkpoint when one is lost") {
  for (int victim : {1, 2, 3}) {
    INFO(victim);
    check_goes_on_without(victim, store());
  }
}

TEST_CASE("the ranks' own disks give a run back, on as many ranks, on fewer and on more") {
  for (int const after : {3, 2, 5}) {
    INFO(after);
    store const where(3);
    run_until(3, splitting_circle{}, where, 20);
    auto const e = run(after, splitting_circle{}, where.options(true));
    for (auto const& text : e.errors) CHECK(text.empty());
    CHECK(e.whole == expected());
    REQUIRE(e.run.checkpoint);
    CHECK(e.run.checkpoint->restored_generation > 0);
  }
}

TEST_CASE("a rank is lost together with its disk") {
  for (int victim : {1, 3}) {
    INFO(victim);
    check_goes_on_without(victim, store(4));
  }
}

TEST_CASE("what cannot be given back is told, and the generation before is gone on from and noted") {
  store const where;
  auto const two_manifests = [&] {
    auto const files = std::filesystem::directory_iterator(where.directories[0]);
    return std::count_if(begin(files), end(files), [](auto const& f) {
             return f.path().filename().string().starts_with("manifest.");
           }) >= 2;
  };
  auto first = where.options(false);
  std::stop_source stop;
  first.stop = stop.get_token();
  circle slow;
  slow.event = [&](int, std::uint64_t n) {
    std::this_thread::sleep_for(n < 25 ? 20ms : 300ms);
    if (n >= 25 && two_manifests()) stop.request_stop();
  };
  CHECK(run(3, slow, first).run.stopped_early);
  std::map<std::uint64_t, int> shards;  // of part 1, by generation
  auto const generation_of = [](std::filesystem::path const& p) {
    auto const name = p.filename().string();
    return name.starts_with("rank.") && name.find(".1-of-3.") != std::string::npos
               ? std::stoull(name.substr(5))
               : 0;
  };
  for (auto const& d : where.directories)
    for (auto const& f : std::filesystem::directory_iterator(d))
      if (auto const g = generation_of(f.path())) ++shards[g];
  while (!shards.empty() && shards.rbegin()->second < 4) shards.erase(std::prev(shards.end()));
  REQUIRE(shards.size() >= 2);
  auto const newest = shards.rbegin()->first, before = std::next(shards.rbegin())->first;
  for (auto const& d : where.directories)
    for (auto const& f : std::filesystem::directory_iterator(d)) {
      if (generation_of(f.path()) > newest) std::filesystem::remove(f.path());
      if (generation_of(f.path()) != newest) continue;
      auto bytes = test::read_file(f.path().string());  // its headers stay, so it looks well
      bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
      test::write_file(f.path().string(), bytes);
    }
  auto options = where.options(true);
  options.checkpoint->every_seconds = 1000;  // none of its own
  auto const e = run(3, circle{}, options);
  for (auto const& text : e.errors) CHECK(text.empty());
  CHECK(e.whole == expected());
  REQUIRE(e.run.checkpoint);
  CHECK(e.run.checkpoint->restored_generation == before);
  int noted = 0;
  for (auto const& f : std::filesystem::directory_iterator(where.directories[0]))
    noted += f.path().filename().string().find("attempt") != std::string::npos ? 1 : 0;
  CHECK(noted == 2);
}

TEST_CASE("without a checkpoint they begin again") {
  hub::job job(3, 1);
  std::atomic<std::uint64_t> newest{0};
  circle p;
  p.event = [&](int, std::uint64_t n) {
    std::this_thread::sleep_for(2ms);
    newest = std::max(newest.load(), n);
  };
  std::thread killer([&] {
    while (newest < 15) std::this_thread::sleep_for(1ms);
    job.kill(2);
  });
  auto const e = run(job, 3, p, {});
  killer.join();
  CHECK(e.errors[0].empty());
  CHECK(e.whole == expected());
}

TEST_CASE("a state that nobody can split is lost with a rank") {
  store const where;
  hub::job job(3, 1);
  std::atomic<std::uint64_t> newest{0};
  circle p;
  p.event = [&](int, std::uint64_t n) {
    if (n == 20) where.wait_for_checkpoint();
    if (n >= 20) std::this_thread::sleep_for(20ms);
    newest = std::max(newest.load(), n);
  };
  std::thread killer([&] {
    while (newest < 20) std::this_thread::sleep_for(1ms);
    job.kill(1);
  });
  auto const e = run(job, 3, p, where.options(false));
  killer.join();
  CHECK(e.errors[0] == "lost rank 1, and with it what no other rank had");
}

TEST_CASE("another program's, version's or problem's store is refused in one line") {
  store const where;
  run_until(2, circle{}, where, 20);
  auto const refusal = [&](auto const& change) {
    auto options = where.options(true);
    change(*options.checkpoint);
    return run(1, circle{}, options).errors[0];  // several ranks end together by run_main
  };
  auto const holds = where.directories[0] + ": holds generation ";
  for (auto const& text :
       {refusal([](auto& c) { c.program = "other"; }), refusal([](auto& c) { c.version = "2"; }),
        refusal([](auto& c) { c.problem = "square"; })}) {
    INFO(text);
    CHECK(text.starts_with(holds));
    CHECK(text.find(" of test_bsp 1, problem ") != std::string::npos);
    CHECK(text.ends_with("; name another store"));
  }
}

TEST_CASE("what a superstep throws ends the run on all ranks") {
  circle p;
  p.event = [](int rank, std::uint64_t n) {
    if (rank == 1 && n == 7) throw std::runtime_error("seven");
  };
  auto const e = run(3, p, {});
  for (auto const& text : e.errors) CHECK(text.find("seven") != std::string::npos);
}

namespace {

// The same state and messages, slower, and stopped when there are checkpoints.
struct slow_product {
  using state = skel::matmul::block_product::state;
  using message = skel::matmul::block_product::message;
  skel::matmul::block_product product;
  std::stop_source* stop;
  store const* where;
  [[nodiscard]] state begin(int rank, int ranks) const { return product.begin(rank, ranks); }
  bool step(state& s, skel::superstep<message>& now) const {
    if (now.number() >= 20 && where->wait_for_checkpoint()) {
      stop->request_stop();
      std::this_thread::sleep_for(300ms);
    }
    return product.step(s, now);
  }
};

}  // namespace

TEST_CASE("the product of two matrices goes on on other numbers of ranks, to the bit") {
  skel::matmul::sizes const size{.order = 75, .width = 2};
  skel::matmul::block_product const product{size};
  for (int after : {1, 2, 3, 4}) {
    INFO(after);
    store const where;
    auto options = where.options(false);
    std::stop_source stop;
    options.stop = stop.get_token();
    hub::job first(3, 1);
    first.run([&](skel::context& ctx) { skel::bsp(ctx, slow_product{product, &stop, &where}, options); });
    for (int r = 0; r < 3; ++r) CHECK(first.error(r).empty());
    std::vector<double> whole;
    hub::job second(after, 1);
    second.run([&](skel::context& ctx) {
      auto const r = skel::bsp(ctx, product, where.options(true));
      if (!ctx.is_root()) return;
      whole = r.state.whole;
      REQUIRE(r.run.checkpoint);
      CHECK(r.run.checkpoint->restored_generation > 0);
    });
    for (int r = 0; r < after; ++r) CHECK(second.error(r).empty());
    REQUIRE(whole.size() == size.order * size.order);
    CHECK(skel::matmul::first_wrong_row(size, whole, 1) == size.order);
  }
}
