// Calls without tasks: every rank makes a statement, and the root receives all of them.
#include "census.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/format.hpp"
#include "base/overloaded.hpp"
#include "protocol/attendance.hpp"
#include "protocol_run.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::role {

namespace {
/// To the root, after hello: this rank's statement follows.
struct opinion {};
/// From the root to all: `statements` statements follow, each with its rank.
struct heard {
  std::uint64_t statements = 0;
};
using census_message = std::variant<call_message, opinion, heard>;
}  // namespace

template <>
inline constexpr unsigned first_kind<census_message> = 16;

}  // namespace skel::role

namespace skel::detail {

namespace {

struct census_send {
  int to = 0;
  role::census_message what;
};
using census_action = std::variant<census_send, role::tell_root, role::drain, role::end, role::fail>;
using census_actions = std::vector<census_action>;

struct census_member {
  void on(role::call_message const& m, census_actions& out) {
    attendance.on(m, out);
    attendance.quiet(out);
  }
  void lost(int rank, census_actions& out) { attendance.lost(rank, out); }
  void please_stop(census_actions& /*out*/) {}  // it is over immediately
  role::attendance attendance;
};

class census_run;

struct census_protocol {
  using run = census_run;
  using message = role::census_message;
  using action = census_action;
  using send = census_send;
  using member = census_member;
  using root_role = no_root_role;
  using cargo = transport::packet;  // a statement, or all of them
};

class census_run final : public protocol_run<census_protocol> {
 public:
  census_run(context& ctx, census const& c, transport::packet mine)
      : protocol_run(ctx, {.label = c.skeleton, .stop = {}, .time_limit_seconds = {}, .observed = false},
                     c.skeleton),
        census_(c),
        mine_(std::move(mine)) {
    threads_ = compute_threads_ = 1;
    if (!c.name.empty()) call_.add("name", c.name);
    if (!c.types.empty()) call_.add_types("types", c.types);
    member_.attendance = role::attendance(rank_, root_);
    if (!is_root()) return;
    roll_.emplace(all_ranks(), call_.hash());
    for (int r = 0; r < ctx.size(); ++r) said_[r] = std::nullopt;
  }

  [[nodiscard]] std::string state() const override {
    std::vector<int> missing;
    for (auto const& [rank, statement] : said_)
      if (!statement) missing.push_back(rank);
    auto text = detail::format("rank {}: {} \"{}\" {} (context {})", rank_, census_.skeleton, census_.name,
                               entry_.key.number, entry_.key.context);
    if (!missing.empty())
      text += detail::format("; not in this call: ranks [{}]", detail::join(missing, " "));
    return text + waits_to_stop();
  }
  [[nodiscard]] std::vector<statement_of_rank> take_heard() { return std::move(heard_); }

 private:
  friend class protocol_run<census_protocol>;

  void begin(std::unique_lock<std::mutex>& /*lock*/) override {
    actions list{role::tell_root{role::hello{call_.hash()}}};
    if (is_root())
      said_[rank_] = std::move(mine_);
    else
      list.emplace_back(census_send{root_, role::opinion{}});
    perform(list);
  }
  // On the root: once every rank that is not lost has made its statement.
  [[nodiscard]] bool find_work(unsigned thread) override {
    return thread == 0 && roll_ && !judged_ && !roll_->stopping() &&
           std::all_of(said_.begin(), said_.end(), [](auto const& s) { return s.second.has_value(); });
  }
  void compute(unsigned /*thread*/, std::unique_lock<std::mutex>& lock) override {
    judged_ = true;
    for (auto& [rank, statement] : said_) heard_.push_back({rank, *std::move(statement)});
    lock.unlock();
    auto refusal = census_.verdict ? census_.verdict(heard_) : std::nullopt;
    lock.lock();
    last_moved_ = now();
    if (over_) return;
    if (!refusal && census_.all_hear)
      for (int r = 0; r < all_ranks(); ++r)
        if (r != rank_) send(r, role::heard{heard_.size()});
    call_roll_now(&role::roll_call::close, refusal.value_or(role::outcome{}));
  }
  void describe(report& r) const override { r.skeleton = census_.skeleton; }
  void describe(observe::progress_state& /*s*/, bool /*last*/) const override {}

  void on_lost(int rank, bool killed) override {
    protocol_run::on_lost(rank, killed);
    if (auto const at = said_.find(rank); at != said_.end() && !at->second) said_.erase(at);
  }
  [[nodiscard]] transport::packet pack(int /*to*/, message const& m) {
    if (std::holds_alternative<role::opinion>(m)) return std::move(mine_);
    transport::packet all;
    if (!std::holds_alternative<role::heard>(m)) return all;
    for (auto const& [rank, statement] : heard_) {
      bytes::put_varint(all.body(), static_cast<std::uint64_t>(rank));
      bytes::put_block(all.body(), statement.bytes());
    }
    return all;
  }
  [[nodiscard]] transport::packet unpack(int /*from*/, message const& /*m*/, std::span<std::byte const> body,
                                         transport::packet& whole) {
    last_moved_ = now();
    whole.drop_front(whole.size() - body.size());
    return std::move(whole);
  }
  void route(int from, message const& m, transport::packet& with, actions& out) {
    std::visit(overloaded{
                   [&](role::call_message const& call) { member_.on(call, out); },
                   [&](role::opinion const&) {
                     if (roll_ && !judged_) said_[from] = std::move(with);
                   },
                   [&](role::heard const& h) {
                     heard_.clear();
                     auto in = with.bytes();
                     for (std::uint64_t i = 0; i < h.statements; ++i) {
                       auto const rank = static_cast<int>(bytes::get_varint(in));
                       heard_.push_back({rank, transport::packet::received(bytes::get_block(in))});
                     }
                   },
               },
               m);
  }

  census const& census_;
  transport::packet mine_;
  std::map<int, std::optional<transport::packet>> said_;  // on the root: those that are awaited or were made
  bool judged_ = false;                                   // on the root: the verdict has all statements
  std::vector<statement_of_rank> heard_;
};

}  // namespace

std::vector<statement_of_rank> take_census(context& ctx, census const& c, transport::packet mine) {
  census_run run(ctx, c, std::move(mine));
  run.execute(!c.is_needed);
  return c.all_hear ? run.take_heard() : std::vector<statement_of_rank>{};
}

}  // namespace skel::detail
