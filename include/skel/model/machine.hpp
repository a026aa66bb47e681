// What a machine's communication costs: the paper's l(P) and g(P), and finer.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace skel::model {

/// Seconds of a message of so many bytes: latency + bytes * gap.
struct piece {
  double from_bytes = 0, to_bytes = std::numeric_limits<double>::infinity();
  double latency_seconds = 0, gap_seconds_per_byte = 0;
};

/// Linear by pieces in the size of the message: MPI sends small messages at once (eagerly), large ones when
/// the receiver is ready.
struct curve {
  std::vector<piece> pieces;  ///< ascending; empty: not measured
  double deviation = 0;       ///< relative, of the measurements around it
  [[nodiscard]] bool empty() const { return pieces.empty(); }
  [[nodiscard]] double operator()(double bytes) const;
};

/// A measured point: `messages` messages of `bytes` to every other rank took `seconds` (the last rank's).
struct timing {
  std::string pattern;  ///< "ping-pong", "exchange", "latency by size", …
  double bytes = 0;     ///< of one message on the wire, with its header
  double messages = 1;
  double seconds = 0;
  double deviation = 0;  ///< relative median deviation of the repetitions
};

/// The parameters for one number of ranks and one way to make bytes of a value.
struct machine_at {
  int ranks = 0;             ///< 0: any
  std::string kind = "raw";  ///< "raw": bytes as they are; "serialised": through Boost.Serialization
  /// l(P): worst case of a message of one word from each rank to every other.
  double latency_seconds = 0;
  /// g(P): per byte that each rank sends when all send to all, for long.
  double gap_seconds_per_byte = 0;
  // Each by two methods: with the size and with the number of messages varying. 0: not measured.
  double latency_by_size = 0, latency_by_number = 0;
  double gap_by_size = 0, gap_by_number = 0;
  curve all_to_all{};  ///< against the bytes that a rank sends
  curve ping_pong{};   ///< half a round trip between the first and the last rank
  curve exchange{};    ///< all ranks in pairs, both ways at once: a level of the hypercube
  std::vector<timing> timings{};
};

struct machine {
  std::string name;
  std::vector<machine_at> at;  ///< ascending in ranks

  /// The entry for so many ranks; between two that were measured l, g and the curves are interpolated over
  /// log2 P. Outside of them the nearest is taken, and `warning` says so. usage_error without entry of the
  /// kind.
  [[nodiscard]] machine_at for_ranks(int ranks, std::string const& kind, std::string& warning) const;

  /// Where nothing was calibrated: 20 µs and 1 GB/s, between ranks that share memory (some 5 µs) and a
  /// cluster's Ethernet (some 50 µs). Good enough for what depends on their root, as the size of tasks does.
  [[nodiscard]] static machine assumed();
  /// From JSON text; by hand {"latency_seconds": l, "gap_seconds_per_byte": g} suffices. Errors are a
  /// usage_error `file: key: what, expected what`.
  [[nodiscard]] static machine parse(std::string_view text, std::string const& file);
  [[nodiscard]] static machine read(std::string const& path);
  [[nodiscard]] std::string to_json() const;
};

/// The curve through (bytes, seconds): up to three pieces of at least three sizes each, cut where that lowers
/// the Bayesian information criterion; relative weights, nothing negative.
[[nodiscard]] curve fit_curve(std::vector<std::pair<double, double>> points);

}  // namespace skel::model
