#include "formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "characters.hpp"
#include "program/text.hpp"
#include "skel/error.hpp"

namespace volume_data {

namespace {

constexpr double rounding = 1e-6;  // in directions of axes

class stored final : public volume_reader {
 public:
  stored(volume_header header, source values, bool swapped)
      : volume_reader(std::move(header)), values_(std::move(values)), swapped_(swapped) {}
  [[nodiscard]] bool skips_freely() const override { return values_->skips_freely(); }
  [[nodiscard]] bool reads_rows_freely() const override { return values_->skips_all_freely(); }

 private:
  void fill(std::span<std::byte> next) override { fill_rows(0, next); }
  void fill_rows(std::size_t first, std::span<std::byte> rows) override {
    go_to(position() * header().slice_bytes() + first * header().row_bytes());
    values_->require(rows);
    at_ += rows.size();
    if (at_ == header().bytes()) values_->expect_end();
    if (swapped_) reverse_each(rows, size_of(header().type));
  }
  void pass(std::size_t slices) override { go_to((position() + slices) * header().slice_bytes()); }

  void go_to(std::uint64_t byte) {
    values_->skip(byte - at_);
    at_ = byte;
  }

  source values_;
  bool swapped_;
  std::uint64_t at_ = 0;  // bytes read and skipped
};

}  // namespace

std::unique_ptr<volume_reader> stored_volume(volume_header header, source values, bool swapped) {
  return std::make_unique<stored>(std::move(header), std::move(values), swapped);
}

void require_time(std::string const& path, volume_choice const& choice, std::size_t times) {
  if (choice.time >= times)
    throw skel::usage_error(
        fmt::format("{}: --time: expected 0{}, found {}", path,
                    times > 1 ? fmt::format(" to {}", times - 1) : " (the file has one time)", choice.time));
}

bool has_cells(std::array<std::size_t, 3> const& size) { return std::ranges::min(size) > 1; }

void check_size(volume_header const& header) {
  std::uint64_t bytes = size_of(header.type);
  for (auto const n : header.size) {
    if (n < 1 || n > std::numeric_limits<std::int32_t>::max())
      throw skel::usage_error(
          fmt::format("{}: a size of {}, expected 1 to 2147483647 along each axis", header.name, n));
    if (bytes > std::numeric_limits<std::int64_t>::max() / n)
      throw skel::usage_error(fmt::format("{}: {} x {} x {} values exceed the maximum", header.name,
                                          header.size[0], header.size[1], header.size[2]));
    bytes *= n;
  }
}

void check_size(volume_header const& header, byte_source const& values) {
  check_size(header);
  check_bytes(values, header.bytes(),
              fmt::format("{} x {} x {} values of type {}", header.size[0], header.size[1], header.size[2],
                          name_of(header.type)));
}

void check_bytes(byte_source const& values, std::uint64_t needed, std::string const& what) {
  auto const most = values.most();
  if (needed > most) values.fail(fmt::format("{} need {} bytes, found at most {}", what, needed, most));
  if (values.counted() && needed < most)
    values.fail(fmt::format("{} need {} bytes, found {}", what, needed, most));
}

void space_evenly(volume_header& header, std::array<double, 3> const& origin,
                  std::array<double, 3> const& spacing, std::string const& place) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!(spacing[axis] > 0) || !std::isfinite(spacing[axis]) || !std::isfinite(origin[axis]))
      throw skel::usage_error(fmt::format("{}: a spacing of {} from {} on, expected a positive one", place,
                                          spacing[axis], origin[axis]));
    auto& to = header.coordinates[axis];
    to.resize(header.size[axis]);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = origin[axis] + static_cast<double>(i) * spacing[axis];
  }
  check_coordinates(header, place);
}

void check_coordinates(std::span<double const> axis, std::string const& place) {
  for (std::size_t i = 0; i < axis.size(); ++i)
    if (!std::isfinite(axis[i]) || (i > 0 && !(axis[i - 1] < axis[i])))
      throw skel::usage_error(
          fmt::format("{}: coordinates must increase, found {} in place {}", place, axis[i], i));
}

void check_coordinates(volume_header const& header, std::string const& place) {
  for (auto const& axis : header.coordinates) check_coordinates(axis, place);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) { return skel::program::lower(text); }

bool is_diagonal(std::span<double const> m) {
  for (std::size_t i = 0; i < m.size(); ++i) {
    auto const along = m[i / 3 * 4];
    if (!(along >= 0 && (i % 4 == 0 || std::abs(m[i]) <= rounding * along))) return false;
  }
  return m.size() == 9;
}

bool is_unit(std::span<double const> m) {
  if (!is_diagonal(m)) return false;
  return std::ranges::all_of(std::array{m[0], m[4], m[8]},
                             [](double x) { return std::abs(x - 1) <= rounding; });
}

void parse_numbers(std::string_view text, std::span<double> to, std::string const& place,
                   std::string_view key) {
  auto rest = trimmed(text);
  bool good = true;
  for (auto& number : to) {
    auto const read = skel::program::take_number<double>(rest);
    good = good && read && (rest.empty() || is_space(rest.front()));
    number = read.value_or(0);
    rest = trimmed(rest);
  }
  if (!good || !rest.empty())
    throw skel::usage_error(
        fmt::format("{}: {}: expected {} numbers, found \"{}\"", place, key, to.size(), text.substr(0, 60)));
}

void parse_sizes(std::string_view text, std::array<std::size_t, 3>& to, std::string const& place,
                 std::string_view key) {
  std::array<double, 3> numbers{};
  parse_numbers(text, numbers, place, key);
  for (std::size_t i = 0; i < 3; ++i) {
    if (!(numbers[i] >= 1 && numbers[i] < 2147483648.0) || numbers[i] != std::floor(numbers[i]))
      throw skel::usage_error(fmt::format("{}: {}: expected sizes of 1 to 2147483647, found \"{}\"", place,
                                          key, text.substr(0, 60)));
    to[i] = static_cast<std::size_t>(numbers[i]);
  }
}

}  // namespace volume_data
