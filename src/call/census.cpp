// Calls without tasks: every rank states a few numbers, and the root receives all of them.
#include "census.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/format.hpp"
#include "loopback.hpp"
#include "peer_run.hpp"
#include "role/attendance.hpp"
#include "role/codec.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"

namespace skel::role {

namespace {
/// To the root, after hello: this rank's statement.
struct opinion {
  std::vector<std::uint64_t> numbers{};
};
/// From the root to all: the statement of each rank.
struct heard {
  std::vector<detail::statement_of_rank> all{};
};
using census_message = std::variant<call_message, opinion, heard>;
}  // namespace

template <>
inline constexpr unsigned first_kind<census_message> = 16;

}  // namespace skel::role

namespace skel::detail {

namespace {

using role::call_message;
using role::census_message;

class census_run final : public peer_run {
 public:
  census_run(context& ctx, census const& c, std::vector<std::uint64_t> mine)
      : peer_run(ctx, {.label = c.skeleton, .stop = {}, .time_limit_seconds = {}, .observed = false},
                 c.skeleton),
        census_(c),
        mine_(std::move(mine)) {
    threads_ = 1;
    if (!c.name.empty()) call_.add("name", c.name);
    if (!is_root()) return;
    roll_.emplace(all_ranks(), call_.hash());
    for (int r = 0; r < ctx.size(); ++r) said_[r] = std::nullopt;
  }

  void on_lost(int rank) override {
    if (over_) return;
    actions list;
    attendance_.lost(rank, list);
    perform(list);
    if (!roll_) return;
    call_roll(&role::roll_call::lost, rank);
    if (auto const at = said_.find(rank); at != said_.end() && !at->second) said_.erase(at);
    maybe_complete();
  }
  void on_tick(double t) override {
    if (!over_) after_tick(t);
  }
  void idle_work() override {}
  [[nodiscard]] std::string state() const override {
    std::vector<int> missing;
    for (auto const& [rank, numbers] : said_)
      if (!numbers) missing.push_back(rank);
    auto text = detail::format("rank {}: {} \"{}\" {} (context {})", rank_, census_.skeleton, census_.name,
                               key_.number, key_.context);
    if (!missing.empty())
      text += detail::format("; not in this call: ranks [{}]", detail::join(missing, " "));
    return text + waits_to_stop();
  }
  [[nodiscard]] std::vector<statement_of_rank> take_heard() { return std::move(heard_); }

 private:
  using actions = std::vector<std::variant<role::tell_root, role::drain, role::end, role::fail>>;

  void begin(std::unique_lock<std::mutex>& /*lock*/) override {
    send(root_, role::hello{call_.hash()});
    send(root_, role::opinion{mine_});
    deliver_own();
  }
  [[nodiscard]] bool find_work(unsigned /*thread*/) override { return false; }
  void compute(unsigned /*thread*/, std::unique_lock<std::mutex>& /*lock*/) override {}
  void please_stop() override {}  // it is over immediately
  void describe(report& r) const override { r.skeleton = census_.skeleton; }
  void describe(observe::progress_state& /*s*/, bool /*last*/) const override {}

  void send(int to, census_message m) {
    if (to == rank_)
      to_self_.push(std::move(m));
    else
      post(to, m, {}, span_begin());
  }
  void send_call(int to, call_message m) override { send(to, std::move(m)); }
  void deliver_own() override {
    to_self_.deliver([&](census_message& m) { deliver(rank_, m); });
  }
  void receive(int from, std::span<std::byte const> body, transport::packet& /*whole*/) override {
    if (over_) return;
    last_moved_ = now();
    auto m = role::decode<census_message>(body);
    if (another_call(from, m)) return;
    deliver(from, m);
  }
  void deliver(int from, census_message& m) {
    if (auto* const o = std::get_if<role::opinion>(&m)) {
      if (!roll_) return;
      said_[from] = std::move(o->numbers);
      maybe_complete();
      return;
    }
    if (auto* const h = std::get_if<role::heard>(&m)) {
      heard_ = std::move(h->all);
      return;
    }
    auto const& call = std::get<call_message>(m);
    if (is_root()) call_roll(&role::roll_call::on, from, call);
    actions list;
    attendance_.on(call, list);
    attendance_.quiet(list);
    perform(list);
  }

  void perform(actions& list) {
    for (auto& action : list) perform_common(action);
    deliver_own();
  }

  // On the root: completes when every living rank has made its statement.
  void maybe_complete() {
    if (roll_->stopping()) return;
    std::vector<statement_of_rank> all;
    for (auto const& [rank, numbers] : said_) {
      if (!numbers) return;
      all.push_back({rank, *numbers});
    }
    if (auto const refusal = census_.refuses ? census_.refuses(all) : std::nullopt) {
      call_roll(&role::roll_call::refuse, refusal->first, refusal->second);
      return;
    }
    if (census_.all_hear)
      for (int r = 0; r < team_.size(); ++r) send(r, role::heard{all});
    call_roll(&role::roll_call::done, std::uint64_t{0});
  }

  census const& census_;
  std::vector<std::uint64_t> mine_;
  std::map<int, std::optional<std::vector<std::uint64_t>>> said_;  // on the root: the ranks that are not lost
  std::vector<statement_of_rank> heard_;
  loopback<census_message> to_self_;
  role::attendance attendance_{rank_, root_};
};

}  // namespace

std::vector<statement_of_rank> take_census(context& ctx, census const& c, std::vector<std::uint64_t> mine) {
  if (ctx.size() == 1) {
    call_slot const slot(ctx);
    std::vector<statement_of_rank> all;
    all.push_back({0, std::move(mine)});
    return all;
  }
  census_run run(ctx, c, std::move(mine));
  run.execute();
  return run.take_heard();
}

}  // namespace skel::detail

namespace skel {

void context::require_same(std::string_view name, std::span<std::byte const> bytes) {
  xxh3_hasher hasher;
  hasher.update(bytes);
  auto const mine = hasher.value();
  auto const differs =
      [&](std::vector<detail::statement_of_rank> const& all) -> std::optional<std::pair<int, std::string>> {
    for (auto const& s : all)
      if (s.numbers != std::vector{mine})
        return std::pair{s.rank, detail::format("{} of rank {} differs from rank {}'s: it must be the same "
                                                "on all ranks",
                                                name, s.rank, rank())};
    return std::nullopt;
  };
  detail::take_census(*this, {"require_same", std::string(name), differs, false}, {mine});
}

void context::require_same(std::string_view name, std::string_view text) {
  require_same(name, std::as_bytes(std::span(text.data(), text.size())));
}

context context::split(int color, int key) {
  auto const number = [](int n) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(n)); };
  auto const all = detail::take_census(*this, {"split", {}, {}, true}, {number(color), number(key)});
  struct member {
    int key, rank;
    auto operator<=>(member const&) const = default;
  };
  std::vector<member> team_of_color;
  for (auto const& s : all)
    if (s.numbers.at(0) == number(color))
      team_of_color.push_back({static_cast<int>(static_cast<std::int64_t>(s.numbers.at(1))), s.rank});
  std::sort(team_of_color.begin(), team_of_color.end());
  std::vector<int> ranks;
  ranks.reserve(team_of_color.size());
  for (auto const& m : team_of_color) ranks.push_back(m.rank);
  return team(ranks);
}

}  // namespace skel
