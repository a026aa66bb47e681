#include "tools/simulate/layer_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "base/one_line.hpp"
#include "skel/error.hpp"
#include "tools/simulate/costs.hpp"

namespace skel::simulate {

layer_costs::layer_costs(group_options const& o, std::size_t result_bytes)
    : how_(o), bytes_(result_bytes), layers_(o.units) {
  if (!o.layer_costs.empty()) {
    read(o.layer_costs);
    scale();
    layers_ = rows_.size();
  }
  auto const busy = static_cast<std::uint64_t>(o.surface_share * static_cast<double>(layers_));
  busy_ = std::min(std::max<std::uint64_t>(busy, 1), layers_);
}

// The first line is `what,layer,row,seconds,bytes`; then `slice,K,,SECONDS,` for each slice and
// `row,LAYER,ROW,SECONDS,BYTES` for each row, both in order.
void layer_costs::read(std::string const& path) {
  std::ifstream file(path);
  std::string line;
  std::size_t at = 1;
  auto const expect = [&](bool good, std::string const& what) {
    if (!good)
      throw usage_error(detail::one_line(
          fmt::format("{}:{}: expected {}, found \"{}\"", path, at, what, line.substr(0, 60))));
  };
  if (!file) throw usage_error(detail::one_line(path + ": cannot be read"));
  std::getline(file, line);
  expect(line == "what,layer,row,seconds,bytes", "a first line what,layer,row,seconds,bytes");
  for (++at; std::getline(file, line); ++at) {
    auto const fields = csv_fields(line);
    expect(fields.size() == 5, "five fields");
    double const layer = number(fields[1]), seconds = number(fields[3]);
    expect(seconds >= 0 && seconds < 1e9, "seconds from 0 to 1e9");
    if (fields[0] == "slice") {
      expect(layer == static_cast<double>(slices_.size()), fmt::format("slice {}", slices_.size()));
      slices_.push_back(seconds);
      continue;
    }
    expect(fields[0] == "row", "slice or row");
    double const number_of_row = number(fields[2]), bytes = number(fields[4]);
    expect(bytes >= 0 && bytes < 1e9, "bytes from 0 to 1e9");
    if (number_of_row == 0) rows_.emplace_back();
    expect(!rows_.empty() && layer == static_cast<double>(rows_.size() - 1) &&
               number_of_row == static_cast<double>(rows_.back().size()),
           "the next row of this layer, or the first of the next");
    rows_.back().push_back({seconds, bytes});
  }
  if (rows_.empty() || slices_.size() != rows_.size() + 1)
    throw usage_error(
        detail::one_line(fmt::format("{}: {} slices and {} layers, expected one slice more than layers", path,
                                     slices_.size(), rows_.size())));
}

void layer_costs::scale() {
  auto const slice =
      std::accumulate(slices_.begin(), slices_.end(), 0.0) / static_cast<double>(slices_.size());
  double seconds = 0, bytes = 0, count = 0;
  for (auto const& layer : rows_)
    for (auto const& r : layer) {
      seconds += r.seconds;
      bytes += r.bytes;
      ++count;
    }
  auto const factor = [](double wanted, double mean) { return mean > 0 ? wanted / mean : 0; };
  for (auto& s : slices_) s *= factor(how_.read_seconds, slice);
  double const of_rows = factor(how_.unit_seconds, seconds / static_cast<double>(rows_.size()));
  double const of_bytes = factor(static_cast<double>(bytes_), bytes / count);
  for (auto& layer : rows_)
    for (auto& r : layer) {
      r.seconds *= of_rows;
      r.bytes *= of_bytes;
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

double layer_costs::slices_seconds(std::uint64_t first, std::uint64_t end) const {
  if (slices_.empty()) return static_cast<double>(end - first) * how_.read_seconds;
  return std::accumulate(slices_.begin() + static_cast<std::ptrdiff_t>(first),
                         slices_.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
}

double layer_costs::total_seconds() const {
  return slices_seconds(0, layers_ + 1) + static_cast<double>(layers_) * how_.unit_seconds;
}

}  // namespace skel::simulate
