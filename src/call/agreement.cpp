// context::require_same: a call without tasks in which the root compares a digest of all ranks.
#include <map>
#include <utility>

#include "base/format.hpp"
#include "engine/context_access.hpp"
#include "loopback.hpp"
#include "peer_run.hpp"
#include "role/attendance.hpp"
#include "role/codec.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"

namespace skel::role {

namespace {
/// To the root, behind hello: the digest of what must be the same.
struct opinion {
  std::uint64_t digest = 0;
};
using agreement_message = std::variant<call_message, opinion>;
}  // namespace

template <>
inline constexpr unsigned first_kind<agreement_message> = 16;

}  // namespace skel::role

namespace skel::detail {

namespace {

using role::agreement_message;
using role::call_message;

/// Every rank says hello with its digest. When the root has those of all living ranks, it ends the run: well,
/// or refused.
class agreement_run final : public peer_run {
 public:
  agreement_run(context& ctx, std::string_view name, std::uint64_t digest)
      : peer_run(ctx, {.label = "require_same", .stop = {}, .time_limit_seconds = {}, .observed = false},
                 "require_same"),
        name_(name),
        digest_(digest) {
    threads_ = 1;
    call_.add("name", name);
    if (!is_root()) return;
    roll_.emplace(context_access::team(ctx), call_.hash());
    for (int const r : context_access::team(ctx)) digests_[r] = std::nullopt;
  }

  void on_lost(int rank) override {
    if (over_) return;
    actions list;
    attendance_.lost(rank, list);
    perform(list);
    if (!roll_) return;
    call_roll(&role::roll_call::lost, rank);
    if (auto const at = digests_.find(rank); at != digests_.end() && !at->second) digests_.erase(at);
    compare();
  }
  void on_tick(double t) override {
    if (!over_) after_tick(t);
  }
  void idle_work() override {}
  [[nodiscard]] std::string state() const override {
    std::vector<int> missing;
    for (auto const& [rank, digest] : digests_)
      if (!digest) missing.push_back(rank);
    auto text = detail::format("rank {}: require_same \"{}\" {} (context {})", rank_, name_, key_.number,
                               key_.context);
    if (!missing.empty())
      text += detail::format("; not in this call: ranks [{}]", detail::join(missing, " "));
    return text + waits_to_stop();
  }

 private:
  using actions = std::vector<std::variant<role::tell_root, role::drain, role::end, role::fail>>;

  void begin(std::unique_lock<std::mutex>& /*lock*/) override {
    send(root_, role::hello{call_.hash()});
    send(root_, role::opinion{digest_});
    deliver_own();
  }
  [[nodiscard]] bool find_work(unsigned /*thread*/) override { return false; }
  void compute(unsigned /*thread*/, std::unique_lock<std::mutex>& /*lock*/) override {}
  void please_stop() override {}  // it is over at once
  void describe(report& r) const override { r.skeleton = "require_same"; }
  void describe(observe::progress_state& /*s*/, bool /*last*/) const override {}

  using peer_run::send;
  void send(int to, agreement_message m) {
    if (to == rank_)
      to_self_.push(std::move(m));
    else
      post(to, m, {}, span_begin());
  }
  void send_call(int to, call_message m) override { send(to, std::move(m)); }
  void deliver_own() override {
    to_self_.deliver([&](agreement_message const& m) { deliver(rank_, m); });
  }
  void receive(int from, std::span<std::byte const> body, transport::packet& /*whole*/) override {
    if (over_) return;
    last_moved_ = now();
    auto const m = role::decode<agreement_message>(body);
    if (another_call(from, m)) return;
    deliver(from, m);
  }
  void deliver(int from, agreement_message const& m) {
    if (auto const* o = std::get_if<role::opinion>(&m)) {
      if (!roll_) return;
      digests_[from] = o->digest;
      compare();
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

  void compare() {
    if (roll_->stopping()) return;
    for (auto const& [rank, digest] : digests_)
      if (!digest) return;
    for (auto const& [rank, digest] : digests_)
      if (digest != digest_) {
        call_roll(&role::roll_call::refuse, rank,
                  detail::format("{} of rank {} differs from rank {}'s: it must be the same on all ranks",
                                 name_, rank, root_));
        return;
      }
    call_roll(&role::roll_call::done, std::uint64_t{0});
  }

  std::string name_;
  std::uint64_t digest_;
  std::map<int, std::optional<std::uint64_t>> digests_;  // on the root: of the ranks that are not lost
  loopback<agreement_message> to_self_;
  role::attendance attendance_{rank_, root_};
};

}  // namespace

}  // namespace skel::detail

namespace skel {

void context::require_same(std::string_view name, std::span<std::byte const> bytes) {
  if (size() == 1) {
    detail::call_slot const slot(*this);
    return;
  }
  skel::xxh3_hasher hasher;
  hasher.update(bytes);
  detail::agreement_run run(*this, name, hasher.value());
  run.execute();
}

void context::require_same(std::string_view name, std::string_view text) {
  require_same(name, std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace skel
