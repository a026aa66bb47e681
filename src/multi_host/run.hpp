// One multi_host call on one rank: drives the roles, reads units, processes pieces, carries results.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "call/peer_run.hpp"
#include "multi_host/role/route.hpp"
#include "skel/detail/group_work.hpp"
#include "skel/multi_host.hpp"

namespace skel::detail {

/// What reading, processing and sending took on one rank, or on all.
struct group_clock {
  std::uint64_t units_read = 0;  // history included
  double read_seconds = 0;
  std::uint64_t pieces = 0;  // processed
  double compute_seconds = 0;
  std::uint64_t pieces_sent = 0;
  double send_seconds = 0;

  void add(group_clock const& other);
  void pack(std::vector<std::byte>& out) const;
  [[nodiscard]] static group_clock unpack(std::span<std::byte const>& in);
};

class group_run final : public peer_run {
 public:
  group_run(context& ctx, std::uint64_t units, group_work& work, multi_host_options const& options);
  ~group_run() override;

  void on_lost(int rank) override;
  void on_tick(double t) override;
  void idle_work() override;
  [[nodiscard]] std::string state() const override;

 private:
  using term_id = role::term_id;
  using piece_run = role::piece_run;
  // The result of a piece: an object where it was made on this rank and stays, otherwise bytes of a message,
  // or of what was packed together.
  struct held_piece {
    std::unique_ptr<piece_result> object;
    std::shared_ptr<transport::packet> whole;
    std::size_t at = 0, size = 0;  // of `whole`
    [[nodiscard]] std::span<std::byte const> packed() const { return whole->bytes().subspan(at, size); }
  };
  struct labelled_piece {
    std::uint64_t unit = 0, piece = 0;
    held_piece held;
  };
  using unit_of_results = std::vector<held_piece>;
  // What travels with a message, from another rank or from this one.
  struct cargo {
    std::shared_ptr<host_packet const> object;  // a packet that was cut here
    transport::packet packed;                   // or one that came
    std::vector<labelled_piece> pieces;         // results
    std::size_t used = 0;
  };
  // The share that this rank leads.
  struct duty {
    term_id term = 0;
    std::unique_ptr<host_state> carried;
    std::map<std::uint64_t, std::shared_ptr<host_unit>> units;
    std::map<std::uint64_t, unit_of_results> kept;
  };
  struct worker_packet {
    term_id term = 0;
    bool own = false;    // of the share that this rank leads
    bool stays = false;  // its results do not leave this rank
    std::uint64_t first = 0;
    std::uint64_t unfinished = 0;
    std::shared_ptr<host_packet const> object;
    transport::packet packed;
    std::once_flag opened;
  };
  struct read_job {
    std::shared_ptr<duty> of;
    std::uint64_t unit = 0;
    bool fresh = false;
    bool alone = false;
  };
  struct sink_job {
    std::shared_ptr<duty> of;
    std::uint64_t unit = 0;
  };
  struct process_job {
    role::packet_id id = 0;
    std::shared_ptr<worker_packet> packet;
    piece_run pieces;
    bool on_trial = false;  // what sending would take is measured, too
  };
  // What one compute thread does next; padded so that threads do not share lines.
  struct alignas(128) thread_state {
    double cost = 0;  // seconds per piece, of late
    // Of a unit that this rank leads: where the thread packs the results that it makes of it. It may be the
    // unit's message then.
    struct {
      term_id term = 0;
      std::uint64_t unit = 0;
      std::shared_ptr<transport::packet> packed;
    } outgoing;
    std::variant<std::monostate, read_job, sink_job, process_job> todo;
  };
  struct own_message {
    role::group_message what;
    cargo with;
  };

  void begin(std::unique_lock<std::mutex>& lock) override;
  void receive(int from, std::span<std::byte const> body, transport::packet& whole) override;
  [[nodiscard]] bool find_work(unsigned thread) override;
  [[nodiscard]] bool may_read() const;
  void compute(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void after_quantum(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void please_stop() override;
  void describe(report& r) const override;
  void describe(observe::progress_state& s, bool last) const override;

  /// On the root, while the run neither stops nor is over.
  [[nodiscard]] bool runs_on_root() const { return roll_ && !roll_->stopping() && !roll_->finished(); }
  void check_choices() const;
  void describe_call();
  void set_up_roles();
  void perform(role::group_actions& list, cargo* with = nullptr, thread_state* thread = nullptr);
  void perform_one(role::group_action& action, cargo* with, thread_state* thread);
  void perform_for_host(role::group_action const& action, cargo* with);
  void send(int to, role::group_message m);
  void send_call(int to, role::call_message m) override { send(to, std::move(m)); }
  void load(role::group_message const& m, cargo& with);
  void load(role::group_msg::packet const& m, cargo& with);
  void load(role::group_msg::returned const& m, cargo& with);
  void load(role::group_msg::unit_done const& m, cargo& with);
  [[nodiscard]] transport::packet pack(role::group_message const& m);
  [[nodiscard]] transport::packet pack_packet(role::group_msg::packet const& m);
  [[nodiscard]] transport::packet pack_results(cargo with);
  [[nodiscard]] transport::packet pack_clocks();
  void unload(role::group_message const& m, std::span<std::byte const> body, transport::packet& whole,
              cargo& with) const;
  [[nodiscard]] std::shared_ptr<host_packet const> cut(piece_run const& pieces);
  [[nodiscard]] static std::shared_ptr<transport::packet> packed_together(
      std::span<labelled_piece const> pieces);
  [[nodiscard]] held_piece take_result(term_id term, std::uint64_t unit, std::uint64_t piece);
  void keep(piece_run const& fresh, cargo& with);
  void deliver(int from, role::group_message const& m, cargo& with);
  void deliver_own() override;
  void deliver_deferred();
  void drain();
  void fail(std::uint64_t unit, std::string text);
  void check_quiet();

  void read(thread_state& t, std::unique_lock<std::mutex>& lock);
  void process(unsigned thread, std::unique_lock<std::mutex>& lock);
  void set_pace(std::uint64_t pieces);
  [[nodiscard]] std::shared_ptr<transport::packet> room_for_results(thread_state& t, process_job const& j);
  void process_pieces(unsigned thread, process_job const& j,
                      std::shared_ptr<transport::packet> const& together, std::vector<held_piece>& results,
                      std::uint64_t& bytes);
  void sink_here(thread_state& t, std::unique_lock<std::mutex>& lock);
  bool give_to_sink(std::uint64_t unit, unit_of_results& results);
  void drain_sink();
  [[nodiscard]] bool next_for_sink(std::uint64_t& unit, unit_of_results& results);
  void maybe_complete();
  void maybe_measured();
  void measure_sending(process_job const& j, piece_result const& result);

  std::uint64_t units_;
  group_work& work_;
  multi_host_options options_;
  bool sink_on_hosts_;

  role::group_worker worker_;
  role::group_host host_;
  std::optional<role::group_arbiter> arbiter_;
  std::shared_ptr<duty> duty_;
  std::deque<read_job> reads_;
  std::deque<sink_job> deliveries_;  // sinks on hosts
  bool sinking_here_ = false;
  std::map<role::packet_id, std::shared_ptr<worker_packet>> packets_;
  // Results that have not been sent, by term, unit and piece; twice where a host that took this rank for lost
  // gave the same piece again.
  std::multimap<std::array<std::uint64_t, 3>, held_piece> finished_;
  loopback<own_message> to_self_;
  struct deferred_message {
    int from;
    role::group_message what;
    cargo with;
  };
  std::deque<deferred_message> deferred_;  // while the host does not listen

  std::vector<thread_state> state_;
  unsigned inside_ = 0;     // threads in the user's functions
  std::uint64_t pace_ = 1;  // pieces of a packet for one thread
  term_id paced_for_ = 0;

  // On the root.
  std::map<std::uint64_t, unit_of_results> for_sink_;
  std::uint64_t next_unit_ = 0;  // for a sink in order
  std::atomic<std::uint64_t> sunk_{0};
  std::atomic_flag sink_busy_;
  bool sink_stopped_ = false;
  double sink_seconds_ = 0;
  double started_at_ = -1;
  group_clock clock_;  // of this rank; in the end of all
  std::uint64_t trial_pieces_ = 0, trial_units_ = 0;
  bool size_found_ = false;
  std::uint64_t taken_back_ = 0;  // of the other ranks
  std::uint64_t pieces_told_ = 0;
};

}  // namespace skel::detail
