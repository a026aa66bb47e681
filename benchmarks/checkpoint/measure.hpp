// Large buffers, and measurements in turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// A buffer on pages of 2 MiB, if available, touched and filled with pseudo-random bytes.
class buffer {
 public:
  buffer(std::size_t size, std::uint64_t seed);
  [[nodiscard]] std::byte* data() const noexcept { return bytes_.get(); }

 private:
  struct release {
    void operator()(std::byte* p) const noexcept;
  };
  std::unique_ptr<std::byte, release> bytes_;
};

/// The shards of a code and the buffers computed from them.
struct shard_buffers {
  std::size_t size;  ///< bytes per shard, a multiple of 4096
  std::vector<buffer> data, parity, recovered;
  shard_buffers(std::size_t m, std::size_t k, std::size_t total);
};
[[nodiscard]] std::vector<std::byte*> pointers(std::vector<buffer> const& buffers);

/// Only reads the sources, to find the limit set by memory.
void read_all(std::vector<std::byte const*> const& sources, std::size_t size);

struct contestant {
  std::string name;
  std::function<void()> run;
  std::vector<double> seconds{};
};

/// Runs one round to warm up, then `rounds` rounds in which all take turns, so that disturbances
/// affect all alike.
void take_turns(std::vector<contestant>& all, int rounds);

struct spread {
  double median, least, most;
};
[[nodiscard]] spread spread_of(std::vector<double> values);
/// The distribution over the rounds of b's time divided by a's, the speed of a relative to b.
[[nodiscard]] spread ratio(contestant const& a, contestant const& b);

}  // namespace bench
