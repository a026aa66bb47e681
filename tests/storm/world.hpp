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

/// When a process ends, or is asked to retire, counted on it.
struct kill_plan {
  enum class when : std::uint8_t {
    at_time,
    at_send,
    at_receive,
    at_task,
    at_sink,
    at_disk
  } what = when::at_time;
  int rank = 0;
  nanoseconds time = 0;     ///< at_time
  std::uint64_t count = 0;  ///< otherwise: the event of this number ends it
  bool retires = false;     ///< it is asked to
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

class disks;

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
  /// Its process has ended, by itself or not.
  [[nodiscard]] bool has_ended(int rank) const {
    return at(rank).dead || threads_[static_cast<std::size_t>(rank)].done;
  }
  /// The code with which a process has ended by itself, during the run.
  [[nodiscard]] std::optional<int> exit_code(int rank) const { return at(rank).exit_code; }
  [[nodiscard]] int deaths() const { return deaths_; }
  /// No rank has died, and none may be suspected.
  [[nodiscard]] bool is_calm() const { return deaths_ == 0 && pauses_.empty() && cuts_.empty(); }
  /// Whether no task with this key has begun before.
  [[nodiscard]] bool begins_first(std::uint64_t key) { return begun_.insert(key).second; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::vector<std::string> const& lines_of(int rank) const { return at(rank).lines; }
  void filter_by(packet_filter f) { filter_ = std::move(f); }
  void use_disks(disks& d) { disks_ = &d; }
  [[nodiscard]] disks& files() { return *disks_; }
  void trace_to(std::FILE* f) { trace_ = f; }

  // --- on the fibre of a rank
  /// Ends the process of the rank that runs, by itself.
  [[noreturn]] void exit(int code);
  /// Counts a task, a call of a sink or one of a disk on this rank. Throws `killed` if it ends here.
  void count(kill_plan::when what);
  /// Throws if the rank that runs is dead.
  void check_alive() const;
  /// On the first thread. Returns at this time, or when a packet has arrived or another thread of the rank
  /// asks for it. Returns whether one of these is so.
  bool sleep_until(nanoseconds time);
  /// The process of the rank that runs ends, as it was asked to.
  void leave() { end(current_, true); }
  /// Lets time pass on any thread. Throws `killed` if the rank ends meanwhile.
  void pass(nanoseconds time);
  /// Something has been printed on standard error.
  void print(std::string const& text);
  /// Notes an event, for the hash and the trace.
  void note(char const* what, std::uint64_t a, std::uint64_t b, std::uint64_t c = 0);

  // --- threads of the rank that runs, beside its first one
  using thread_number = std::size_t;
  thread_number begin_thread(std::function<void()> what);
  void detach(thread_number n) { threads_[n].detached = true; }
  void join(thread_number n);
  /// Returns after notify() with the same address, at this time, or because the rank has ended; whether it
  /// was notified. Never throws.
  bool await(void const* address, nanoseconds until);
  void notify(void const* address);
  /// What a rank does on its first thread while that waits for another one, or for a disk: the time of the
  /// next tick of its engine, and what serves the others.
  struct service {
    std::function<double()> next_tick;
    std::function<void()> serve;
    std::function<void()> retire;  // the rank is asked to
  };
  void serve_by(int rank, service s) { at(rank).serving = std::move(s); }
  /// Numbers without pattern, the same for each seed.
  [[nodiscard]] std::uint64_t draw_number() { return numbers_(); }
  /// Nanoseconds. What waits by looking at the clock again and again sees it move; what looks a few times
  /// more, for the sake of a speed that it has measured before, changes nothing.
  [[nodiscard]] std::int64_t look_at_clock() {
    constexpr std::uint64_t many = 100'000;
    if (++looks_ > many) passed_ += 1'000'000;
    return static_cast<std::int64_t>(now_ + passed_);
  }
  [[nodiscard]] bool is_first_thread() const { return thread_ < ranks_.size(); }

  // --- the transport of a rank
  void send(int from, int to, skel::transport::packet const& what);
  [[nodiscard]] std::optional<skel::transport::transport::arrival> receive(int rank);
  /// Processes of this rank's host that have ended since it was last asked.
  [[nodiscard]] std::vector<int> ended(int rank);

 private:
  struct thread_state {
    int rank = 0;
    bool done = false, waiting = false, detached = false, notified = false;
    void const* address = nullptr;  // waits for a notification
    std::uint64_t turn = 0;         // of the wake-up that is due
    double transfer = 0;            // what it keeps per thread (disks/remote_file.hpp)
    std::unique_ptr<fibre> life{};
  };
  struct rank_state {
    bool dead = false, poked = false;
    std::optional<int> exit_code;
    service serving;
    std::deque<skel::transport::transport::arrival> inbox;
    nanoseconds paused_until = 0;
    std::vector<kill_plan> kills;  // apart from those at a time
    std::uint64_t counts[6]{};
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
  /// A rank's first thread has its number.
  [[nodiscard]] thread_state& first(int r) { return threads_[static_cast<std::size_t>(r)]; }
  [[nodiscard]] wire& between(int from, int to) {
    return wires_[static_cast<std::size_t>(from * size() + to)];
  }
  void post(nanoseconds time, event::kind what, int a, int b = 0, std::uint64_t n = 0);
  void happen(event const& e);
  void wake(thread_number n) { post(now_, event::kind::wake, static_cast<int>(n), 0, threads_[n].turn); }
  void resume(thread_number n);
  void yield();
  void wait_and_serve(nanoseconds until);
  void end_all();
  void end(int rank, bool last_words);
  void tell_end(int rank);
  [[nodiscard]] bool ends_here(int rank, kill_plan::when what);
  void ask_to_retire(int rank);
  [[nodiscard]] nanoseconds arrival(int from, int to);
  [[nodiscard]] double draw() { return static_cast<double>(dice_() >> 11) * 0x1p-53; }

  std::mt19937_64 dice_, numbers_;
  wires_plan plan_;
  std::vector<rank_state> ranks_;
  std::deque<thread_state> threads_;
  std::vector<thread_number> others_;  // threads that have not ended, without the first ones
  std::size_t left_ = 0;               // all that have not ended
  std::vector<wire> wires_;
  std::vector<int> hosts_;
  std::vector<cut_plan> cuts_;
  std::vector<pause_plan> pauses_;
  std::vector<kill_plan> timed_kills_;
  std::set<std::uint64_t> begun_;
  std::priority_queue<event, std::vector<event>, std::greater<>> queue_;
  nanoseconds now_ = 0;
  std::uint64_t looks_ = 0, passed_ = 0, order_ = 0, hash_ = 14695981039346656037U, events_ = 0;
  int current_ = -1, deaths_ = 0;
  thread_number thread_ = 0;  // that runs, if any does
  std::FILE* trace_ = nullptr;
  packet_filter filter_;
  disks* disks_ = nullptr;
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
