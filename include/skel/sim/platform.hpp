// A cluster to simulate: machines and their power, the network between them, failures. docs/simulation.md is
// the reference of the JSON form.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace skel::sim {

/// From `at_seconds` on, this share of the machine is there for the simulated rank, (0, 1].
struct availability {
  double at_seconds = 0;
  double share = 1;
};

/// One machine, on which one rank runs with one compute thread.
struct machine {
  std::string name;
  /// Relative: a task of `c` seconds at power 1 takes c / power here.
  double power = 1;
  std::vector<availability> available{};  ///< ascending in time; before the first all of it is available
  double repeat_seconds = 0;              ///< the list above repeats with this period; 0: it does not

  /// Seconds at power 1 that this machine works off from one time to another.
  [[nodiscard]] double work_done(double from, double to) const;
  /// When `work` seconds at power 1, begun at `from`, are done.
  [[nodiscard]] double finish_time(double from, double work) const;

 private:
  struct stretch {
    double share, end;
  };
  [[nodiscard]] stretch stretch_at(double time) const;
};

enum class network_kind : std::uint8_t { bus, star, hypercube, torus, mesh, fat_tree };

/// What joins the machines. Latency and bandwidth are those of a message between two of them for a bus and a
/// switch, and those of every single link elsewhere.
struct network {
  network_kind kind = network_kind::star;
  double latency_seconds = 0;
  double bandwidth_bytes_per_second = std::numeric_limits<double>::max();
  std::vector<unsigned> dimensions{};  ///< of a torus or a mesh
  /// Fat tree: per level, from the machines upwards, how many are below and above each node, and how many
  /// parallel links join it to each of those above.
  std::vector<unsigned> down{}, up{}, parallel{};
};

/// A rank that dies.
struct failure {
  int rank = 0;
  double at_seconds = 0;
};

/// Rank r runs on machines[r].
struct platform {
  std::string name;
  std::string about;
  std::vector<machine> machines;
  network wires;
  double send_overhead_seconds = 0;     ///< the sender's processor is busy for so long per message
  double receive_overhead_seconds = 0;  ///< and the receiver's
  std::vector<failure> failures;

  /// From JSON text. Errors are a usage_error `file: key: what is wrong`.
  [[nodiscard]] static platform parse(std::string_view text, std::string const& file);
  /// From a file.
  [[nodiscard]] static platform read(std::string const& path);
  /// A built-in one, or `uneven:ranks=N,seed=S`: powers from 0.25 to 4, load that changes during the run.
  [[nodiscard]] static platform ready(std::string_view name);
  /// A file if it looks like a path (has a slash, or ends in .json), otherwise a ready one.
  [[nodiscard]] static platform find(std::string const& file_or_name);

  /// Keeps the first `ranks` machines; the network stays. usage_error if there are not so many.
  void take(int ranks);
  [[nodiscard]] int ranks() const { return static_cast<int>(machines.size()); }
  /// Seconds in which all machines together (`serving`: all but the first) work off `work` seconds at power
  /// 1, without communication, deaths, or waiting at the end: no schedule is faster.
  [[nodiscard]] double ideal_seconds(double work, bool serving = false) const;
};

struct ready_name {
  std::string name;
  std::string about;
};
/// The names that platform::ready knows.
[[nodiscard]] std::vector<ready_name> ready_platforms();

}  // namespace skel::sim
