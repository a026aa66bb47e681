#include "storage/cauchy.hpp"

#include <array>
#include <bitset>
#include <numeric>
#include <optional>
#include <stdexcept>

namespace skel::storage {

namespace {

element cell(cauchy_form::place const& output, cauchy_form::place const& source) {
  if (output.point == source.point) return 1;
  return multiply(multiply(output.weight, source.weight),
                  inverse(static_cast<element>(output.point ^ source.point)));
}

using logarithms = std::array<int, 256>;

constexpr void transform_walsh(logarithms& a) {
  for (std::size_t apart = 1; apart < a.size(); apart *= 2)
    for (std::size_t block = 0; block < a.size(); block += 2 * apart)
      for (std::size_t i = block; i < block + apart; ++i) {
        auto const low = a[i], high = a[i + apart];
        a[i] = low + high;
        a[i + apart] = low - high;
      }
}

// The products of x - p over all points p but x, for any x.
class distances {
 public:
  // For many x they are computed together: their logarithms are a convolution of that of the field with the
  // set of points, and 256 is 1 modulo 255 [Lin14].
  distances(std::span<element const> points, std::size_t questions) : points_(points) {
    constexpr std::size_t few = 1024;
    if (points.size() * questions <= few) return;
    static constexpr logarithms field = [] {
      logarithms a{};
      for (std::size_t x = 0; x < a.size(); ++x) a[x] = field::tables.logarithm[x];
      transform_walsh(a);
      for (auto& v : a) v %= 255;
      return a;
    }();
    logarithms sums{};
    for (auto const p : points) sums[p] = 1;
    transform_walsh(sums);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] *= field[i];
    transform_walsh(sums);
    all_ = sums;
  }

  element operator()(element x) const {
    if (all_) return power(2, static_cast<unsigned>(((*all_)[x] % 255 + 255) % 255));
    unsigned sum = 0;  // the logarithm of 0 counts as 0, which leaves x itself out
    for (auto const p : points_) sum += field::tables.logarithm[x ^ p];
    return power(2, sum);
  }

 private:
  std::span<element const> points_;
  std::optional<logarithms> all_;
};

std::vector<std::size_t> numbers(std::size_t first, std::size_t end) {
  std::vector<std::size_t> all(end - first);
  std::iota(all.begin(), all.end(), first);
  return all;
}

}  // namespace

matrix cauchy_form::cells() const {
  matrix m(outputs.size(), sources.size());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t j = 0; j < sources.size(); ++j) m.at(i, j) = cell(outputs[i], sources[j]);
  return m;
}

matrix cauchy_form::column(std::size_t source) const {
  matrix m(outputs.size(), 1);
  for (std::size_t i = 0; i < outputs.size(); ++i) m.at(i, 0) = cell(outputs[i], sources.at(source));
  return m;
}

cauchy_form recovery_form(code const& c, std::span<std::size_t const> available,
                          std::span<std::size_t const> wanted) {
  if (available.size() != c.data_shards())
    throw std::invalid_argument("code: recovery needs as many shards as there are data shards");
  auto const rule = rule_of(c);
  std::vector<element> spread(rule.spread_over), known;
  for (std::size_t i = 0; i < spread.size(); ++i) spread[i] = rule.point(i);
  std::bitset<256> is_known;
  auto const place_of = [&](std::size_t shard) {
    if (shard >= c.shards()) throw std::invalid_argument("code: shard number out of range");
    return cauchy_form::place{rule.point(shard), 0};
  };
  cauchy_form form;
  for (auto const i : available) {
    form.sources.push_back(place_of(i));
    known.push_back(form.sources.back().point);
    is_known.set(known.back());
  }
  if (is_known.count() != known.size()) throw std::invalid_argument("code: recovery needs different shards");
  distances const to_spread(spread, available.size() + wanted.size());
  distances const to_known(known, available.size() + wanted.size());
  for (auto& [x, weight] : form.sources) weight = multiply(to_spread(x), inverse(to_known(x)));
  for (auto const i : wanted) {
    auto& [x, weight] = form.outputs.emplace_back(place_of(i));
    if (!is_known[x]) weight = multiply(to_known(x), inverse(to_spread(x)));
  }
  return form;
}

cauchy_form encoding_form(code const& c) {
  return recovery_form(c, numbers(0, c.data_shards()), numbers(c.data_shards(), c.shards()));
}

linear_map encoder(code const& c) { return linear_map(encoding_form(c).cells()); }

linear_map recovery(code const& c, std::span<std::size_t const> available,
                    std::span<std::size_t const> wanted) {
  return linear_map(recovery_form(c, available, wanted).cells());
}

}  // namespace skel::storage
