// netCDF files, written with libnetcdf, and malformed ones.
#include <netcdf.h>
#include <netcdf_meta.h>
#include <sys/resource.h>

#include <cmath>
#include <random>

#include "catch.hpp"
#include "check_volume.hpp"
#include "fewer.hpp"

using namespace volume_data;
using test::contains;
using test::error_of;

namespace {

void need(int status) {
  INFO(nc_strerror(status));
  REQUIRE(status == NC_NOERR);
}

/// A file that is defined, then filled.
class nc_writer {
 public:
  explicit nc_writer(std::string path, int format = NC_NETCDF4) : path_(std::move(path)) {
    need(nc_create(path_.c_str(), NC_CLOBBER | format, &file));
  }
  nc_writer(nc_writer const&) = delete;
  nc_writer& operator=(nc_writer const&) = delete;
  ~nc_writer() { nc_close(file); }

  int dimension(std::string const& name, std::size_t length, int group = -1) {
    int id = 0;
    need(nc_def_dim(group < 0 ? file : group, name.c_str(), length, &id));
    return id;
  }
  int variable(std::string const& name, nc_type type, std::vector<int> const& dimensions, int group = -1) {
    int id = 0;
    need(nc_def_var(group < 0 ? file : group, name.c_str(), type, static_cast<int>(dimensions.size()),
                    dimensions.data(), &id));
    return id;
  }
  void text(int variable, char const* name, std::string const& value) {
    need(nc_put_att_text(file, variable, name, value.size(), value.c_str()));
  }
  void number(int variable, char const* name, nc_type type, std::vector<double> const& values) {
    need(nc_put_att_double(file, variable, name, type, values.size(), values.data()));
  }
  void values(int variable, std::vector<double> const& all, int group = -1) {
    if (defining_) nc_enddef(file);
    defining_ = false;
    need(nc_put_var_double(group < 0 ? file : group, variable, all.data()));
  }
  void record(int variable, std::size_t index, std::vector<double> const& all,
              std::vector<std::size_t> count) {
    if (defining_) nc_enddef(file);
    defining_ = false;
    std::vector<std::size_t> start(count.size(), 0);
    start[0] = index;
    count[0] = 1;
    need(nc_put_vara_double(file, variable, start.data(), count.data(), all.data()));
  }
  /// Writes everything and returns the path.
  std::string close() {
    need(nc_close(std::exchange(file, -1)));
    return path_;
  }

  int file = -1;

 private:
  std::string path_;
  bool defining_ = true;
};

/// The values of files.hpp: z slowest.
std::vector<double> field() {
  std::vector<double> all(test::samples);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = test::value(i);
  return all;
}

/// The volume of check_uneven(), with coordinates.
std::string write_uneven(std::string const& path, int format, nc_type type, bool compressed = false) {
  nc_writer w(path, format);
  std::vector const dimensions{w.dimension("lev", test::nz), w.dimension("lat", test::ny),
                               w.dimension("lon", test::nx)};
  auto const lev = w.variable("lev", NC_FLOAT, {dimensions[0]});
  auto const lat = w.variable("lat", NC_DOUBLE, {dimensions[1]});
  auto const lon = w.variable("lon", NC_SHORT, {dimensions[2]});
  auto const wind = w.variable("wind", type, dimensions);
  w.text(lat, "units", "degrees_north");
  w.text(wind, "units", "m s-1");
  if (compressed) {
    std::array<std::size_t, 3> const chunk{2, 3, 2};
    need(nc_def_var_chunking(w.file, wind, NC_CHUNKED, chunk.data()));
    need(nc_def_var_deflate(w.file, wind, 1, 1, 4));
    need(nc_def_var_fletcher32(w.file, wind, NC_FLETCHER32));
    need(nc_def_var_endian(w.file, wind, NC_ENDIAN_BIG));
  }
  w.values(lev, {0, 0.25, 4});
  w.values(lat, {-1, 0, 0.5, 2});
  w.values(lon, {0, 1, 3, 4, 8});
  w.values(wind, field());
  return w.close();
}

constexpr std::array classic_types{NC_BYTE, NC_SHORT, NC_INT, NC_FLOAT, NC_DOUBLE};
constexpr std::array all_types{NC_BYTE,  NC_SHORT,  NC_INT,  NC_FLOAT, NC_DOUBLE,
                               NC_UBYTE, NC_USHORT, NC_UINT, NC_INT64, NC_UINT64};

/// A volume of 1 x 1 x n values with these attributes; returns what is read.
template <class Attributes>
std::vector<double> read_packed(test::folder const& in, nc_type type, std::vector<double> const& stored,
                                Attributes const& attributes) {
  nc_writer w(in.path("packed.nc"));
  auto const v =
      w.variable("v", type, {w.dimension("z", 1), w.dimension("y", 1), w.dimension("x", stored.size())});
  attributes(w, v);
  w.values(v, stored);
  auto const g = read_grid(w.close());
  std::vector<double> all;
  for (std::size_t i = 0; i < stored.size(); ++i) all.push_back(g.at(i, 0, 0));
  return all;
}

bool missing(double value) { return std::isnan(value); }

}  // namespace

TEST_CASE("netCDF, all formats and types") {
  test::folder const in("volume-netcdf");
  auto const path = in.path("a.nc");
  for (auto const format :
       {0, NC_64BIT_OFFSET, static_cast<int>(NC_64BIT_DATA), NC_NETCDF4 | NC_CLASSIC_MODEL})
    for (auto const type : classic_types) test::check_uneven(read_grid(write_uneven(path, format, type)));
  for (auto const type : all_types) {
    test::check_uneven(read_grid(write_uneven(path, NC_64BIT_DATA, type)));
    test::check_uneven(read_grid(write_uneven(path, NC_NETCDF4, type)));
    auto const g = read_grid(write_uneven(path, NC_NETCDF4, type, true));
    test::check_uneven(g);
    bool const small =
        type == NC_FLOAT || type == NC_BYTE || type == NC_UBYTE || type == NC_SHORT || type == NC_USHORT;
    CHECK(g.header.type == (small ? scalar_type::float32 : scalar_type::float64));
  }
  auto const volume = open_volume(path);
  volume->skip(2);
  std::vector<float> last(volume->header().slice_samples());
  volume->read(std::span(last));
  CHECK(last[3] == static_cast<float>(test::value(43)));
  CHECK(list_variables(path) ==
        "lev   float32  lev 3                                  (not a volume)\n"
        "lat   float64  lat 4 (degrees_north)                  degrees_north  (not a volume)\n"
        "lon   int16    lon 5                                  (not a volume)\n"
        "wind  uint64   lev 3 x lat 4 (degrees_north) x lon 5  m s-1\n");
}

TEST_CASE("netCDF, coordinates that decrease") {
  test::folder const in("volume-netcdf-axes");
  for (unsigned flipped = 0; flipped < 8; ++flipped) {
    nc_writer w(in.path("a.nc"), flipped % 2 == 0 ? 0 : NC_NETCDF4);
    std::vector const dimensions{w.dimension("lev", test::nz), w.dimension("lat", test::ny),
                                 w.dimension("lon", test::nx)};
    std::array<std::vector<double>, 3> coordinates{{{0, 0.25, 4}, {-1, 0, 0.5, 2}, {0, 1, 3, 4, 8}}};
    std::vector<int> ids;
    for (std::size_t d = 0; d < 3; ++d) {
      ids.push_back(w.variable(std::array{"lev", "lat", "lon"}[d], NC_DOUBLE, {dimensions[d]}));
      if ((flipped >> d & 1U) != 0) std::ranges::reverse(coordinates[d]);
    }
    auto const wind = w.variable("wind", NC_FLOAT, dimensions);
    for (std::size_t d = 0; d < 3; ++d) w.values(ids[d], coordinates[d]);
    auto values = field();
    std::size_t to = 0;
    for (std::size_t z = 0; z < test::nz; ++z)
      for (std::size_t y = 0; y < test::ny; ++y)
        for (std::size_t x = 0; x < test::nx; ++x) {
          auto const at = [&](std::size_t d, std::size_t i, std::size_t n) {
            return (flipped >> d & 1U) != 0 ? n - 1 - i : i;
          };
          values[to++] = test::value(at(2, x, test::nx) +
                                     test::nx * (at(1, y, test::ny) + test::ny * at(0, z, test::nz)));
        }
    w.values(wind, values);
    test::check_uneven(read_grid(w.close()));
  }
}

TEST_CASE("netCDF, all spellings of degrees") {
  test::folder const in("volume-netcdf-degrees");
  using text_pair = std::pair<char const*, char const*>;
  for (auto const& [east, north] :
       {text_pair{"degrees_east", "degrees_north"}, text_pair{"degree_east", "degree_north"},
        text_pair{"degrees_E", "degrees_N"}, text_pair{"degree_E", "degree_N"},
        text_pair{"degreesE", "degreesN"}, text_pair{"degreeE", "degreeN"}}) {
    nc_writer w(in.path("a.nc"));
    std::vector const dimensions{w.dimension("a", 2), w.dimension("b", 3), w.dimension("c", 4)};
    auto const a = w.variable("a", NC_INT, {dimensions[0]}), b = w.variable("b", NC_INT, {dimensions[1]});
    auto const wind = w.variable("wind", NC_FLOAT, dimensions);
    w.text(a, "units", east);
    w.text(b, "units", north);
    std::vector<double> all(24);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<double>(i);
    w.values(a, {0, 1});
    w.values(b, {0, 1, 2});
    w.values(wind, all);
    auto const g = read_grid(w.close());
    INFO(east);
    REQUIRE(g.header.size == std::array<std::size_t, 3>{2, 3, 4});
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(g.at(i / 12, i / 4 % 3, i % 4) == all[i]);
  }
}

TEST_CASE("netCDF, dimensions in any order") {
  test::folder const in("volume-netcdf-order");
  std::array<std::size_t, 3> order{0, 1, 2};  // of x, y, z: the slowest dimension first
  std::array const names{"x", "y", "z"};
  std::array<std::size_t, 3> const sizes{test::nx, test::ny, test::nz};
  do {
    nc_writer w(in.path("a.nc"));
    std::vector<int> dimensions;
    dimensions.reserve(order.size());
    for (auto const axis : order) dimensions.push_back(w.dimension(names[axis], sizes[axis]));
    for (std::size_t d = 0; d < 3; ++d) {
      auto const v = w.variable(names[order[d]], NC_INT, {dimensions[d]});
      switch (order[d]) {  // the conventions' ways to name an axis
        case 0:
          w.text(v, "units", "degrees_east");
          break;
        case 1:
          w.text(v, "standard_name", "grid_latitude");
          break;
        default:
          w.text(v, "positive", "down");
      }
    }
    auto const wind = w.variable("wind", NC_FLOAT, dimensions);
    for (std::size_t d = 0; d < 3; ++d) {
      std::vector<double> indices(sizes[order[d]]);
      for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<double>(i);
      int id = 0;
      need(nc_inq_varid(w.file, names[order[d]], &id));
      w.values(id, indices);
    }
    std::vector<double> values;
    std::array<std::size_t, 3> at{};
    for (at[order[0]] = 0; at[order[0]] < sizes[order[0]]; ++at[order[0]])
      for (at[order[1]] = 0; at[order[1]] < sizes[order[1]]; ++at[order[1]])
        for (at[order[2]] = 0; at[order[2]] < sizes[order[2]]; ++at[order[2]])
          values.push_back(test::value(at[0] + test::nx * (at[1] + test::ny * at[2])));
    w.values(wind, values);
    test::check_values(read_grid(w.close()));
  } while (std::ranges::next_permutation(order).found);
  // Without coordinates: z, y, x, and indices.
  nc_writer w(in.path("b.nc"), 0);
  std::vector<int> dimensions;
  for (auto const n : {test::nz, test::ny, test::nx})
    dimensions.push_back(w.dimension("d" + std::to_string(n), n));
  w.values(w.variable("wind", NC_FLOAT, dimensions), field());
  auto const g = read_grid(w.close());
  test::check_values(g);
  CHECK(g.header.coordinates[1] == std::vector<double>{0, 1, 2, 3});
}

TEST_CASE("netCDF, packed and missing values") {
  test::folder const in("volume-netcdf-packed");
  auto const none = [](nc_writer&, int) {};
  auto all = read_packed(in, NC_SHORT, {1, -2, -32768}, [](nc_writer& w, int v) {
    w.number(v, "scale_factor", NC_DOUBLE, {0.5});
    w.number(v, "add_offset", NC_DOUBLE, {100});
    w.number(v, "_FillValue", NC_SHORT, {-32768});
  });
  CHECK(all[0] == 100.5);
  CHECK(all[1] == 99);
  CHECK(missing(all[2]));
  all = read_packed(in, NC_FLOAT, {1, -999.9, 1e20, 7}, [](nc_writer& w, int v) {
    w.number(v, "missing_value", NC_DOUBLE, {-999.9, 7});  // of another type, several
    w.number(v, "_FillValue", NC_FLOAT, {1e20});
  });
  CHECK(all[0] == 1);
  for (std::size_t i = 1; i < 4; ++i) CHECK(missing(all[i]));
  all = read_packed(in, NC_INT, {-1, 0, 5, 6}, [](nc_writer& w, int v) {
    w.number(v, "valid_range", NC_INT, {0, 5});
  });
  CHECK(missing(all[0]));
  CHECK(all[2] == 5);
  CHECK(missing(all[3]));
  all = read_packed(in, NC_INT, {-1, 0, 5, 6}, [](nc_writer& w, int v) {
    w.number(v, "valid_min", NC_INT, {0});
    w.number(v, "valid_max", NC_INT, {5});
  });
  CHECK(missing(all[0]));
  CHECK(all[1] == 0);
  CHECK(missing(all[3]));
  // Limits of a floating type are those of the unpacked values; of the type of the values, those of the
  // packed.
  for (bool const negative : {false, true}) {
    double const sign = negative ? -1 : 1;
    all = read_packed(in, NC_SHORT, {0, sign * -7266, sign * -7265, sign * 7735, sign * 7736},
                      [&](nc_writer& w, int v) {
                        w.number(v, "scale_factor", NC_FLOAT, {sign * 0.01F});
                        w.number(v, "add_offset", NC_FLOAT, {273.15F});
                        w.number(v, "valid_min", NC_FLOAT, {200.5});
                        w.number(v, "valid_max", NC_FLOAT, {350.5});
                      });
    CHECK(all[0] == 273.15F);
    CHECK(missing(all[1]));
    CHECK(all[2] == Approx(200.5));
    CHECK(all[3] == Approx(350.5));
    CHECK(missing(all[4]));
  }
  all = read_packed(in, NC_SHORT, {5, 6, 11, 12}, [](nc_writer& w, int v) {
    w.number(v, "scale_factor", NC_FLOAT, {2});
    w.number(v, "valid_range", NC_DOUBLE, {12, 22});
  });
  CHECK(missing(all[0]));
  CHECK(all[1] == 12);
  CHECK(all[2] == 22);
  CHECK(missing(all[3]));
  all = read_packed(in, NC_SHORT, {5, 6}, [](nc_writer& w, int v) {
    w.number(v, "scale_factor", NC_FLOAT, {2});
    w.number(v, "valid_max", NC_SHORT, {5});
  });
  CHECK(all[0] == 10);
  CHECK(missing(all[1]));
  all = read_packed(in, NC_BYTE, {-1, 1, -2}, [](nc_writer& w, int v) {
    w.text(v, "_Unsigned", "true");
    w.number(v, "missing_value", NC_BYTE, {-2});
  });
  CHECK(all[0] == 255);
  CHECK(all[1] == 1);
  CHECK(missing(all[2]));
  // What was never written, and values that only look like it.
  CHECK(missing(read_packed(in, NC_FLOAT, {NC_FILL_FLOAT}, none)[0]));
  CHECK(missing(read_packed(in, NC_SHORT, {NC_FILL_SHORT}, none)[0]));
  CHECK(read_packed(in, NC_BYTE, {NC_FILL_BYTE}, none)[0] == NC_FILL_BYTE);
  CHECK(read_packed(in, NC_SHORT, {NC_FILL_SHORT}, [](nc_writer& w, int v) {
          w.number(v, "_FillValue", NC_SHORT, {0});
        })[0] == NC_FILL_SHORT);
}

TEST_CASE("netCDF, times") {
  test::folder const in("volume-netcdf-time");
  for (int const format : {0, NC_NETCDF4})
    for (auto const* const name : {"time", "hour", "step"}) {
      nc_writer w(in.path("a.nc"), format);
      std::vector const dimensions{w.dimension(name, NC_UNLIMITED), w.dimension("lev", test::nz),
                                   w.dimension("lat", test::ny), w.dimension("lon", test::nx)};
      if (name == std::string("hour"))
        w.text(w.variable("hour", NC_INT, {dimensions[0]}), "units", "hours since 2000-01-01");
      auto const wind = w.variable("wind", NC_SHORT, dimensions);
      auto const flat = w.variable("flat", NC_SHORT, {dimensions[0], dimensions[2], dimensions[3]});
      for (std::size_t t = 0; t < 3; ++t) {
        auto values = field();
        for (auto& v : values) v += static_cast<double>(t);
        w.record(wind, t, values, {1, test::nz, test::ny, test::nx});
        w.record(flat, t, values, {1, test::ny, test::nx});
      }
      auto const path = w.close();
      for (std::size_t t = 0; t < 3; ++t)
        CHECK(read_grid(*open_volume(path, {"wind", t})).at(1, 0, 0) ==
              test::value(1) + static_cast<double>(t));
      auto const error = [&](volume_choice const& choice) {
        return test::message_of([&] { static_cast<void>(open_volume(path, choice)); });
      };
      CHECK(contains(error({"wind", 3}), "a.nc: --time: expected 0 to 2, found 3"));
      CHECK(contains(error({"gust", 0}), "expected a variable gust, found wind"));
      if (name != std::string("step"))
        CHECK(contains(error({"flat", 0}),
                       "flat: expected numbers with three dimensions beside time, found int16 with 2"));
    }
  nc_writer empty(in.path("b.nc"), 0);
  static_cast<void>(empty.variable("wind", NC_SHORT,
                                   {empty.dimension("time", NC_UNLIMITED), empty.dimension("z", 2),
                                    empty.dimension("y", 2), empty.dimension("x", 2)}));
  CHECK(contains(error_of(empty.close()), "b.nc: wind: expected a time, found none"));
}

TEST_CASE("netCDF, groups and variables to choose from") {
  test::folder const in("volume-netcdf-groups");
  nc_writer w(in.path("a.nc"));
  std::vector<int> const dimensions{w.dimension("member", 1), w.dimension("z", test::nz),
                                    w.dimension("y", test::ny), w.dimension("x", test::nx)};
  int group = 0, inner = 0;
  need(nc_def_grp(w.file, "model", &group));
  need(nc_def_grp(group, "run", &inner));
  auto const y = w.variable("y", NC_FLOAT, {dimensions[2]});
  auto const wind = w.variable("wind", NC_FLOAT, dimensions, inner);
  auto const label = w.variable("label", NC_CHAR, {dimensions[1], dimensions[2], dimensions[3]});
  static_cast<void>(label);
  w.values(y, {-1, 0, 0.5, 2});
  w.values(wind, field(), inner);
  auto const path = w.close();
  for (auto const* const name : {"", "/model/run/wind", "model/run/wind"}) {
    auto const g = read_grid(*open_volume(path, {name, 0}));
    test::check_values(g);
    CHECK(g.header.coordinates[1] == std::vector<double>{-1, 0, 0.5, 2});
  }
  auto const error = [&](volume_choice const& choice) {
    return test::message_of([&] { static_cast<void>(open_volume(path, choice)); });
  };
  CHECK(
      contains(error({"label", 0}), "expected numbers with three dimensions beside time, found char with 3"));
  nc_writer two(in.path("b.nc"), 0);
  std::vector<int> const cube{two.dimension("z", 2), two.dimension("y", 2), two.dimension("x", 2)};
  static_cast<void>(two.variable("u", NC_FLOAT, cube));
  static_cast<void>(two.variable("v", NC_FLOAT, cube));
  CHECK(contains(error_of(two.close()), "b.nc: expected --variable NAME, found u, v"));
  nc_writer flat(in.path("c.nc"), 0);
  static_cast<void>(flat.variable("u", NC_FLOAT, {flat.dimension("y", 2), flat.dimension("x", 2)}));
  CHECK(
      contains(error_of(flat.close()), "expected --variable NAME, found no variable with three dimensions"));
  nc_writer folded(in.path("d.nc"), 0);
  auto const x = folded.dimension("x", 3);
  auto const coordinate = folded.variable("x", NC_FLOAT, {x});
  folded.text(coordinate, "units", "km");
  static_cast<void>(folded.variable("u", NC_FLOAT, {folded.dimension("z", 2), folded.dimension("y", 2), x}));
  folded.values(coordinate, {0, 2, 1});
  CHECK(contains(error_of(folded.close()), "d.nc: x 3 (km): coordinates must increase, found 1 in place 2"));
}

TEST_CASE("netCDF, files that are damaged") {
  test::folder const in("volume-netcdf-damaged");
  CHECK(contains(error_of(in.write("a.nc", "hello")), "a.nc: expected a netCDF file"));
  CHECK(contains(error_of(in.path("none.nc")), "none.nc: No such file"));
  for (auto const format : {0, NC_64BIT_OFFSET, static_cast<int>(NC_64BIT_DATA), NC_NETCDF4}) {
    auto const path = write_uneven(in.path("whole.nc"), format, NC_FLOAT);
    std::ifstream file(path, std::ios::binary);
    std::string const bytes{std::istreambuf_iterator<char>(file), {}};
    for (std::size_t n = 0; n < bytes.size(); n += 1 + n / 60) {
      auto const text = error_of(in.write("cut.nc", bytes.substr(0, n)));
      CHECK(text != "no error");
      CHECK(text.find('\n') == std::string::npos);
    }
    if (format == NC_NETCDF4) continue;  // the library crashes with some damaged HDF5 files
    std::mt19937 random(20261126);
    int volumes = 0;
    auto const rounds = test::fewer_if_slow(2000);
    for (std::size_t i = 0; i < rounds; ++i) {
      auto changed = bytes;
      for (auto n = 1 + random() % 3; n > 0; --n)
        changed[random() % changed.size()] = static_cast<char>(random() % 2 == 0 ? random() : 0);
      volumes += error_of(in.write("m.nc", changed)) == "no error" ? 1 : 0;
    }
    CHECK(volumes > 0);
  }
}

TEST_CASE("netCDF, sizes are not trusted") {
  test::folder const in("volume-netcdf-sizes");
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  nc_writer w(in.path("a.nc"));
  std::vector<int> const dimensions{w.dimension("z", 100000), w.dimension("y", 100000),
                                    w.dimension("x", 100000)};
  auto const v = w.variable("v", NC_FLOAT, dimensions);
  std::array<std::size_t, 3> const chunk{1, 1000, 1000};
  need(nc_def_var_chunking(w.file, v, NC_CHUNKED, chunk.data()));
  CHECK(contains(error_of(w.close()),
                 "a.nc: v: 100000 x 100000 x 100000 values in chunks of 8000000 bytes, more than"));
  nc_writer small(in.path("b.nc"));  // a chunk of 1.6 GB
  auto const z = small.dimension("z", NC_UNLIMITED);
  auto const heights = small.variable("z", NC_FLOAT, {z});
  auto const b = small.variable("v", NC_FLOAT, {z, small.dimension("y", 2), small.dimension("x", 2)});
  std::array<std::size_t, 3> const large{100000000, 2, 2};
  need(nc_def_var_chunking(small.file, b, NC_CHUNKED, large.data()));
  small.record(heights, 0, {0}, {1});
  small.record(heights, 1, {1}, {1});
  CHECK(contains(error_of(small.close()),
                 "b.nc: v: 2 x 2 x 2 values in chunks of 3200000000 bytes, more than"));
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  CHECK(after.ru_maxrss - before.ru_maxrss < 64 * 1024);  // KB
}

// The size of a file does not bound it: a large chunk of zeros is small.
TEST_CASE("netCDF, a chunk that compresses well") {
  test::folder const in("volume-netcdf-small");
  nc_writer w(in.path("a.nc"));
  int group = 0;
  need(nc_def_grp(w.file, "model", &group));
  std::vector<int> const dimensions{w.dimension("z", 256), w.dimension("y", 256), w.dimension("x", 256)};
  std::array<std::size_t, 3> const whole{256, 256, 256};
  for (auto const where : {w.file, group}) {
    auto const v = w.variable("v", NC_UBYTE, dimensions, where);
    need(nc_def_var_chunking(where, v, NC_CHUNKED, whole.data()));
    need(nc_def_var_deflate(where, v, 0, 1, 9));
    need(nc_put_var_uchar(where, v, std::vector<unsigned char>(256 * 256 * 256).data()));
  }
  auto const path = w.close();
  for (auto const* const name : {"v", "/model/v"})
    CHECK(read_grid(*open_volume(path, {name, 0})).at(255, 255, 255) == 0);
}
