// A netCDF file: variables, dimensions and attributes, by libnetcdf.
#pragma once

#include <netcdf.h>

#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace volume_data {

struct netcdf_variable {
  int group = 0, id = 0;
  std::string name;       ///< with the groups around it, as in /model/wind; without a / in the root group
  nc_type type = NC_NAT;  ///< user types too
  std::vector<int> dimensions;  ///< the slowest first
};

struct netcdf_dimension {
  std::string name;
  std::size_t length = 0;
  bool unlimited = false;
};

/// An opened file. libnetcdf and HDF5 are not thread-safe: every call needs the lock.
class netcdf_file {
 public:
  /// Throws usage_error `path: ...`, also if a classic file is truncated.
  explicit netcdf_file(std::string path);
  ~netcdf_file();
  netcdf_file(netcdf_file const&) = delete;
  netcdf_file& operator=(netcdf_file const&) = delete;

  [[nodiscard]] static std::unique_lock<std::mutex> lock();
  [[nodiscard]] std::string const& path() const noexcept { return path_; }

  /// All variables of all groups.
  [[nodiscard]] std::vector<netcdf_variable> variables() const;
  [[nodiscard]] netcdf_dimension dimension(int group, int id) const;
  /// The variable with the coordinates of a dimension: of the dimension's name, in the group or one
  /// around it.
  [[nodiscard]] std::optional<netcdf_variable> coordinate(int group, int dimension) const;

  /// An attribute's text, "" if it does not exist or is no text.
  [[nodiscard]] std::string text(netcdf_variable const& of, char const* name) const;
  /// An attribute's numbers, none if it does not exist or is text.
  [[nodiscard]] std::vector<double> numbers(netcdf_variable const& of, char const* name) const;

  /// Sizes of the stored chunks, the slowest dimension first; empty if the values are contiguous.
  [[nodiscard]] std::vector<std::size_t> chunks(netcdf_variable const& of) const;
  /// Makes the variable's cache hold so many bytes of chunks.
  void set_cache(netcdf_variable const& of, std::size_t bytes) const;
  /// Reads a block of values as they are stored.
  void read(netcdf_variable const& of, std::vector<std::size_t> const& start,
            std::vector<std::size_t> const& count, std::vector<double>& to) const;

 private:
  void add_group(int group, std::string const& prefix, int depth, std::vector<netcdf_variable>& to) const;
  [[nodiscard]] netcdf_variable variable(int group, int id, std::string const& prefix) const;
  void check(int status, std::string const& what) const;

  std::string path_;
  int file_ = -1;
};

}  // namespace volume_data
