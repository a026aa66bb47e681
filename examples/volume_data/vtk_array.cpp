#include "vtk_array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "formats.hpp"
#include "program/text.hpp"
#include "skel/error.hpp"
#include "vtk_blocks.hpp"

namespace volume_data {

namespace {

/// Yields the number of bytes stated by a count in front of them. `alone`: nothing may follow them.
class counted_source final : public byte_source {
 public:
  counted_source(vtk_file const& file, source from, bool alone) : from_(std::move(from)), alone_(alone) {
    left_ = read_count(file, *from_);
  }
  std::size_t read(std::span<std::byte> to) override {
    auto const got = from_->read(to.first(std::min<std::uint64_t>(to.size(), left_)));
    left_ -= got;
    return got;
  }
  void skip(std::uint64_t bytes) override {
    auto const there = std::min(bytes, left_);
    from_->skip(there);
    left_ -= there;
    if (there < bytes) ends_too_early(bytes - there);
  }
  void expect_end() override {
    if (left_ > 0) goes_on();
    if (alone_) from_->expect_end();
  }
  [[nodiscard]] std::uint64_t most() const override { return std::min(left_, from_->most()); }
  [[nodiscard]] bool counted() const override { return true; }
  [[nodiscard]] std::string place() const override { return from_->place(); }

 private:
  source from_;
  std::uint64_t left_ = 0;
  bool alone_;
};

/// The values of a vtkBitArray, the first in the highest bit of a byte, as numbers 0 and 1.
class bits_source final : public byte_source {
 public:
  bits_source(source from, std::uint64_t count) : from_(std::move(from)), left_(count) {
    check_bytes(*from_, count / 8 + (count % 8 == 0 ? 0 : 1), fmt::format("{} values of type Bit", count));
  }
  std::size_t read(std::span<std::byte> to) override {
    std::size_t done = 0;
    for (; done < to.size() && left_ > 0; ++done, --left_) {
      if (bit_ == 0) from_->require(std::span(&byte_, 1));
      to[done] = byte_ >> (7U - bit_) & std::byte{1};
      bit_ = (bit_ + 1) % 8;
    }
    return done;
  }
  void expect_end() override { left_ > 0 ? goes_on() : from_->expect_end(); }
  [[nodiscard]] std::uint64_t most() const override { return left_; }
  [[nodiscard]] bool counted() const override { return true; }
  [[nodiscard]] std::string place() const override { return from_->place(); }

 private:
  source from_;
  std::uint64_t left_;
  std::byte byte_{};
  unsigned bit_ = 0;
};

constexpr std::array<std::string_view, 11> types{"Int8",  "UInt8",  "Int16",   "UInt16",  "Int32", "UInt32",
                                                 "Int64", "UInt64", "Float32", "Float64", "Bit"};

[[noreturn]] void refuse(vtk_file const& file, vtk_array const& array, std::string const& text) {
  throw skel::usage_error(fmt::format("{}: array {}: {}", file.path, array.name, text));
}

source appended(vtk_file const& file, vtk_array const& array) {
  if (file.appended_at == 0) refuse(file, array, "missing <AppendedData>");
  auto const offset = skel::program::to_number<std::uint64_t>(array.offset);
  if (!offset || *offset > UINT64_MAX - file.appended_at)
    refuse(file, array, fmt::format("expected an offset, found \"{}\"", array.offset));
  auto bytes = file_bytes(file.path, file.appended_at + *offset);
  return file.appended_raw ? std::move(bytes) : from_base64(std::move(bytes));
}

}  // namespace

bool is_scalar(vtk_array const& array) {
  return array.components == "1" && std::ranges::find(types, array.type_name) != types.end();
}

scalar_type type_of(vtk_file const& file, vtk_array const& array) {
  if (array.components != "1")
    refuse(file, array, fmt::format("expected 1 component, found {}", array.components));
  auto const at = std::ranges::find(types, array.type_name);
  if (at == types.end())
    refuse(file, array,
           fmt::format("unknown type \"{}\"; known: {}", array.type_name, fmt::join(types, ", ")));
  return *at == "Bit" ? scalar_type::uint8 : static_cast<scalar_type>(at - types.begin());
}

source open_array(vtk_file const& file, vtk_array const& array, std::uint64_t count) {
  bool const inside = array.format != "appended";  // then nothing follows the values
  if (inside && array.format != "ascii" && array.format != "binary")
    refuse(file, array, fmt::format("expected format ascii, binary or appended, found \"{}\"", array.format));
  auto bytes = inside ? file_bytes(file.path, array.begin, array.end - array.begin) : appended(file, array);
  if (array.format == "ascii") return from_text(std::move(bytes), type_of(file, array));
  if (inside) bytes = from_base64(std::move(bytes));
  bytes = file.compressor.empty() ? std::make_unique<counted_source>(file, std::move(bytes), inside)
                                  : unpacked_blocks(file, std::move(bytes), inside);
  return array.type_name == "Bit" ? std::make_unique<bits_source>(std::move(bytes), count) : std::move(bytes);
}

bool swapped(vtk_file const& file, vtk_array const& array) { return file.swapped && array.format != "ascii"; }

}  // namespace volume_data
