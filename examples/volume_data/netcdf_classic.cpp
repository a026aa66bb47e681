#include "netcdf_classic.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <vector>

#include "byte_source.hpp"

namespace volume_data {

namespace {

// "The NetCDF Classic Format Specification", Appendix B of the NetCDF Users Guide.
class classic_header {
 public:
  explicit classic_header(std::string const& path) : length_(file_length(path)), file_(file_bytes(path)) {}

  void check() {
    std::array<std::byte, 4> magic{};
    file_->require(magic);
    version_ = static_cast<int>(magic[3]);
    records_ = count();
    if (records_ == (version_ == 5 ? UINT64_MAX : UINT32_MAX)) file_->fail("expected a number of records");
    list(dimension_list, [&] {
      name();
      sizes_.push_back(count());
    });
    attributes();
    list(variable_list, [&] { variable(); });
    check_ends();
  }

 private:
  static constexpr std::uint64_t dimension_list = 10, variable_list = 11, attribute_list = 12;
  struct stored {
    std::uint64_t begin = 0, bytes = 0;  // of a record, if the variable has records
    bool has_records = false;
  };

  std::uint64_t number(std::size_t size) {
    std::array<std::byte, 8> bytes{};
    file_->require(std::span(bytes).first(size));
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < size; ++i) n = n << 8U | static_cast<std::uint64_t>(bytes[i]);
    return n;
  }
  std::uint64_t count() { return number(version_ == 5 ? 8 : 4); }
  /// A count of things of which each takes at least `each` bytes of the header.
  std::uint64_t count_of(std::uint64_t each) {
    auto const n = count();
    if (n > file_->most() / each)
      file_->fail(fmt::format("a count of {}, more than the file has room for", n));
    return n;
  }
  void skip_padded(std::uint64_t bytes) { file_->skip(bytes + (4 - bytes % 4) % 4); }
  void name() { skip_padded(count_of(1)); }
  std::uint64_t value_bytes() {
    static constexpr std::array<std::uint64_t, 12> bytes{0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    auto const type = number(4);
    if (type == 0 || type >= bytes.size()) file_->fail(fmt::format("unknown type {}", type));
    return bytes[type];
  }
  template <class F>
  void list(std::uint64_t tag, F const& item) {
    auto const found = number(4);
    auto const n = count_of(4);
    if (found != tag && (found != 0 || n != 0))
      file_->fail(fmt::format("expected a list {}, found {}", tag, found));
    for (std::uint64_t i = 0; i < n; ++i) item();
  }
  void attributes() {
    list(attribute_list, [&] {
      name();
      auto const bytes = value_bytes();
      skip_padded(bytes * count_of(bytes));
    });
  }
  void variable() {
    name();
    stored v;
    std::vector<std::uint64_t> sizes;
    for (auto n = count_of(4); n > 0; --n) {
      auto const id = count();
      if (id >= sizes_.size()) file_->fail(fmt::format("a dimension {} of {}", id, sizes_.size()));
      if (sizes_[id] == 0 && sizes.empty())
        v.has_records = true;
      else
        sizes.push_back(sizes_[id]);
    }
    attributes();
    v.bytes = value_bytes();
    for (auto const size : sizes) v.bytes = product(v.bytes, size);
    count();  // the padded size, which may be wrong for large variables
    v.begin = number(version_ == 1 ? 4 : 8);
    variables_.push_back(v);
  }
  std::uint64_t product(std::uint64_t a, std::uint64_t b) const {
    if (b != 0 && a > INT64_MAX / b) file_->fail("a variable is impossibly large");
    return a * b;
  }
  void check_ends() const {
    std::uint64_t record = 0, with_records = 0;
    for (auto const& v : variables_) {
      if (!v.has_records) continue;
      record += v.bytes + (4 - v.bytes % 4) % 4;
      if (record > INT64_MAX) file_->fail("a record is impossibly large");
      ++with_records;
    }
    for (auto const& v : variables_) {
      if (v.has_records && records_ == 0) continue;
      if (with_records == 1 && v.has_records) record = v.bytes;  // not padded
      auto const others = v.has_records ? product(record, records_ - 1) : 0;
      if (v.begin > length_ || v.bytes > length_ - v.begin || others > length_ - v.begin - v.bytes)
        file_->fail(fmt::format("the header announces values behind the end of the file, which has {} bytes",
                                length_));
    }
  }

  std::uint64_t length_;
  source file_;
  int version_ = 0;
  std::uint64_t records_ = 0;
  std::vector<std::uint64_t> sizes_;
  std::vector<stored> variables_;
};

}  // namespace

void check_classic_netcdf(std::string const& path) { classic_header(path).check(); }

}  // namespace volume_data
