#include "sequential.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace search {

tree_counts traverse(uts_parameters const& parameters) {
  uts_tree const tree(parameters);
  tree_counts found;
  std::vector<uts_node> open{tree.root()};
  while (!open.empty()) {
    uts_node const n = open.back();
    open.pop_back();
    unsigned const children = tree.number_of_children(n);
    ++found.nodes;
    if (children == 0) ++found.leaves;
    found.depth = std::max<std::uint64_t>(found.depth, n.depth);
    for (unsigned i = 0; i < children; ++i) open.push_back(uts_tree::child(n, i));
  }
  return found;
}

namespace {

using words = std::array<std::uint32_t, 5>;

// SHA-1 of one block (FIPS 180-4, section 6.1.2): the words are followed by a one bit and the length.
words sha1_of(words const& head, std::uint32_t last, bool has_last) {
  std::array<std::uint32_t, 80> w{};
  std::copy(head.begin(), head.end(), w.begin());
  std::size_t n = head.size();
  if (has_last) w[n++] = last;
  w[n] = 0x80000000U;
  w[15] = static_cast<std::uint32_t>(n * 32);
  for (std::size_t t = 16; t < w.size(); ++t)
    w[t] = std::rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
  words const start{0x67452301U, 0xefcdab89U, 0x98badcfeU, 0x10325476U, 0xc3d2e1f0U};
  auto [a, b, c, d, e] = start;
  for (std::size_t t = 0; t < w.size(); ++t) {
    std::uint32_t f = b ^ c ^ d, k = 0xca62c1d6U;
    if (t < 20)
      f = (b & c) | (~b & d), k = 0x5a827999U;
    else if (t < 40)
      k = 0x6ed9eba1U;
    else if (t < 60)
      f = (b & c) | (b & d) | (c & d), k = 0x8f1bbcdcU;
    std::uint32_t const next = std::rotl(a, 5) + f + e + k + w[t];
    e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
  }
  return {start[0] + a, start[1] + b, start[2] + c, start[3] + d, start[4] + e};
}

class independent_traversal {
 public:
  explicit independent_traversal(uts_parameters const& p) : p_(p) {}

  tree_counts from_root() {
    words zero{};
    zero[4] = p_.seed;
    visit(sha1_of(zero, 0, false));
    return found_;
  }

 private:
  // Loops over a path from the root instead of recursing, because trees are up to 17,844 deep.
  void visit(words const& root) {
    struct level {
      words state;
      unsigned children, next;
    };
    std::vector<level> path;
    auto const enter = [&](words const& state) {
      unsigned const n = children(state, static_cast<unsigned>(path.size()));
      ++found_.nodes;
      found_.leaves += n == 0 ? 1 : 0;
      found_.depth = std::max<std::uint64_t>(found_.depth, path.size());
      path.push_back({state, n, 0});
    };
    enter(root);
    while (!path.empty()) {
      auto& here = path.back();
      if (here.next == here.children)
        path.pop_back();
      else
        enter(sha1_of(here.state, here.next++, true));
    }
  }

  [[nodiscard]] unsigned children(words const& state, unsigned depth) const {
    if (p_.type == tree_type::binomial && depth == 0) return static_cast<unsigned>(p_.branching);
    double const u = (state[4] & 0x7fffffffU) / 2147483648.0;
    if (p_.type == tree_type::binomial || (p_.type == tree_type::hybrid && depth >= p_.shift * p_.depth))
      return u < p_.probability ? p_.children : 0;
    double const p = 1.0 / (1.0 + expected_children(p_, depth));
    return std::min(100U, static_cast<unsigned>(std::log(1.0 - u) / std::log(1.0 - p)));
  }

  uts_parameters p_;
  tree_counts found_;
};

}  // namespace

tree_counts traverse_independently(uts_parameters const& parameters) {
  return independent_traversal(parameters).from_root();
}

}  // namespace search
