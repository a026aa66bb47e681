#include "program/csv_table.hpp"

#include <cmath>

#include "base/format.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"

namespace skel::program {

csv_table::csv_table(std::string const& path, std::string_view header) : path_(path), file_(path) {
  if (!file_) throw usage_error(detail::one_line(path + ": cannot be read"));
  next();
  expect(line_ == header, detail::format("a first line {}", header));
}

bool csv_table::next() {
  ++at_;
  if (!detail::read_line(file_, line_)) return false;
  fields_ = detail::csv_fields(line_).value_or(std::vector<std::string>{});
  return true;
}

double csv_table::number(std::size_t i) const { return detail::to_number<double>(text(i)).value_or(NAN); }

void csv_table::expect(bool good, std::string const& what) const {
  if (!good)
    throw usage_error(detail::one_line(
        detail::format("{}:{}: expected {}, found \"{}\"", path_, at_, what, line_.substr(0, 60))));
}

}  // namespace skel::program
