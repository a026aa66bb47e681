// One bsp call on one rank: drives the roles, computes supersteps, saves and restores.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bsp_store.hpp"
#include "peer_run.hpp"
#include "skel/detail/bsp_work.hpp"
#include "skel/protocol/bsp_member.hpp"

namespace skel::detail {

class bsp_run final : public peer_run {
 public:
  bsp_run(context& ctx, bsp_work& work, bsp_options const& options);
  ~bsp_run() override;

  void on_lost(int rank) override;
  void on_tick(double t) override;
  void idle_work() override {}
  [[nodiscard]] std::string state() const override;
  /// After execute(), on the root.
  [[nodiscard]] std::optional<checkpoint_report> checkpoint_costs();

 private:
  using job = protocol::bsp_member::job;
  using bundle_key = std::pair<std::uint64_t, std::uint64_t>;  // epoch and superstep

  void begin(std::unique_lock<std::mutex>& lock) override;
  void receive(int from, std::span<std::byte const> body, transport::packet& whole) override;
  [[nodiscard]] bool find_work(unsigned thread) override;
  void compute(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void please_stop() override;
  void describe(report& r) const override;
  void describe(observe::progress_state& s, bool last) const override;

  void open_store();
  void restart(std::uint64_t generation);
  void restart_after_loss();
  void load(job const& j, std::unique_lock<std::mutex>& lock);
  void run(job const& j, unsigned thread, std::unique_lock<std::mutex>& lock);
  void save(job const& j, std::uint32_t place, std::uint32_t parts);
  void unreadable(std::uint64_t epoch, std::string const& text);
  void on_unreadable(std::uint64_t epoch, std::string const& text);
  void poll_store();
  void tell_saved(std::uint64_t generation, bool well);
  void on_saved(int from, protocol::peer_message const& m, std::span<std::byte const> body);
  void perform(protocol::bsp_actions& list, std::vector<std::byte> payload = {});
  void send(int to, protocol::peer_message m) override;
  void deliver(int from, protocol::peer_message const& m, std::span<std::byte const> payload);
  void deliver_own() override;
  void fail(std::string text);
  void check_quiet();

  bsp_work& work_;
  bsp_options options_;
  std::unique_ptr<bsp_store> store_;

  protocol::bsp_member member_;
  std::optional<protocol::bsp_conductor> conductor_;
  std::map<bundle_key, std::map<int, std::vector<std::byte>>> bundles_;  // that came, by rank
  std::vector<std::vector<std::byte>> outgoing_;                         // of the superstep done last
  own_mail<protocol::peer_message> to_self_;
  bool running_ = false;
  bool stop_heard_ = false, told_stopped_ = false;
  std::optional<storage::generation_plan> saving_;  // on the root
  std::uint64_t saving_epoch_ = 0;                  // in which this rank's part is written
  struct cost {
    double blocked = 0, serialise = 0, code = 0, transfer = 0, write = 0, sync = 0;
  };
  std::map<int, cost> costs_of_;    // the other ranks, on the root
  std::optional<int> lost_member_;  // on the root: after it the run begins anew,
  double restart_by_ = 0;           // now, or when a commit that is under way is done
  std::uint64_t supersteps_ = 0;    // of this rank, repeated ones too
  std::uint64_t restarts_ = 0;
};

}  // namespace skel::detail
