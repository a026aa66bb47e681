// The cost of a machine's communication: latency l(P) and gap g(P) [Hyper, §5.1], and curves over
// sizes.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace skel::model {

/// One linear piece of a curve: latency + bytes * gap.
struct piece {
  double from_bytes = 0;                                      ///< the first size
  double to_bytes = std::numeric_limits<double>::infinity();  ///< the size at which the next piece begins
  double latency_seconds = 0;                                 ///< of a message of 0 bytes
  double gap_seconds_per_byte = 0;                            ///< per further byte
};

/// Seconds over the size of a message, piecewise linear: MPI sends small messages eagerly, large
/// ones when the receiver is ready.
struct curve {
  std::vector<piece> pieces;  ///< ascending; empty: not measured
  double deviation = 0;       ///< relative, of the measurements around it
  /// Whether nothing was measured.
  [[nodiscard]] bool empty() const { return pieces.empty(); }
  /// Seconds for a message of this many bytes.
  [[nodiscard]] double operator()(double bytes) const;
};

/// A measured point: `messages` messages of `bytes` to every other rank took `seconds` (the last
/// rank's).
struct timing {
  std::string pattern;   ///< "ping-pong", "exchange", "latency by size", …
  double bytes = 0;      ///< of one message on the wire, with its header
  double messages = 1;   ///< from each rank to every other
  double seconds = 0;    ///< until the last rank has them
  double deviation = 0;  ///< relative median deviation of the repetitions
};

/// The parameters for one number of ranks and one way to turn values into bytes.
struct machine_at {
  int ranks = 0;             ///< 0: any number
  std::string kind = "raw";  ///< "raw": bytes as they are; "serialised": through Boost.Serialization
  /// l(P): a message of one word from each rank to every other, the slowest rank.
  double latency_seconds = 0;
  /// g(P): per byte that each rank sends when all ranks send to all continuously.
  double gap_seconds_per_byte = 0;
  double latency_by_size = 0;     ///< l(P) from messages of different sizes; 0: not measured
  double latency_by_number = 0;   ///< l(P) from different numbers of messages; 0: not measured
  double gap_by_size = 0;         ///< g(P) from messages of different sizes; 0: not measured
  double gap_by_number = 0;       ///< g(P) from different numbers of messages; 0: not measured
  curve all_to_all{};             ///< over the bytes that a rank sends
  curve ping_pong{};              ///< half a round trip between the first and the last rank
  curve exchange{};               ///< all ranks in pairs, both ways at once: a level of the hypercube
  std::vector<timing> timings{};  ///< the measurements
};

/// A calibrated machine.
struct machine {
  std::string name;            ///< for messages
  std::vector<machine_at> at;  ///< ascending in ranks

  /// The parameters for this number of ranks and this machine_at::kind. Between two measured
  /// numbers of ranks, l, g and the curves are interpolated over log2 P. Outside of them, the
  /// nearest is used and `warning` is set. Throws usage_error if nothing of this kind was measured.
  [[nodiscard]] machine_at for_ranks(int ranks, std::string const& kind, std::string& warning) const;

  /// For a machine that was not calibrated: 20 µs and 1 GB/s, between shared memory (about 5 µs)
  /// and a cluster's Ethernet (about 50 µs). Good enough for quantities that depend on the square
  /// root of l, such as the size of tasks.
  [[nodiscard]] static machine assumed();
  /// From JSON text; {"latency_seconds": l, "gap_seconds_per_byte": g} suffices. Throws a
  /// usage_error `file: key: what is wrong, expected what`.
  [[nodiscard]] static machine parse(std::string_view text, std::string const& file);
  /// From a JSON file. Throws as parse().
  [[nodiscard]] static machine read(std::string const& path);
  /// The text that parse() reads.
  [[nodiscard]] std::string to_json() const;
};

/// Fits a curve to pairs of bytes and seconds: up to three pieces of at least three sizes each, cut
/// if that lowers the Bayesian information criterion. Relative weights, no negative
/// coefficients.
[[nodiscard]] curve fit_curve(std::vector<std::pair<double, double>> points);

}  // namespace skel::model
