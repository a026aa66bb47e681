// A job in one thread: ranks are fibres, time is virtual, and wires do what a seed says.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "fibres.hpp"
#include "transport/transport.hpp"

namespace storm {

/// Something is wrong with skel, or with the storm.
struct violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Ends the fibre of a rank whose process has ended. The rank does nothing more that others could see; every
/// further call of its transport throws it again.
struct killed : std::exception {
  [[nodiscard]] char const* what() const noexcept override { return "this rank is dead"; }
};

using nanoseconds = std::uint64_t;
constexpr nanoseconds never = std::numeric_limits<nanoseconds>::max();
inline nanoseconds seconds(double s) { return static_cast<nanoseconds>(std::llround(s * 1e9)); }

/// How the wires behave.
struct wires_plan {
  double least_latency = 2e-6, most_latency = 50e-6;  ///< seconds
  double seldom = 0;                                  ///< the part of packets that take up to `longest`
  double longest = 0;
};

/// When a process ends, counted on it.
struct kill_plan {
  enum class when : std::uint8_t { at_time, at_send, at_receive, at_task, at_sink } what = when::at_time;
  int rank = 0;
  nanoseconds time = 0;     ///< at_time
  std::uint64_t count = 0;  ///< otherwise: the event of this number ends it
  bool last_words = true;   ///< what it has sent may still arrive; otherwise some of it may not
};

/// A rank does not run for a while, as after SIGSTOP.
struct pause_plan {
  int rank = 0;
  nanoseconds from = 0, until = 0;
};

/// Ranks whose bit is set and the others do not hear of each other for a while. What they send arrives
/// afterwards.
struct cut_plan {
  std::uint32_t side = 0;
  nanoseconds from = 0, until = 0;  ///< never: for ever
};

/// Sees each packet that is sent, and may change it. Returns whether it arrives.
using packet_filter = std::function<bool(int from, int to, std::vector<std::byte>& packet)>;

class world {
 public:
  world(int ranks, std::uint64_t seed, wires_plan wires);
  ~world();
  world(world const&) = delete;
  world& operator=(world const&) = delete;

  void plan(kill_plan const& k);
  void plan(pause_plan const& p);
  void plan(cut_plan const& c);
  /// The hosts of the ranks: the ranks of one host know for certain that a process of theirs has ended, at
  /// most 5 ms later. Otherwise none does.
  void set_hosts(std::vector<int> hosts) { hosts_ = std::move(hosts); }

  /// Calls life(rank) on a fibre for each rank until all have returned. Throws violation after `limit` or if
  /// nothing happens any more.
  void run(std::function<void(int)> const& life, nanoseconds limit);

  [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] nanoseconds now() const { return now_; }
  /// The rank that runs.
  [[nodiscard]] int current() const { return current_; }
  [[nodiscard]] bool is_dead(int rank) const { return at(rank).dead; }
  /// The code with which a process has ended by itself, during the run.
  [[nodiscard]] std::optional<int> exit_code(int rank) const { return at(rank).exit_code; }
  [[nodiscard]] int deaths() const { return deaths_; }
  /// No rank has died, and none may be suspected.
  [[nodiscard]] bool is_calm() const { return deaths_ == 0 && pauses_.empty() && cuts_.empty(); }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::vector<std::string> const& lines_of(int rank) const { return at(rank).lines; }
  void filter_by(packet_filter f) { filter_ = std::move(f); }
  void trace_to(std::FILE* f) { trace_ = f; }

  // --- on the fibre of a rank
  /// Ends the process of the rank that runs, by itself.
  [[noreturn]] void exit(int code);
  /// Counts a task or a call of a sink on this rank. Throws `killed` if it ends here.
  void count(kill_plan::when what);
  /// Throws if the rank that runs is dead.
  void check_alive() const;
  /// Returns at this time, or when a packet has arrived. Returns whether one has.
  bool sleep_until(nanoseconds time);
  /// Something has been printed on standard error.
  void print(std::string const& text);
  /// Notes an event, for the hash and the trace.
  void note(char const* what, std::uint64_t a, std::uint64_t b, std::uint64_t c = 0);

  // --- the transport of a rank
  void send(int from, int to, skel::transport::packet const& what);
  [[nodiscard]] std::optional<skel::transport::transport::arrival> receive(int rank);
  /// Processes of this rank's host that have ended since it was last asked.
  [[nodiscard]] std::vector<int> ended(int rank);

 private:
  struct rank_state {
    std::unique_ptr<fibre> life;
    bool dead = false, done = false, waiting = false;
    std::optional<int> exit_code;
    std::uint64_t turn = 0;  // of the wake-up that is due
    std::deque<skel::transport::transport::arrival> inbox;
    nanoseconds paused_until = 0;
    std::vector<kill_plan> kills;  // apart from those at a time
    std::uint64_t counts[5]{};
    std::vector<int> news;  // certain ends
    std::vector<std::string> lines;
    std::string line;
    mutable std::uint64_t reminders = 0;
  };
  struct event {
    nanoseconds time;
    std::uint64_t order;
    enum class kind : std::uint8_t { wake, deliver, kill, tell } what;
    int a = 0, b = 0;
    std::uint64_t n = 0;
    bool operator>(event const& o) const { return time != o.time ? time > o.time : order > o.order; }
  };
  struct wire {
    std::deque<std::vector<std::byte>> packets;  // in transit
    nanoseconds last = 0;                        // arrival of the latest
  };

  [[nodiscard]] rank_state& at(int r) { return ranks_[static_cast<std::size_t>(r)]; }
  [[nodiscard]] rank_state const& at(int r) const { return ranks_[static_cast<std::size_t>(r)]; }
  [[nodiscard]] wire& between(int from, int to) {
    return wires_[static_cast<std::size_t>(from * size() + to)];
  }
  void post(nanoseconds time, event::kind what, int a, int b = 0, std::uint64_t n = 0);
  void happen(event const& e);
  void resume(int rank);
  void end(int rank, bool last_words);
  void tell_end(int rank);
  [[nodiscard]] bool ends_here(int rank, kill_plan::when what);
  [[nodiscard]] nanoseconds arrival(int from, int to);
  [[nodiscard]] double draw() { return static_cast<double>(dice_() >> 11) * 0x1p-53; }

  std::mt19937_64 dice_;
  wires_plan plan_;
  std::vector<rank_state> ranks_;
  std::vector<wire> wires_;
  std::vector<int> hosts_;
  std::vector<cut_plan> cuts_;
  std::vector<pause_plan> pauses_;
  std::vector<kill_plan> timed_kills_;
  std::priority_queue<event, std::vector<event>, std::greater<>> queue_;
  nanoseconds now_ = 0;
  std::uint64_t order_ = 0, hash_ = 14695981039346656037U, events_ = 0;
  int current_ = -1, deaths_ = 0;
  std::FILE* trace_ = nullptr;
  packet_filter filter_;
};

/// The world whose fibre runs on this thread, or null.
[[nodiscard]] world* current_world();

/// One rank's transport.
class rank_wires final : public skel::transport::transport {
 public:
  rank_wires(world& w, int rank) : world_(w), rank_(rank) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return world_.size(); }
  void send(int to, skel::transport::packet what) override { world_.send(rank_, to, what); }
  [[nodiscard]] std::optional<arrival> receive() override { return world_.receive(rank_); }
  [[nodiscard]] std::size_t unsent(int /*to*/) const override { return 0; }
  [[nodiscard]] double now() const override { return static_cast<double>(world_.now()) * 1e-9; }
  void wait(double s) override { world_.sleep_until(world_.now() + std::max<nanoseconds>(1, seconds(s))); }
  [[nodiscard]] bool owns_time() const override { return true; }
  [[nodiscard]] std::optional<double> power() const override { return 1 + 0.25 * (rank_ % 4); }

 private:
  world& world_;
  int rank_;
};

}  // namespace storm
