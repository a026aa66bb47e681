#include <fmt/format.h>

#include <cstring>

#include "model_file.hpp"
#include "model_layout.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"

namespace isosurface {

namespace {

template <class T>
void append(std::vector<std::byte>& out, T const& values) {
  auto const bytes = std::as_bytes(std::span(values));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

std::uint64_t slice_hash(std::uint64_t number, std::span<double const> data) {
  skel::xxh3_hasher hasher;
  hasher.update(std::as_bytes(std::span(&number, 1)));
  hasher.update(std::as_bytes(data));
  return hasher.value();
}

model_writer::model_writer(std::string const& path, model_header header)
    : header_(std::move(header)), file_(path) {
  model_head head;
  head.order = static_cast<std::uint32_t>(header_.order);
  head.numbers_per_node = static_cast<std::uint32_t>(header_.numbers_per_node());
  for (std::size_t axis = 0; axis < 3; ++axis) head.nodes[axis] = header_.coordinates[axis].size();
  std::vector<std::byte> bytes;
  append(bytes, std::span(&head, 1));
  for (auto const& c : header_.coordinates) append(bytes, c);
  skel::xxh3_hasher hasher;
  hasher.update(bytes);
  auto const hash = hasher.value();
  append(bytes, std::span(&hash, 1));
  file_.write(bytes);
}

void model_writer::add(std::span<double const> slice) {
  if (slice.size() != header_.slice_numbers() || next_ == header_.slices())
    throw skel::error(fmt::format("{}: {} numbers for slice {} of {}, expected {}", file_.path(),
                                  slice.size(), next_, header_.slices(), header_.slice_numbers()));
  auto const hash = slice_hash(next_++, slice);
  file_.write(std::as_bytes(slice));
  file_.write(std::as_bytes(std::span(&hash, 1)));
}

void model_writer::commit() {
  if (next_ != header_.slices())
    throw skel::error(fmt::format("{}: {} slices of {} were written", file_.path(), next_, header_.slices()));
  file_.commit();
}

}  // namespace isosurface
