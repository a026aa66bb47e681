// The loops of a transform, for the same instructions as product.inl, and included behind it. They also need
//   instructions::log_rows   registers hold 2^log_rows rows at once, so that many layers take one pass
//
// A strip of all shards passes through the rows of the cosets, which stay in the first cache.

#if defined(__clang__)
#define SKEL_GF_UNROLL _Pragma("unroll")
#else
#define SKEL_GF_UNROLL _Pragma("GCC unroll 32")
#endif

template <std::size_t Log>
using row_registers = typename instructions::vector[std::size_t{1} << Log];

SKEL_GF_INLINE instructions::vector times(factor_view factors, std::size_t cell, instructions::vector v) {
  return instructions::product(instructions::factor_of(factors, cell), instructions::prepare(v));
}

// One layer of butterflies over rows that are 2^Layer apart; block b of them has the factor skews[b]. The
// first is 0 if the rows begin at the point 0.
template <std::size_t Log, std::size_t Layer, bool Zero>
SKEL_GF_INLINE void inverse_layer(row_registers<Log>& x, factor_view skews) {
  using in = instructions;
  SKEL_GF_UNROLL
  for (std::size_t n = 0; n < sizeof x / sizeof *x / 2; ++n) {
    auto const block = n >> Layer, low = (block << (Layer + 1)) + n % (std::size_t{1} << Layer);
    auto const high = low + (std::size_t{1} << Layer);
    x[high] = in::sum(x[high], x[low]);
    if (!Zero || block > 0) x[low] = in::sum(x[low], times(skews, block, x[high]));
  }
}

template <std::size_t Log, std::size_t Layer, bool Zero>
SKEL_GF_INLINE void forward_layer(row_registers<Log>& x, factor_view skews) {
  using in = instructions;
  SKEL_GF_UNROLL
  for (std::size_t n = 0; n < sizeof x / sizeof *x / 2; ++n) {
    auto const block = n >> Layer, low = (block << (Layer + 1)) + n % (std::size_t{1} << Layer);
    auto const high = low + (std::size_t{1} << Layer);
    if (!Zero || block > 0) x[low] = in::sum(x[low], times(skews, block, x[high]));
    x[high] = in::sum(x[high], x[low]);
  }
}

// The layers of a pass; skews[i] has the factors of layer i.
template <bool Zero, std::size_t Log, std::size_t Layer = 0>
SKEL_GF_INLINE void inverse_layers(row_registers<Log>& x, factor_view const (&skews)[Log]) {
  if constexpr (Layer < Log) {
    inverse_layer<Log, Layer, Zero>(x, skews[Layer]);
    inverse_layers<Zero, Log, Layer + 1>(x, skews);
  }
}

template <bool Zero, std::size_t Log, std::size_t Layer = Log>
SKEL_GF_INLINE void forward_layers(row_registers<Log>& x, factor_view const (&skews)[Log]) {
  if constexpr (Layer > 0) {
    forward_layer<Log, Layer - 1, Zero>(x, skews[Layer - 1]);
    forward_layers<Zero, Log, Layer - 1>(x, skews);
  }
}

// The layers of a pass over rows that begin at a point.
template <std::size_t Log, bool Inverse>
SKEL_GF_INLINE void all_layers(transform_job const& job, std::size_t first, std::size_t point,
                               row_registers<Log>& x) {
  factor_view skews[Log];
  SKEL_GF_UNROLL
  for (std::size_t i = 0; i < Log; ++i) skews[i] = job.skews[first + i].from(point >> (first + i + 1));
  if (Inverse && point == 0) return inverse_layers<true, Log>(x, skews);
  if (Inverse) return inverse_layers<false, Log>(x, skews);
  if (point == 0) return forward_layers<true, Log>(x, skews);
  forward_layers<false, Log>(x, skews);
}

template <std::size_t Log>
SKEL_GF_INLINE void load_shards(transform_job const& job, std::size_t number, std::size_t at,
                                row_registers<Log>& x) {
  using in = instructions;
  constexpr std::size_t radix = std::size_t{1} << Log;
  auto const* const from = job.from + number;
  for (std::size_t t = 0; t < radix; ++t) __builtin_prefetch(from[t + radix] + at, 0, 3);
  if (job.ahead != 0) {
    for (std::size_t t = 0; t < radix; ++t) __builtin_prefetch(from[t] + at + job.ahead, 0, 2);
  }
  SKEL_GF_UNROLL
  for (std::size_t t = 0; t < radix; ++t) x[t] = in::load(from[t] + at);
  if (job.from_weights.bits == nullptr) return;
  SKEL_GF_UNROLL
  for (std::size_t t = 0; t < radix; ++t) x[t] = times(job.from_weights, number + t, x[t]);
}

template <std::size_t Log>
SKEL_GF_INLINE void store_shards(transform_job const& job, std::size_t number, std::size_t at,
                                 row_registers<Log>& x) {
  using in = instructions;
  constexpr std::size_t radix = std::size_t{1} << Log;
  auto* const* const to = job.to + number;
  if (!job.streamed) {
    for (std::size_t t = 0; t < radix; ++t) {
      auto const next = reinterpret_cast<std::uintptr_t>(to[t + radix]) + at;  // may be null
      __builtin_prefetch(reinterpret_cast<void const*>(next), 1, 3);
    }
  }
  SKEL_GF_UNROLL
  for (std::size_t t = 0; t < radix; ++t) {
    if (to[t] == nullptr) continue;
    auto const v = job.to_weights.bits == nullptr ? x[t] : times(job.to_weights, number + t, x[t]);
    job.streamed ? in::stream(to[t] + at, v) : in::store(to[t] + at, v);
  }
}

template <std::size_t Log>
SKEL_GF_INLINE void load_rows(std::byte const* rows, std::size_t apart, row_registers<Log>& x) {
  SKEL_GF_UNROLL
  for (std::size_t t = 0; t < sizeof x / sizeof *x; ++t)
    x[t] = instructions::load(rows + t * apart * transform_strip);
}

template <std::size_t Log>
SKEL_GF_INLINE void store_rows(std::byte* rows, std::size_t apart, row_registers<Log>& x) {
  SKEL_GF_UNROLL
  for (std::size_t t = 0; t < sizeof x / sizeof *x; ++t)
    instructions::store(rows + t * apart * transform_strip, x[t]);
}

template <std::size_t Log>
SKEL_GF_INLINE void prepare_derivative(factor_view growth, std::size_t apart, row_registers<Log>& x) {
  SKEL_GF_UNROLL
  for (std::size_t t = 0; t < sizeof x / sizeof *x; ++t) x[t] = times(growth, t * apart, x[t]);
}

// What a pass does: it loads rows of a coset of sources from the shards or from memory, executes layers, and
// stores rows of a coset of outputs to memory, prepared for the derivative, or to the shards.
enum transform_steps : unsigned {
  from_shards = 1,
  inverse_steps = 2,
  forward_steps = 4,
  for_derivative = 8,
  to_shards = 16
};

struct transform_pass {
  std::size_t at, source, output;  // bytes before the strip, cosets
  std::byte* rows;
};

// Log layers from Turn * log_rows on.
template <std::size_t Turn, std::size_t Log, unsigned Steps>
SKEL_GF_TARGET void pass_layers(transform_job const& the_job, transform_pass const& p) {
  auto const job = the_job;  // a copy, which what is stored cannot change
  constexpr std::size_t first = Turn * instructions::log_rows, apart = std::size_t{1} << first;
  auto const length = std::size_t{1} << job.log;
  for (std::size_t block = 0; block < length; block += apart << Log)
    for (std::size_t row = block; row < block + apart; ++row)
      for (std::size_t w = 0; w < transform_strip; w += instructions::width) {
        auto* const rows = p.rows + row * transform_strip + w;
        row_registers<Log> x;
        if constexpr ((Steps & from_shards) != 0)
          load_shards<Log>(job, (p.source << job.log) + row, p.at + w, x);
        else
          load_rows<Log>(rows, apart, x);
        if constexpr ((Steps & inverse_steps) != 0)
          all_layers<Log, true>(job, first, job.from_bases[p.source] + block, x);
        if constexpr ((Steps & forward_steps) != 0)
          all_layers<Log, false>(job, first, job.to_bases[p.output] + block, x);
        if constexpr ((Steps & for_derivative) != 0) prepare_derivative<Log>(job.growth.from(row), apart, x);
        if constexpr ((Steps & to_shards) != 0)
          store_shards<Log>(job, (p.output << job.log) + row, p.at + w, x);
        else
          store_rows<Log>(rows, apart, x);
      }
}

// Adds the terms of the derivative to 8 rows.
SKEL_GF_INLINE void add_derivative(std::byte const* rows, std::size_t row, std::size_t length,
                                   row_registers<3>& x) {
  using in = instructions;
  constexpr std::size_t group = 8;
  SKEL_GF_UNROLL
  for (std::size_t t = 0; t < group; ++t) {
    if ((t & 1U) == 0) x[t] = in::sum(x[t], in::load(rows + (t + 1) * transform_strip));
    if ((t & 2U) == 0) x[t] = in::sum(x[t], in::load(rows + (t + 2) * transform_strip));
    if ((t & 4U) == 0) x[t] = in::sum(x[t], in::load(rows + (t + 4) * transform_strip));
  }
  for (std::size_t bit = group; bit < length; bit *= 2) {
    if ((row & bit) != 0) continue;
    SKEL_GF_UNROLL
    for (std::size_t t = 0; t < group; ++t)
      x[t] = in::sum(x[t], in::load(rows + (t + bit) * transform_strip));
  }
}

// The coefficients on an output coset: constants times those on other cosets, and the derivative of its own.
SKEL_GF_TARGET inline void combine(transform_job const& job, std::size_t output, std::byte const* rows,
                                   std::byte* sums) {
  using in = instructions;
  constexpr std::size_t group = 8;
  auto const length = std::size_t{1} << job.log, cosets = job.from_bases.size();
  for (std::size_t row = 0; row < length; row += group)
    for (std::size_t w = 0; w < transform_strip; w += in::width) {
      row_registers<3> x;
      SKEL_GF_UNROLL
      for (auto& v : x) v = in::zero();
      for (std::size_t s = 0; s < cosets; ++s) {
        auto const* const from = rows + (s * length + row) * transform_strip + w;
        if (job.from_bases[s] == job.to_bases[output]) {
          add_derivative(from, row, length, x);
          continue;
        }
        auto const constant = in::factor_of(job.cross, output * cosets + s);
        SKEL_GF_UNROLL
        for (std::size_t t = 0; t < group; ++t)
          x[t] = in::sum(x[t], in::product(constant, in::prepare(in::load(from + t * transform_strip))));
      }
      if (job.shrink.bits != nullptr) prepare_derivative<3>(job.shrink.from(row), 1, x);
      store_rows<3>(sums + row * transform_strip + w, 1, x);
    }
}

using transform_pass_function = void (*)(transform_job const&, transform_pass const&);

// The passes over some layers, at [turn][number of layers - 1]; null where no transform has such a pass.
template <unsigned Steps>
struct transform_passes {
  static constexpr std::size_t most = instructions::log_rows, turns = (most_transform_log + most - 1) / most;

  template <std::size_t Turn, std::size_t Log>
  static constexpr transform_pass_function one() {
    constexpr bool at_shards = (Steps & (from_shards | to_shards)) != 0;
    constexpr auto end = Turn * most + Log;
    constexpr bool last = end >= least_transform_log && end <= most_transform_log;
    if constexpr (at_shards == (Turn == 0) && (last || (Log == most && end < most_transform_log)))
      return &pass_layers<Turn, Log, Steps>;
    else
      return nullptr;
  }
  template <std::size_t Turn, std::size_t... Index>
  static constexpr auto row(std::index_sequence<Index...>) {
    return std::array<transform_pass_function, most>{one<Turn, Index + 1>()...};
  }
  template <std::size_t... Turn>
  static constexpr auto rows(std::index_sequence<Turn...>) {
    return std::array{row<Turn>(std::make_index_sequence<most>())...};
  }
  static constexpr auto all = rows(std::make_index_sequence<turns>());
};

// As many layers in a pass as registers hold.
template <unsigned Steps>
inline void run_pass(transform_job const& job, std::size_t turn, transform_pass const& p) {
  auto const layers = std::min<std::size_t>(instructions::log_rows, job.log - turn * instructions::log_rows);
  transform_passes<Steps>::all[turn][layers - 1](job, p);
}

inline void inverse_transform(transform_job const& job, std::size_t turns, transform_pass const& p) {
  bool const derive = job.growth.bits != nullptr;
  if (turns > 1 || !derive)
    run_pass<from_shards | inverse_steps>(job, 0, p);
  else
    run_pass<from_shards | inverse_steps | for_derivative>(job, 0, p);
  for (std::size_t t = 1; t < turns; ++t)
    if (t + 1 < turns || !derive)
      run_pass<inverse_steps>(job, t, p);
    else
      run_pass<inverse_steps | for_derivative>(job, t, p);
}

inline void forward_transform(transform_job const& job, std::size_t turns, transform_pass const& p) {
  for (std::size_t t = turns - 1; t > 0; --t) run_pass<forward_steps>(job, t, p);
  run_pass<forward_steps | to_shards>(job, 0, p);
}

// From one coset to another: no sums.
inline void transform_to_other(transform_job const& job, std::size_t turns, transform_pass const& p) {
  auto const last = turns - 1;
  if (last == 0) return run_pass<from_shards | inverse_steps | forward_steps | to_shards>(job, 0, p);
  inverse_transform(job, last, p);
  run_pass<inverse_steps | forward_steps>(job, last, p);
  forward_transform(job, last, p);
}

inline void transform_strip_at(transform_job const& job, std::size_t at, std::byte* rows) {
  auto const turns = (job.log + instructions::log_rows - 1) / instructions::log_rows;
  auto const cosets = job.from_bases.size(), coset_bytes = transform_strip << job.log;
  if (cosets == 1 && job.to_bases.size() == 1 && job.growth.bits == nullptr)
    return transform_to_other(job, turns, {at, 0, 0, rows});
  for (std::size_t s = 0; s < cosets; ++s) inverse_transform(job, turns, {at, s, 0, rows + s * coset_bytes});
  auto* const sums = rows + cosets * coset_bytes;
  for (std::size_t o = 0; o < job.to_bases.size(); ++o) {
    combine(job, o, rows, sums);
    forward_transform(job, turns, {at, 0, o, sums});
  }
}

inline void transform(transform_job const& job) {
  alignas(64) std::array<std::byte, most_transform_rows * transform_strip> rows;
  for (std::size_t at = 0; at < job.size; at += transform_strip) transform_strip_at(job, at, rows.data());
  if (job.streamed) instructions::fence();
}

#undef SKEL_GF_UNROLL
