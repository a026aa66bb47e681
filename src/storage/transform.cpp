#include "storage/transform.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace skel::storage {

namespace {

// The polynomial s_j has the zeros 0 … 2^j - 1 [Lin14]. Its derivative is a constant.
struct subspace_polynomials {
  std::array<std::array<element, 256>, 8> value{};  // [j][x]
  std::array<element, 8> derivative{};              // [j]
  std::array<std::array<element, 128>, 8> skews{};  // s_j(x) / s_j(2^j), at [j][x >> (j + 1)]
  std::array<element, 128> growth{}, shrink{};      // [i]: the derivatives of the factors of basis element i
};

constexpr subspace_polynomials make_polynomials() {
  subspace_polynomials p;
  for (unsigned x = 0; x < 256; ++x) p.value[0][x] = static_cast<element>(x);
  p.derivative[0] = 1;
  for (std::size_t j = 0; j < 8; ++j) {
    auto const last = p.value[j][std::size_t{1} << j];
    for (std::size_t x = 0; x < 256; ++x) {
      auto const v = p.value[j][x];
      if (j + 1 < 8) p.value[j + 1][x] = multiply(v, v ^ last);
      p.skews[j][x >> (j + 1)] = 0;
    }
    for (std::size_t block = 0; block < (std::size_t{128} >> j); ++block)
      p.skews[j][block] = multiply(p.value[j][block << (j + 1)], inverse(last));
    if (j + 1 < 8) p.derivative[j + 1] = multiply(p.derivative[j], last);
  }
  for (std::size_t i = 0; i < 128; ++i) {
    element product = 1;
    for (std::size_t j = 0; j < 7; ++j)
      if ((i >> j & 1U) != 0)
        product = multiply(product, multiply(p.derivative[j], inverse(p.value[j][std::size_t{1} << j])));
    p.growth[i] = product;
    p.shrink[i] = inverse(product);
  }
  return p;
}

constexpr subspace_polynomials polynomials = make_polynomials();

// What all transforms share, in the format of the kernels.
struct shared_factors {
  std::array<factor_list, 8> skews;
  std::array<factor_view, 8> skew_views;
  factor_list growth{polynomials.growth}, shrink{polynomials.shrink};

  shared_factors() {
    for (std::size_t j = 0; j < skews.size(); ++j) {
      skews[j] = factor_list(polynomials.skews[j]);
      skew_views[j] = skews[j].view();
    }
  }
};

shared_factors const& shared() {
  static shared_factors const all;
  return all;
}

bool is_in(std::vector<element> const& bases, element base) {
  return std::ranges::find(bases, base) != bases.end();
}

std::vector<element> bases_of(std::span<cauchy_form::place const> places, unsigned log) {
  std::vector<element> bases;
  for (auto const& p : places)
    if (auto const base = static_cast<element>(p.point >> log << log); !is_in(bases, base))
      bases.push_back(base);
  return bases;
}

// Vector instructions for each 64 bytes of a shard, about, as measured. A product and its sum in a matrix are
// two; a butterfly is three.
double steps_of(cauchy_form const& form, unsigned log) {
  constexpr double each_coset = 40, each_row = 5, sum = 2;
  auto const from = bases_of(form.sources, log), to = bases_of(form.outputs, log);
  double const rows = 1U << log, cosets = static_cast<double>(from.size());
  double const one = each_coset + rows * (each_row + 1.5 * log);
  auto steps = one * static_cast<double>(from.size() + to.size());
  for (auto const o : to)
    steps += rows * (is_in(from, o) ? 0.5 * log + 2 + sum * (cosets - 1) : cosets > 1 ? sum * cosets : 0);
  return steps;
}

}  // namespace

std::optional<unsigned> transform::worthwhile(cauchy_form const& form) {
  double best = 2.0 * static_cast<double>(form.sources.size() * form.outputs.size());
  std::optional<unsigned> found;
  for (unsigned log = least_transform_log; log <= most_transform_log; ++log)
    if (auto const steps = steps_of(form, log); steps < best) {
      best = steps;
      found = log;
    }
  return found;
}

transform::side::side(std::span<cauchy_form::place const> places, unsigned log)
    : bases(bases_of(places, log)),
      shards(bases.size() << log, -1),
      weights(shards.size(), 0),
      count(places.size()) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    auto const base = static_cast<element>(places[i].point >> log << log);
    auto const coset = static_cast<std::size_t>(std::ranges::find(bases, base) - bases.begin());
    auto const row = (coset << log) + (places[i].point - base);
    shards[row] = static_cast<std::int16_t>(i);
    weights[row] = places[i].weight;
  }
}

std::optional<element> transform::side::common_weight() const {
  std::optional<element> common;
  for (std::size_t r = 0; r < shards.size(); ++r) {
    if (shards[r] < 0) continue;
    if (common && *common != weights[r]) return std::nullopt;
    common = weights[r];
  }
  return common;
}

template <class Byte>
std::vector<Byte*> transform::side::rows(std::span<Byte* const> pointers, Byte* none) const {
  std::vector<Byte*> all(shards.size() + transform_rows_ahead, none);
  for (std::size_t r = 0; r < shards.size(); ++r)
    if (shards[r] >= 0) all[r] = pointers[static_cast<std::size_t>(shards[r])];
  return all;
}

transform::transform(cauchy_form const& form, unsigned log)
    : log_(log), sources_(form.sources, log), outputs_(form.outputs, log) {
  weigh();
}

// Sets the constants. Where only other cosets contribute, the first needs none: it goes to the weights of the
// outputs. So does the weight of the sources if all have the same.
void transform::weigh() {
  auto const common = sources_.common_weight();
  auto const rows = std::size_t{1} << log_;
  std::vector<element> cross;
  for (std::size_t o = 0; o < outputs_.bases.size(); ++o) {
    std::vector<element> constants;
    for (auto const s : sources_.bases) {
      auto const apart = polynomials.value[log_][s ^ outputs_.bases[o]];
      constants.push_back(multiply(polynomials.derivative[log_], inverse(apart)));  // 0 for the same coset
    }
    bool const own = std::ranges::find(constants, 0) != constants.end();
    own_ = own_ || own;
    auto const moved = own ? element{1} : constants.front();
    for (auto const c : constants) cross.push_back(multiply(c, inverse(moved)));
    for (auto& w : std::span(outputs_.weights).subspan(o * rows, rows))
      w = multiply(w, multiply(moved, common.value_or(1)));
  }
  cross_ = factor_list(cross);
  if (!common) sources_.factors = factor_list(sources_.weights);
  if (outputs_.common_weight() != element{1}) outputs_.factors = factor_list(outputs_.weights);
}

void transform::apply(std::span<std::byte const* const> sources, std::span<std::byte* const> outputs,
                      std::size_t size, kernel with) const {
  auto const function = transform_of(with == kernel::automatic ? kernels().back() : with);
  if (function == nullptr) throw std::invalid_argument("transform: kernel is not available");
  if (sources.size() != sources_.count || outputs.size() != outputs_.count)
    throw std::invalid_argument("transform: expected one pointer per source and output");
  if (outputs.empty() || sources.empty()) return;
  constexpr std::size_t chunk = 4096;
  alignas(64) static constexpr std::array<std::byte, chunk> zeros{};
  auto from = sources_.rows(sources, zeros.data());
  auto to = outputs_.rows<std::byte>(outputs, nullptr);
  auto const& all = shared();
  // As for products: sources are fetched ahead, and outputs bypass the caches.
  bool const beyond_caches = (sources.size() + outputs.size()) * size >= (4U << 20U);
  bool const streamed = beyond_caches && outputs.size() * size >= (1U << 20U) &&
                        std::ranges::all_of(outputs, [](std::byte const* o) {
                          return reinterpret_cast<std::uintptr_t>(o) % transform_strip == 0;
                        });
  transform_job job{.skews = all.skew_views.data(),
                    .log = log_,
                    .from_bases = sources_.bases,
                    .to_bases = outputs_.bases,
                    .from = from.data(),
                    .to = to.data(),
                    .from_weights = sources_.factors.view(),
                    .to_weights = outputs_.factors.view(),
                    .cross = cross_.view(),
                    .growth = own_ ? all.growth.view() : factor_view{},
                    .shrink = own_ ? all.shrink.view() : factor_view{},
                    .size = 0,
                    .ahead = beyond_caches ? 1024U : 0U,
                    .streamed = streamed};
  for (std::size_t at = 0; at < size; at += job.size) {
    if (at > 0) {
      for (std::size_t r = 0; r < sources_.shards.size(); ++r)
        from[r] += sources_.shards[r] >= 0 ? job.size : 0;
      for (auto& t : to) t += t != nullptr ? job.size : 0;
    }
    job.size = std::min(chunk, size - at) / transform_strip * transform_strip;
    if (job.size == 0) {
      run_padded(function, job, size - at);
      return;
    }
    function(job);
  }
}

// Executes the job for less than a strip, in memory of its own.
void transform::run_padded(transform_function function, transform_job job, std::size_t size) {
  auto const sources = job.from_bases.size() << job.log, outputs = job.to_bases.size() << job.log;
  std::vector<std::byte> strips((sources + outputs) * transform_strip);
  std::vector<std::byte const*> from(sources + transform_rows_ahead);
  std::vector<std::byte*> to(outputs + transform_rows_ahead);
  auto* strip = strips.data();
  for (std::size_t r = 0; r < sources; ++r, strip += transform_strip) {
    std::memcpy(strip, job.from[r], size);
    from[r] = strip;
  }
  for (std::size_t r = 0; r < outputs; ++r, strip += transform_strip)
    if (job.to[r] != nullptr) to[r] = strip;
  auto* const* const wanted = std::exchange(job.to, to.data());
  job.from = from.data();
  job.size = transform_strip;
  job.ahead = 0;
  job.streamed = false;
  function(job);
  for (std::size_t r = 0; r < outputs; ++r)
    if (to[r] != nullptr) std::memcpy(wanted[r], to[r], size);
}

}  // namespace skel::storage
