#include "calls.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "skel/skel.hpp"
#include "slices.hpp"
#include "world.hpp"

namespace storm {

namespace {

std::uint64_t hash_of(words const& all) {
  std::uint64_t h = all.size();
  for (auto const x : all) h = mix(h ^ x);
  return h;
}

void check_value(char const* what, bool right) {
  if (!right) fail(std::string(what) + " has a wrong value");
}

// --- ring_steal: a tree whose nodes have zero to three children

struct node {
  std::int64_t depth = 0;  // without padding, whose bytes would differ
  std::uint64_t id = 0;
};

struct tree {
  using task = node;
  using result = std::uint64_t;
  skel::context const* ctx;
  costs cost;
  std::int64_t depth;

  [[nodiscard]] static int children(node const& n) { return static_cast<int>(mix(n.id) % 4); }
  [[nodiscard]] static node child(node const& n, int i) {
    return {n.depth + 1, mix(n.id * 4 + static_cast<std::uint64_t>(i))};
  }
  // No task runs twice unless a rank is lost, also if ranks retire.
  void run(node const& n, skel::spawner<node>& more, std::uint64_t& sum) const {
    auto& w = *current_world();
    if (!w.begins_first(mix(n.id) + static_cast<std::uint64_t>(ctx->attempt())) && w.is_calm())
      fail("ring_steal: a task runs twice");
    begin_task();
    spend(*ctx, cost.of(n.id));
    sum += mix(n.id);
    if (n.depth < depth)
      for (int i = 0; i < children(n); ++i) more.emplace(child(n, i));
  }
  [[nodiscard]] std::uint64_t merge(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

class steal_call final : public call {
 public:
  explicit steal_call(dice& d)
      : costs_(costs::draw(d)),
        depth_(static_cast<std::int64_t>(d.from_to(0, 6))),
        roots_(d.from_to(0, 4)),
        salt_(d.below(1000000)) {
    if (d.chance(0.5)) how_.take = skel::schedule::steal_size::one;
    if (d.chance(0.5)) how_.order = skel::schedule::ring_order::successors;
    options_.max_losses_per_task = 0;
  }
  // Long enough for ranks that leave in the middle.
  [[nodiscard]] static std::unique_ptr<call> draw_long(dice& d) {
    auto c = std::make_unique<steal_call>(d);
    static constexpr double typical[] = {1e-5, 1e-4, 1e-3, 1e-2};
    c->costs_.ordinary = d.one_of(typical);
    c->depth_ = static_cast<std::int64_t>(d.from_to(6, 12));
    c->roots_ = d.from_to(2, 8);
    return c;
  }
  void make(skel::context& ctx, words& out) const override {
    auto options = options_;
    options.checkpoint = checkpoint();
    auto const value = skel::ring_steal(ctx, skel::on_root([this] { return roots(); }),
                                        tree{&ctx, costs_, depth_}, how_, options)
                           .value;
    words right;
    expect(right);
    check_value("ring_steal", value == right[0]);
    if (ctx.is_root()) out.push_back(value);
  }
  void expect(words& out) const override {
    std::uint64_t sum = 0;
    for (auto const& n : roots()) sum += below(n);
    out.push_back(sum);
  }
  [[nodiscard]] std::string describe() const override {
    return "ring_steal " + std::to_string(roots_) + " roots, depth " + std::to_string(depth_) + ", cost " +
           std::to_string(costs_.ordinary);
  }

 private:
  [[nodiscard]] std::vector<node> roots() const {
    std::vector<node> all;
    for (std::uint64_t i = 0; i < roots_; ++i) all.push_back({0, mix(salt_ + i)});
    return all;
  }
  [[nodiscard]] std::uint64_t below(node const& n) const {
    auto sum = mix(n.id);
    if (n.depth < depth_)
      for (int i = 0; i < tree::children(n); ++i) sum += below(tree::child(n, i));
    return sum;
  }
  costs costs_;
  std::int64_t depth_;
  std::uint64_t roots_, salt_;
  skel::schedule::stealing how_;
  skel::ring_steal_options options_;
};

// --- divide_and_conquer: merge sort

words numbers(std::uint64_t n, std::uint64_t salt) {
  words all(n);
  for (std::uint64_t i = 0; i < n; ++i) all[i] = mix(i ^ (salt << 24));
  return all;
}

struct sorting {
  using problem = words;
  using solution = words;
  skel::context const* ctx;
  costs cost;
  [[nodiscard]] bool trivial(problem const& p) const { return p.size() <= 4; }
  [[nodiscard]] solution conquer(problem const& p) const {
    begin_task();
    spend(*ctx, cost.of(p.empty() ? 0 : p.front()));
    auto all = p;
    std::sort(all.begin(), all.end());
    return all;
  }
  [[nodiscard]] std::array<problem, 2> divide(problem const& p) const {
    auto const middle = p.begin() + static_cast<std::ptrdiff_t>(p.size() / 2);
    return {problem(p.begin(), middle), problem(middle, p.end())};
  }
  [[nodiscard]] solution combine(solution const& a, solution const& b) const {
    spend(*ctx, 0.1 * cost.of(a.size()));
    solution all;
    std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
    return all;
  }
};

class divide_call final : public call {
 public:
  explicit divide_call(dice& d)
      : costs_(costs::draw(d)),
        n_(d.below(200)),
        salt_(d.below(1000)),
        is_tree_(d.chance(0.5)),
        same_(d.chance(0.3)) {
    options_.max_losses_per_task = 0;
  }
  void make(skel::context& ctx, words& out) const override {
    sorting const job{&ctx, costs_};
    skel::any_division const how = is_tree_ ? skel::any_division(skel::division::tree{})
                                            : skel::any_division(skel::division::hypercube{});
    auto const value =
        same_
            ? skel::divide_and_conquer(ctx, skel::replicated_problem{numbers(n_, salt_)}, job, how, options_)
                  .value
            : skel::divide_and_conquer(ctx, skel::on_root([this] { return numbers(n_, salt_); }), job, how,
                                       options_)
                  .value;
    if (value.here() != (!is_tree_ || ctx.is_root()))
      return fail("a solution is missing, or on too many ranks");
    if (!value.here()) return;
    check_value("divide_and_conquer", *value == sorted());
    if (ctx.is_root()) out.push_back(hash_of(*value));
  }
  void expect(words& out) const override { out.push_back(hash_of(sorted())); }
  [[nodiscard]] std::string describe() const override {
    return std::string(is_tree_ ? "tree" : "hypercube") + " of " + std::to_string(n_) + " numbers" +
           (same_ ? " on all ranks" : "") + ", cost " + std::to_string(costs_.ordinary);
  }

 private:
  [[nodiscard]] words sorted() const {
    auto all = numbers(n_, salt_);
    std::sort(all.begin(), all.end());
    return all;
  }
  costs costs_;
  std::uint64_t n_, salt_;
  bool is_tree_, same_;
  skel::divide_and_conquer_options options_;
};

// --- multi_host

struct slow_slices : groups::slices {
  skel::context const* ctx = nullptr;
  costs cost{};
  std::uint64_t read(std::uint64_t number, carried& c, unit& into) const {
    begin_task();
    spend(*ctx, cost.of(number));
    return slices::read(number, c, into);
  }
  [[nodiscard]] result process(packet const& p, std::size_t i) const {
    begin_task();
    spend(*ctx, cost.of(p.rows.at(i)));
    return slices::process(p, i);
  }
};

class hosts_call final : public call {
 public:
  explicit hosts_call(dice& d) : costs_(costs::draw(d)), units_(d.below(20)) {
    options_.group_size = static_cast<unsigned>(d.below(5));
    options_.max_losses_per_task = 0;
    if (d.chance(0.3)) options_.measures.reassign = false;
    if (d.chance(0.3)) options_.measures.split_shares = false;
    if (d.chance(0.3)) options_.measures.host_helps = false;
    if (d.chance(0.3)) options_.measures.read_ahead = static_cast<unsigned>(d.below(4));
    if (d.chance(0.2)) options_.measures.preload = options_.group_size > 0;
    if (d.chance(0.3)) options_.results = skel::multi_host_options::unit_results::as_they_come;
  }
  void make(skel::context& ctx, words& out) const override {
    slow_slices job;
    job.ctx = &ctx;
    job.cost = costs_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, words> got;
    bool const ordered = options_.results != skel::multi_host_options::unit_results::as_they_come;
    skel::multi_host(
        ctx, units_, job,
        [&](std::uint64_t unit, std::uint64_t piece, groups::slices::result&& r) {
          begin_sink();
          auto const key = std::pair(unit, piece);
          if (ordered && !got.empty() && got.rbegin()->first >= key) fail("a sink gets pieces out of order");
          if (!got.emplace(key, words(r.begin(), r.end())).second) fail("a sink gets a piece twice");
        },
        options_);
    if (!ctx.is_root()) return;
    words text;
    for (auto const& [key, r] : got) {
      text.push_back(key.first);
      text.push_back(key.second);
      text.insert(text.end(), r.begin(), r.end());
    }
    out.push_back(hash_of(text));
  }
  void expect(words& out) const override { out.push_back(hash_of(groups::slices{}.expected(units_))); }
  [[nodiscard]] std::string describe() const override {
    return "multi_host " + std::to_string(units_) + " units, groups of " +
           std::to_string(options_.group_size) + ", cost " + std::to_string(costs_.ordinary);
  }

 private:
  costs costs_;
  std::uint64_t units_;
  skel::multi_host_options options_;
};

// --- bsp: each cell of a circle is mixed with its left neighbour

struct circle {
  using state = words;
  using message = std::uint64_t;
  skel::context const* ctx;
  costs cost;
  std::uint64_t cells, rounds;

  [[nodiscard]] state begin(int rank, int size) const {
    auto const first_of = [&](int r) {
      return cells * static_cast<std::uint64_t>(r) / static_cast<std::uint64_t>(size);
    };
    state s;
    for (auto i = first_of(rank); i < first_of(rank + 1); ++i) s.push_back(i + 1);
    return s;
  }
  /// The cells of all parts in their order; a message is the last cell of the left neighbour.
  template <class P>
  [[nodiscard]] skel::bsp_part<P> divided(skel::bsp_parts<P> const& parts, int rank, int size) const {
    words all;
    bool any_sent = false;
    for (int i = 0; i < parts.size(); ++i) {
      auto const part = parts[i];
      all.insert(all.end(), part.state.begin(), part.state.end());
      any_sent = any_sent || !part.received.empty();
    }
    auto const first = begin(0, 1).size() * static_cast<std::size_t>(rank) / static_cast<std::size_t>(size);
    auto const end = begin(0, 1).size() * static_cast<std::size_t>(rank + 1) / static_cast<std::size_t>(size);
    skel::bsp_part<P> part;
    part.state.assign(all.begin() + static_cast<std::ptrdiff_t>(first),
                      all.begin() + static_cast<std::ptrdiff_t>(end));
    if (any_sent)
      part.received.push_back({(rank + size - 1) % size, all[(first + all.size() - 1) % all.size()]});
    return part;
  }
  [[nodiscard]] skel::bsp_part<circle> split(skel::bsp_parts<circle> const& parts, int rank, int size) const {
    return divided(parts, rank, size);
  }
  static std::uint64_t mixed(std::uint64_t own, std::uint64_t left) {
    return mix(own ^ (left << 7)) + (left >> 3);
  }
  bool step(state& s, skel::superstep<message>& now) const {
    begin_task();
    spend(*ctx, cost.of(now.number()));
    if (now.number() > 0) {
      auto const before = s;
      auto const left = now.received().at(0).content;
      for (std::size_t i = 0; i < s.size(); ++i) s[i] = mixed(before[i], i == 0 ? left : before[i - 1]);
    }
    if (now.number() == rounds) return false;
    now.send((now.rank() + 1) % now.size(), s.back());
    return true;
  }
};

struct neighbour_circle : circle {
  [[nodiscard]] skel::bsp_part<neighbour_circle> split(skel::bsp_parts<neighbour_circle> const& parts,
                                                       int rank, int size) const {
    return divided(parts, rank, size);
  }
  [[nodiscard]] std::vector<int> neighbours(int rank, int size) const {
    return {(rank + size - 1) % size, (rank + 1) % size};
  }
};

class bsp_call final : public call {
 public:
  explicit bsp_call(dice& d)
      : costs_(costs::draw(d)),
        cells_(d.from_to(16, 100)),
        rounds_(d.from_to(1, 15)),
        neighbours_(d.chance(0.4)),
        everywhere_(d.chance(0.4)) {
    options_.max_losses_per_task = 0;
  }
  void make(skel::context& ctx, words& out) const override {
    circle const plain{&ctx, costs_, cells_, rounds_};
    auto const parts = neighbours_ ? gathered(ctx, neighbour_circle{plain}) : gathered(ctx, plain);
    if (parts.has_value() != (everywhere_ || ctx.is_root())) return fail("gather has parts on other ranks");
    if (!parts) return;
    words all;
    for (auto const& p : *parts) all.insert(all.end(), p.begin(), p.end());
    words right;
    expect(right);
    check_value("bsp", hash_of(all) == right[0]);
    if (ctx.is_root()) out.push_back(hash_of(all));
  }
  void expect(words& out) const override {
    words now;
    for (std::uint64_t i = 0; i < cells_; ++i) now.push_back(i + 1);
    for (std::uint64_t r = 0; r < rounds_; ++r) {
      auto const old = now;
      for (std::uint64_t i = 0; i < cells_; ++i)
        now[i] = circle::mixed(old[i], old[(i + cells_ - 1) % cells_]);
    }
    out.push_back(hash_of(now));
  }
  [[nodiscard]] std::string describe() const override {
    return "bsp " + std::to_string(rounds_) + " rounds of " + std::to_string(cells_) + " cells" +
           (neighbours_ ? ", neighbours" : "") + (everywhere_ ? ", gathered everywhere" : "") + ", cost " +
           std::to_string(costs_.ordinary);
  }

 private:
  template <class P>
  [[nodiscard]] std::optional<std::vector<words>> gathered(skel::context& ctx, P const& program) const {
    auto options = options_;
    options.checkpoint = checkpoint();
    return everywhere_ ? skel::all_gather(ctx, program, options).value
                       : skel::gather(ctx, program, options).value;
  }
  costs costs_;
  std::uint64_t cells_, rounds_;
  bool neighbours_, everywhere_;
  skel::bsp_options options_;
};

// --- broadcast

class broadcast_call final : public call {
 public:
  explicit broadcast_call(dice& d) : n_(d.chance(0.1) ? 20'000 : d.below(300)), salt_(d.below(1000)) {}
  void make(skel::context& ctx, words& out) const override {
    auto const value = skel::broadcast(ctx, skel::on_root([this] { return numbers(n_, salt_); })).value;
    check_value("broadcast", value && *value == numbers(n_, salt_));
    if (ctx.is_root() && value) out.push_back(hash_of(*value));
  }
  void expect(words& out) const override { out.push_back(hash_of(numbers(n_, salt_))); }
  [[nodiscard]] std::string describe() const override {
    return "broadcast of " + std::to_string(n_) + " numbers";
  }

 private:
  std::uint64_t n_, salt_;
};

// --- what is the same on all ranks

class same_call final : public call {
 public:
  explicit same_call(dice& d) : x_(d.below(1'000'000)) {}
  void make(skel::context& ctx, words& /*out*/) const override {
    ctx.require_same("a number", std::to_string(x_));
  }
  void expect(words& /*out*/) const override {}
  [[nodiscard]] std::string describe() const override { return "require_same"; }

 private:
  std::uint64_t x_;
};

// --- a farm of teams

std::uint64_t sum_of(skel::context& team, std::uint64_t n, std::uint64_t salt, costs const& cost) {
  std::uint64_t sum = 0;
  skel::farm_options options;
  options.max_losses_per_task = 0;
  skel::farm(
      team, skel::indices(n),
      [&](std::uint64_t i) {
        begin_task();
        spend(team, cost.of(i));
        return mix(i ^ salt);
      },
      skel::schedule::guided{}, skel::reduced(sum, std::plus<>{}), options);
  return sum;
}

std::uint64_t sum_of(std::uint64_t n, std::uint64_t salt) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < n; ++i) sum += mix(i ^ salt);
  return sum;
}

class teams_call final : public call {
 public:
  explicit teams_call(dice& d)
      : costs_(costs::draw(d)),
        tasks_(d.from_to(0, 12)),
        inner_(d.from_to(1, 8)),
        serves_(d.chance(0.3)),
        size_(static_cast<int>(d.from_to(1, 4))) {
    costs_.ordinary /= 10;
  }
  void make(skel::context& ctx, words& out) const override {
    words got;
    skel::farm_options options;
    options.task.team_size = size_;
    options.root_works = !serves_;
    options.max_losses_per_task = 0;
    skel::farm(
        ctx, skel::indices(tasks_),
        [this](skel::context& team, std::uint64_t i) { return sum_of(team, inner_, i << 20, costs_); },
        skel::into(got), options);
    if (ctx.is_root()) out.insert(out.end(), got.begin(), got.end());
  }
  void expect(words& out) const override {
    for (std::uint64_t i = 0; i < tasks_; ++i) out.push_back(sum_of(inner_, i << 20));
  }
  [[nodiscard]] std::string describe() const override {
    return "farm of " + std::to_string(tasks_) + " teams of " + std::to_string(size_) + ", cost " +
           std::to_string(costs_.ordinary);
  }

 private:
  costs costs_;
  std::uint64_t tasks_, inner_;
  bool serves_;
  int size_;
};

// --- two teams side by side, which may lose their roots

class sides_call final : public call {
 public:
  explicit sides_call(dice& d)
      : costs_(costs::draw(d)), tasks_(d.from_to(1, 30)), salt_(d.below(1'000'000)) {}
  void make(skel::context& ctx, words& /*out*/) const override {
    std::vector<int> ranks;
    for (int r = ctx.rank() % 2; r < ctx.size(); r += 2) ranks.push_back(r);
    auto team = ctx.team(ranks);
    try {
      auto const sum = sum_of(team, tasks_, salt_, costs_);
      if (team.is_root()) check_value("a team's farm", sum == sum_of(tasks_, salt_));
    } catch (skel::lost_rank_error const&) {
      if (current_world()->is_calm()) fail("a team's call fails without a loss");
    }
  }
  void expect(words& /*out*/) const override {}
  [[nodiscard]] std::string describe() const override {
    return "two teams with " + std::to_string(tasks_) + " tasks each, cost " +
           std::to_string(costs_.ordinary);
  }

 private:
  costs costs_;
  std::uint64_t tasks_, salt_;
};

}  // namespace

std::unique_ptr<call> draw_long_steal(dice& d) { return steal_call::draw_long(d); }

std::unique_ptr<call> draw_other(dice& d) {
  switch (d.below(8)) {
    case 0:
      return std::make_unique<steal_call>(d);
    case 1:
      return std::make_unique<divide_call>(d);
    case 2:
      return std::make_unique<hosts_call>(d);
    case 3:
      return std::make_unique<bsp_call>(d);
    case 4:
      return std::make_unique<broadcast_call>(d);
    case 5:
      return std::make_unique<same_call>(d);
    case 6:
      return std::make_unique<teams_call>(d);
    default:
      return std::make_unique<sides_call>(d);
  }
}

}  // namespace storm
