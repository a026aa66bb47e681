// HDF5 and VTKHDF files, written with libhdf5, and malformed ones.
#include <hdf5.h>
#include <sys/resource.h>

#include <cmath>
#include <filesystem>
#include <random>
#include <thread>

#include "catch.hpp"
#include "check_volume.hpp"
#include "fewer.hpp"

using namespace volume_data;
using test::contains;
using test::error_of;

namespace {

using sizes = std::vector<hsize_t>;

hid_t need(hid_t id) {
  REQUIRE(id >= 0);
  return id;
}

class h5_writer {
 public:
  explicit h5_writer(std::string path) : path_(std::move(path)) {
    file = need(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  }
  h5_writer(h5_writer const&) = delete;
  h5_writer& operator=(h5_writer const&) = delete;
  ~h5_writer() {
    if (file >= 0) H5Fclose(file);
  }

  void group(char const* name) {
    need(H5Gclose(need(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT))));
  }
  /// Returns the creation properties of data sets in chunks.
  static hid_t chunked(sizes const& chunk) {
    auto const p = need(H5Pcreate(H5P_DATASET_CREATE));
    need(H5Pset_chunk(p, static_cast<int>(chunk.size()), chunk.data()));
    return p;
  }
  /// Without values, they are never written.
  void data(char const* name, sizes const& size, std::vector<double> const& values,
            hid_t type = H5T_NATIVE_FLOAT, hid_t properties = H5P_DEFAULT, sizes const& most = {}) {
    auto const space = need(
        H5Screate_simple(static_cast<int>(size.size()), size.data(), most.empty() ? nullptr : most.data()));
    auto const set = need(H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    if (!values.empty()) need(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
    H5Dclose(set);
    H5Sclose(space);
  }
  void numbers(char const* object, char const* name, std::vector<double> const& values) {
    hsize_t const size = values.size();
    auto const space = need(H5Screate_simple(1, &size, nullptr));
    auto const a = need(H5Acreate_by_name(file, object, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                          H5P_DEFAULT, H5P_DEFAULT));
    need(H5Awrite(a, H5T_NATIVE_DOUBLE, values.data()));
    H5Aclose(a);
    H5Sclose(space);
  }
  /// Padded by spaces.
  void text(char const* object, char const* name, std::string const& value) {
    auto const type = need(H5Tcopy(H5T_FORTRAN_S1)), space = need(H5Screate(H5S_SCALAR));
    need(H5Tset_size(type, value.size() + 3));
    auto const a =
        need(H5Acreate_by_name(file, object, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    need(H5Awrite(a, type, (value + "   ").c_str()));
    H5Aclose(a);
    H5Sclose(space);
    H5Tclose(type);
  }
  /// Writes everything and returns the path.
  std::string close() {
    need(H5Fclose(std::exchange(file, -1)));
    return path_;
  }

  hid_t file = -1;

 private:
  std::string path_;
};

sizes const shape{test::nz, test::ny, test::nx};

std::vector<double> values() {
  std::vector<double> all(test::samples);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = test::value(i);
  return all;
}

std::string write_plain(std::string const& path) {
  h5_writer w(path);
  auto const p = h5_writer::chunked({1, 2, 3});
  need(H5Pset_deflate(p, 9));
  w.data("wind", shape, values(), H5T_STD_I16BE, p);
  w.text("wind", "units", "m s-1");
  H5Pclose(p);
  return w.close();
}

/// Image data with what `change` adds or replaces.
template <class Change>
std::string write_image(std::string const& path, Change const& change) {
  h5_writer w(path);
  w.group("VTKHDF");
  w.group("VTKHDF/PointData");
  w.numbers("VTKHDF", "Version", {1, 0});
  w.text("VTKHDF", "Type", "ImageData");
  w.numbers("VTKHDF", "WholeExtent", {0, 4, 0, 3, 0, 2});
  w.numbers("VTKHDF", "Origin", {1, 2, 3});
  w.numbers("VTKHDF", "Spacing", {0.5, 1, 2});
  change(w);
  return w.close();
}

void replace(h5_writer& w, char const* name, std::vector<double> const& numbers) {
  need(H5Adelete_by_name(w.file, "VTKHDF", name, H5P_DEFAULT));
  w.numbers("VTKHDF", name, numbers);
}

}  // namespace

TEST_CASE("HDF5, data sets to choose from") {
  test::folder const in("volume-hdf5");
  auto const path = write_plain(in.path("a.h5"));
  auto const g = read_grid(path);
  test::check_values(g);
  CHECK(g.header.type == scalar_type::float32);
  CHECK(g.header.coordinates[1] == std::vector<double>{0, 1, 2, 3});
  h5_writer single(in.path("c.h5"));
  single.data("wind", {test::nz, test::ny, test::nx, 1}, values());
  test::check_values(read_grid(single.close()));
  auto const volume = open_volume(path, {"/wind", 0});
  volume->skip(2);
  std::vector<float> last(volume->header().slice_samples());
  volume->read(std::span(last));
  CHECK(last[3] == static_cast<float>(test::value(43)));
  h5_writer w(in.path("b.h5"));
  w.group("model");
  w.data("model/u", shape, values(), H5T_IEEE_F64BE);
  w.data("series", {2, 3, 4, 5}, {});
  w.data("flat", {4, 5}, {}, H5T_STD_U8LE);
  w.data("none", {}, {}, H5T_NATIVE_INT64);
  w.data("label", shape, {}, H5T_C_S1);
  auto const pair = need(H5Tcreate(H5T_COMPOUND, 8));
  need(H5Tinsert(pair, "re", 0, H5T_NATIVE_FLOAT));
  w.data("pair", shape, {}, pair);
  w.data("objects", shape, {}, H5T_STD_REF_OBJ);
  H5Tclose(pair);
  auto const several = w.close();
  CHECK(list_variables(several) ==
        "flat      uint8      4 x 5          (not a volume)\n"
        "label     text       3 x 4 x 5      (not a volume)\n"
        "/model/u  float64    3 x 4 x 5\n"
        "none      int64                     (not a volume)\n"
        "objects   reference  3 x 4 x 5      (not a volume)\n"
        "pair      compound   3 x 4 x 5      (not a volume)\n"
        "series    float32    2 x 3 x 4 x 5\n");
  test::check_values(read_grid(*open_volume(several, {"model/u", 0})));
  h5_writer thin(in.path("d.h5"));  // only one variable has cells
  thin.data("none", {0, 3, 3}, {});
  thin.data("one", {1, 4, 5}, {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7});
  thin.data("wind", shape, values());
  auto const only = thin.close();
  CHECK(list_variables(only) ==
        "none  float32  0 x 3 x 3  (not a volume)\n"
        "one   float32  1 x 4 x 5  (not a volume)\n"
        "wind  float32  3 x 4 x 5\n");
  test::check_values(read_grid(only));
  CHECK(read_grid(*open_volume(only, {"one", 0})).at(4, 3, 0) == 7);
  auto const error = [&](volume_choice const& choice) {
    return test::message_of([&] { static_cast<void>(open_volume(several, choice)); });
  };
  CHECK(contains(error({"", 0}), "b.h5: expected --variable NAME, found /model/u, series"));
  CHECK(contains(error({"v", 0}), "b.h5: expected a variable v, found /model/u, series"));
  CHECK(contains(error({"pair", 0}),
                 "pair: expected numbers with three dimensions beside time, found compound with 3"));
  CHECK(contains(error({"objects", 0}), "objects: expected numbers"));
  CHECK(contains(error({"flat", 0}), "found uint8 with 2"));
  CHECK(contains(error({"series", 2}), "b.h5: --time: expected 0 to 1, found 2"));
}

TEST_CASE("HDF5, attributes of packed and missing values") {
  test::folder const in("volume-hdf5-packed");
  h5_writer w(in.path("a.h5"));
  w.data("v", {1, 1, 5}, {1, -2, 7, -3, 9}, H5T_STD_I16LE);
  w.numbers("v", "scale_factor", {0.5});
  w.numbers("v", "add_offset", {100});
  w.numbers("v", "_FillValue", {-2});
  w.numbers("v", "missing_value", {7});
  w.numbers("v", "valid_max", {104});  // of a floating type: of the unpacked values
  auto const path = w.close();
  auto const g = read_grid(path);
  CHECK(g.at(0, 0, 0) == 100.5);
  CHECK(std::isnan(g.at(1, 0, 0)));
  CHECK(std::isnan(g.at(2, 0, 0)));
  CHECK(g.at(3, 0, 0) == 98.5);
  CHECK(std::isnan(g.at(4, 0, 0)));
}

TEST_CASE("HDF5, names with control characters are listed on one line each") {
  test::folder const in("volume-hdf5-names");
  h5_writer w(in.path("a.h5"));
  w.data("a\nb", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  w.data("c\x1b[31m", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(list_variables(w.close()) == "a b        float32  2 x 2 x 2\nc\\x1b[31m  float32  2 x 2 x 2\n");
}

TEST_CASE("HDF5, values that are not in the file") {
  test::folder const in("volume-hdf5-elsewhere");
  auto const with = [&](auto const& change) {
    h5_writer w(in.path("a.h5"));
    auto const p = need(H5Pcreate(H5P_DATASET_CREATE));
    change(p);
    w.data("v", {2, 2, 2}, {}, H5T_NATIVE_FLOAT, p);
    H5Pclose(p);
    return error_of(w.close());
  };
  auto const secret = in.write("secret.bin", std::string(32, 'x'));
  CHECK(contains(with([&](hid_t p) { need(H5Pset_external(p, secret.c_str(), 0, 32)); }),
                 "a.h5: v: values in other files are not read"));
  CHECK(contains(with([](hid_t p) {
                   hsize_t const size[] = {2, 2, 2};
                   auto const space = need(H5Screate_simple(3, size, nullptr));
                   need(H5Pset_virtual(p, space, "other.h5", "v", space));
                   H5Sclose(space);
                 }),
                 "a.h5: v: virtual data sets are not read"));
  // A filter that only the writer has.
  constexpr H5Z_filter_t number = 305;
  H5Z_class2_t const filter{
      H5Z_CLASS_T_VERS,
      number,
      1,
      1,
      "a filter of ours",
      nullptr,
      nullptr,
      [](unsigned, std::size_t, unsigned const*, std::size_t bytes, std::size_t*, void**) { return bytes; }};
  need(H5Zregister(&filter));
  h5_writer w(in.path("b.h5"));
  auto const p = h5_writer::chunked({2, 2, 2});
  need(H5Pset_filter(p, number, 0, 0, nullptr));
  w.data("v", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}, H5T_NATIVE_FLOAT, p);
  H5Pclose(p);
  auto const path = w.close();
  CHECK(error_of(path) == "no error");
  need(H5Zunregister(number));
  CHECK(contains(error_of(path), "b.h5: v: needs filter 305 (a filter of ours), which HDF5 does not find"));
}

TEST_CASE("HDF5, files that are damaged") {
  // HDF5 prints none of the errors, and the program's own setting stays.
  static int printed = 0;
  H5E_auto2_t const print = [](hid_t, void*) -> herr_t { return ++printed; };
  need(H5Eset_auto2(H5E_DEFAULT, print, nullptr));
  test::folder const in("volume-hdf5-damaged");
  CHECK(contains(error_of(in.write("a.h5", "hello")), "a.h5: expected an HDF5 file: "));
  CHECK(contains(error_of(in.path("none.h5")), "none.h5: No such file"));
  auto const path = write_plain(in.path("whole.h5"));
  std::ifstream file(path, std::ios::binary);
  std::string const bytes{std::istreambuf_iterator<char>(file), {}};
  for (std::size_t n = 0; n < bytes.size(); n += 1 + n / 60) {
    auto const text = error_of(in.write("cut.h5", bytes.substr(0, n)));
    CHECK(text != "no error");
    CHECK(text.find('\n') == std::string::npos);
  }
  // Only the chunks of a slice are read: the last one of the last time is damaged.
  h5_writer w(in.path("times.h5"));
  auto const p = h5_writer::chunked({1, 1, test::ny, test::nx});
  need(H5Pset_deflate(p, 9));
  auto twice = values();
  twice.insert(twice.end(), twice.begin(), twice.end());
  w.data("wind", {2, test::nz, test::ny, test::nx}, twice, H5T_NATIVE_FLOAT, p);
  H5Pclose(p);
  auto const times = w.close();
  std::ifstream written(times, std::ios::binary);
  std::string changed{std::istreambuf_iterator<char>(written), {}};
  changed.replace(changed.rfind("\x78\xda"), 4, "\xff\xff\xff\xff");
  in.write("times.h5", changed);
  test::check_values(read_grid(times));
  auto const last = open_volume(times, {"", 1});
  std::vector<float> slice(last->header().slice_samples());
  for (std::size_t z = 0; z + 1 < test::nz; ++z) {
    last->read(std::span(slice));
    CHECK(slice[1] == static_cast<float>(test::value(z * test::ny * test::nx + 1)));
  }
  CHECK(contains(test::message_of([&] { last->read(std::span(slice)); }), "times.h5: wind: "));
  H5E_auto2_t now = nullptr;
  void* data = nullptr;
  need(H5Eget_auto2(H5E_DEFAULT, &now, &data));
  CHECK(now == print);
  CHECK(printed == 0);
}

TEST_CASE("HDF5, a small file of a large volume") {
  test::folder const in("volume-hdf5-sparse");
  h5_writer w(in.path("a.h5"));
  auto const p = h5_writer::chunked({64, 64, 64});
  need(H5Pset_deflate(p, 9));
  std::vector<double> ones(128 * 128 * 128);
  ones[0] = 1;
  w.data("v", {128, 128, 128}, ones, H5T_STD_U8LE, p);
  w.data("unwritten", {128, 128, 128}, {}, H5T_STD_U8LE, p);
  H5Pclose(p);
  auto const path = w.close();
  CHECK(std::filesystem::file_size(path) < 128 * 128 * 128 * 4 / 1032);
  auto const g = read_grid(*open_volume(path, {"v", 0}));
  CHECK(g.at(0, 0, 0) == 1);
  CHECK(g.at(127, 127, 127) == 0);
  CHECK(read_grid(*open_volume(path, {"unwritten", 0})).at(1, 2, 3) == 0);
}

TEST_CASE("HDF5, sizes are not trusted") {
  test::folder const in("volume-hdf5-sizes");
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  auto const with = [&](sizes const& size, sizes const& chunk) {
    h5_writer w(in.path("a.h5"));
    auto const p = chunk.empty() ? H5P_DEFAULT : h5_writer::chunked(chunk);
    w.data("v", size, {}, H5T_NATIVE_FLOAT, p, chunk.empty() ? sizes{} : sizes(3, H5S_UNLIMITED));
    if (p != H5P_DEFAULT) H5Pclose(p);
    return error_of(w.close());
  };
  CHECK(contains(with({100000, 100000, 100000}, {}),
                 "a.h5: v: 100000 x 100000 x 100000 values, more than the file can hold"));
  CHECK(contains(with({100000, 100000, 100000}, {1, 1000, 1000}),
                 "values in chunks of 8000000 bytes, more than"));
  CHECK(contains(with({2, 2, 2}, {100000000, 2, 2}),
                 "2 x 2 x 2 values in chunks of 3200000000 bytes, more than"));
  CHECK(contains(with({2, 2, 0}, {1, 1, 1}), "a.h5: a size of 0, expected 1 to 2147483647"));
  CHECK(contains(with({2, 2, 1ULL << 33U}, {1, 1, 1}), "a.h5: a size of 8589934592"));
  CHECK(contains(error_of(write_image(in.path("b.vtkhdf"),
                                      [](h5_writer& w) {
                                        w.data("VTKHDF/PointData/v", {1, 1, 2147483647}, {});
                                        replace(w, "WholeExtent", {0, 2147483646, 0, 0, 0, 0});
                                      })),
                 "2147483647 x 1 x 1 values, more than the file can hold"));
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  CHECK(after.ru_maxrss - before.ru_maxrss < 64 * 1024);  // KB
}

// The size of a file bounds neither: filters may follow each other, and a large chunk of zeros is small.
TEST_CASE("HDF5, chunks that compress better than deflate can") {
  test::folder const in("volume-hdf5-small");
  h5_writer w(in.path("a.h5"));
  std::vector<unsigned char> const zeros(256 * 256 * 256);
  auto const written = [&](char const* name, sizes const& size, sizes const& chunk, int filters) {
    auto const p = h5_writer::chunked(chunk), memory = need(H5Screate_simple(3, chunk.data(), nullptr)),
               space = need(H5Screate_simple(3, size.data(), nullptr));
    for (int i = 0; i < filters; ++i) need(H5Pset_deflate(p, 9));
    auto const set = need(H5Dcreate2(w.file, name, H5T_STD_U8LE, space, H5P_DEFAULT, p, H5P_DEFAULT));
    sizes start{0, 0, 0};
    need(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, chunk.data(), nullptr));
    need(H5Dwrite(set, H5T_NATIVE_UINT8, memory, space, H5P_DEFAULT, zeros.data()));
    need(H5Dflush(set));
    hsize_t bytes = 0;
    need(H5Dget_chunk_storage_size(set, start.data(), &bytes));
    std::vector<char> packed(bytes);
    std::uint32_t skipped = 0;
    need(H5Dread_chunk(set, H5P_DEFAULT, start.data(), &skipped, packed.data()));
    while ((start[0] += chunk[0]) < size[0])
      need(H5Dwrite_chunk(set, H5P_DEFAULT, skipped, start.data(), bytes, packed.data()));
    H5Dclose(set);
    H5Sclose(space);
    H5Sclose(memory);
    H5Pclose(p);
  };
  written("one", {256, 256, 256}, {256, 256, 256}, 1);
  written("long", {1 << 20, 64, 64}, {4096, 64, 64}, 2);
  auto const path = w.close();
  CHECK(std::filesystem::file_size(path) < 200000);
  auto const as_netcdf = in.path("a.nc");
  std::filesystem::copy_file(path, as_netcdf);
  for (auto const& file : {path, as_netcdf}) {
    if (contains(error_of(file), "built without netCDF")) continue;
    CHECK(read_grid(*open_volume(file, {"one", 0})).at(255, 255, 255) == 0);
    auto const volume = open_volume(file, {"long", 0});
    volume->skip((1 << 20) - 1);
    std::vector<float> last(volume->header().slice_samples(), 1);
    volume->read(std::span(last));
    CHECK(std::ranges::count(last, 0) == 64 * 64);
  }
}

TEST_CASE("HDF5, coordinates that do not fit") {
  test::folder const in("volume-hdf5-scales");
  // A reference to the scale z along each axis.
  auto const with = [&](sizes const& size, std::vector<double> const& z, hid_t type) {
    h5_writer w(in.path("a.h5"));
    w.data("v", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
    w.data("z", size, z, type);
    hobj_ref_t reference = 0;
    need(H5Rcreate(&reference, w.file, "z", H5R_OBJECT, -1));
    std::array<hvl_t, 3> lists{};
    for (auto& list : lists) list = {1, &reference};
    hsize_t const three = 3;
    auto const list = need(H5Tvlen_create(H5T_STD_REF_OBJ)),
               space = need(H5Screate_simple(1, &three, nullptr));
    auto const a = need(
        H5Acreate_by_name(w.file, "v", "DIMENSION_LIST", list, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    need(H5Awrite(a, list, lists.data()));
    H5Aclose(a);
    H5Sclose(space);
    H5Tclose(list);
    return w.close();
  };
  CHECK(read_grid(*open_volume(with({2}, {3, 1}, H5T_NATIVE_FLOAT), {"v", 0})).at(0, 0, 0) == 8);
  CHECK(contains(error_of(with({2}, {1, 1}, H5T_NATIVE_FLOAT)),
                 "a.h5: z 2: coordinates must increase, found 1 in place 1"));
  CHECK(contains(error_of(with({2}, {}, H5T_C_S1)), "a.h5: coordinates z: expected numbers"));
  for (auto const& size : {sizes{3}, sizes{1}, sizes{2, 1}, sizes{}})  // indices instead
    CHECK(read_grid(*open_volume(with(size, {}, H5T_NATIVE_FLOAT), {"v", 0})).header.coordinates[2] ==
          std::vector<double>{0, 1});
}

TEST_CASE("VTKHDF, arrays to choose from") {
  test::folder const in("volume-vtkhdf");
  auto const path = write_image(in.path("a.vtkhdf"), [](h5_writer& w) {
    w.data("VTKHDF/PointData/velocity", {3, 4, 5, 3}, {});
    w.data("VTKHDF/PointData/vtkGhostType", shape, {}, H5T_STD_U8LE);
    w.data("VTKHDF/PointData/wind", shape, values());
    w.data("VTKHDF/PointData/zero", shape, {}, H5T_STD_I32LE);
    w.data("other", shape, {});
  });
  test::check_even(read_grid(path));
  CHECK(read_grid(*open_volume(path, {"zero", 0})).at(1, 1, 1) == 0);
  CHECK(list_variables(path) ==
        "velocity      float32  5 x 4 x 3, 3 components  (not a volume)\n"
        "vtkGhostType  uint8    5 x 4 x 3                (not a volume)\n"
        "wind          float32  5 x 4 x 3\n"
        "zero          int32    5 x 4 x 3\n");
  auto const error = [&](volume_choice const& choice) {
    return test::message_of([&] { static_cast<void>(open_volume(path, choice)); });
  };
  CHECK(contains(error({"velocity", 0}),
                 "a.vtkhdf: VTKHDF: expected PointData with an array of one component named velocity, found "
                 "wind, zero"));
  CHECK(contains(error({"wind", 1}), "a.vtkhdf: --time: expected 0 (the file has one time), found 1"));
}

TEST_CASE("VTKHDF, malformed") {
  test::folder const in("volume-vtkhdf-errors");
  auto const with = [&](auto const& change) {
    return error_of(write_image(in.path("a.h5"), [&](h5_writer& w) {
      w.data("VTKHDF/PointData/v", shape, values());
      change(w);
    }));
  };
  CHECK(with([](h5_writer&) {}) == "no error");
  auto const numbers = [&](char const* name, std::vector<double> const& all) {
    return with([&](h5_writer& w) { replace(w, name, all); });
  };
  CHECK(contains(numbers("Version", {3, 0}), "a.h5: VTKHDF: expected Version 1 or 2, found 3"));
  CHECK(contains(numbers("Origin", {0, 0}), "VTKHDF: expected Origin of 3 numbers"));
  CHECK(contains(numbers("Spacing", {1, 0, 1}), "a spacing of 0 from 2 on, expected a positive one"));
  CHECK(contains(numbers("WholeExtent", {0, 4, 0, 3, 0, 3}),
                 "VTKHDF: v: expected 4 values along z, as WholeExtent says, found 3"));
  CHECK(contains(numbers("WholeExtent", {4, 0, 0, 3, 0, 2}),
                 "WholeExtent: expected whole numbers, the second at least"));
  CHECK(contains(numbers("WholeExtent", {0, 4, 0, 3.5, 0, 2}), "WholeExtent: expected whole numbers"));
  CHECK(contains(numbers("WholeExtent", {-1e300, 1e300, 0, 3, 0, 2}), "WholeExtent: expected whole numbers"));
  CHECK(contains(numbers("WholeExtent", {0, NAN, 0, 3, 0, 2}), "WholeExtent: expected whole numbers"));
  CHECK(contains(with([](h5_writer& w) {
                   w.numbers("VTKHDF", "Direction", {0, 1, 0, 1, 0, 0, 0, 0, 1});
                 }),
                 "only axis-aligned grids are read"));
  CHECK(contains(with([](h5_writer& w) {
                   need(H5Adelete_by_name(w.file, "VTKHDF", "Type", H5P_DEFAULT));
                   w.text("VTKHDF", "Type", "PolyData");
                 }),
                 "a.h5: VTKHDF: expected Type ImageData, found PolyData"));
  CHECK(contains(with([](h5_writer& w) { need(H5Ldelete(w.file, "VTKHDF/PointData/v", H5P_DEFAULT)); }),
                 "expected PointData with an array of one component, found none"));
  // Times.
  auto const steps = [&](double count, sizes const& size, std::vector<double> const& offsets) {
    return with([&](h5_writer& w) {
      need(H5Ldelete(w.file, "VTKHDF/PointData/v", H5P_DEFAULT));
      w.data("VTKHDF/PointData/v", {2, 3, 4, 5}, {});
      w.group("VTKHDF/Steps");
      w.group("VTKHDF/Steps/PointDataOffsets");
      w.numbers("VTKHDF/Steps", "NSteps", {count});
      if (!size.empty()) w.data("VTKHDF/Steps/PointDataOffsets/v", size, offsets);
    });
  };
  CHECK(steps(2, {}, {}) == "no error");
  CHECK(steps(2, {2}, {1, 0}) == "no error");
  CHECK(contains(steps(0, {}, {}), "expected NSteps of at least 1"));
  CHECK(
      contains(steps(2, {2}, {2, 0}), "/VTKHDF/Steps/PointDataOffsets/v: expected a step below 2, found 2"));
  CHECK(contains(steps(2, {2}, {-1, 0}), "expected a step below 2, found -1"));
  CHECK(contains(steps(2, {0}, {}), "/VTKHDF/Steps/PointDataOffsets/v: "));
  CHECK(steps(2, {1, 1}, {5}) == "no error");  // of another form: ignored
}

// Shapes, types and chunks at random give the values that were written.
TEST_CASE("HDF5, random files") {
  test::folder const in("volume-hdf5-random");
  std::mt19937 random(20261126);
  std::array const types{H5T_STD_I8LE,  H5T_STD_U16BE,  H5T_STD_I32BE,
                         H5T_STD_U64LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE};
  auto const rounds = test::fewer_if_slow(300);
  for (std::size_t round = 0; round < rounds; ++round) {
    sizes size(2 + random() % 3), chunk;
    hsize_t count = 1;
    for (auto& n : size) n = 1 + random() % 5;
    if (size.size() == 4) size[3] += 1;  // else the first is no time
    for (auto const n : size) count *= n;
    for (auto const n : size) chunk.push_back(1 + random() % n);
    std::vector<double> stored(count);
    for (std::size_t i = 0; i < stored.size(); ++i) stored[i] = static_cast<double>(i * 7 % 120);
    h5_writer w(in.path("a.h5"));
    auto const p = random() % 2 == 0 ? need(H5Pcreate(H5P_DATASET_CREATE)) : h5_writer::chunked(chunk);
    w.data("v", size, stored, types[random() % types.size()], p);
    H5Pclose(p);
    auto const path = w.close();
    if (size.size() == 2) {
      CHECK(contains(error_of(path), "found no variable with three dimensions beside time"));
      continue;
    }
    auto const time = size.size() == 4 ? random() % size[0] : 0;
    auto const g = read_grid(*open_volume(path, {"", time}));
    auto const& n = g.header.size;
    REQUIRE(n ==
            std::array<std::size_t, 3>{size[size.size() - 1], size[size.size() - 2], size[size.size() - 3]});
    bool same = true;
    for (std::size_t z = 0, i = time * g.header.samples(); z < n[2]; ++z)
      for (std::size_t y = 0; y < n[1]; ++y)
        for (std::size_t x = 0; x < n[0]; ++x, ++i) same = same && g.at(x, y, z) == stored[i];
    CHECK(same);
  }
}

// libnetcdf calls HDF5, so the readers of both share a lock.
TEST_CASE("HDF5, in several threads") {
  test::folder const in("volume-hdf5-threads");
  std::array paths{write_plain(in.path("a.h5")), write_plain(in.path("b.nc"))};
  if (contains(error_of(paths[1]), "built without netCDF")) paths[1] = paths[0];
  std::array<bool, 4> same{};
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < same.size(); ++t)
      threads.emplace_back([&same, &paths, t] {
        same[t] = true;
        for (int i = 0; i < 20; ++i)
          same[t] = same[t] && read_grid(paths[t % 2]).at(1, 0, 0) == test::value(1);
      });
  }
  CHECK(std::ranges::all_of(same, [](bool ok) { return ok; }));
}
