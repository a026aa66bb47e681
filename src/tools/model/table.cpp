#include "tools/model/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace skel::model {

table::table(std::vector<std::string> heads) { rows_.push_back(std::move(heads)); }

void table::add(std::vector<std::string> row) {
  row.resize(rows_.front().size());
  rows_.push_back(std::move(row));
}

std::string table::text(std::vector<std::size_t> const& plain) const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (auto const& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], detail::columns(row[i]));
  std::string out;
  for (auto const& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string const blanks(widths[i] - detail::columns(row[i]), ' ');
      bool const left = std::ranges::find(plain, i) != plain.end();
      line += (i > 0 ? "  " : "") + (left ? row[i] + blanks : blanks + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

std::string seconds(double value) {
  double const size = std::abs(value);
  if (size == 0) return "0 s";
  if (size < 1e-6) return fmt::format("{:.4g} ns", value * 1e9);
  if (size < 1e-3) return fmt::format("{:.4g} µs", value * 1e6);
  if (size < 1) return fmt::format("{:.4g} ms", value * 1e3);
  return fmt::format("{:.4g} s", value);
}

}  // namespace skel::model
