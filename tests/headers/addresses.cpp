// Which types are seen to hold addresses.
#include "skel/detail/addresses.hpp"

#include <chrono>
#include <complex>
#include <functional>
#include <map>
#include <ranges>
#include <string>
#include <vector>

#include "catch.hpp"
#include "skel/detail/conversion.hpp"
#include "skel/transfer.hpp"

namespace {

using skel::detail::holds_address;

struct plain {
  int n;
  double x;
};
struct text8 {  // converts from an address, and holds none
  char text[8] = {};
  text8() = default;
  text8(char const* /*from*/) {}  // NOLINT(google-explicit-constructor)
};
struct bits {
  unsigned a : 3, b : 5;
  bool c;
};
struct with_union {
  union {
    int i;
    double d;
  };
  int tag;
};
struct numbers {
  bool a;
  long double b;
  float c[7], d[2][3];
  std::complex<double> e;
  std::chrono::seconds f;
  std::optional<int> g;
  std::variant<int, double> h;
  std::array<plain, 3> i;
  std::byte j;
  text8 k;
};
struct derived : plain {
  int more;
};
static_assert(!holds_address<plain>);
static_assert(!holds_address<text8>);
static_assert(!holds_address<bits>);
static_assert(!holds_address<with_union>);
static_assert(!holds_address<numbers>);
static_assert(!holds_address<derived>);
static_assert(!holds_address<std::map<int, std::string>>);
static_assert(!holds_address<std::ranges::iota_view<int, int>>);

struct pointer {
  int n;
  int* p;
};
struct pointers {
  int n;
  char const* names[4];
};
struct behind_much {
  char name[4096];
  numbers n;
  std::string_view last;
};
struct nested {
  plain a;
  std::array<pointer, 2> b;
};
struct base_points : pointer {
  int more;
};
struct derived_points : plain {
  int const* const p = nullptr;
};
struct functions {
  void (*f)();
};
struct members {
  int plain::*m;
};
struct maybe {
  std::optional<int> a;
  std::optional<int*> b;
};
struct one_of {
  std::variant<int, double> a;
  std::variant<int, std::string_view> b;
};
struct union_points {
  union {
    int* p;
    int i;
  };
};
static_assert(holds_address<int*>);
static_assert(holds_address<std::nullptr_t>);
static_assert(holds_address<std::string_view>);
static_assert(holds_address<std::span<int, 3>>);
static_assert(holds_address<std::reference_wrapper<int>>);
static_assert(holds_address<std::function<int()>>);
static_assert(holds_address<std::initializer_list<int>>);
static_assert(holds_address<std::shared_ptr<int>>);
static_assert(holds_address<std::error_code>);
static_assert(holds_address<std::vector<int>::iterator>);
static_assert(holds_address<std::map<int, int>::const_iterator>);
static_assert(holds_address<std::ranges::ref_view<std::vector<int>>>);
static_assert(holds_address<std::ranges::subrange<std::vector<int>::iterator>>);
static_assert(holds_address<std::pair<int, std::string_view>>);
static_assert(holds_address<std::tuple<int, std::optional<int*>>>);
static_assert(holds_address<std::map<int, std::vector<int const*>>>);
static_assert(holds_address<pointer>);
static_assert(holds_address<pointers>);
static_assert(holds_address<behind_much>);
static_assert(holds_address<nested>);
static_assert(holds_address<base_points>);
static_assert(holds_address<derived_points>);
static_assert(holds_address<functions>);
static_assert(holds_address<members>);
static_assert(holds_address<maybe>);
static_assert(holds_address<one_of>);
static_assert(holds_address<union_points>);

static_assert(!skel::transferable<std::string_view>);
static_assert(!skel::transferable<std::array<std::span<int>, 2>>);
static_assert(!skel::transferable<std::vector<pointer>>);
static_assert(!skel::transferable<std::pair<int, pointer>>);
static_assert(skel::transferable<numbers>);

using skel::detail::holds_every;
static_assert(holds_every<int, long>() && holds_every<int, double>() && holds_every<unsigned, long>());
static_assert(holds_every<float, double>() && holds_every<bool, int>() && holds_every<std::string, int>());
static_assert(!holds_every<double, long>() && !holds_every<double, float>() && !holds_every<long, int>());
static_assert(!holds_every<int, unsigned long>() && !holds_every<unsigned long, long>());
static_assert(!holds_every<long, double>() && !holds_every<int, bool>());

}  // namespace

// A value that holds a pointer can be sent if its traits define how.
namespace {
int const cells[8] = {};
}
template <>
struct skel::transfer_traits<int const*> {
  static void pack(int const* const& p, std::vector<std::byte>& out) { skel::pack(p - cells, out); }
  static int const* unpack(std::span<std::byte const>& in) {
    return cells + skel::unpack<std::ptrdiff_t>(in);
  }
};

TEST_CASE("types that hold an address need traits to be sent") {
  std::vector<std::byte> bytes;
  skel::pack(std::vector<int const*>{cells + 3, cells}, bytes);
  std::span<std::byte const> in(bytes);
  CHECK(skel::unpack<std::vector<int const*>>(in) == std::vector<int const*>{cells + 3, cells});
}
