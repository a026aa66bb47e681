// A netCDF file, by libnetcdf.
#pragma once

#include "array_file.hpp"

namespace volume_data {

class netcdf_file final : public array_file {
 public:
  /// Throws usage_error `path: ...`, also if a classic file is truncated.
  explicit netcdf_file(std::string const& path);
  ~netcdf_file() override;
  netcdf_file(netcdf_file const&) = delete;
  netcdf_file& operator=(netcdf_file const&) = delete;

  [[nodiscard]] std::vector<array_variable> variables() const override;
  [[nodiscard]] std::vector<array_dimension> dimensions(array_variable const& of) const override;
  [[nodiscard]] std::string text(array_variable const& of, char const* name) const override;
  [[nodiscard]] std::vector<double> numbers(array_variable const& of, char const* name) const override;
  [[nodiscard]] bool is_floating(array_variable const& of, char const* name) const override;
  [[nodiscard]] std::optional<double> default_fill(array_variable const& of) const override;
  [[nodiscard]] std::vector<std::size_t> chunks(array_variable const& of) const override;
  void set_cache(array_variable const& of, std::size_t bytes) override;
  [[nodiscard]] double written(array_variable const& of) const override;
  void read(array_variable const& of, std::vector<std::size_t> const& start,
            std::vector<std::size_t> const& count, std::vector<double>& to) const override;

 private:
  void add_group(int group, std::string const& prefix, int depth, std::vector<array_variable>& to) const;
  [[nodiscard]] array_variable variable(int group, int id, std::string const& prefix) const;
  [[nodiscard]] std::vector<int> dimension_ids(int group, int variable) const;
  /// The variable with the coordinates of a dimension: of the dimension's name, in the group or one
  /// around it.
  [[nodiscard]] std::optional<array_variable> coordinate(int group, int dimension,
                                                         std::string const& name) const;
  void check(int status, std::string const& what) const;

  int file_ = -1;
};

}  // namespace volume_data
