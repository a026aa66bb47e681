// A bulk synchronous parallel program as compiled code sees it: state and messages behind an
// interface. skel/bsp.hpp implements it for the user's types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "skel/context.hpp"
#include "skel/detail/function_reference.hpp"
#include "skel/report.hpp"

namespace skel {

struct bsp_options;

namespace detail {

/// One rank's state and the messages that it has received. One thread at a time calls it.
class bsp_work {
 public:
  bsp_work() = default;
  bsp_work(bsp_work const&) = delete;
  bsp_work& operator=(bsp_work const&) = delete;
  virtual ~bsp_work() = default;
  /// Mangled names, which tell calls apart.
  [[nodiscard]] virtual std::string types() const = 0;
  [[nodiscard]] virtual std::string function() const = 0;
  /// Whether the program says how its state becomes that of another number of ranks.
  [[nodiscard]] virtual bool splits() const = 0;

  virtual void begin(int rank, int size) = 0;
  /// State and received messages, as bytes and back. pack_part() appends, and takes memory for all
  /// that it knows the size of at once.
  virtual void pack_part(std::vector<std::byte>& out) const = 0;
  using part_reader = function_reference<std::vector<std::byte>(int)>;
  virtual void load(part_reader const& part, int parts, int rank, int size) = 0;

  /// Takes the bundles of all members, in their order.
  virtual void receive(std::vector<std::span<std::byte const>> const& bundles) = 0;
  /// Packs what it sends, for each member; true: it goes on, or has sent something.
  virtual bool superstep(std::uint64_t number, int rank, int size,
                         std::vector<std::vector<std::byte>>& bundles) = 0;
};

[[nodiscard]] report run_bsp(context& ctx, bsp_work& work, bsp_options const& options);

}  // namespace detail
}  // namespace skel
