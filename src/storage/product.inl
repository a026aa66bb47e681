// The loops of a vector kernel. The including file defines the instructions in the same namespace:
//   SKEL_GF_TARGET         attributes of every function here: the instructions it may use
//   struct instructions    width (bytes of a vector), most_rows (outputs that registers hold at once),
//                          wide(rows) (vectors of each output at a time), vector, load, store, stream, fence,
//                          zero, sum; factor (a cell's tables), factor_of(cells, cell), operand (a vector of
//                          a source, ready for products), prepare(vector), product(factor, operand)
//
// All outputs of a group stay in registers during one pass over the sources, several vectors of
// each at a time. Memory then limits the speed:
//   - outputs that are larger than the caches are written past them, which saves reading them first;
//   - sources are prefetched by instructions, since processors prefetch only some ten streams; to the
//     second cache, as shards at equal offsets would evict each other from a set of the first;
//   - several groups of outputs take strips of the sources, which the second group finds in the cache.

#if defined(__clang__)
#define SKEL_GF_UNROLL _Pragma("unroll")
#else
#define SKEL_GF_UNROLL _Pragma("GCC unroll 32")
#endif

struct pass_range {
  std::size_t first_row, begin, end;
  std::size_t ahead;  // bytes by which sources are prefetched; 0: not
  bool streamed;
};

template <std::size_t Rows, std::size_t Wide>
SKEL_GF_TARGET std::size_t pass(product_job const& job, pass_range const& range) {
  using in = instructions;
  constexpr std::size_t step = in::width * Wide;
  constexpr std::size_t line = 64;
  bool const streamed =
      range.streamed && step % line == 0;  // streaming half a line at a time would be slower
  auto at = range.begin;
  for (; at + step <= range.end; at += step) {
    typename in::vector sums[Rows][Wide];
    SKEL_GF_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      auto const* const output = job.outputs[range.first_row + r] + at;
      SKEL_GF_UNROLL
      for (std::size_t w = 0; w < Wide; ++w)
        sums[r][w] = job.add ? in::load(output + w * in::width) : in::zero();
    }
    auto cell = range.first_row;
    for (std::size_t c = 0; c < job.columns; ++c, cell += job.rows) {
      auto const* const source = job.sources[c] + at;
      if (range.ahead != 0) SKEL_GF_UNROLL
      for (std::size_t i = 0; i < step; i += line) __builtin_prefetch(source + range.ahead + i, 0, 2);
      typename in::operand operands[Wide];
      SKEL_GF_UNROLL
      for (std::size_t w = 0; w < Wide; ++w) operands[w] = in::prepare(in::load(source + w * in::width));
      SKEL_GF_UNROLL
      for (std::size_t r = 0; r < Rows; ++r) {
        auto const factor = in::factor_of(job.cells, cell + r);
        SKEL_GF_UNROLL
        for (std::size_t w = 0; w < Wide; ++w)
          sums[r][w] = in::sum(sums[r][w], in::product(factor, operands[w]));
      }
    }
    SKEL_GF_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      auto* const output = job.outputs[range.first_row + r] + at;
      SKEL_GF_UNROLL
      for (std::size_t w = 0; w < Wide; ++w)
        streamed ? in::stream(output + w * in::width, sums[r][w])
                 : in::store(output + w * in::width, sums[r][w]);
    }
  }
  return at;
}

// Sums without products, for parity and replication.
template <std::size_t Wide>
SKEL_GF_TARGET std::size_t plain_pass(product_job const& job, pass_range const& range) {
  using in = instructions;
  constexpr std::size_t step = in::width * Wide;
  constexpr std::size_t line = 64;
  auto* const output = job.outputs[range.first_row];
  auto at = range.begin;
  for (; at + step <= range.end; at += step) {
    typename in::vector sums[Wide];
    SKEL_GF_UNROLL
    for (std::size_t w = 0; w < Wide; ++w)
      sums[w] = job.add ? in::load(output + at + w * in::width) : in::zero();
    for (std::size_t c = 0; c < job.columns; ++c) {
      auto const* const source = job.sources[c] + at;
      if (range.ahead != 0) SKEL_GF_UNROLL
      for (std::size_t i = 0; i < step; i += line) __builtin_prefetch(source + range.ahead + i, 0, 2);
      SKEL_GF_UNROLL
      for (std::size_t w = 0; w < Wide; ++w) sums[w] = in::sum(sums[w], in::load(source + w * in::width));
    }
    SKEL_GF_UNROLL
    for (std::size_t w = 0; w < Wide; ++w)
      range.streamed ? in::stream(output + at + w * in::width, sums[w])
                     : in::store(output + at + w * in::width, sums[w]);
  }
  return at;
}

using pass_function = std::size_t (*)(product_job const&, pass_range const&);

struct pass_pair {
  pass_function wide, narrow;  // several vectors at a time, and one for the remainder
};

template <std::size_t... Index>
constexpr std::array<pass_pair, sizeof...(Index)> make_passes(std::index_sequence<Index...>) {
  return {{{&pass<Index + 1, instructions::wide(Index + 1)>, &pass<Index + 1, 1>}...}};
}

inline constexpr auto passes = make_passes(std::make_index_sequence<instructions::most_rows>());

inline void run_group(product_job const& job, std::size_t rows, pass_range range) {
  auto const [wide, narrow] =
      job.plain ? pass_pair{&plain_pass<128 / instructions::width>, &plain_pass<1>} : passes[rows - 1];
  range.begin = wide(job, range);
  if (range.begin < range.end) narrow(job, range);
}

inline bool aligned(product_job const& job) {
  for (std::size_t r = 0; r < job.rows; ++r)
    if (reinterpret_cast<std::uintptr_t>(job.outputs[r]) % instructions::width != 0) return false;
  return true;
}

inline void product(product_job const& job) {
  auto const most_rows = std::min(instructions::most_rows, job.how.most_rows);
  auto const whole = job.begin + (job.end - job.begin) / instructions::width * instructions::width;
  bool const streamed = job.how.streamed && !job.add && aligned(job);
  auto const groups = job.plain ? job.rows : (job.rows + most_rows - 1) / most_rows;
  auto const strip = groups == 1 ? whole : std::size_t{job.columns <= 32 ? 4096U : 1024U};
  for (auto begin = job.begin; begin < whole; begin += strip) {
    auto const end = std::min(whole, begin + strip);
    std::size_t row = 0;
    for (std::size_t g = 0; g < groups; ++g) {  // of sizes as equal as possible
      auto const rows = (job.rows - row + groups - g - 1) / (groups - g);
      run_group(job, rows, {row, begin, end, g == 0 ? job.how.ahead : 0, streamed});
      row += rows;
    }
  }
  if (streamed) instructions::fence();
  if (whole < job.end) product_table_from(job, whole);
}

#undef SKEL_GF_UNROLL
