// Wide codes and single losses in the caches, on one thread, in turns with the same codes as matrices and
// with ISA-L. Prints GB/s of data.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>
#include <tuple>

#include "figures.hpp"
#include "isal_peer.hpp"
#include "measure.hpp"
#include "skel/storage/coder.hpp"
#include "storage/cauchy.hpp"

namespace bench {

namespace {

using namespace skel::storage;

// Shards behind each other. 64 bytes between them keep the places of one offset in different sets of the
// caches.
class near_shards {
 public:
  near_shards(std::size_t count, std::size_t size) : all_(count * (size + 64), count) {
    for (std::size_t i = 0; i < count; ++i) places_.push_back(all_.data() + i * (size + 64));
  }
  [[nodiscard]] std::span<std::byte* const> places() const { return places_; }

 private:
  buffer all_;
  std::vector<std::byte*> places_;
};

void print(std::string const& label, std::vector<contestant> const& all, double work) {
  for (auto const& c : all) {
    auto const t = spread_of(c.seconds);
    fmt::print("{} {:<24} {:6.2f} GB/s [{:.2f} - {:.2f}]", label, c.name, work / t.median / 1e9,
               work / t.most / 1e9, work / t.least / 1e9);
    for (auto const& other : all)
      if (&other != &all.front() && &c == &all.front())
        fmt::print("  {:.2f} x {}", ratio(c, other).median, other.name);
    fmt::print("\n");
  }
  std::fflush(stdout);
}

std::function<void()> repeated(double work, std::function<void()> const& once) {
  auto const times = static_cast<int>(std::max(1.0, 4e6 / work));
  return [times, once] {
    for (int i = 0; i < times; ++i) once();
  };
}

// The time of one call.
void normalize(std::vector<contestant>& all, double work) {
  auto const times = std::max(1.0, std::floor(4e6 / work));
  for (auto& c : all)
    for (auto& s : c.seconds) s /= times;
}

void compare(std::string const& label, std::vector<contestant> all, double work, int rounds) {
  for (auto& c : all) c.run = repeated(work, c.run);
  take_turns(all, rounds);
  normalize(all, work);
  print(label, all, work);
}

// A stripe of a code, encoded.
struct stripe {
  code c;
  coder how;
  near_shards shards;
  std::span<std::byte* const> places;
  std::vector<std::byte const*> data;
  std::size_t size;

  stripe(std::size_t m, std::size_t k, std::size_t bytes)
      : c(fmt::format("ida:{},{},matrix=isa-l", m, k)),
        how(c),
        shards(m + k, bytes),
        places(shards.places()),
        data(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(m)),
        size(bytes) {
    how.encode(data, parity(), size);
  }
  [[nodiscard]] std::span<std::byte* const> parity() const { return places.subspan(data.size()); }
  [[nodiscard]] std::string name(char const* what) const {
    return fmt::format("({},{}) {} B {}", data.size(), parity().size(), size, what);
  }
  [[nodiscard]] double work() const { return static_cast<double>(data.size() * size); }
};

void encoding(stripe& of, int rounds) {
  auto const matrix = encoder(of.c);
  auto const isal =
      isal_product::encode(static_cast<int>(of.data.size()), static_cast<int>(of.parity().size()));
  std::vector<contestant> all{{"skel", [&] { of.how.encode(of.data, of.parity(), of.size); }},
                              {"its matrix", [&] { matrix.apply(of.data, of.parity(), of.size); }}};
  if (have_isal())
    all.push_back({"ISA-L", [&] { isal.run(isal_kernel::best, of.data, of.parity(), of.size); }});
  all.push_back({"read", [&] { read_all(of.data, of.size); }});
  compare(of.name("encode"), std::move(all), of.work(), rounds);
}

void repairing(stripe& of, int rounds) {
  auto const p = of.places;
  auto const m = static_cast<std::ptrdiff_t>(of.data.size());
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, std::mt19937_64(44));
  std::vector<bool> present(p.size());
  std::vector<std::size_t> const left(order.begin(), order.begin() + m), lost(order.begin() + m, order.end());
  std::vector<std::byte const*> sources;
  std::vector<std::byte*> outputs;
  std::vector<std::vector<std::byte>> copies;
  for (auto const i : left) present[i] = true, sources.push_back(p[i]);
  for (auto const i : lost) copies.emplace_back(p[i], p[i] + of.size), outputs.push_back(p[i]);
  auto const back = recovery(of.c, left, lost);
  auto const repair = [&](coder& with) {
    if (!with.rebuild(p, present, of.size)) throw std::runtime_error("too few shards");
  };
  for (auto* const o : outputs) std::memset(o, 0, of.size);
  repair(of.how);
  for (std::size_t i = 0; i < lost.size(); ++i)
    if (std::memcmp(outputs[i], copies[i].data(), of.size) != 0)
      throw std::runtime_error("repaired shards differ from the original");
  compare(of.name("repair of k random losses"),
          {{"skel", [&] { repair(of.how); }},
           {"its matrix", [&] { back.apply(sources, outputs, of.size); }},
           {"skel, plan made anew",
            [&] {
              coder fresh(of.c);
              repair(fresh);
            }}},
          of.work(), rounds);
}

// Many stripes that have lost the same shard.
void one_loss(stripe&& of, int rounds) {
  auto const p = of.places;
  auto const m = of.data.size(), size = of.size;
  std::vector<bool> present(p.size(), true);
  present[0] = false;
  std::vector<std::byte*> places(p.begin(), p.end());
  std::fill(places.begin() + static_cast<std::ptrdiff_t>(m), places.end(), nullptr);
  places[m] = p[m];
  std::vector<std::size_t> left(m), lost{0};
  std::iota(left.begin(), left.end(), std::size_t{1});
  std::vector<std::byte const*> sources(p.begin() + 1, p.begin() + 1 + static_cast<std::ptrdiff_t>(m));
  std::vector<std::byte*> const output{p[0]};
  auto const generator = isal_generator(static_cast<int>(m), static_cast<int>(p.size() - m));
  auto const plan = [&] { return isal_product::decode(static_cast<int>(m), generator, 1); };
  auto const kept = plan();
  std::vector<contestant> all{
      {"skel, plan kept", [&] { std::ignore = of.how.rebuild(places, present, size); }},
      {"skel, plan made anew", [&] { recovery(of.c, left, lost).apply(sources, output, size); }}};
  if (have_isal()) {
    all.push_back({"ISA-L, plan kept", [&] { kept.run(isal_kernel::best, sources, output, size); }});
    all.push_back(
        {"ISA-L, inverts each time", [&] { plan().run(isal_kernel::best, sources, output, size); }});
  }
  compare(of.name("one loss"), std::move(all), of.work(), rounds);
}

// Few outputs with vectors of 32 and of 64 bytes.
void short_vectors(stripe&& of, int rounds) {
  auto const here = kernels();
  for (auto const needed : {kernel::avx2_gfni, kernel::avx512_gfni})
    if (std::ranges::find(here, needed) == here.end()) return;
  auto const matrix = encoder(of.c);
  auto const parity = of.parity();
  auto const isal = isal_product::encode(static_cast<int>(of.data.size()), static_cast<int>(parity.size()));
  auto const with = [&](kernel k) { return [&, k] { matrix.apply(of.data, parity, of.size, k); }; };
  std::vector<contestant> all{{"avx2-gfni", with(kernel::avx2_gfni)},
                              {"avx512-gfni", with(kernel::avx512_gfni)},
                              {"avx2", with(kernel::avx2)}};
  if (have_isal_avx2())
    all.push_back({"ISA-L avx2", [&] { isal.run(isal_kernel::avx2, of.data, parity, of.size); }});
  compare(of.name("encode"), std::move(all), of.work(), rounds);
}

void wide_code(stripe&& of, int rounds) {
  encoding(of, rounds);
  repairing(of, rounds);
}

}  // namespace

void wide_codes(int rounds) {
  constexpr std::pair<std::size_t, std::size_t> wide[] = {{16, 16},   {32, 32},   {64, 64},
                                                          {128, 128}, {100, 100}, {200, 20}};
  for (auto const& [m, k] : wide) wide_code({m, k, (1U << 20U) / (m + k) / 64 * 64}, rounds);
  wide_code({128, 128, 8192}, rounds);
  for (std::size_t const size : {512U, 4096U, 65536U}) one_loss({10, 4, size}, rounds);
  one_loss({128, 128, 4096}, rounds);
  for (std::size_t k = 2; k <= 6; ++k) short_vectors({10, k, 4096}, rounds);
}

}  // namespace bench
