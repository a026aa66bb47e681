// Raw values with one file per slice, plain or compressed.
#include <fmt/format.h>

#include <algorithm>

#include "formats.hpp"
#include "skel/error.hpp"
#include "slice_files.hpp"

namespace volume_data {

namespace {

class joined final : public byte_source {
 public:
  joined(slice_files files, open_file open, std::uint64_t slice)
      : files_(std::move(files)), open_(std::move(open)), slice_(slice) {}

  [[nodiscard]] bool skips_freely() const override { return true; }  // whole files
  [[nodiscard]] bool skips_all_freely() const override { return open_(files_[0])->skips_freely(); }
  std::size_t read(std::span<std::byte> to) override {
    std::size_t done = 0;
    while (done < to.size() && reach()) {
      auto const part = std::min<std::uint64_t>(to.size() - done, left_);
      current_->require(to.subspan(done, part));
      done += part;
      left_ -= part;
      if (left_ == 0) current_->expect_end();
    }
    return done;
  }
  void skip(std::uint64_t bytes) override {
    while (bytes > 0) {
      if (left_ == 0 && bytes >= slice_ && next_ < files_.size()) {
        ++next_;
        bytes -= slice_;
        continue;
      }
      if (!reach()) ends_too_early(bytes);
      auto const part = std::min(bytes, left_);
      current_->skip(part);
      bytes -= part;
      left_ -= part;
    }
  }
  [[nodiscard]] std::uint64_t most() const override { return left_ + (files_.size() - next_) * slice_; }
  [[nodiscard]] std::string place() const override {
    return current_ ? current_->place() : files_.at(std::min(next_, files_.size() - 1));
  }

 private:
  /// Advances to the next byte and opens its file if necessary. Returns false at the end.
  bool reach() {
    if (left_ > 0) return true;
    if (next_ == files_.size()) return false;
    current_ = open_(files_[next_++]);
    left_ = slice_;
    return true;
  }

  slice_files files_;
  open_file open_;
  std::uint64_t slice_;
  std::size_t next_ = 0;  // file
  std::uint64_t left_ = 0;
  source current_;
};

}  // namespace

source joined_slices(volume_header const& header, slice_files files, open_file open) {
  check_size(header);
  if (files.size() != header.size[2])
    throw skel::usage_error(fmt::format("{}: expected {} files, one for each slice, found {}", header.name,
                                        header.size[2], files.size()));
  auto const slice = header.slice_bytes();
  for (auto const& file : files)
    check_bytes(
        *open(file), slice,
        fmt::format("{} x {} values of type {}", header.size[0], header.size[1], name_of(header.type)));
  return std::make_unique<joined>(std::move(files), std::move(open), slice);
}

}  // namespace volume_data
