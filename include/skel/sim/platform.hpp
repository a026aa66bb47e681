// A cluster to simulate: machines and their power, the network between them, and failures.
// docs/reference/simulation.md describes the JSON form.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace skel::sim {

/// The share of a machine that the simulated rank gets from a given time on.
struct availability {
  double at_seconds = 0;  ///< from this virtual time on
  double share = 1;       ///< in (0, 1]
};

/// One machine, on which one rank runs with one compute thread.
struct machine {
  std::string name;                       ///< also the host's name in reports
  double power = 1;                       ///< relative: a task of c seconds at power 1 takes c / power here
  std::vector<availability> available{};  ///< ascending in time; before the first entry, the whole machine
  double repeat_seconds = 0;              ///< the period with which `available` repeats; 0: it does not

  /// The work, in seconds at power 1, that this machine does between two virtual times.
  [[nodiscard]] double work_done(double from, double to) const;
  /// The virtual time at which `work` seconds at power 1, started at `from`, are finished.
  [[nodiscard]] double finish_time(double from, double work) const;

 private:
  struct stretch {
    double share, end;
  };
  [[nodiscard]] stretch stretch_at(double time) const;
};

/// The topology of a network.
enum class network_kind : std::uint8_t {
  bus,        ///< one medium that all messages share
  star,       ///< a switch with a link to each machine
  hypercube,  ///< 2^n machines with n links each
  torus,      ///< a grid whose ends are joined
  mesh,       ///< a grid
  fat_tree    ///< a tree of switches
};

/// The network between the machines. Latency and bandwidth are those of a message between two
/// machines for a bus and a star, and those of every single link otherwise.
struct network {
  network_kind kind = network_kind::star;                                  ///< the topology
  double latency_seconds = 0;                                              ///< of a message of 0 bytes
  double bandwidth_bytes_per_second = std::numeric_limits<double>::max();  ///< greater than 0
  std::vector<unsigned> dimensions{};  ///< torus and mesh: machines per dimension
  std::vector<unsigned> down{};  ///< fat tree: nodes below each node, per level, from the machines upwards
  std::vector<unsigned> up{};    ///< fat tree: nodes above each node, per level
  std::vector<unsigned> parallel{};  ///< fat tree: parallel links to each node above, per level
};

/// A rank that dies.
struct failure {
  int rank = 0;           ///< of the platform
  double at_seconds = 0;  ///< virtual time
};

/// A simulated cluster. Rank r runs on machines[r].
struct platform {
  std::string name;                     ///< for messages
  std::string about;                    ///< one line that describes it
  std::vector<machine> machines;        ///< one per rank
  network wires;                        ///< between the machines
  double send_overhead_seconds = 0;     ///< time of the sender's processor per message
  double receive_overhead_seconds = 0;  ///< time of the receiver's processor per message
  std::vector<failure> failures;        ///< ranks that die during the run

  /// From JSON text. Throws a usage_error `file: key: what is wrong`.
  [[nodiscard]] static platform parse(std::string_view text, std::string const& file);
  /// From a JSON file. Throws as parse().
  [[nodiscard]] static platform read(std::string const& path);
  /// A built-in platform (see ready_platforms()), or `uneven:ranks=N,seed=S`: powers from 0.25 to 4
  /// and load that changes during the run. Throws usage_error for an unknown name.
  [[nodiscard]] static platform ready(std::string_view name);
  /// Reads a file if the name has a slash or ends in .json; otherwise a built-in platform.
  [[nodiscard]] static platform find(std::string const& file_or_name);

  /// Keeps the first `ranks` machines and the network. Throws usage_error if there are fewer.
  void take(int ranks);
  /// The number of machines.
  [[nodiscard]] int ranks() const { return static_cast<int>(machines.size()); }
  /// The seconds that all machines together (`serving`: all but the first) need for `work` seconds
  /// at power 1, without communication, deaths, or waiting at the end. No schedule is faster.
  [[nodiscard]] double ideal_seconds(double work, bool serving = false) const;
};

/// A built-in platform.
struct ready_name {
  std::string name;   ///< for platform::ready()
  std::string about;  ///< one line
};
/// The built-in platforms.
[[nodiscard]] std::vector<ready_name> ready_platforms();

}  // namespace skel::sim
