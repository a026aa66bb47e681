// The parts of a bsp, or a value of each rank, on the root and on all ranks. After losses there is never
// another result of a bsp, nor a shorter one.
#include <atomic>
#include <optional>
#include <stdexcept>

#include "over_hub.hpp"
#include "skel/skel.hpp"

namespace tutorial {
#define main stencil_main
#include "../../examples/tutorial/stencil.cpp"  // NOLINT(bugprone-suspicious-include): its program is tested here
#undef main
}  // namespace tutorial

using namespace bsp_test;

namespace {

// A state that can be watched while it is packed and unpacked, on any rank.
struct watched {
  int part = 0;
  static inline std::function<void(int part)> packs = [](int) {}, unpacks = [](int) {};
  /// Sets the functions for one test.
  struct by {
    by(std::function<void(int)> on_pack, std::function<void(int)> on_unpack) {
      packs = std::move(on_pack);
      unpacks = std::move(on_unpack);
    }
    by(by const&) = delete;
    by& operator=(by const&) = delete;
    ~by() {
      packs = unpacks = [](int) {};
    }
  };
};

}  // namespace

template <>
struct skel::transfer_traits<watched> {
  static void pack(watched const& w, std::vector<std::byte>& out) {
    watched::packs(w.part);
    skel::pack(w.part, out);
  }
  static watched unpack(std::span<std::byte const>& in) {
    auto const part = skel::unpack<int>(in);
    watched::unpacks(part);
    return {part};
  }
};

namespace {

// Each state is the number of its part.
struct numbered {
  using state = watched;
  using message = int;
  std::function<void(int rank, std::uint64_t number)> event = [](int, std::uint64_t) {};
  std::uint64_t last = 0;
  [[nodiscard]] state begin(int rank, int) const { return {rank}; }
  bool step(state& s, skel::superstep<message>& now) const {
    event(now.rank(), now.number());
    s.part = now.rank();
    return now.number() < last;
  }
  [[nodiscard]] skel::bsp_part<numbered> split(skel::bsp_parts<numbered> const& parts, int rank, int) const {
    auto part = parts[0];
    part.state.part = rank;
    return part;
  }
};

using parts_of_circle = std::optional<std::vector<circle::state>>;
using parts_of_numbered = std::optional<std::vector<watched>>;

std::vector<std::uint64_t> joined(parts_of_circle const& parts) {
  std::vector<std::uint64_t> all;
  for (auto const& p : parts.value()) all.insert(all.end(), p.cells.begin(), p.cells.end());
  return all;
}

bool complete(parts_of_numbered const& parts, int ranks) {
  if (!parts || parts->size() != static_cast<std::size_t>(ranks)) return false;
  for (int i = 0; i < ranks; ++i)
    if (parts->at(static_cast<std::size_t>(i)).part != i) return false;
  return true;
}

void all_threw(hub::job const& job, std::vector<int> const& ranks, std::string const& text) {
  for (int const r : ranks) {
    CAPTURE(r, job.error(r));
    CHECK(job.error(r).find(text) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("the parts arrive in order, on the root or on all ranks, also those without cells") {
  for (int const ranks : {1, 2, 3, 5, 40}) {
    INFO(ranks);
    hub::job job(ranks, 1);
    auto const n = static_cast<std::size_t>(ranks);
    std::vector<parts_of_circle> on_root(n), on_all(n);
    auto const counts = job.run_well([&](skel::context& ctx) {
      auto const r = static_cast<std::size_t>(ctx.rank());
      auto const run = skel::bsp(ctx, neighbour_circle{});
      on_root[r] = skel::gather(ctx, run);
      on_all[r] = skel::all_gather(ctx, run);
      return skel::gather(ctx, skel::result<std::size_t>{run.value.cells.size(), run.report});
    });
    for (int r = 0; r < ranks; ++r) {
      CHECK(on_root[static_cast<std::size_t>(r)].has_value() == (r == 0));
      CHECK(joined(on_all[static_cast<std::size_t>(r)]) == expected());
    }
    REQUIRE(on_root[0]);
    CHECK(on_root[0]->size() == n);
    CHECK(joined(on_root[0]) == expected());
    REQUIRE(counts);
    CHECK(std::accumulate(counts->begin(), counts->end(), std::size_t{0}) == cells);
  }
}

TEST_CASE("ranks lost before or during the bsp leave fewer parts") {
  for (bool const before : {true, false}) {
    INFO((before ? "before" : "during"));
    hub::job job(4, 1);
    if (before) job.kill(2);
    std::atomic<bool> killed{before};
    neighbour_circle p;
    p.event = [&](int rank, std::uint64_t n) {
      if (rank == 2 && n == 15 && !killed.exchange(true)) job.kill(2);
    };
    parts_of_circle parts, everywhere;
    job.run([&](skel::context& ctx) {
      auto const run = skel::bsp(ctx, p);
      auto const here = skel::gather(ctx, run);
      if (ctx.is_root()) parts = here;
      auto const all = skel::all_gather(ctx, run);
      if (ctx.rank() == 3) everywhere = all;
    });
    REQUIRE(parts);
    CHECK(parts->size() == 3);
    CHECK(joined(parts) == expected());
    CHECK(joined(everywhere) == expected());
  }
}

TEST_CASE("a rank that only seemed lost has no part") {
  hub::job job(4, 1);
  std::atomic<bool> suspected{false}, over{false};
  neighbour_circle p;
  p.event = [&](int rank, std::uint64_t n) {
    if (rank == 0 && n == 15 && !suspected.exchange(true)) job.suspect(2);
    if (suspected) std::this_thread::sleep_for(5ms);
  };
  std::thread alive([&] {
    for (; !over; std::this_thread::sleep_for(2ms))
      if (suspected) job.heartbeat(2);
  });
  std::vector<std::optional<skel::part_report>> of_rank(4);
  auto const parts = job.run_well([&](skel::context& ctx) {
    auto const run = skel::bsp(ctx, p);
    of_rank[static_cast<std::size_t>(ctx.rank())] = run.report.part;
    return skel::gather(ctx, run);
  });
  over = true;
  alive.join();
  CHECK(joined(parts) == expected());
  CHECK_FALSE(of_rank[2]);
  REQUIRE(of_rank[3]);
  CHECK(of_rank[3]->index == 2);
  CHECK(of_rank[3]->ranks == std::vector{0, 1, 3});
}

TEST_CASE("a part that is lost before the root has it is an error on every rank, not a shorter result") {
  hub::job job(4, 1);
  std::atomic<int> results{0};
  auto const later = job.on_root([&](skel::context& ctx) {
    auto const run = skel::bsp(ctx, neighbour_circle{});
    if (ctx.rank() == 2) job.kill(2);
    try {
      static_cast<void>(skel::gather(ctx, run));
      ++results;
    } catch (skel::lost_rank_error const& e) {
      if (e.rank() != 2) throw;
    }
    return skel::gather(ctx, neighbour_circle{}).value;
  });
  CHECK(results == 0);
  for (int const r : {0, 1, 3}) CHECK(job.error(r).empty());
  CHECK(joined(later) == expected());
}

TEST_CASE("a part that the root has may lose its rank") {
  hub::job job(3, 1);
  std::atomic<std::uint64_t> looks{0};
  auto const parts = job.on_root([&](skel::context& ctx) {
    auto const run = skel::bsp(ctx, neighbour_circle{});
    if (ctx.rank() == 1) {  // comes late, and rank 2 is lost meanwhile
      std::this_thread::sleep_for(100ms);
      looks = job.looks(0);
      while (job.looks(0) < looks + 200) std::this_thread::sleep_for(1ms);
      job.kill(2);
    }
    return skel::gather(ctx, run);
  });
  CHECK(job.error(1).empty());
  CHECK(joined(parts) == expected());
}

TEST_CASE("a run whose part is lost is repeated, from its checkpoint if there is one") {
  enum class checkpoints : std::uint8_t { none, left, lost };  // with a rank's disk
  for (auto const kept : {checkpoints::none, checkpoints::left, checkpoints::lost}) {
    bool const saves = kept != checkpoints::none;
    CAPTURE(static_cast<int>(kept));
    store const where(4);
    auto const* const code = kept == checkpoints::lost ? "parity:4" : "ida:2,2";
    hub::job job(4, 1);
    std::atomic<bool> ended{false}, killed{false};
    std::atomic<std::uint64_t> least_after{99};
    watched::by const hook(
        [&](int part) {
          if (part == 2 && ended && !killed.exchange(true)) job.kill(2);
        },
        [](int) {});
    numbered p;
    p.last = 20;
    p.event = [&](int rank, std::uint64_t n) {
      if (saves && n == 10 && !killed) where.wait_for_checkpoint();
      if (rank == 2 && n == 20) ended = true;
      for (auto seen = least_after.load();
           killed && n < seen && !least_after.compare_exchange_weak(seen, n);) {
      }
    };
    parts_of_numbered parts;
    skel::report report;
    job.run([&](skel::context& ctx) {
      auto const r = skel::gather(ctx, p, saves ? where.options(false, code) : skel::bsp_options{});
      if (!ctx.is_root()) return;
      parts = r.value;
      report = r.report;
    });
    for (int const r : {0, 1, 3}) CHECK(job.error(r).empty());
    CHECK(killed);
    CHECK(complete(parts, 3));
    CHECK((least_after > 0) == (kept == checkpoints::left));
    CHECK(report.part.value().ranks == std::vector{0, 1, 3});
  }
}

TEST_CASE("nothing is gathered of a run that was stopped early") {
  hub::job job(3, 1);
  std::stop_source stop;
  stop.request_stop();
  std::atomic<int> results{0}, stopped{0};
  neighbour_circle p;
  p.event = [](int, std::uint64_t) { std::this_thread::sleep_for(5ms); };
  job.run_well([&](skel::context& ctx) {
    skel::bsp_options options;
    options.stop = stop.get_token();
    auto const run = skel::bsp(ctx, p, options);
    if (run.report.stopped_early) ++stopped;
    if (skel::gather(ctx, run) || skel::all_gather(ctx, run) || skel::gather(ctx, p, options).value)
      ++results;
  });
  CHECK(stopped == 3);
  CHECK(results == 0);
}

TEST_CASE("values that are not the parts of one bsp call are refused on every rank") {
  hub::job job(3, 1);
  job.run([&](skel::context& ctx) {
    skel::result<int> r;
    r.report = skel::farm(
                   ctx, skel::indices(3), [](std::uint64_t) {}, [](skel::task_id) {})
                   .report;
    static_cast<void>(skel::gather(ctx, r));
  });
  all_threw(job, {0, 1, 2}, "gather: expected the result of a bsp, found that of farm");
  job.run([&](skel::context& ctx) {
    auto const first = skel::bsp(ctx, numbered{}), second = skel::bsp(ctx, numbered{});
    static_cast<void>(skel::gather(ctx, ctx.rank() == 1 ? first : second));
  });
  all_threw(job, {0, 1, 2}, "gather: the part of rank 1 is of another bsp call than those of other ranks");
}

TEST_CASE("an exception while a part is packed or unpacked is thrown on every rank") {
  for (bool const packing : {true, false}) {
    auto const bad = [](int part) {
      if (part == 1) throw std::runtime_error("no luck");
    };
    auto const good = [](int) {};
    watched::by const hook(packing ? std::function<void(int)>(bad) : good,
                           packing ? std::function<void(int)>(good) : bad);
    hub::job job(3, 1);
    job.run([&](skel::context& ctx) {
      auto const run = skel::bsp(ctx, numbered{});
      try {
        static_cast<void>(skel::gather(ctx, run));
      } catch (skel::task_error const& e) {
        if (e.task() != 1 || e.rank() != (packing ? 1 : 0)) return;
        throw;
      }
    });
    all_threw(job, {0, 1, 2}, "no luck");
  }
}

TEST_CASE("a value of each rank arrives at the index of its rank, on the root or on all ranks") {
  struct plain {
    int rank = 0;
    std::string text;
    bool operator==(plain const&) const = default;
  };
  for (int const ranks : {1, 2, 3, 40}) {
    INFO(ranks);
    std::vector<std::optional<plain>> every;
    for (int r = 0; r < ranks; ++r) every.push_back(plain{r, std::string(static_cast<std::size_t>(r), 'x')});
    std::atomic<int> right{0};
    hub::job job(ranks, 1);
    job.run_well([&](skel::context& ctx) {
      auto const mine = plain{ctx.rank(), std::string(static_cast<std::size_t>(ctx.rank()), 'x')};
      auto const on_root = skel::gather(ctx, mine);
      auto const again = skel::gather(ctx, 7);
      auto const on_all = skel::all_gather(ctx, mine);
      if (on_root.has_value() == ctx.is_root() && again.has_value() == ctx.is_root() && on_all == every)
        ++right;
      if (ctx.is_root() && on_root == every && again->size() == every.size() && again->back() == 7) ++right;
    });
    CHECK(right == ranks + 1);
  }
}

TEST_CASE("the values of lost ranks are empty, and the others have the same on all ranks") {
  for (bool const before : {true, false}) {
    INFO((before ? "before" : "while it packs its value"));
    hub::job job(4, 1);
    if (before) job.kill(2);
    watched::by const hook(
        [&](int rank) {
          if (rank == 2) job.kill(2);
        },
        [](int) {});
    std::atomic<int> right{0};
    job.run([&](skel::context& ctx) {
      auto const all = skel::all_gather(ctx, watched{ctx.rank()});
      bool good = all && all->size() == 4 && !all->at(2);
      for (std::size_t const r : {0U, 1U, 3U})
        good = good && all->at(r) && all->at(r)->part == static_cast<int>(r);
      if (good) ++right;
    });
    for (int const r : {0, 1, 3}) CHECK(job.error(r).empty());
    CHECK(right == 3);
  }
}

TEST_CASE("an exception while a value is packed or unpacked is thrown on every rank") {
  for (bool const packing : {true, false}) {
    auto const bad = [](int rank) {
      if (rank == 1) throw std::runtime_error("no luck");
    };
    auto const good = [](int) {};
    watched::by const hook(packing ? std::function<void(int)>(bad) : good,
                           packing ? std::function<void(int)>(good) : bad);
    hub::job job(3, 1);
    job.run([&](skel::context& ctx) { static_cast<void>(skel::gather(ctx, watched{ctx.rank()})); });
    all_threw(job, {0, 1, 2}, "no luck");
  }
}

TEST_CASE("the tutorial's stencil has the same cells on more ranks than cells") {
  std::vector<double> expected;
  for (int const ranks : {1, tutorial::cells + 1}) {
    std::vector<double> all;
    skel::run_threads(ranks, [&](skel::context& ctx) {
      auto const parts = skel::gather(ctx, tutorial::ring{}).value;
      if (!parts) return;
      for (auto const& part : *parts) all.insert(all.end(), part.begin(), part.end());
    });
    if (ranks == 1) expected = all;
    CHECK(all.size() == tutorial::cells);
    CHECK(all == expected);
  }
}
