// Large buffers, and things measured in turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// Pages of 2 MiB where the system gives them, touched, filled with pseudo-random bytes.
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

/// Shards of a code and what is computed from them.
struct shard_buffers {
  std::size_t size;  ///< of each, a multiple of 4096
  std::vector<buffer> data, parity, recovered;
  shard_buffers(std::size_t m, std::size_t k, std::size_t total);
};
[[nodiscard]] std::vector<std::byte*> pointers(std::vector<buffer> const& buffers);

/// Reads and does next to nothing else: what memory allows at best.
void read_all(std::vector<std::byte const*> const& sources, std::size_t size);

struct contestant {
  std::string name;
  std::function<void()> run;
  std::vector<double> seconds{};
};

/// One round to warm up, then `rounds` in which each has its turn: what disturbs the machine meets all alike.
void take_turns(std::vector<contestant>& all, int rounds);

struct spread {
  double median, least, most;
};
[[nodiscard]] spread spread_of(std::vector<double> values);
/// Of b's times over a's, round by round: how many times as fast a is.
[[nodiscard]] spread ratio(contestant const& a, contestant const& b);

}  // namespace bench
