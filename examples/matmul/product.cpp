#include "product.hpp"

#include <algorithm>
#include <utility>

#include "skel/error.hpp"

namespace matmul {

namespace {

double entry(std::uint64_t seed, std::uint64_t row, std::uint64_t column) {
  std::uint64_t x = seed + row * 0x9e3779b97f4a7c15U + column * 0xd1b54a32d192ed03U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return static_cast<double>(x >> 11) * 0x1p-52 - 1;
}

int ranks_with_rows(sizes const& size, int ranks) { return std::max(1, ranks - size.idle); }

// The contiguous panels of a rank; the first ranks have one more if the number is not divisible.
struct panel_share {
  std::uint64_t first, count;
};
panel_share share_of(sizes const& size, int ranks, int rank) {
  auto const n = static_cast<std::uint64_t>(ranks_with_rows(size, ranks)),
             i = static_cast<std::uint64_t>(rank);
  if (i >= n) return {size.panels(), 0};
  auto const part = size.panels() / n, longer = size.panels() % n;
  return {i * part + std::min(i, longer), part + (i < longer ? 1 : 0)};
}

std::ptrdiff_t offset(std::uint64_t n) { return static_cast<std::ptrdiff_t>(n); }

}  // namespace

std::uint64_t sizes::rows(std::uint64_t first, std::uint64_t last) const {
  return std::min(order, last * width) - std::min(order, first * width);
}

double entry_of_a(std::uint64_t row, std::uint64_t column) { return entry(1, row, column); }
double entry_of_b(std::uint64_t row, std::uint64_t column) { return entry(2, row, column); }

void multiply_row(std::span<double const> a, std::span<double const> b, std::span<double> c) {
  auto const order = c.size(), depth = a.size();
  double* const to = c.data();
  std::uint64_t k = 0;
  for (; k + 4 <= depth; k += 4) {  // four at a time, with one load of each entry of c
    double const* const x = &a[k];
    double const *const b0 = &b[k * order], *const b1 = b0 + order, *const b2 = b1 + order,
                        *const b3 = b2 + order;
    for (std::uint64_t j = 0; j < order; ++j)
      to[j] = (((to[j] + x[0] * b0[j]) + x[1] * b1[j]) + x[2] * b2[j]) + x[3] * b3[j];
  }
  for (; k < depth; ++k)
    for (std::uint64_t j = 0; j < order; ++j) to[j] += a[k] * b[k * order + j];
}

block_product::state block_product::begin(int rank, int ranks) const {
  auto const mine = share_of(size, ranks, rank);
  state s;
  s.first = mine.first;
  s.last = mine.first + mine.count;
  auto const top = std::min(size.order, s.first * size.width);
  auto const rows = size.rows(s.first, s.last);
  std::vector<double> a(rows * size.order), b(a.size());
  for (std::uint64_t i = 0; i < rows; ++i)
    for (std::uint64_t j = 0; j < size.order; ++j) {
      a[i * size.order + j] = entry_of_a(top + i, j);
      b[i * size.order + j] = entry_of_b(top + i, j);
    }
  s.c.resize(a.size());
  s.a = std::move(a);
  s.b = std::move(b);
  return s;
}

bool block_product::step(state& s, skel::superstep<message>& now) const {
  auto const k = now.number();
  auto const all = size.steps();
  for (auto& letter : now.received()) {
    auto const& m = letter.content;
    if (m.step < all) {
      auto const panel = m.step % size.panels();
      std::span<double const> const a = *s.a;
      std::span const c = s.c;
      auto const depth = size.rows(panel, panel + 1);
      now.parallel_for(size.rows(s.first, s.last), [&](std::uint64_t row) {
        auto const of_row = row * size.order;
        multiply_row(a.subspan(of_row + panel * size.width, depth), m.values, c.subspan(of_row, size.order));
      });
    } else {
      s.whole.resize(size.order * size.order);
      std::ranges::copy(m.values, s.whole.begin() + offset((m.step - all) * size.width * size.order));
    }
  }
  if (auto const panel = k % size.panels(); k < all && panel >= s.first && panel < s.last) {
    auto const begin = s.b->begin() + offset(size.rows(s.first, panel) * size.order);
    message const m{k, {begin, begin + offset(size.rows(panel, panel + 1) * size.order)}};
    for (int r = 0; r < ranks_with_rows(size, now.size()); ++r) now.send(r, m);
  }
  if (k == all && s.first < s.last) now.send(0, {all + s.first, s.c});
  return k < all;
}

skel::bsp_part<block_product> block_product::split(skel::bsp_parts<block_product> const& parts, int rank,
                                                   int ranks) const {
  auto const mine = share_of(size, ranks, rank);
  skel::bsp_part<block_product> part;
  auto& s = part.state;
  std::vector<double> a, b;
  s.first = mine.first;
  s.last = mine.first + mine.count;
  for (int i = 0; i < parts.size(); ++i) {
    auto const from = parts[i];
    auto const& f = from.state;
    auto const first = std::max(s.first, f.first), last = std::min(s.last, f.last);
    if (first < last) {
      auto const skipped = offset(size.rows(f.first, first) * size.order);
      auto const count = offset(size.rows(first, last) * size.order);
      auto const append = [&](std::vector<double>& to, std::vector<double> const& rows) {
        to.insert(to.end(), rows.begin() + skipped, rows.begin() + skipped + count);
      };
      append(a, *f.a);
      append(b, *f.b);
      append(s.c, f.c);
    }
    // A panel of B was sent to all ranks; rows of C, and C itself, are for rank 0.
    bool const for_all = !from.received.empty() && from.received[0].content.step < size.steps();
    if (i == 0 && (for_all || rank == 0)) part.received = from.received;
    if (i == 0 && rank == 0) s.whole = f.whole;
  }
  s.a = std::move(a);
  s.b = std::move(b);
  return part;
}

std::uint64_t first_wrong_row(sizes const& size, std::span<double const> product, std::uint64_t every) {
  for (std::uint64_t i = 0; i < size.order; i += every)
    for (std::uint64_t j = 0; j < size.order; ++j) {
      double sum = 0;
      for (std::uint64_t round = 0; round < size.rounds; ++round)
        for (std::uint64_t k = 0; k < size.order; ++k) sum += entry_of_a(i, k) * entry_of_b(k, j);
      if (sum != product[i * size.order + j]) return i;
    }
  return size.order;
}

}  // namespace matmul
