#include <fmt/format.h>

#include <cmath>

#include "byte_source.hpp"
#include "model_file.hpp"
#include "model_layout.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"

namespace isosurface {

namespace {

using volume_data::byte_source;

model_head read_head(byte_source& from) {
  model_head head;
  model_head const expected;
  if (from.most() < sizeof head)
    from.fail("expected a model of skel-isosurface, found fewer bytes than its header has");
  from.require(std::as_writable_bytes(std::span(&head, 1)));
  if (head.magic != expected.magic) from.fail("expected a model of skel-isosurface, found another file");
  if (head.mark != expected.mark) from.fail("expected the byte order of this machine, found the other one");
  if (head.version != 1) from.fail(fmt::format("version {} of the format, expected 1", head.version));
  if (head.order != 1 && head.order != 3) from.fail(fmt::format("order {}, expected 1 or 3", head.order));
  if (head.numbers_per_node != (head.order == 1 ? 1 : 8))
    from.fail(
        fmt::format("{} numbers per node do not belong to order {}", head.numbers_per_node, head.order));
  for (auto const n : head.nodes)
    if (n < 2 || n > INT32_MAX) from.fail(fmt::format("{} nodes along an axis, expected 2 to 2147483647", n));
  return head;
}

/// Products of sizes up to 2^31 exceed 64 bits, so this divides instead.
bool fits(model_head const& head, std::uint64_t bytes) {
  auto const before =
      (head.nodes[0] + head.nodes[1] + head.nodes[2]) * sizeof(double) + sizeof(std::uint64_t);
  if (bytes < before) return false;
  auto const node = head.numbers_per_node * sizeof(double), slice = (bytes - before) / head.nodes[2];
  return slice >= sizeof(std::uint64_t) && slice * head.nodes[2] == bytes - before &&
         (slice - sizeof(std::uint64_t)) % node == 0 &&
         head.nodes[0] * head.nodes[1] == (slice - sizeof(std::uint64_t)) / node;
}

void check_length(byte_source const& from, model_head const& head) {
  if (!fits(head, from.most()))
    from.fail(fmt::format("{} x {} x {} nodes do not fit the {} bytes that follow", head.nodes[0],
                          head.nodes[1], head.nodes[2], from.most()));
}

void check_coordinates(byte_source const& from, std::span<double const> c) {
  for (std::size_t i = 0; i < c.size(); ++i)
    if (!std::isfinite(c[i]) || (i > 0 && !(c[i - 1] < c[i])))
      from.fail(fmt::format("coordinates must increase, found {} in place {}", c[i], i));
}

}  // namespace

model_reader::model_reader(std::string path) : path_(std::move(path)) {
  auto const from = volume_data::file_bytes(path_);
  auto const head = read_head(*from);
  check_length(*from, head);
  skel::xxh3_hasher hasher;
  hasher.update(std::as_bytes(std::span(&head, 1)));
  header_.order = static_cast<int>(head.order);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto& c = header_.coordinates[axis];
    c.resize(head.nodes[axis]);
    from->require(std::as_writable_bytes(std::span(c)));
    hasher.update(std::as_bytes(std::span(c)));
  }
  std::uint64_t hash = 0;
  from->require(std::as_writable_bytes(std::span(&hash, 1)));
  if (hash != hasher.value()) from->fail("the header is damaged (checksum differs)");
  for (auto const& c : header_.coordinates) check_coordinates(*from, c);
  begin_ = sizeof head + sizeof hash + (head.nodes[0] + head.nodes[1] + head.nodes[2]) * sizeof(double);
}

void model_reader::read(std::size_t slice, std::span<double> to) const {
  if (slice >= header_.slices() || to.size() != header_.slice_numbers())
    throw skel::error(fmt::format("{}: requested {} numbers of slice {}", path_, to.size(), slice));
  auto const from =
      volume_data::file_bytes(path_, begin_ + slice * (to.size_bytes() + sizeof(std::uint64_t)));
  from->require(std::as_writable_bytes(to));
  std::uint64_t hash = 0;
  from->require(std::as_writable_bytes(std::span(&hash, 1)));
  if (hash != slice_hash(slice, to))
    from->fail(fmt::format("slice {} of the nodes is damaged (checksum differs)", slice));
}

}  // namespace isosurface
