// The pieces and results on this rank in a multi_host call, and their way into messages and out of them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "call/sink_turn.hpp"
#include "engine/engine.hpp"
#include "multi_host/role/message.hpp"
#include "setup.hpp"
#include "skel/detail/function_reference.hpp"
#include "skel/detail/group_work.hpp"
#include "transport/packet.hpp"

namespace skel::detail {

/// The result of a piece: an object if it was made on this rank and stays, otherwise bytes of a packet.
struct held_piece {
  std::unique_ptr<piece_result> object;
  std::shared_ptr<transport::packet> whole;
  std::size_t at = 0, size = 0;  ///< of `whole`
  [[nodiscard]] std::span<std::byte const> packed() const { return whole->bytes().subspan(at, size); }
};

struct labelled_piece {
  std::uint64_t unit = 0, piece = 0;
  held_piece held;
};

/// The results of a unit, by piece.
using unit_of_results = std::vector<held_piece>;

/// The contents of one message. Objects that this rank sends to itself are not serialized.
struct group_cargo {
  std::shared_ptr<host_packet const> object;  ///< a packet that this rank has cut
  transport::packet packed;                   ///< or one that another rank has sent
  std::vector<labelled_piece> pieces;         ///< results
  std::size_t used = 0;                       ///< of `pieces`
};

/// Keeps the units of the share, the state that is carried between them, the results that have come back, and
/// the jobs that wait for a compute thread. Called under the engine's lock, except read(). A job keeps the
/// data that it needs, so the share may close while a thread is at it.
class led_share {
  struct data {
    role::term_id term = 0;
    std::unique_ptr<host_state> carried;
    std::map<std::uint64_t, std::shared_ptr<host_unit>> units;
    std::map<std::uint64_t, unit_of_results> kept;
  };

 public:
  struct read_job {
    std::shared_ptr<data> of;
    std::shared_ptr<host_unit> into;
    std::uint64_t unit = 0;
    bool fresh = false;
    bool alone = false;
    [[nodiscard]] role::term_id term() const { return of->term; }
  };
  struct sink_job {
    std::shared_ptr<data> of;
    std::uint64_t unit = 0;
    [[nodiscard]] role::term_id term() const { return of->term; }
    [[nodiscard]] unit_of_results take() const { return std::move(of->kept[unit]); }
  };

  explicit led_share(group_work& work) : work_(work) {}

  /// Queues a unit to be read; the first one opens the share.
  void add(role::group::read const& r);
  /// Queues a unit for the sink on this rank.
  void add(role::group::deliver const& d) { deliveries_.push_back({data_, d.unit}); }
  /// Moves the results of `fresh` out of a message that carries at least these, in their order.
  void keep(role::piece_run const& fresh, group_cargo& with);
  [[nodiscard]] std::shared_ptr<host_packet const> cut(role::piece_run const& pieces) const;
  /// Drops a unit and returns its results; none if the sink on this rank has taken them.
  [[nodiscard]] unit_of_results remove(std::uint64_t unit);
  /// This rank stops leading.
  void close();

  /// Returns the unit to read next. `quiet`: nothing else runs or waits on this rank.
  [[nodiscard]] std::optional<read_job> next_read(bool quiet);
  /// Returns the unit to give to the sink next: one at a time, until delivered().
  [[nodiscard]] std::optional<sink_job> next_delivery();
  void delivered() { delivering_ = false; }

  /// Reads a unit, without the lock; returns the number of its pieces.
  [[nodiscard]] std::uint64_t read(read_job const& j,
                                   function_reference<void(std::uint64_t)> const& ready) const {
    return work_.read(j.unit, j.fresh, *j.of->carried, *j.into, ready);
  }
  /// Units that a job reads, history included.
  [[nodiscard]] std::uint64_t units_of(read_job const& j) const {
    return 1 + (j.fresh ? work_.history(j.unit) : 0);
  }

 private:
  group_work& work_;
  std::shared_ptr<data> data_;  // none: this rank leads no group
  std::deque<read_job> reads_;
  std::deque<sink_job> deliveries_;
  bool delivering_ = false;
};

struct worker_packet {
  role::term_id term = 0;
  bool own = false;    ///< of the share that this rank leads
  bool stays = false;  ///< its results do not leave this rank
  std::uint64_t first = 0;
  std::uint64_t unfinished = 0;
  std::shared_ptr<host_packet const> object;
  transport::packet packed;
  std::once_flag opened;
};

/// Pieces for one compute thread.
struct process_job {
  role::packet_id id = 0;
  std::shared_ptr<worker_packet> packet;
  role::piece_run pieces;
  bool on_trial = false;  ///< the time to send them is measured, too
};

/// Keeps packets until all of their pieces are processed, and results until a message takes them. Called
/// under the engine's lock.
class worker_packets {
 public:
  /// `own_stay`: results of the share that this rank leads do not leave it.
  explicit worker_packets(bool own_stay) : own_stay_(own_stay) {}

  void accept(role::group::accept const& a, group_cargo& with);
  [[nodiscard]] process_job job(role::group::execute const& x) const {
    return {x.id, packets_.at(x.id), x.pieces};
  }
  /// Keeps the results of a job. False: its packet is void meanwhile.
  [[nodiscard]] bool finished(process_job const& j, std::vector<held_piece>& results);
  [[nodiscard]] held_piece take(role::term_id term, std::uint64_t unit, std::uint64_t piece);
  void forget(role::term_id term);
  void clear();

 private:
  bool own_stay_;
  std::map<role::packet_id, std::shared_ptr<worker_packet>> packets_;
  // By term, unit and piece. A key occurs twice if a host has declared this rank lost and gives it the same
  // piece again.
  std::multimap<std::array<std::uint64_t, 3>, held_piece> finished_;
};

/// On the root, units wait here for the sink; one thread at a time gives them to it, without the engine's
/// lock.
class unit_sink {
 public:
  unit_sink(engine& of, group_work& work, bool in_order) : engine_(of), work_(work), in_order_(in_order) {}

  // --- under the engine's lock
  void push(std::uint64_t unit, std::vector<labelled_piece>& results);
  struct entry {
    std::uint64_t unit = 0;
    unit_of_results results;
  };
  /// The unit that the sink receives next, if it is here and the sink goes on.
  [[nodiscard]] std::optional<entry> next();
  /// The sink was at a unit for `seconds`.
  void received(double seconds, bool failed, bool goes_on);
  [[nodiscard]] double seconds() const { return seconds_; }

  // --- without it
  /// For the one thread that gives results to the sink.
  [[nodiscard]] sink_turn turn() { return sink_turn(busy_); }
  /// Gives the results of a unit to the sink. False: the sink wants the run to end.
  [[nodiscard]] bool give(std::uint64_t unit, unit_of_results& results);
  /// Units that the sink has received; from any thread.
  [[nodiscard]] std::uint64_t sunk() const { return sunk_; }

 private:
  engine& engine_;
  group_work& work_;
  bool in_order_;
  std::map<std::uint64_t, unit_of_results> waiting_;
  std::uint64_t next_ = 0;  // for a sink in order
  std::atomic<std::uint64_t> sunk_{0};
  std::atomic_flag busy_;
  bool stopped_ = false;
  double seconds_ = 0;
};

/// Holds the units that this rank leads, the packets that it processes and the units for its sink, and
/// attaches to each message what it carries: `packet` the pieces, cut from their unit; `returned` the results
/// of its runs; `unit_done` the results of the unit. Called under the engine's lock. Exceptions of the user's
/// functions pass through.
class cargo_hold {
 public:
  cargo_hold(engine& of, group_work& work, group_clock& clock, group_setup const& setup)
      : engine_(of),
        work_(work),
        clock_(clock),
        results_stay_(setup.sink_on_hosts()),
        share_(work),
        packets_(results_stay_ || setup.rank == setup.root),
        sink_(of, work, setup.options.results == multi_host_options::unit_results::in_order) {}

  /// Whether `m` carries anything.
  [[nodiscard]] static bool carries(role::group_message const& m);
  /// The unit of which `m` carries something; 0 if it carries nothing.
  [[nodiscard]] static std::uint64_t unit_of(role::group_message const& m);
  /// Returns what `m` carries to this rank itself: objects stay objects.
  [[nodiscard]] group_cargo load(role::group_message const& m);
  /// Returns the cargo that `m` carries to another rank.
  [[nodiscard]] transport::packet pack(role::group_message const& m);
  /// Reads the cargo that `m` brought from another rank: `body`, the rest of `whole`, which keeps the
  /// results.
  [[nodiscard]] group_cargo unload(role::group_message const& m, std::span<std::byte const> body,
                                   transport::packet& whole) const;

  // --- the actions of the roles about what this rank holds
  void act(role::group::read const& a, group_cargo* with);
  void act(role::group::keep const& a, group_cargo* with) { share_.keep(a.pieces, *with); }
  void act(role::group::close const& /*a*/, group_cargo* /*with*/) { share_.close(); }
  void act(role::group::accept const& a, group_cargo* with);
  void act(role::group::execute const& a, group_cargo* /*with*/) { job_ = packets_.job(a); }
  void act(role::group::forget const& a, group_cargo* /*with*/) { packets_.forget(a.term); }
  void act(role::group::record const& a, group_cargo* with) { sink_.push(a.unit, with->pieces); }
  void act(role::group::started const& /*a*/, group_cargo* /*with*/) { clock_.started_at = engine_.now(); }
  /// The run drains.
  void clear();

  [[nodiscard]] led_share& share() { return share_; }
  [[nodiscard]] worker_packets& packets() { return packets_; }
  [[nodiscard]] unit_sink& sink() { return sink_; }
  [[nodiscard]] unit_sink const& sink() const { return sink_; }
  /// The latest job to execute, if it has not been taken.
  [[nodiscard]] std::optional<process_job> take_job() { return std::exchange(job_, std::nullopt); }

 private:
  void load(role::group::packet const& m, group_cargo& with);
  void load(role::group::returned const& m, group_cargo& with);
  void load(role::group::unit_done const& m, group_cargo& with);
  [[nodiscard]] transport::packet pack_pieces(role::piece_run const& pieces);
  [[nodiscard]] transport::packet pack_results(std::span<labelled_piece const> pieces);

  engine& engine_;
  group_work& work_;
  group_clock& clock_;
  bool results_stay_;  // on the host that leads their unit
  led_share share_;
  worker_packets packets_;
  unit_sink sink_;
  std::optional<process_job> job_;
};

}  // namespace skel::detail
