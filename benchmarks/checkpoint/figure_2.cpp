#include <fmt/format.h>

#include <map>

#include "figures.hpp"
#include "measure.hpp"
#include "skel/atomic_file.hpp"
#include "skel/model/plot.hpp"
#include "skel/storage/coder.hpp"

namespace bench {

namespace {

using namespace skel::storage;

struct measured {
  spread encode, decode;
};

// Decodes with as many lost data shards as possible.
measured measure(std::string const& spec, kernel with, std::size_t bytes, int rounds) {
  coder c(code(spec), with);
  auto const m = c.which().data_shards(), k = c.which().parity_shards();
  shard_buffers const b(m, k, bytes);
  auto const data = pointers(b.data), parity = pointers(b.parity), recovered = pointers(b.recovered);
  std::vector<std::byte const*> const sources(data.begin(), data.end());
  std::vector<std::byte*> all(recovered);
  all.insert(all.end(), data.begin() + static_cast<std::ptrdiff_t>(recovered.size()), data.end());
  all.insert(all.end(), parity.begin(), parity.end());
  std::vector<bool> present(m + k, true);
  std::fill_n(present.begin(), recovered.size(), false);
  std::vector<contestant> both{{"encode", [&] { c.encode(sources, parity, b.size); }},
                               {"decode", [&] { std::ignore = c.rebuild(all, present, b.size); }}};
  take_turns(both, rounds);
  return {spread_of(both[0].seconds), spread_of(both[1].seconds)};
}

class figure {
 public:
  explicit figure(int rounds) : rounds_(rounds) {}

  // Adds a point at `x` to a series of a panel.
  void add(std::string const& panel, std::string const& series, double x, std::string const& spec,
           kernel with, std::size_t bytes) {
    auto const t = measure(spec, with, bytes, rounds_);
    for (auto const& [operation, s] : {std::pair("encode", t.encode), std::pair("decode", t.decode)}) {
      csv_ += fmt::format("{},{},{},\"{}\",{},{:.6g},{:.6g},{:.6g}\n", operation, panel, to_string(with),
                          spec, bytes, s.median, s.least, s.most);
      auto& points = panels_[{panel, operation}][series];
      points.emplace_back(x, s.median);
    }
  }

  void write(std::string const& prefix) const {
    std::vector<skel::model::plot> plots;
    for (auto const& [which, all] : panels_) {
      skel::model::plot p;
      p.title = fmt::format("time to {}, against {}", which.second, which.first);
      p.x_label = which.first;
      p.y_label = "seconds";
      p.log_y = true;  // the kernels differ by a factor of fifty
      for (auto const& [name, points] : all) p.data.push_back({name, points});
      plots.push_back(std::move(p));
    }
    skel::write_file_atomically(prefix + ".csv", csv_);
    skel::write_file_atomically(prefix + ".svg", skel::model::to_svg(plots));
  }

 private:
  int rounds_;
  std::string csv_ = "operation,against,kernel,code,bytes,seconds,least,most\n";
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::vector<std::pair<double, double>>>>
      panels_;
};

}  // namespace

void figure_2(std::string const& prefix, std::size_t largest, int rounds) {
  figure f(rounds);
  for (auto const with : {kernel::table, default_kernel()}) {
    auto const by = fmt::format(" ({})", to_string(with));
    for (std::size_t part = 1; part <= 5; ++part)
      for (auto const* const spec : {"parity:9", "ida:9,1", "ida:8,2", "ida:5,5"})
        f.add("size in MB", spec + by, static_cast<double>(largest) * static_cast<double>(part) / 5e6, spec,
              with, largest * part / 5);
    for (int const m : {2, 4, 6, 8, 10, 14, 20})
      for (int const k : {1, 2, 4})
        f.add("slices m", fmt::format("k = {}{}", k, by), m, fmt::format("ida:{},{}", m, k), with, largest);
    for (int const k : {1, 2, 3, 4, 6, 8})
      for (int const m : {8, 16})
        f.add("extra slices k", fmt::format("m = {}{}", m, by), k, fmt::format("ida:{},{}", m, k), with,
              largest);
    if (default_kernel() == kernel::table) break;
  }
  f.write(prefix);
}

}  // namespace bench
