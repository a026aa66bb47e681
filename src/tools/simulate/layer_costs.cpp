#include "tools/simulate/layer_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include "base/text.hpp"
#include "program/csv_table.hpp"
#include "skel/error.hpp"

namespace skel::simulate {

layer_costs::layer_costs(layer_options const& o, std::size_t result_bytes)
    : how_(o), bytes_(result_bytes), layers_(o.units) {
  if (!o.file.empty()) {
    read(o.file);
    scale();
    layers_ = rows_.size();
  }
  auto const busy = static_cast<std::uint64_t>(o.surface_share * static_cast<double>(layers_));
  busy_ = std::min(std::max<std::uint64_t>(busy, 1), layers_);
}

// The first line is `what,layer,row,seconds,bytes`. Then, each kind in order: `row,LAYER,ROW,SECONDS,BYTES`
// for each row; and either `slice,K,,SECONDS,` for each slice, or for each row `first,LAYER,ROW,SECONDS,` and
// `next,LAYER,ROW,SECONDS,`. Optional: `packet,LAYER,ROW,,BYTES` for a packet that ends with this row, 0
// or 1.
void layer_costs::read(std::string const& path) {
  program::csv_table file(path, "what,layer,row,seconds,bytes");
  std::map<std::string, rows_of_layers*> const kinds{
      {"row", &rows_}, {"first", &first_}, {"next", &next_}, {"packet", &packets_}};
  while (file.next()) {
    file.expect(file.size() == 5, "five fields");
    auto const field = [&](std::size_t i) { return file.text(i).empty() ? 0 : file.number(i); };
    double const layer = file.number(1), seconds = field(3), bytes = field(4);
    file.expect(seconds >= 0 && seconds < 1e9, "seconds from 0 to 1e9");
    file.expect(bytes >= 0 && bytes < 1e9, "bytes from 0 to 1e9");
    if (file.text(0) == "slice") {
      file.expect(layer == static_cast<double>(slices_.size()), fmt::format("slice {}", slices_.size()));
      slices_.push_back(seconds);
      continue;
    }
    auto const kind = kinds.find(file.text(0));
    file.expect(kind != kinds.end(), "slice, row, first, next or packet");
    auto& all = *kind->second;
    double const number_of_row = file.number(2);
    if (number_of_row == 0) all.emplace_back();
    file.expect(!all.empty() && layer == static_cast<double>(all.size() - 1) &&
                    number_of_row == static_cast<double>(all.back().size()),
                "the next row of this layer, or the first of the next");
    all.back().push_back({seconds, bytes});
  }
  check(path);
}

void layer_costs::check(std::string const& path) const {
  auto const expect = [&](bool good, std::string const& what) {
    if (!good) throw usage_error(detail::one_line(path + ": " + what));
  };
  auto const same_rows = [&](rows_of_layers const& other) {
    return std::ranges::equal(rows_, other, {}, &std::vector<traced_row>::size,
                              &std::vector<traced_row>::size);
  };
  expect(!rows_.empty(), "expected rows");
  if (first_.empty() && next_.empty())
    expect(slices_.size() == rows_.size() + 1,
           fmt::format("{} slices and {} layers, expected one slice more than layers", slices_.size(),
                       rows_.size()));
  else
    expect(slices_.empty() && same_rows(first_) && same_rows(next_),
           "expected a line first and a line next for each row, and no slices");
  expect(packets_.empty() || packets_.size() == rows_.size(), "expected packets of each layer");
}

void layer_costs::scale() {
  auto const each = [](rows_of_layers& layers, auto const& f) {
    for (auto& layer : layers)
      for (auto& r : layer) f(r.seconds);
  };
  auto const sum = [&](std::span<std::vector<traced_row>> layers) {
    double seconds = 0;
    for (auto const& layer : layers)
      for (auto const& r : layer) seconds += r.seconds;
    return seconds;
  };
  auto const scale_to = [](double wanted, double found) {
    return [factor = found > 0 ? wanted / found : 0](double& seconds) { seconds *= factor; };
  };
  auto const layers = static_cast<double>(rows_.size());
  each(rows_, scale_to(layers * how_.unit_seconds, sum(rows_)));
  if (first_.empty()) {
    std::ranges::for_each(slices_, scale_to((layers + 1) * how_.read_seconds,
                                            std::accumulate(slices_.begin(), slices_.end(), 0.0)));
  } else {  // the first layer of one host, and all others
    double const one_host = sum(std::span(first_).first(1)) + sum(std::span(next_).subspan(1));
    each(first_, scale_to((layers + 1) * how_.read_seconds, one_host));
    each(next_, scale_to((layers + 1) * how_.read_seconds, one_host));
  }
}

std::uint64_t layer_costs::rows(std::uint64_t layer) const {
  return rows_.empty() ? how_.rows : rows_[layer].size();
}

double layer_costs::row_seconds(std::uint64_t layer, std::uint64_t row) const {
  if (!rows_.empty()) return rows_[layer][row].seconds;
  double const factor = static_cast<double>(layers_) / static_cast<double>(busy_);
  return layer < busy_ ? how_.unit_seconds * factor / static_cast<double>(how_.rows) : 0;
}

std::size_t layer_costs::result_bytes(std::uint64_t layer, std::uint64_t row) const {
  return rows_.empty() ? bytes_ : static_cast<std::size_t>(std::lround(rows_[layer][row].bytes));
}

std::size_t layer_costs::packet_bytes(std::uint64_t layer, std::uint64_t count) const {
  if (packets_.empty()) return (count + 1) * how_.row_bytes;
  auto const& p = packets_[layer];
  auto const more = p.back().bytes - p.front().bytes;
  return static_cast<std::size_t>(std::lround(p.front().bytes + static_cast<double>(count - 1) * more));
}

double layer_costs::ready_seconds(std::uint64_t layer, std::uint64_t row, bool first) const {
  if (!first_.empty()) return (first ? first_ : next_)[layer][row].seconds;
  // Slices are read row by row; a row of cells also needs the row of samples behind it.
  auto const n = rows(layer);
  double const read = n == 1 ? 1 : row == 0 ? 2 : row + 1 == n ? 0 : 1;
  return read / static_cast<double>(n) * slices_seconds(first ? layer : layer + 1, layer + 2);
}

double layer_costs::slices_seconds(std::uint64_t first, std::uint64_t end) const {
  if (slices_.empty()) return static_cast<double>(end - first) * how_.read_seconds;
  return std::accumulate(slices_.begin() + static_cast<std::ptrdiff_t>(first),
                         slices_.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
}

double layer_costs::total_seconds() const {
  double const read =
      first_.empty() ? slices_seconds(0, layers_ + 1) : static_cast<double>(layers_ + 1) * how_.read_seconds;
  return read + static_cast<double>(layers_) * how_.unit_seconds;
}

}  // namespace skel::simulate
