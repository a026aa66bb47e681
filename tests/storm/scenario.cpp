#include "scenario.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <utility>

#include "calls.hpp"
#include "engine/attempts.hpp"
#include "engine/context_access.hpp"
#include "engine/engine.hpp"

namespace storm {

namespace {

constexpr nanoseconds longest_run = 1'000'000'000'000;  // virtual

// What a root has at the end of the body.
struct completion {
  int rank, attempt;
  words out;
};

class job {
 public:
  /// `resumes`: the second job of the seed.
  job(scenario const& s, disks& files, bool resumes, std::FILE* trace, fault const* broken)
      : scenario_(s),
        resumes_(resumes),
        world_(s.ranks, mix(s.seed + (resumes ? 1 : 0)), s.wires),
        ends_(static_cast<std::size_t>(s.ranks)),
        engines_(static_cast<std::size_t>(s.ranks)) {
    for (auto const& k : resumes ? s.store.kills : s.kills) world_.plan(k);
    if (!resumes) {
      for (auto const& p : s.pauses) world_.plan(p);
      for (auto const& c : s.cuts) world_.plan(c);
    }
    world_.set_hosts(s.hosts);
    std::vector<std::string> names;
    for (int r = 0; r < s.ranks; ++r) names.push_back(host_of(r));
    files.serve(world_, names);
    world_.use_disks(files);
    present_store() = s.store.options;
    if (resumes) present_store()->resume = s.store.mode;
    world_.trace_to(trace);
    if (broken != nullptr) world_.filter_by(broken->make());
  }

  summary run() {
    world_.run([this](int rank) { live(rank); }, longest_run);
    if (auto const wrong = take_failure(); !wrong.empty()) throw violation(wrong);
    check();
    return {world_.hash(), world_.events(), world_.deaths(),
            attempts_,     succeeded_,      static_cast<double>(world_.now()) * 1e-9};
  }

 private:
  void live(int rank) {
    auto const views = std::make_shared<skel::detail::job_wires>(
        std::make_unique<rank_wires>(world_, rank), scenario_.patience, true,
        skel::detail::ended_processes([this, rank] { return world_.ended(rank); }), scenario_.spares);
    auto const make = [this, rank](std::unique_ptr<skel::transport::transport> carrier) {
      skel::context_options o;
      o.threads = 1;
      o.suspect_after_seconds = scenario_.patience;
      o.again.remember_bytes = scenario_.remember;
      o.check.tasks = false;
      o.host.load = 0.25 * (rank % 3);
      auto const made = std::make_shared<skel::detail::engine>(std::move(carrier), o, host_of(rank));
      engines_[static_cast<std::size_t>(rank)] = made;
      return made;
    };
    auto const& engine = engines_[static_cast<std::size_t>(rank)];
    world_.serve_by(rank, {[&engine] {
                             auto const e = engine.lock();
                             return e ? e->driver().next_tick() : 1e6;
                           },
                           [&engine] {
                             if (auto const e = engine.lock()) e->helper().serve();
                           },
                           [&engine] {
                             if (auto const e = engine.lock()) e->retirement().want();
                           }});
    auto const end = skel::detail::run_attempts(views, make, "storm", [&](skel::context& ctx) {
      words out;
      scenario_.what.run(ctx, out);
      if (!world_.is_dead(rank) && ctx.is_root()) {
        world_.note("has all", static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(ctx.attempt()));
        completions_.push_back({rank, ctx.attempt(), std::move(out)});
      }
      return 0;
    });
    if (world_.is_dead(rank)) return;
    if (end.retired) return world_.leave();
    world_.note("ends", static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(end.code));
    ends_[static_cast<std::size_t>(rank)] = end.code;
  }

  // Ranks of a host share its disk. Those of the others are not known to be there.
  [[nodiscard]] std::string host_of(int rank) const {
    int const host = scenario_.hosts[static_cast<std::size_t>(rank)];
    if (!scenario_.store.options || host < 0) return "host" + std::to_string(rank);
    return "shared" + std::to_string(host);
  }

  // The job must succeed, whatever the order of events: no rank was suspected by mistake, and a majority of
  // the ranks is left, or their ends are certain.
  [[nodiscard]] bool must_succeed() const {
    if (scenario_.what.blames || !scenario_.store.is_well()) return false;
    if (!resumes_ && (!scenario_.pauses.empty() || !scenario_.cuts.empty())) return false;
    if (resumes_ && scenario_.store.mode == skel::checkpoint_options::resume_mode::yes) return false;
    if (resumes_ && lost_with_its_disks()) return false;
    auto const& hosts = scenario_.hosts;
    bool const certain =
        std::all_of(hosts.begin(), hosts.end(), [&](int h) { return h >= 0 && h == hosts.front(); });
    int const members = scenario_.ranks - scenario_.spares;
    return certain ? world_.deaths() < members || scenario_.spares == 0 : 2 * world_.deaths() < members;
  }

  // The job resumes, and the root is lost before it has saved: then what is to be resumed may be lost with
  // its disk.
  [[nodiscard]] bool lost_with_its_disks() const {
    if (world_.deaths() == 0) return false;
    for (int r = 0; r < scenario_.ranks; ++r)
      if (words_of(r).find("no generation can be restored") != std::string::npos) return true;
    return false;
  }

  // Likewise, of the larger side of a network that has fallen apart.
  [[nodiscard]] bool must_succeed_beside_a_cut(int rank) const {
    auto const& s = scenario_;
    if (resumes_ || s.what.blames || !s.store.is_well() || !s.pauses.empty() || s.cuts.size() != 1 ||
        world_.deaths() > 0 || s.spares > 0)
      return false;
    auto const side = s.cuts.front().side & ((std::uint64_t{1} << s.ranks) - 1);
    auto const here = std::popcount(side);
    bool const in_side = ((side >> rank) & 1U) != 0;
    return 2 * (in_side ? here : s.ranks - here) > s.ranks;
  }

  void check() {
    auto const right = scenario_.what.expected();
    for (auto const& c : completions_)
      if (c.out != right)
        throw violation("the root (rank " + std::to_string(c.rank) + ", attempt " +
                        std::to_string(c.attempt) + ") has other results than it should");
    bool any_lives = false, any_good = false;
    for (int r = 0; r < scenario_.ranks; ++r) {
      auto const code = code_of(r);
      if (world_.is_dead(r) && !code) continue;
      any_lives = true;
      if (!code) throw violation("rank " + std::to_string(r) + " ends without a code");
      if (*code == 0) {
        any_good = true;
      } else if (*code == 2 && may_refuse_store()) {
      } else if (*code != 1) {
        throw violation("rank " + std::to_string(r) + " ends with code " + std::to_string(*code) + ": " +
                        words_of(r));
      }
      if (*code != 0 && (must_succeed() || must_succeed_beside_a_cut(r)))
        throw violation("rank " + std::to_string(r) +
                        " fails, although enough ranks are left: " + words_of(r));
    }
    if (any_lives && !any_good && must_succeed())
      throw violation("no rank succeeds, although enough are left");
    if (any_good && completions_.empty())
      throw violation("ranks end with code 0, but no root has all results");
    if (any_lives && !any_good && !any_line()) throw violation("the job fails, but no rank says why");
    // The others may have left a root that already had all results.
    for (std::size_t i = 1; i < completions_.size(); ++i)
      if (completions_[i].attempt <= completions_[i - 1].attempt)
        throw violation("a root ends the body after another has done so in a later attempt");
    for (auto const& c : completions_) attempts_ = std::max(attempts_, c.attempt);
    succeeded_ = any_good;
  }

  // A store that cannot be used is a usage_error.
  [[nodiscard]] bool may_refuse_store() const {
    if (!scenario_.store.options) return false;
    std::string all;
    for (int r = 0; r < scenario_.ranks; ++r) all += words_of(r);
    if (resumes_ && all.find("there is no checkpoint to resume from in") != std::string::npos)
      return scenario_.store.mode == skel::checkpoint_options::resume_mode::yes;
    return !scenario_.store.is_well() &&
           (all.find(disk_of_host) != std::string::npos || all.find("generation") != std::string::npos);
  }

  [[nodiscard]] std::optional<int> code_of(int rank) const {
    if (auto const code = world_.exit_code(rank)) return code;
    return ends_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::string words_of(int rank) const {
    std::string text;
    for (auto const& line : world_.lines_of(rank)) text += (text.empty() ? "" : " | ") + line;
    return text.empty() ? "(it says nothing)" : text;
  }
  [[nodiscard]] bool any_line() const {
    for (int r = 0; r < scenario_.ranks; ++r)
      if (!world_.lines_of(r).empty()) return true;
    return false;
  }

  scenario const& scenario_;
  bool resumes_;
  world world_;
  std::vector<std::optional<int>> ends_;  // the codes, of ranks that were not killed
  std::vector<std::weak_ptr<skel::detail::engine>> engines_;
  std::vector<completion> completions_;
  int attempts_ = 0;
  bool succeeded_ = false;
};

int draw_ranks(dice& d) {
  if (d.chance(0.1)) return static_cast<int>(d.from_to(9, 16));
  return static_cast<int>(d.from_to(1, d.chance(0.5) ? 4 : 8));
}

kill_plan draw_kill(dice& d, int rank, double span) {
  using when = kill_plan::when;
  kill_plan k;
  k.rank = rank;
  k.last_words = d.chance(0.5);
  k.what = static_cast<when>(d.below(5));
  static constexpr std::uint64_t most[] = {1, 10, 100, 1000};
  k.count = d.from_to(1, d.one_of(most));
  k.time = seconds(span * d.real());
  if (k.what == when::at_task || k.what == when::at_sink) k.count = d.from_to(1, 50);
  return k;
}

disk_plan draw_disk(dice& d) {
  disk_plan p;
  static constexpr double latencies[] = {1e-4, 1e-3, 1e-3, 2e-2};
  p.most_latency = d.one_of(latencies);
  p.least_latency = p.most_latency / 10;
  return p;
}

void make_ill(dice& d, disk_plan& p, double span) {
  switch (d.below(3)) {
    case 0:
      p.room = d.below(20'000);
      break;
    case 1:
      p.fails_from = seconds(span * d.real());
      p.fails_until = d.chance(0.5) ? never : p.fails_from + seconds(span * d.real());
      break;
    default:
      p.rots = d.chance(0.5) ? 0.02 : 0.3;
  }
}

// With numbers of its own, so that jobs without stores stay as they are.
void draw_store(dice& d, scenario& s) {
  if (!d.chance(0.15)) return;
  auto& p = s.store;
  auto& o = p.options.emplace();
  static constexpr double spans[] = {0.05, 0.5, 5};
  double const span = d.one_of(spans);
  std::string const host = disk_of_host, all = disk_of_all;
  switch (d.below(6)) {
    case 0:
      o.store = {"memory"};
      break;
    case 1:
      o.store = {"ranks:" + host + "d"};
      break;
    case 2:
      o.store = {"ranks:" + host + "d%r"};
      break;
    case 3:
      o.store = {all + "1", all + "2", all + "3"};
      break;
    case 4:
      o.store = {"rank:0:" + host + "d"};
      break;
    default:
      o.store = {"memory"};
      o.remote = {{all + "1"}, d.from_to(1, 3)};
  }
  static constexpr char const* codes[] = {"ida:2,1", "ida:2,1", "replicate:2", "central", "parity:4"};
  o.code = d.one_of(codes);
  static constexpr double intervals[] = {0, 0.005, 0.05, 0.05, 0.5};
  o.every_seconds = d.one_of(intervals);
  o.program.name = "storm";
  o.problem = "a storm";
  for (auto n = d.from_to(1, 3); n > 0; --n) p.disks.push_back(draw_disk(d));
  if (d.chance(0.3)) make_ill(d, p.disks[0], span);
  if (d.chance(0.1)) make_ill(d, p.disks.back(), span);
  if (s.ranks > 1 && d.chance(0.5)) {
    kill_plan k{kill_plan::when::at_disk, static_cast<int>(d.chance(0.6) ? 0 : d.below(s.ranks))};
    k.count = d.from_to(1, d.chance(0.5) ? 40 : 300);
    k.last_words = d.chance(0.5);
    s.kills.push_back(k);
  }
  if (d.chance(0.5)) {  // all of them
    p.again = true;
    p.power_lost = d.chance(0.3);
    p.mode = d.chance(0.8) ? skel::checkpoint_options::resume_mode::if_there
                           : skel::checkpoint_options::resume_mode::yes;
    if (d.chance(0.7)) {
      auto const when = seconds(span * d.real());
      for (int r = 0; r < s.ranks; ++r) s.kills.push_back({kill_plan::when::at_time, r, when});
    }
    if (s.ranks > 1 && d.chance(0.3)) {
      p.kills.push_back(draw_kill(d, static_cast<int>(d.below(2)), span));
      if (d.chance(0.5)) p.kills.back().what = kill_plan::when::at_disk;
    }
  }
  for (auto& c : s.what.calls) c->saves = d.chance(0.8);
}

// Ranks leave in the middle of a ring_steal. In half of these jobs nothing else happens: no task runs twice.
void draw_leavers(dice& d, scenario& s) {
  s.what.calls.clear();
  s.what.calls.push_back(draw_long_steal(d));
  s.store = {};
  if (d.chance(0.5)) {
    s.kills.clear();
    s.pauses.clear();
    s.cuts.clear();
  }
  for (auto n = d.from_to(1, 3); n > 0; --n) {
    kill_plan k{kill_plan::when::at_task, static_cast<int>(d.from_to(1, s.ranks - 1))};
    k.count = d.from_to(1, 30);
    k.retires = true;
    s.kills.push_back(k);
  }
}

}  // namespace

scenario scenario::draw(std::uint64_t seed) {
  dice d(mix(seed ^ 0x5709));
  scenario s;
  s.seed = seed;
  s.ranks = draw_ranks(d);
  static constexpr double patiences[] = {0.2, 0.5, 1, 5};
  s.patience = d.one_of(patiences);
  static constexpr wires_plan wires[] = {{1e-6, 5e-6, 0, 0}, {2e-6, 100e-6, 0, 0}, {1e-5, 1e-3, 0.02, 0.02}};
  s.wires = d.one_of(wires);
  s.hosts.assign(static_cast<std::size_t>(s.ranks), 0);
  if (auto const kind = d.below(4); kind == 0)
    std::fill(s.hosts.begin(), s.hosts.end(), -1);
  else if (kind == 1)
    for (auto& h : s.hosts) h = static_cast<int>(d.below(3));
  s.remember = d.chance(0.7) ? 1'000'000 : d.chance(0.5) ? 0 : 500;
  s.what = program::draw(d);
  static constexpr double spans[] = {1e-3, 0.05, 0.5, 5};
  double const span = d.one_of(spans);
  if (s.ranks > 1 && d.chance(0.85)) {
    auto const losses = d.chance(0.5) ? 1 : d.from_to(1, std::min<std::uint64_t>(5, s.ranks));
    for (std::uint64_t i = 0; i < losses; ++i) {
      int const rank = d.chance(0.5) ? static_cast<int>(i) : static_cast<int>(d.below(s.ranks));
      s.kills.push_back(draw_kill(d, rank, span));
    }
  }
  // What is known for certain does not need the network, so a host is not cut in two: bits are ranks or
  // hosts.
  auto const side_of = [&](std::uint64_t drawn) {
    std::uint32_t side = 0;
    for (int r = 0; r < s.ranks; ++r) {
      int const host = s.hosts[static_cast<std::size_t>(r)];
      if (((drawn >> (host < 0 ? r : host)) & 1U) != 0) side |= std::uint32_t{1} << r;
    }
    return side;
  };
  // Suspicions: ranks that are only slow, and networks that fall apart, for ever or for a while.
  if (s.ranks > 1 && d.chance(0.15))
    for (auto n = d.from_to(1, 2); n > 0; --n) {
      auto const from = seconds(span * d.real());
      s.pauses.push_back({static_cast<int>(d.below(d.chance(0.5) ? 2 : static_cast<std::uint64_t>(s.ranks))),
                          from, from + seconds(s.patience * 4 * d.real() * d.real())});
    }
  if (s.ranks > 1 && d.chance(0.15))
    for (auto n = d.from_to(1, 2); n > 0; --n) {
      auto const from = seconds(span * d.real());
      auto const drawn =
          d.chance(0.5) ? std::uint64_t{1} << d.below(d.chance(0.5) ? 2 : 16) : d.below(1U << 16U);
      s.cuts.push_back(
          {side_of(drawn), from, d.chance(0.3) ? never : from + seconds(s.patience * 4 * d.real())});
    }
  // A rank that gives up the root, and is heard again.
  dice of_silence(mix(seed ^ 0x51e7));
  if (s.ranks > 1 && of_silence.chance(0.03)) {
    auto const from = seconds(span * of_silence.real());
    s.cuts.push_back({side_of(std::uint64_t{1} << of_silence.below(s.ranks)), from,
                      from + seconds(2 * s.patience + 8 + 10 * of_silence.real())});
  }
  dice of_retirement(mix(seed ^ 0x4e71));
  if (s.ranks > 1 && of_retirement.chance(0.15))
    for (auto n = of_retirement.from_to(1, of_retirement.chance(0.7) ? 1 : s.ranks); n > 0; --n) {
      auto k = draw_kill(of_retirement, static_cast<int>(of_retirement.below(s.ranks)), span);
      k.retires = true;
      s.kills.push_back(k);
    }
  dice of_spares(mix(seed ^ 0x59a2));
  if (s.ranks > 1 && of_spares.chance(0.2))
    s.spares = static_cast<int>(of_spares.from_to(1, std::min(3, s.ranks - 1)));
  dice of_store(mix(seed ^ 0xd15c));
  draw_store(of_store, s);
  dice of_leavers(mix(seed ^ 0x1ea7));
  if (s.ranks > 1 && of_leavers.chance(0.03)) draw_leavers(of_leavers, s);
  return s;
}

std::string scenario::describe() const {
  std::string text = std::to_string(ranks) + " ranks, " + std::to_string(spares) +
                     " of them spare, patience " + std::to_string(patience) + " s, latency up to " +
                     std::to_string(wires.most_latency) + " s, remembers " + std::to_string(remember) +
                     " bytes, hosts";
  for (int const h : hosts) text += ' ' + std::to_string(h);
  static constexpr char const* whens[] = {"time", "send", "receive", "task", "sink", "disk"};
  auto all_kills = kills;
  all_kills.insert(all_kills.end(), store.kills.begin(), store.kills.end());
  for (auto const& k : all_kills)
    text += "\n  rank " + std::to_string(k.rank) + (k.retires ? " is to retire at " : " dies at ") +
            whens[static_cast<int>(k.what)] + ' ' +
            (k.what == kill_plan::when::at_time ? std::to_string(static_cast<double>(k.time) * 1e-9)
                                                : std::to_string(k.count)) +
            (k.last_words ? "" : ", with less than all of its messages");
  for (auto const& p : pauses)
    text += "\n  rank " + std::to_string(p.rank) + " is stopped from " +
            std::to_string(static_cast<double>(p.from) * 1e-9) + " to " +
            std::to_string(static_cast<double>(p.until) * 1e-9);
  for (auto const& c : cuts)
    text += "\n  ranks " + std::to_string(c.side) + " (bits) are cut off from " +
            std::to_string(static_cast<double>(c.from) * 1e-9) + " to " +
            (c.until == never ? "the end" : std::to_string(static_cast<double>(c.until) * 1e-9));
  if (store.options) {
    text += "\n  store";
    for (auto const& d : store.options->store) text += ' ' + d;
    for (auto const& d : store.options->remote.store)
      text += ", " + d + " every " + std::to_string(store.options->remote.every);
    text += ' ' + store.options->code + " every " + std::to_string(*store.options->every_seconds) + " s";
    for (auto const& d : store.disks)
      text += "; a disk of " + std::to_string(d.most_latency) + " s" +
              (d.room != ~std::uint64_t{0} ? ", with room for " + std::to_string(d.room) : "") +
              (d.fails_from != never
                   ? ", fails from " + std::to_string(static_cast<double>(d.fails_from) * 1e-9) + " to " +
                         std::to_string(static_cast<double>(d.fails_until) * 1e-9)
                   : "") +
              (d.rots > 0 ? ", rots" : "");
    if (store.again)
      text += std::string("\n  a second job resumes") +
              (store.mode == skel::checkpoint_options::resume_mode::yes ? "" : ", if it can") +
              (store.power_lost ? ", after a loss of power" : "") +
              (store.kills.empty() ? "" : "; the last of the losses is in that");
  }
  return text + what.describe();
}

summary run(scenario const& s, std::FILE* trace, fault const* broken) {
  try {
    disks files(mix(s.seed), s.store.disks.empty() ? std::vector<disk_plan>(1) : s.store.disks);
    auto all = job(s, files, false, trace, broken).run();
    if (!s.store.again) return all;
    if (s.store.power_lost) files.lose_power();
    if (trace != nullptr) std::fprintf(trace, "the second job\n");
    auto const second = job(s, files, true, trace, broken).run();
    all.hash ^= mix(second.hash);
    all.events += second.events;
    all.deaths += second.deaths;
    all.succeeded = second.succeeded;
    return all;
  } catch (std::exception const& e) {
    static_cast<void>(take_failure());
    throw violation(std::string(e.what()) + "\n" + s.describe() + "\n  replay it with --seed " +
                    std::to_string(s.seed) + " --trace");
  }
}

}  // namespace storm
