// An HDF5 file, by libhdf5.
#pragma once

#include <cstdint>
#include <utility>

#include "array_file.hpp"

namespace volume_data {

/// Owns an identifier of the library (its hid_t); negative: none.
class hdf5_id {
 public:
  explicit hdf5_id(std::int64_t id = -1) noexcept : id_(id) {}
  hdf5_id(hdf5_id&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  hdf5_id& operator=(hdf5_id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  hdf5_id(hdf5_id const&) = delete;
  hdf5_id& operator=(hdf5_id const&) = delete;
  ~hdf5_id();

  [[nodiscard]] explicit operator bool() const noexcept { return id_ >= 0; }
  [[nodiscard]] std::int64_t get() const noexcept { return id_; }

 private:
  std::int64_t id_;
};

/// Data sets are its variables; dimension scales name dimensions and have their coordinates. Only
/// hard links are followed, so all data lie in this file.
class hdf5_file final : public array_file {
 public:
  /// Throws usage_error `path: ...`.
  explicit hdf5_file(std::string const& path);

  [[nodiscard]] std::vector<array_variable> variables() const override { return variables_; }
  [[nodiscard]] std::vector<array_dimension> dimensions(array_variable const& of) const override;
  [[nodiscard]] std::string text(array_variable const& of, char const* name) const override;
  [[nodiscard]] std::vector<double> numbers(array_variable const& of, char const* name) const override;
  [[nodiscard]] bool is_floating(array_variable const& of, char const* name) const override;
  [[nodiscard]] std::optional<double> default_fill(array_variable const& /*of*/) const override { return {}; }
  [[nodiscard]] std::vector<std::size_t> chunks(array_variable const& of) const override;
  void set_cache(array_variable const& of, std::size_t bytes) override;
  [[nodiscard]] double written(array_variable const& of) const override;
  void read(array_variable const& of, std::vector<std::size_t> const& start,
            std::vector<std::size_t> const& count, std::vector<double>& to) const override;

  /// Attributes of a group; likewise "" or none if there is no such group.
  [[nodiscard]] std::string group_text(char const* group, char const* name) const;
  [[nodiscard]] std::vector<double> group_numbers(char const* group, char const* name) const;

 private:
  void add_variable(std::string const& path);
  /// The open data set of a variable.
  [[nodiscard]] std::int64_t opened(array_variable const& v) const;
  /// Its creation properties. Throws if the values cannot be read.
  [[nodiscard]] hdf5_id properties(array_variable const& v) const;
  [[nodiscard]] hdf5_id group(char const* name) const;
  [[noreturn]] void fail(std::string const& what) const;

  hdf5_id file_;
  std::vector<array_variable> variables_;
  std::vector<std::uint64_t> references_;  // to the variables, as dimensions have them to their scales
  mutable hdf5_id data_;                   // of one variable at a time, with its cache
  mutable int data_of_ = -1;
  int cached_ = -1;  // the variable with a cache of its own
  std::size_t cache_bytes_ = 0;
};

}  // namespace volume_data
