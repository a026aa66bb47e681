// Compares erasure codes on one core with ISA-L, memcpy, exclusive ors and pure reading, in turns.
// Prints GB/s of data (m shards).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cstring>

#include "figures.hpp"
#include "isal_peer.hpp"
#include "measure.hpp"
#include "skel/atomic_file.hpp"
#include "skel/storage/coder.hpp"
#include "storage/autotune.hpp"
#include "storage/linear_map.hpp"

namespace {

using namespace skel::storage;
using namespace bench;

struct shape {
  int m, k;
};
constexpr shape shapes[] = {{9, 1}, {8, 2}, {10, 4}, {16, 16}};

struct target {
  std::string ours, theirs;
  double least;
};

bool runs_here(kernel k) {
  auto const here = kernels();
  return std::ranges::find(here, k) != here.end();
}
bool has_gfni() { return runs_here(kernel::avx2_gfni) || runs_here(kernel::avx512_gfni); }

// With GFNI 1.2 times ISA-L 2.30, 2.2 times for (16,16), and as fast with one parity shard, where
// exclusive ors are the limit; as fast when both are limited to AVX2.
std::vector<target> targets_of(shape s) {
  std::vector<target> all;
  if (has_gfni()) all.push_back({"skel", "ISA-L", s.k == 1 ? 1.0 : s.k < 16 ? 1.2 : 2.2});
  if (s.k == 1) all.push_back({"skel", "xor", 0.9});
  if (runs_here(kernel::avx2) && have_isal_avx2()) all.push_back({"skel avx2", "ISA-L avx2", 1.0});
  return all;
}

std::string label(char const* direction, shape s, std::size_t bytes) {
  return fmt::format("({},{}) {:>5.0f} MB {}", s.m, s.k, static_cast<double>(bytes) / 1e6, direction);
}

contestant const* find(std::vector<contestant> const& all, std::string const& name) {
  for (auto const& c : all)
    if (c.name == name) return &c;
  return nullptr;
}

class comparison {
 public:
  comparison(int rounds, bool check) : rounds_(rounds), check_(check) {}

  // Runs one direction of one code at one size, with skel's and with ISA-L's product of the same
  // matrix.
  void run(char const* direction, shape s, std::size_t bytes, linear_map const& ours,
           isal_product const& theirs, std::vector<std::byte const*> const& sources,
           std::vector<std::byte*> const& outputs, std::size_t size) {
    compare_bytes(ours, theirs, sources, outputs, size);
    std::vector<contestant> all;
    auto const add = [&](std::string const& name, std::function<void()> what) {
      all.push_back({name, std::move(what)});
    };
    if (have_isal()) add("ISA-L", [&] { theirs.run(isal_kernel::best, sources, outputs, size); });
    add("skel", [&] { ours.apply(sources, outputs, size); });
    if (have_isal_avx2()) add("ISA-L avx2", [&] { theirs.run(isal_kernel::avx2, sources, outputs, size); });
    if (runs_here(kernel::avx2)) add("skel avx2", [&] { ours.apply(sources, outputs, size, kernel::avx2); });
    auto const last = kernels().back();
    if (last != kernel::avx2)
      add(fmt::format("skel {}", to_string(last)), [&, last] { ours.apply(sources, outputs, size, last); });
    auto const sum = encoder(code(fmt::format("parity:{}", sources.size())));
    add("xor", [&] { sum.apply(sources, std::span(outputs).first(1), size); });
    add("read", [&] { read_all(sources, size); });
    add("memcpy", [&] {
      for (std::size_t i = 0; i < sources.size(); ++i)
        std::memcpy(outputs[i % outputs.size()], sources[i], size);
    });
    take_turns(all, rounds_);
    print_choice(direction, s, bytes, ours, size);
    auto const tenth =
        size / 10 / 4096 * 4096;  // the whole size would dominate the run, and a tenth is not faster
    std::vector<contestant> slow{{"skel table", [&] { ours.apply(sources, outputs, tenth, kernel::table); }}};
    take_turns(slow, std::min(rounds_, 3));
    print(direction, s, bytes, all, static_cast<double>(size * sources.size()));
    print(direction, s, bytes, slow, static_cast<double>(tenth * sources.size()));
    check(direction, s, bytes, all);
  }

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::string const& csv() const { return csv_; }

 private:
  static void compare_bytes(linear_map const& ours, isal_product const& theirs,
                            std::vector<std::byte const*> const& sources,
                            std::vector<std::byte*> const& outputs, std::size_t size) {
    if (!have_isal()) return;
    size = std::min<std::size_t>(size, 4U << 20U);
    std::vector<std::vector<std::byte>> copies;
    copies.reserve(outputs.size());
    theirs.run(isal_kernel::best, sources, outputs, size);
    for (auto const* const o : outputs) copies.emplace_back(o, o + size);
    ours.apply(sources, outputs, size);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (std::memcmp(outputs[i], copies[i].data(), size) != 0)
        throw std::runtime_error("bytes differ from ISA-L's");
  }

  // What measuring has chosen during the first rounds.
  static void print_choice(char const* direction, shape s, std::size_t bytes, linear_map const& ours,
                           std::size_t size) {
    auto const& cells = ours.cells();
    auto const all = (cells.rows() + cells.columns()) * size;
    auto const chosen = tuned_strategy(
        {cells.rows(), cells.columns(), false, false, static_cast<unsigned>(std::bit_width(all))});
    fmt::print("{} chosen: {}, at most {} outputs at a time, {} bytes ahead, {} caches\n",
               label(direction, s, bytes), to_string(chosen.with),
               std::min(cells.rows(), chosen.how.most_rows), chosen.how.ahead,
               chosen.how.streamed ? "past the" : "through the");
  }

  void print(char const* direction, shape s, std::size_t bytes, std::vector<contestant> const& all,
             double work) {
    auto const* const isal = find(all, "ISA-L");
    auto const* const limit = find(all, "xor");
    auto const* const reading = find(all, "read");
    for (auto const& c : all) {
      auto const t = spread_of(c.seconds);
      fmt::print("{} {:<10} {:6.2f} GB/s [{:.2f} - {:.2f}]", label(direction, s, bytes), c.name,
                 work / t.median / 1e9, work / t.most / 1e9, work / t.least / 1e9);
      if (isal != nullptr) fmt::print("  {:5.2f} x ISA-L", ratio(c, *isal).median);
      if (limit != nullptr) fmt::print("  {:5.2f} of xor", ratio(c, *limit).median);
      if (reading != nullptr) fmt::print("  {:5.2f} of reading", ratio(c, *reading).median);
      fmt::print("\n");
      csv_ +=
          fmt::format("{},{},{:.0f},{},{},{:.6g},{:.6g},{:.6g}\n", s.m, s.k, static_cast<double>(bytes),
                      direction, c.name, work / t.median / 1e9, work / t.most / 1e9, work / t.least / 1e9);
    }
    std::fflush(stdout);
  }

  void check(char const* direction, shape s, std::size_t bytes, std::vector<contestant> const& all) {
    if (!check_) return;
    for (auto const& goal : targets_of(s)) {
      auto const *a = find(all, goal.ours), *b = find(all, goal.theirs);
      if (a == nullptr || b == nullptr) continue;
      auto const r = ratio(*a, *b);
      bool const reached = r.median >= goal.least;
      failed_ = failed_ || !reached;
      fmt::print("{} {}: {} / {} = {:.2f} [{:.2f} - {:.2f}], target {:.1f}\n", label(direction, s, bytes),
                 reached ? "ok" : "MISSED", goal.ours, goal.theirs, r.median, r.least, r.most, goal.least);
    }
  }

  int rounds_;
  bool check_, failed_ = false;
  std::string csv_ = "m,k,bytes,direction,what,gigabytes_per_second,least,most\n";
};

void compare(comparison& all, shape s, std::size_t bytes) {
  auto const m = static_cast<std::size_t>(s.m), k = static_cast<std::size_t>(s.k);
  shard_buffers const b(m, k, bytes);
  auto const data = pointers(b.data), parity = pointers(b.parity), recovered = pointers(b.recovered);
  std::vector<std::byte const*> sources(data.begin(), data.end());
  code const c(fmt::format("ida:{},{},matrix=isa-l", m, k));
  auto const encode = encoder(c);
  all.run("encode", s, bytes, encode, isal_product::encode(s.m, s.k), sources, parity, b.size);
  // The first shards are lost and replaced by as many parity shards.
  encode.apply(sources, parity, b.size);
  auto const lost = recovered.size();
  std::vector<std::size_t> available, wanted;
  sources.clear();
  for (std::size_t i = lost; i < lost + m; ++i) {
    available.push_back(i);
    sources.push_back(i < m ? data[i] : parity[i - m]);
  }
  for (std::size_t i = 0; i < lost; ++i) wanted.push_back(i);
  all.run("decode", s, bytes, recovery(c, available, wanted), isal_product::decode(s.m, s.k), sources,
          recovered, b.size);
  for (std::size_t i = 0; i < lost; ++i) recovered[i][0] = ~data[i][0];
  recovery(c, available, wanted).apply(sources, recovered, b.size);
  for (std::size_t i = 0; i < lost; ++i)
    if (std::memcmp(recovered[i], data[i], b.size) != 0)
      throw std::runtime_error("decoded data differ from the original");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Compares erasure codes on one core with ISA-L, memcpy and exclusive ors");
  std::vector<double> sizes{1e8, 1e9};
  int rounds = 11;
  bool check = false, wide = false;
  std::string csv, figure, losses;
  app.add_option("--sizes", sizes, "bytes of data")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(1e5, 1e10));
  app.add_option("--rounds", rounds, "number of rounds; all contestants take turns")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_flag("--check", check, "exit code 1 if a target ratio to ISA-L is missed");
  app.add_flag("--wide", wide, "instead: measure wide codes and plans of decoding, in the caches");
  app.add_option("--csv", csv, "write the figures")->type_name("FILE");
  app.add_option("--figure-2", figure,
                 "instead: measure the paper's figure 2, PREFIX.csv and PREFIX.svg, up to the first size")
      ->type_name("PREFIX");
  app.add_option("--availability", losses,
                 "instead: count the losses of nodes that a checkpoint survives, PREFIX.csv and PREFIX.svg")
      ->type_name("PREFIX");
  CLI11_PARSE(app, argc, argv);
  try {
    if (!losses.empty()) {
      availability(losses);
      return 0;
    }
    fmt::print("kernel {}{}\n", to_string(default_kernel()),
               have_isal() ? "" : "; without ISA-L (libisal-dev)");
    if (wide) {
      wide_codes(rounds);
      return 0;
    }
    if (!figure.empty()) {
      figure_2(figure, static_cast<std::size_t>(sizes.front()), std::min(rounds, 5));
      return 0;
    }
    comparison all(rounds, check);
    for (double const bytes : sizes)
      for (auto const s : shapes) compare(all, s, static_cast<std::size_t>(bytes));
    if (!csv.empty()) skel::write_file_atomically(csv, all.csv());
    if (check && !have_isal()) fmt::print("nothing was checked: missing ISA-L\n");
    return all.failed() ? 1 : 0;
  } catch (std::exception const& bad) {
    fmt::print(stderr, "skel-bench-codes: {}\n", bad.what());
    return 2;
  }
}
