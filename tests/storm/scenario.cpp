#include "scenario.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "engine/attempts.hpp"
#include "engine/context_access.hpp"

namespace storm {

namespace {

constexpr nanoseconds longest_run = 1'000'000'000'000;  // virtual

// How a rank has ended, if it was not killed.
struct rank_end {
  std::optional<int> code;
  bool left_out = false;
};

// What a root has at the end of the body.
struct completion {
  int rank, attempt;
  words out;
};

class job {
 public:
  job(scenario const& s, std::FILE* trace, fault const* broken)
      : scenario_(s), world_(s.ranks, mix(s.seed), s.wires), ends_(static_cast<std::size_t>(s.ranks)) {
    for (auto const& k : s.kills) world_.plan(k);
    for (auto const& p : s.pauses) world_.plan(p);
    for (auto const& c : s.cuts) world_.plan(c);
    world_.set_hosts(s.hosts);
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
    auto const views = std::make_shared<skel::detail::job_wires>(std::make_unique<rank_wires>(world_, rank),
                                                                 scenario_.patience, true,
                                                                 [this, rank] { return world_.ended(rank); });
    auto const make = [this, rank](std::unique_ptr<skel::transport::transport> carrier) {
      skel::context_options o;
      o.threads = 1;
      o.suspect_after_seconds = scenario_.patience;
      o.remember_bytes = scenario_.remember;
      o.check.tasks = false;
      return std::make_shared<skel::detail::engine>(std::move(carrier), o, "host" + std::to_string(rank));
    };
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
    world_.note("ends", static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(end.code));
    ends_[static_cast<std::size_t>(rank)] = {end.code, end.left_out};
  }

  // The job must succeed, whatever the order of events: no rank was suspected by mistake, and a majority of
  // the ranks is left, or their ends are certain.
  [[nodiscard]] bool must_succeed() const {
    if (scenario_.what.blames || !scenario_.pauses.empty() || !scenario_.cuts.empty()) return false;
    auto const& hosts = scenario_.hosts;
    bool const certain =
        std::all_of(hosts.begin(), hosts.end(), [&](int h) { return h >= 0 && h == hosts.front(); });
    return certain || 2 * world_.deaths() < scenario_.ranks;
  }

  // A rank that is inside a task while two roots are lost may be left behind, and is not told if the others
  // have ended. If the root dies while it ends the job, some ranks have left already, and the others may be a
  // minority.
  [[nodiscard]] bool may_be_left_out(int rank) const {
    bool const lost = words_of(rank).ends_with("lost the root (rank 0)");
    return ((ends_[static_cast<std::size_t>(rank)].left_out || lost) && world_.deaths() > 1) ||
           (!completions_.empty() &&
            words_of(rank).ends_with("lost the root (rank 0) at the end of the job"));
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
      } else if (*code != 1) {
        throw violation("rank " + std::to_string(r) + " ends with code " + std::to_string(*code) + ": " +
                        words_of(r));
      }
      if (*code != 0 && must_succeed() && !may_be_left_out(r))
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

  [[nodiscard]] std::optional<int> code_of(int rank) const {
    if (auto const code = world_.exit_code(rank)) return code;
    return ends_[static_cast<std::size_t>(rank)].code;
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
  world world_;
  std::vector<rank_end> ends_;
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
      // What is known for certain does not need the network, so a host is not cut in two.
      auto const drawn =
          d.chance(0.5) ? std::uint64_t{1} << d.below(d.chance(0.5) ? 2 : 16) : d.below(1U << 16U);
      std::uint64_t side = 0;
      for (int r = 0; r < s.ranks; ++r) {
        int const host = s.hosts[static_cast<std::size_t>(r)];
        if (((drawn >> (host < 0 ? r : host)) & 1U) != 0) side |= std::uint64_t{1} << r;
      }
      s.cuts.push_back({static_cast<std::uint32_t>(side), from,
                        d.chance(0.3) ? never : from + seconds(s.patience * 4 * d.real())});
    }
  return s;
}

std::string scenario::describe() const {
  std::string text = std::to_string(ranks) + " ranks, patience " + std::to_string(patience) +
                     " s, latency up to " + std::to_string(wires.most_latency) + " s, remembers " +
                     std::to_string(remember) + " bytes, hosts";
  for (int const h : hosts) text += ' ' + std::to_string(h);
  static constexpr char const* whens[] = {"time", "send", "receive", "task", "sink"};
  for (auto const& k : kills)
    text += "\n  rank " + std::to_string(k.rank) + " dies at " + whens[static_cast<int>(k.what)] + ' ' +
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
  return text + what.describe();
}

summary run(scenario const& s, std::FILE* trace, fault const* broken) {
  try {
    return job(s, trace, broken).run();
  } catch (std::exception const& e) {
    static_cast<void>(take_failure());
    throw violation(std::string(e.what()) + "\n" + s.describe() + "\n  replay it with --seed " +
                    std::to_string(s.seed) + " --trace");
  }
}

}  // namespace storm
