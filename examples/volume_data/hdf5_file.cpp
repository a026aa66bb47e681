#define H5_USE_110_API  // newer versions of the library have it as well
#include "hdf5_file.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <numeric>

#include "skel/error.hpp"

namespace volume_data {

namespace {

static_assert(std::is_same_v<hid_t, std::int64_t> && sizeof(hobj_ref_t) == sizeof(std::uint64_t));

constexpr std::size_t most_variables = 65536;

/// The first cause of the last error.
std::string reason() {
  std::string text;
  auto const keep_first = [](unsigned, H5E_error2_t const* error, void* to) -> herr_t {
    auto& first = *static_cast<std::string*>(to);
    if (first.empty() && error->desc != nullptr) first = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
  std::ranges::replace(text, '\n', ' ');
  return text.empty() ? "HDF5 cannot read it" : text;
}

struct number {
  std::string name;
  std::optional<scalar_type> type{};
};

number number_of(hid_t type) {
  auto const bits = H5Tget_precision(type);
  switch (H5Tget_class(type)) {
    case H5T_INTEGER: {
      bool const is_signed = H5Tget_sign(type) == H5T_SGN_2;
      number n{fmt::format("{}int{}", is_signed ? "" : "u", bits)};
      if (bits <= 8)
        n.type = is_signed ? scalar_type::int8 : scalar_type::uint8;
      else if (bits <= 16)
        n.type = is_signed ? scalar_type::int16 : scalar_type::uint16;
      else if (bits <= 32)
        n.type = is_signed ? scalar_type::int32 : scalar_type::uint32;
      else if (bits <= 64)
        n.type = is_signed ? scalar_type::int64 : scalar_type::uint64;
      return n;
    }
    case H5T_FLOAT:
      return {fmt::format("float{}", bits), bits <= 32 ? scalar_type::float32 : scalar_type::float64};
    case H5T_STRING:
      return {"text"};
    case H5T_COMPOUND:
      return {"compound"};
    case H5T_REFERENCE:
      return {"reference"};
    case H5T_ENUM:
      return {"enum"};
    case H5T_ARRAY:
      return {"array"};
    case H5T_VLEN:
      return {"list"};
    default:
      return {"other type"};
  }
}

hdf5_id attribute(hid_t object, char const* name) {
  return hdf5_id(H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1);
}

std::string text_of(hid_t object, char const* name) {
  auto const a = attribute(object, name);
  hdf5_id const type(H5Aget_type(a.get())), space(H5Aget_space(a.get()));
  if (!a || H5Tget_class(type.get()) != H5T_STRING || H5Sget_simple_extent_npoints(space.get()) != 1)
    return "";
  if (H5Tis_variable_str(type.get()) > 0) {
    char* value = nullptr;
    if (H5Aread(a.get(), type.get(), static_cast<void*>(&value)) < 0 || value == nullptr) return "";
    std::string copy(value, strnlen(value, array_file::longest_text));
    H5free_memory(value);
    return copy;
  }
  auto const length = H5Tget_size(type.get());
  std::string value(length <= array_file::longest_text ? length : 0, '\0');
  if (value.empty() || H5Aread(a.get(), type.get(), value.data()) < 0) return "";
  value.resize(strnlen(value.data(), value.size()));
  return std::string(trimmed(value));  // may be padded by spaces
}

std::vector<double> numbers_of(hid_t object, char const* name) {
  auto const a = attribute(object, name);
  hdf5_id const type(H5Aget_type(a.get())), space(H5Aget_space(a.get()));
  auto const count = H5Sget_simple_extent_npoints(space.get());
  if (!a || !number_of(type.get()).type || count < 1 || count > hssize_t{array_file::most_numbers}) return {};
  std::vector<double> values(static_cast<std::size_t>(count));
  if (H5Aread(a.get(), H5T_NATIVE_DOUBLE, values.data()) < 0) return {};
  return values;
}

/// For each dimension, the reference to its first dimension scale, or 0.
std::vector<std::uint64_t> scales_of(hid_t data, std::size_t rank) {
  std::vector<std::uint64_t> scales(rank, 0);
  auto const a = attribute(data, "DIMENSION_LIST");
  hdf5_id const type(H5Aget_type(a.get())), space(H5Aget_space(a.get()));
  if (!a || H5Tget_class(type.get()) != H5T_VLEN ||
      H5Sget_simple_extent_npoints(space.get()) != static_cast<hssize_t>(rank))
    return scales;
  hdf5_id const item(H5Tget_super(type.get())), memory(H5Tvlen_create(H5T_STD_REF_OBJ));
  std::vector<hvl_t> lists(rank);
  if (H5Tequal(item.get(), H5T_STD_REF_OBJ) <= 0 || H5Aread(a.get(), memory.get(), lists.data()) < 0)
    return scales;
  for (std::size_t d = 0; d < rank; ++d)
    if (lists[d].len > 0) std::memcpy(&scales[d], lists[d].p, sizeof scales[d]);
  H5Dvlen_reclaim(memory.get(), space.get(), H5P_DEFAULT, lists.data());
  return scales;
}

struct extent {
  std::vector<hsize_t> size, most;
};

extent extent_of(hid_t data) {
  hdf5_id const space(H5Dget_space(data));
  auto const rank = std::max(H5Sget_simple_extent_ndims(space.get()), 0);
  extent e{std::vector<hsize_t>(static_cast<std::size_t>(rank)),
           std::vector<hsize_t>(static_cast<std::size_t>(rank))};
  H5Sget_simple_extent_dims(space.get(), e.size.data(), e.most.data());
  return e;
}

// Without filters, values take their place in the file. With them, a chunk that is there holds all of its
// values, however few its bytes.
std::optional<double> written_in(hid_t data, std::string const& path) {
  hdf5_id const all(H5Dget_create_plist(data)), type(H5Dget_type(data)), space(H5Dget_space(data));
  auto const filters = H5Pget_nfilters(all.get());
  auto const bytes = H5Tget_size(type.get());
  if (filters < 0 || bytes == 0) return std::nullopt;
  if (filters == 0) return static_cast<double>(file_length(path)) / static_cast<double>(bytes);
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  auto const rank = H5Pget_chunk(all.get(), H5S_MAX_RANK, sizes.data());
  hsize_t chunks = 0;
  if (rank < 0 || H5Dget_num_chunks(data, space.get(), &chunks) < 0) return std::nullopt;
  return std::accumulate(sizes.begin(), sizes.begin() + rank, static_cast<double>(chunks),
                         std::multiplies<>());
}

}  // namespace

std::optional<double> written_in_hdf5(std::string const& path, std::string const& variable) {
  hdf5_id const file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));  // libnetcdf has it open, too
  hdf5_id const data(H5Dopen2(file.get(), variable.c_str(), H5P_DEFAULT));
  return data ? written_in(data.get(), path) : std::nullopt;
}

hdf5_id::~hdf5_id() {
  if (id_ >= 0) H5Idec_ref(id_);
}

// The setting is one of the thread, if HDF5 is thread-safe.
hdf5_printer silence_hdf5() noexcept {
  hdf5_printer before;
  H5Eget_auto2(H5E_DEFAULT, &before.print, &before.data);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  return before;
}
void restore(hdf5_printer const& before) noexcept { H5Eset_auto2(H5E_DEFAULT, before.print, before.data); }

hdf5_file::hdf5_file(std::string const& path) : array_file(path) {
  static_cast<void>(file_length(path));  // says why a file cannot be opened
  file_ = hdf5_id(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (!file_) throw skel::usage_error(fmt::format("{}: expected an HDF5 file: {}", path, reason()));
  std::vector<std::string> names;
  auto const add = [](hid_t, char const* name, H5L_info_t const* link, void* to) -> herr_t {
    auto& all = *static_cast<std::vector<std::string>*>(to);
    if (link->type == H5L_TYPE_HARD) all.emplace_back(name);
    return all.size() > most_variables ? 1 : 0;
  };
  auto const status = H5Lvisit(file_.get(), H5_INDEX_NAME, H5_ITER_INC, add, &names);
  if (status < 0) fail("groups");
  if (status > 0)
    throw skel::usage_error(fmt::format("{}: expected at most {} objects", path, most_variables));
  for (auto const& name : names) add_variable(name);
}

void hdf5_file::fail(std::string const& what) const {
  throw skel::usage_error(fmt::format("{}: {}: {}", path(), what, reason()));
}

void hdf5_file::add_variable(std::string const& path) {
  hdf5_id const object(H5Oopen(file_.get(), path.c_str(), H5P_DEFAULT));
  if (!object) fail(path);
  if (H5Iget_type(object.get()) != H5I_DATASET) return;
  // netCDF keeps dimensions without coordinates as data sets.
  if (text_of(object.get(), "NAME").starts_with("This is a netCDF dimension but not a netCDF variable"))
    return;
  hdf5_id const type(H5Dget_type(object.get()));
  if (!type) fail(path);
  auto n = number_of(type.get());
  std::uint64_t reference = 0;
  H5Rcreate(&reference, file_.get(), path.c_str(), H5R_OBJECT, -1);
  references_.push_back(reference);
  variables_.push_back({0, static_cast<int>(variables_.size()),
                        (path.find('/') == std::string::npos ? "" : "/") + path, n.type, std::move(n.name),
                        extent_of(object.get()).size.size()});
}

std::int64_t hdf5_file::opened(array_variable const& v) const {
  if (data_of_ == v.id) return data_.get();
  data_of_ = -1;
  data_ = hdf5_id();  // closed before it may be opened with another cache
  hdf5_id const access(H5Pcreate(H5P_DATASET_ACCESS));
  constexpr std::size_t slots = 12421;
  if (cached_ == v.id) H5Pset_chunk_cache(access.get(), slots, cache_bytes_, 0.75);
  data_ = hdf5_id(H5Dopen2(file_.get(), v.name.c_str(), access.get()));
  if (!data_) fail(v.name);
  data_of_ = v.id;
  return data_.get();
}

std::vector<array_dimension> hdf5_file::dimensions(array_variable const& of) const {
  auto const e = extent_of(opened(of));
  auto const scales = scales_of(opened(of), e.size.size());
  std::vector<array_dimension> all(e.size.size());
  for (std::size_t d = 0; d < all.size(); ++d) {
    all[d].length = e.size[d];
    all[d].unlimited = e.most[d] == H5S_UNLIMITED;
    auto const scale = std::ranges::find(references_, scales[d]);
    if (scales[d] == 0 || scale == references_.end()) continue;
    auto const& v = variables_[static_cast<std::size_t>(scale - references_.begin())];
    all[d].name = v.name.substr(v.name.rfind('/') + 1);
    if (extent_of(opened(v)).size == std::vector{e.size[d]}) all[d].coordinate = v;
  }
  return all;
}

std::string hdf5_file::text(array_variable const& of, char const* name) const {
  return text_of(opened(of), name);
}
std::vector<double> hdf5_file::numbers(array_variable const& of, char const* name) const {
  return numbers_of(opened(of), name);
}

bool hdf5_file::is_floating(array_variable const& of, char const* name) const {
  auto const a = attribute(opened(of), name);
  hdf5_id const type(H5Aget_type(a.get()));
  return H5Tget_class(type.get()) == H5T_FLOAT;
}

hdf5_id hdf5_file::group(char const* name) const { return hdf5_id(H5Gopen2(file_.get(), name, H5P_DEFAULT)); }
std::string hdf5_file::group_text(char const* group_name, char const* name) const {
  auto const g = group(group_name);
  return g ? text_of(g.get(), name) : "";
}
std::vector<double> hdf5_file::group_numbers(char const* group_name, char const* name) const {
  auto const g = group(group_name);
  return g ? numbers_of(g.get(), name) : std::vector<double>{};
}

hdf5_id hdf5_file::properties(array_variable const& v) const {
  hdf5_id all(H5Dget_create_plist(opened(v)));
  if (!all) fail(v.name);
  auto const refuse = [&](std::string const& what) {
    throw skel::usage_error(fmt::format("{}: {}: {}", path(), v.name, what));
  };
  if (H5Pget_layout(all.get()) == H5D_VIRTUAL) refuse("virtual data sets are not read");
  if (H5Pget_external_count(all.get()) != 0) refuse("values in other files are not read");
  for (int i = 0; i < H5Pget_nfilters(all.get()); ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    std::string name(256, '\0');
    auto const filter = H5Pget_filter2(all.get(), static_cast<unsigned>(i), &flags, &values, nullptr,
                                       name.size() - 1, name.data(), nullptr);
    if (filter < 0 || H5Zfilter_avail(filter) <= 0)
      refuse(fmt::format("needs filter {} ({}), which HDF5 does not find (see HDF5_PLUGIN_PATH)",
                         static_cast<int>(filter), name.c_str()));
  }
  return all;
}

std::vector<std::size_t> hdf5_file::chunks(array_variable const& of) const {
  auto const all = properties(of);
  if (H5Pget_layout(all.get()) != H5D_CHUNKED) return {};
  std::vector<hsize_t> sizes(of.rank);
  if (H5Pget_chunk(all.get(), static_cast<int>(of.rank), sizes.data()) < 0) fail(of.name);
  return {sizes.begin(), sizes.end()};
}

void hdf5_file::set_cache(array_variable const& of, std::size_t bytes) {
  cached_ = of.id;
  cache_bytes_ = bytes;
  data_of_ = -1;  // opened again
}

double hdf5_file::written(array_variable const& of) const {
  auto const values = written_in(opened(of), path());
  if (!values) fail(of.name);
  return *values;
}

void hdf5_file::read(array_variable const& of, std::vector<std::size_t> const& start,
                     std::vector<std::size_t> const& count, std::vector<double>& to) const {
  static_cast<void>(properties(of));
  std::vector<hsize_t> const from(start.begin(), start.end()), sizes(count.begin(), count.end());
  hsize_t const values = to.size();
  hdf5_id const stored(H5Dget_space(opened(of))), memory(H5Screate_simple(1, &values, nullptr));
  if (H5Sselect_hyperslab(stored.get(), H5S_SELECT_SET, from.data(), nullptr, sizes.data(), nullptr) < 0 ||
      H5Dread(opened(of), H5T_NATIVE_DOUBLE, memory.get(), stored.get(), H5P_DEFAULT, to.data()) < 0)
    fail(of.name);
}

}  // namespace volume_data
