// Ranks as threads of one process: a transport over queues in memory, for running whole farms without MPI.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "engine/context_access.hpp"
#include "engine/engine.hpp"
#include "skel/context.hpp"
#include "transport/transport.hpp"

namespace hub {

using clock = std::chrono::steady_clock;

/// The network between the ranks. Packets of one rank to another arrive in order, up to `most_delay` after
/// they were sent. A killed rank neither sends nor receives any more.
class network {
 public:
  explicit network(int ranks, std::chrono::microseconds most_delay = {}, std::uint64_t seed = 1)
      : inbox_(static_cast<std::size_t>(ranks)),
        newest_(static_cast<std::size_t>(ranks * ranks)),
        dead_(static_cast<std::size_t>(ranks)),
        most_delay_(most_delay),
        dice_(seed) {}

  [[nodiscard]] int size() const { return static_cast<int>(inbox_.size()); }
  void kill(int rank) {
    std::lock_guard const lock(mutex_);
    dead_[static_cast<std::size_t>(rank)] = true;
    // Its messages in flight are dropped: a later one would make it look alive, and no detector here would
    // suspect it again.
    for (auto& box : inbox_) std::erase_if(box, [&](auto const& l) { return l.from == rank; });
  }
  /// Ranks below `rank` and the others cannot reach each other, until this is 0.
  void cut_before(int rank) {
    std::lock_guard const lock(mutex_);
    cut_ = rank;
  }
  [[nodiscard]] bool is_dead(int rank) {
    std::lock_guard const lock(mutex_);
    return dead_[static_cast<std::size_t>(rank)];
  }
  void put(int from, int to, skel::transport::packet const& what) {
    std::lock_guard const lock(mutex_);
    skel::transport::header head;
    std::memcpy(&head, what.bytes().data(), std::min(sizeof head, what.size()));
    constexpr auto disks = skel::detail::key_of(skel::detail::part::disks);
    if (head.context() == 0 && head.run() != disks.number && head.sequence != 0) ++control_messages_;
    if (dead_[static_cast<std::size_t>(from)] || dead_[static_cast<std::size_t>(to)]) return;
    if ((from < cut_) != (to < cut_)) return;
    auto& newest = newest_[static_cast<std::size_t>(from * size() + to)];
    auto due = clock::now();
    if (most_delay_.count() > 0)
      due += std::chrono::microseconds(dice_() % static_cast<std::uint64_t>(most_delay_.count()));
    newest = std::max(newest, due);
    auto const bytes = what.bytes();
    inbox_[static_cast<std::size_t>(to)].push_back({from, newest, {bytes.begin(), bytes.end()}});
  }
  [[nodiscard]] std::optional<skel::transport::transport::arrival> get(int rank) {
    std::lock_guard const lock(mutex_);
    ++looks_[static_cast<std::size_t>(rank)];
    if (dead_[static_cast<std::size_t>(rank)]) return std::nullopt;
    auto& box = inbox_[static_cast<std::size_t>(rank)];
    auto const now = most_delay_.count() > 0 ? clock::now() : clock::time_point::max();
    for (auto it = box.begin(); it != box.end(); ++it) {
      if (it->due > now) continue;  // later packets of this sender are due later
      skel::transport::transport::arrival a{it->from,
                                            skel::transport::packet::received(std::move(it->bytes))};
      box.erase(it);
      return a;
    }
    return std::nullopt;
  }

  /// Messages of the engines themselves, not of calls or disks.
  [[nodiscard]] std::uint64_t control_messages() {
    std::lock_guard const lock(mutex_);
    return control_messages_;
  }
  /// How often a rank has looked for messages.
  [[nodiscard]] std::uint64_t looks(int rank) {
    std::lock_guard const lock(mutex_);
    return looks_[static_cast<std::size_t>(rank)];
  }

 private:
  struct letter {
    int from;
    clock::time_point due;
    std::vector<std::byte> bytes;
  };
  std::mutex mutex_;
  std::vector<std::deque<letter>> inbox_;
  std::vector<std::uint64_t> looks_ = std::vector<std::uint64_t>(inbox_.size());
  std::vector<clock::time_point> newest_;
  std::vector<bool> dead_;
  int cut_ = 0;
  std::uint64_t control_messages_ = 0;
  std::chrono::microseconds most_delay_;
  std::mt19937_64 dice_;
};

/// What the clock of a rank shows at the time `t` of the process's clock.
using wrong_clock = std::function<double(int rank, double t)>;

class transport final : public skel::transport::transport {
 public:
  transport(std::shared_ptr<network> net, int rank, wrong_clock shows = {})
      : net_(std::move(net)), rank_(rank), shows_(std::move(shows)) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return net_->size(); }
  void send(int to, skel::transport::packet what) override { net_->put(rank_, to, what); }
  [[nodiscard]] std::optional<arrival> receive() override { return net_->get(rank_); }
  [[nodiscard]] std::size_t unsent(int) const override { return 0; }
  [[nodiscard]] double now() const override {
    double const t = skel::transport::transport::now();
    return shows_ ? shows_(rank_, t) : t;
  }

 private:
  std::shared_ptr<network> net_;
  int rank_;
  wrong_clock shows_;
};

/// A job: one engine and one context per rank.
class job {
 public:
  /// `host`: the name of all ranks' host; empty: each has its own. `adapt` changes a rank's options.
  explicit job(int ranks, int threads = 1, std::size_t largest_message = std::size_t{1} << 30,
               std::chrono::microseconds most_delay = {}, std::string const& host = {},
               std::function<void(int, skel::context_options&)> const& adapt = {},
               wrong_clock const& shows = {})
      : net_(std::make_shared<network>(ranks, most_delay)), errors_(static_cast<std::size_t>(ranks)) {
    for (int r = 0; r < ranks; ++r) {
      skel::context_options options;
      options.threads = threads;
      options.largest_message = largest_message;
      options.suspect_after_seconds = 0;  // tests declare ranks lost
      options.host.name = host;
      options.check.tasks = false;    // they count how often a task runs
      options.watchdog_seconds = 15;  // prints every rank's state instead of hanging
      if (adapt) adapt(r, options);
      engines_.push_back(std::make_shared<skel::detail::engine>(std::make_unique<transport>(net_, r, shows),
                                                                options, "host" + std::to_string(r)));
      if (!host.empty()) engines_.back()->place.on_host = {r, ranks};
      contexts_.push_back(skel::detail::context_access::make(engines_.back()));
    }
  }

  /// The rank is dead from now on, and the others know. (Its own thread hears that they are gone, so that it
  /// ends: the root first.)
  void kill(int rank) {
    net_->kill(rank);
    for (int r = 0; r < net_->size(); ++r)
      if (r != rank) declare_lost(*engines_[static_cast<std::size_t>(rank)], r);
    for (std::size_t r = 0; r < engines_.size(); ++r)
      if (static_cast<int>(r) != rank) declare_lost(*engines_[r], rank);
  }
  void suspect(int rank) { declare_lost(*engines_[0], rank); }
  /// Makes one rank suspect another.
  void suspect(int who, int rank) { declare_lost(*engines_[static_cast<std::size_t>(who)], rank); }
  /// The suspect shows that it lives, as a detector's heartbeat does: an acknowledgement alone.
  void heartbeat(int rank, int to = 0) {
    skel::transport::header const none{};
    skel::transport::packet p;
    p.prepend(std::as_bytes(std::span(&none, 1)));
    net_->put(rank, to, p);
  }

  [[nodiscard]] std::uint64_t looks(int rank) const { return net_->looks(rank); }
  [[nodiscard]] std::uint64_t control_messages() const { return net_->control_messages(); }

  /// Calls body(context) once per rank and waits for all; what it throws can be looked at with error().
  void run(std::function<void(skel::context&)> const& body) {
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < engines_.size(); ++r)
      threads.emplace_back([&, r] {
        errors_[r] = nullptr;
        try {
          body(contexts_[r]);
        } catch (...) {
          errors_[r] = std::current_exception();
        }
      });
    for (auto& t : threads) t.join();
  }
  /// The same, and no rank may throw. Returns what the body returns on the root.
  template <class Body>
  auto run_well(Body const& body) {
    if constexpr (std::is_void_v<std::invoke_result_t<Body const&, skel::context&>>) {
      run(body);
      check_no_errors();
    } else {
      auto value = on_root(body);
      check_no_errors();
      return value;
    }
  }
  /// Returns what the body returns on the root, which may not throw; other ranks may, since they may be lost.
  template <class Body>
  auto on_root(Body const& body) {
    std::optional<std::invoke_result_t<Body const&, skel::context&>> value;
    run([&](skel::context& ctx) {
      auto mine = body(ctx);
      if (ctx.is_root()) value = std::move(mine);
    });
    CHECK(error(0).empty());
    REQUIRE(value.has_value());
    return *std::move(value);
  }
  /// The same as run(), and every rank must throw an Error, all with one text, which it returns.
  template <class Error>
  std::string all_throw(std::function<void(skel::context&)> const& body) {
    run(body);
    for (auto const& e : errors_) {
      REQUIRE(e != nullptr);
      CHECK_THROWS_AS(std::rethrow_exception(e), Error);
    }
    for (int r = 1; r < net_->size(); ++r) CHECK(error(r) == error(0));
    return error(0);
  }
  /// what() of what the body threw on this rank; empty if nothing.
  [[nodiscard]] std::string error(int rank) const {
    try {
      if (auto const& e = errors_[static_cast<std::size_t>(rank)]) std::rethrow_exception(e);
    } catch (std::exception const& e) {
      return e.what();
    }
    return {};
  }
  [[nodiscard]] std::exception_ptr exception(int rank) const {
    return errors_[static_cast<std::size_t>(rank)];
  }

 private:
  void check_no_errors() const {
    for (int r = 0; r < net_->size(); ++r) CHECK(error(r).empty());
  }
  static void declare_lost(skel::detail::engine& e, int rank) {
    std::lock_guard const lock(e.mutex());
    e.peers().declare_lost(rank);
  }
  std::shared_ptr<network> net_;
  std::vector<std::shared_ptr<skel::detail::engine>> engines_;
  std::vector<skel::context> contexts_;
  std::vector<std::exception_ptr> errors_;
};

/// Returns the exception that the body threw on this rank.
template <class Error>
void check_thrown(job const& job, int rank) {
  REQUIRE(job.exception(rank) != nullptr);
  CHECK_THROWS_AS(std::rethrow_exception(job.exception(rank)), Error);
}

}  // namespace hub
