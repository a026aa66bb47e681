// Trees of the Unbalanced Tree Search benchmark: Olivier, Huan, Liu, Prins, Dinan, Sadayappan and
// Tseng, "UTS: an unbalanced tree search benchmark", LCPC 2006. A node is a SHA-1 state, which
// alone determines its children. Any rank can therefore continue from any node.
#pragma once

#include <nettle/sha1.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace search {

struct uts_node {
  std::array<std::uint8_t, 20> state{};
  std::uint32_t depth = 0;
};

/// The result of a search. Merging is exact: sums and a maximum.
struct tree_counts {
  std::uint64_t nodes = 0;
  std::uint64_t leaves = 0;
  std::uint64_t depth = 0;
  friend bool operator==(tree_counts const&, tree_counts const&) = default;
};
[[nodiscard]] tree_counts operator+(tree_counts const& a, tree_counts const& b);
[[nodiscard]] std::string to_string(tree_counts const& counts);

enum class tree_type : std::uint8_t { binomial, geometric, hybrid };
/// How the expected number of children of a geometric tree changes with depth.
enum class tree_shape : std::uint8_t { linear, expdec, cyclic, fixed };

/// Parameters of a tree, with the letters of UTS's own options.
struct uts_parameters {
  tree_type type = tree_type::geometric;
  tree_shape shape = tree_shape::linear;  ///< -a
  unsigned depth = 6;                     ///< -d
  double branching = 4;              ///< -b: children of the root (binomial), expected children (geometric)
  double probability = 15.0 / 64.0;  ///< -q: probability that a node of a binomial tree is not a leaf
  unsigned children = 4;             ///< -m: children of such a node
  double shift = 0.5;                ///< -f: a hybrid tree is geometric above this part of its depth
  std::uint32_t seed = 0;            ///< -r
};

struct named_tree {
  std::string_view name;
  uts_parameters parameters;
  std::optional<tree_counts> published;
};
[[nodiscard]] std::vector<named_tree> const& known_trees();

/// Parses "T1", or "geometric:shape=fixed,d=10,b=4,r=19", "binomial:b=2000,q=0.12,m=8,r=42",
/// "hybrid:...". Throws usage_error.
[[nodiscard]] named_tree parse_tree(std::string_view spec);

/// The expected number of children of a geometric node at this depth.
[[nodiscard]] double expected_children(uts_parameters const& p, unsigned depth);

/// The low 31 bits of the state's last four bytes, as a number in [0, 1).
[[nodiscard]] inline double uniform(uts_node const& n) {
  auto const* const s = n.state.data() + 16;
  std::uint32_t const bits =
      (static_cast<std::uint32_t>(s[0]) << 24 | static_cast<std::uint32_t>(s[1]) << 16 |
       static_cast<std::uint32_t>(s[2]) << 8 | s[3]) &
      0x7fffffffU;
  return static_cast<double>(bits) / 2147483648.0;
}

namespace detail {

inline void put_big_endian(std::uint8_t* out, std::uint32_t x) {
  out[0] = static_cast<std::uint8_t>(x >> 24);
  out[1] = static_cast<std::uint8_t>(x >> 16);
  out[2] = static_cast<std::uint8_t>(x >> 8);
  out[3] = static_cast<std::uint8_t>(x);
}

template <std::size_t N>
void sha1(std::array<std::uint8_t, N> const& message, std::array<std::uint8_t, 20>& digest) {
  sha1_ctx context;
  sha1_init(&context);
  sha1_update(&context, message.size(), message.data());
  sha1_digest(&context, digest.size(), digest.data());
}

}  // namespace detail

/// The tree as a function of its nodes. Const and thread-safe. Functions called for every node are
/// inline, because they take only a few nanoseconds.
class uts_tree {
 public:
  explicit uts_tree(uts_parameters const& parameters);
  [[nodiscard]] uts_node root() const;
  [[nodiscard]] unsigned number_of_children(uts_node const& n) const {
    auto const& p = parameters_;
    if (p.type == tree_type::binomial && n.depth == 0) return static_cast<unsigned>(std::floor(p.branching));
    bool const geometric =
        p.type == tree_type::geometric || (p.type == tree_type::hybrid && n.depth < p.shift * p.depth);
    return std::min(most_children_, geometric ? geometric_children(n) : binomial_children(n));
  }
  [[nodiscard]] static uts_node child(uts_node const& parent, std::uint32_t index) {
    std::array<std::uint8_t, 24> message;
    std::memcpy(message.data(), parent.state.data(), parent.state.size());
    detail::put_big_endian(message.data() + 20, index);
    uts_node n;
    n.depth = parent.depth + 1;
    detail::sha1(message, n.state);
    return n;
  }

 private:
  static constexpr unsigned most_children_ = 100;  // of any node except a binomial root
  static constexpr unsigned remembered_depths_ = 1024;

  [[nodiscard]] unsigned binomial_children(uts_node const& n) const {
    return uniform(n) < parameters_.probability ? parameters_.children : 0;
  }
  // Inverse of the cumulative geometric distribution whose mean is the expected number of children.
  [[nodiscard]] unsigned geometric_children(uts_node const& n) const {
    double const log_fail = n.depth < remembered_depths_
                                ? log_fail_[n.depth]
                                : std::log(1.0 - 1.0 / (1.0 + expected_children(parameters_, n.depth)));
    return static_cast<unsigned>(std::floor(std::log(1.0 - uniform(n)) / log_fail));
  }

  uts_parameters parameters_;
  std::vector<double> log_fail_;  // by depth: log(1 - p) of a geometric node
};

}  // namespace search
