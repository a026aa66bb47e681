// Each public concept with what it accepts and what it rejects.
#include <array>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "catch.hpp"
#include "skel/serialization.hpp"
#include "skel/skel.hpp"

namespace {

// Every skeleton has these options, in this order.
template <class Options>
bool shares_options() {
  Options const o{.stop = {}, .time_limit_seconds = 1.0, .label = "x", .max_losses_per_task = 1};
  return std::is_same_v<decltype(o.stop), skel::stop_condition> &&
         std::is_same_v<decltype(o.time_limit_seconds), std::optional<double>> &&
         std::is_same_v<decltype(o.label), std::string> &&
         std::is_same_v<decltype(o.max_losses_per_task), unsigned>;
}
// Those that save checkpoints have this one after them.
template <class Options>
bool saves_checkpoints() {
  Options const o{.max_losses_per_task = 1, .checkpoint = skel::checkpoint_options{}};
  return std::is_same_v<decltype(o.checkpoint), std::optional<skel::checkpoint_options>>;
}

class secret {
 public:
  secret() = default;
  explicit secret(int x) : x_(x) {}
  friend bool operator==(secret const&, secret const&) = default;

 private:
  friend class boost::serialization::access;
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& x_& names_;
  }
  int x_ = 0;
  std::vector<std::string> names_{"a", "b"};
};
// Its functions take single archives, so a look at the type finds none.
struct single {
  std::string text;
  friend bool operator==(single const&, single const&) = default;
};
void serialize(boost::archive::binary_oarchive& archive, single& s, unsigned) { archive& s.text; }
void serialize(boost::archive::binary_iarchive& archive, single& s, unsigned) { archive& s.text; }

}  // namespace
template <>
inline constexpr bool skel::uses_boost_serialization<single> = true;
namespace {

struct point {
  double x, y;
  friend bool operator==(point const&, point const&) = default;
};

static_assert(skel::transferable<point>);
static_assert(skel::transferable<secret>);
static_assert(skel::transferable<single>);
static_assert(skel::transferable<std::map<std::string, std::vector<secret>>>);
static_assert(skel::transferable<std::tuple<int, std::optional<std::string>, secret>>);
static_assert(skel::transferable<std::variant<std::monostate, std::vector<std::string>>>);
static_assert(!skel::transferable<std::variant<int, std::unique_ptr<int>>>);
static_assert(!skel::transferable<std::optional<std::string_view>>);
static_assert(!skel::transferable<int*>);

struct node {
  int value = 0;
  std::vector<node> more;
  friend bool operator==(node const&, node const&) = default;
};
struct record {
  int number = 0;
  std::string name;
  int grid[2][2];
  std::string names[2];
  secret mine;
  node tree;
  point where;
  std::optional<std::string> maybe;
  friend bool operator==(record const&, record const&) = default;
};
struct extended : point {
  std::string name;
};
struct odd;
struct even {
  std::vector<odd> more;
};
struct odd {
  std::vector<even> more;
  int* address;
};
struct with_bits {
  std::string name;
  unsigned small : 3;
};
struct with_unnamed {
  std::string name;
  union {
    int i;
    float f;
  };
};
struct with_const {
  std::string name;
  int const number = 1;
};
struct with_reference {
  std::string name;
  int const& number;
};
static_assert(skel::transferable<node> && skel::transferable<record>);
static_assert(!skel::transferable<extended> && !skel::transferable<even> && !skel::transferable<odd>);
static_assert(!skel::transferable<with_unnamed> && !skel::transferable<with_const>);
static_assert(!skel::transferable<with_reference>);
#if !defined(__clang__) || __clang_major__ >= 16
static_assert(!skel::transferable<with_bits>);
#endif
static_assert(skel::detail::route_of<node> == skel::detail::route::parts);

// Only a type that needs an archive pays for one, and a container of such types for one in all.
using skel::detail::route;
using skel::detail::route_of;
static_assert(route_of<std::map<int, point>> == route::elements);
static_assert(route_of<std::vector<std::pair<int, std::string>>> == route::elements);
static_assert(route_of<std::map<std::string, std::vector<secret>>> == route::archive);
static_assert(route_of<std::vector<std::optional<secret>>> == route::elements);
static_assert(!skel::transferable<std::unique_ptr<int>>);
static_assert(!skel::transferable<std::vector<std::unique_ptr<int>>>);

struct squares {
  int operator()(int x) const { return x * x; }
};
struct mutable_squares {
  int operator()(int x) { return x * x; }
};
static_assert(skel::task_function<squares, int>);
static_assert(!skel::task_function<squares, std::string>);
static_assert(!skel::task_function<mutable_squares, int>);  // it is called by several threads

static_assert(skel::farm_schedule<skel::schedule::guided>);
static_assert(!skel::farm_schedule<int>);

static_assert(skel::task_source<decltype(skel::indices(3))>);
static_assert(!skel::task_source<std::vector<int>>);

template <class T>
T there_and_back(T const& value) {
  std::vector<std::byte> bytes{std::byte{1}};
  skel::pack(value, bytes);
  bytes.push_back(std::byte{2});
  std::span<std::byte const> rest(bytes);
  rest = rest.subspan(1);
  T read = skel::unpack<T>(rest);
  CHECK(rest.size() == 1);
  // Cut off anywhere, it is refused.
  std::span<std::byte const> const all(bytes.data() + 1, bytes.size() - 2);
  for (std::size_t n = 0; n < all.size(); ++n) {
    auto part = all.first(n);
    CHECK_THROWS_AS(skel::unpack<T>(part), skel::protocol_error);
  }
  return read;
}

}  // namespace

TEST_CASE("the options that skeletons share have the same types and order") {
  CHECK(shares_options<skel::farm_options>());
  CHECK(shares_options<skel::ring_steal_options>());
  CHECK(shares_options<skel::divide_and_conquer_options>());
  CHECK(shares_options<skel::multi_host_options>());
  CHECK(shares_options<skel::bsp_options>());
  CHECK(saves_checkpoints<skel::farm_options>());
  CHECK(saves_checkpoints<skel::ring_steal_options>());
  CHECK(saves_checkpoints<skel::bsp_options>());
}

TEST_CASE("values of every kind come back from their bytes") {
  CHECK(there_and_back(42) == 42);
  CHECK(there_and_back(point{1, 2}) == point{1, 2});
  CHECK(there_and_back(std::vector<double>{1, 2, 3}) == std::vector<double>{1, 2, 3});
  CHECK(there_and_back(std::vector<bool>{true, false, true}) == std::vector<bool>{true, false, true});
  CHECK(there_and_back(std::string("text")) == "text");
  CHECK(there_and_back(std::vector<std::string>{"a", ""}) == std::vector<std::string>{"a", ""});
  CHECK(there_and_back(std::map<int, std::string>{{1, "x"}, {2, "y"}}).at(2) == "y");
  CHECK(there_and_back(std::pair<int, std::string>(3, "z")).second == "z");
  CHECK(there_and_back(std::array<std::string, 2>{"p", "q"})[1] == "q");
  CHECK(there_and_back(secret(7)) == secret(7));
  CHECK(there_and_back(single{"one"}) == single{"one"});
}

TEST_CASE("standard types travel part by part, without an archive") {
  using std::string;
  CHECK(there_and_back(std::tuple<int, string, bool>(1, "a", true)) ==
        std::tuple<int, string, bool>(1, "a", true));
  CHECK(there_and_back(std::optional<string>("there")) == "there");
  CHECK(there_and_back(std::optional<string>()) == std::nullopt);
  CHECK(there_and_back(std::optional<secret>(secret(3))) == secret(3));
  using either = std::variant<std::monostate, string, std::vector<int>, point>;
  for (auto const& v : {either(), either("text"), either(std::vector{1, 2}), either(point{1, 2})})
    CHECK(there_and_back(v) == v);
  CHECK(there_and_back(std::deque<string>{"a", "b"}) == std::deque<string>{"a", "b"});
  CHECK(there_and_back(std::list<string>{"a", "b"}) == std::list<string>{"a", "b"});
  CHECK(there_and_back(std::set<string>{"a", "b"}) == std::set<string>{"a", "b"});
  CHECK(there_and_back(std::multimap<int, string>{{1, "a"}, {1, "b"}}) ==
        std::multimap<int, string>{{1, "a"}, {1, "b"}});
  CHECK(there_and_back(std::unordered_set<int>{1, 2}) == std::unordered_set<int>{1, 2});
  CHECK(there_and_back(std::unordered_map<string, point>{{"p", {1, 2}}}).at("p") == point{1, 2});
  CHECK(there_and_back(std::wstring(L"wide")) == L"wide");
  CHECK(there_and_back(std::vector<std::vector<string>>{{"a"}, {}}) ==
        std::vector<std::vector<string>>{{"a"}, {}});
}

TEST_CASE("a plain struct travels field by field, as a tuple of its fields does") {
  record const r{3,         "text",         {{1, 2}, {3, 4}}, {"a", "b"},
                 secret(5), {7, {{8, {}}}}, {1.5, 2.5},       std::nullopt};
  auto const back = there_and_back(r);
  CHECK(back == r);
  CHECK(there_and_back(std::vector<record>(3, r)) == std::vector<record>(3, r));
  CHECK(there_and_back(std::map<int, record>{{1, r}}).at(1) == r);
  std::vector<std::byte> fields, parts;
  skel::pack(r, fields);
  auto const& g = r.grid;
  skel::pack(std::tuple(r.number, r.name, g[0][0], g[0][1], g[1][0], g[1][1], r.names[0], r.names[1], r.mine,
                        std::tuple(r.tree.value, r.tree.more), r.where, r.maybe),
             parts);
  CHECK(fields == parts);
  for (std::size_t n = 0; n < fields.size(); ++n) {
    std::span<std::byte const> cut(fields.data(), n);
    CHECK_THROWS_AS(skel::unpack<record>(cut), skel::protocol_error);
  }
}

TEST_CASE("parts take no more bytes than their values and counts") {
  auto const size = [](auto const& value) {
    std::vector<std::byte> bytes;
    skel::pack(value, bytes);
    return bytes.size();
  };
  CHECK(size(std::string("text")) == 1 + 4);
  CHECK(size(std::pair(1, 2)) == 4 + 4);
  CHECK(size(std::map<int, std::string>{{1, "x"}, {2, "yz"}}) == 1 + (4 + 1 + 1) + (4 + 1 + 2));
  CHECK(size(std::optional<std::string>()) == 1);
  CHECK(size(std::variant<std::string, std::vector<int>>("ab")) == 1 + 1 + 2);
}

TEST_CASE("an alternative that a variant does not have is refused") {
  std::vector<std::byte> bytes(9, std::byte{2});
  std::span<std::byte const> rest(bytes);
  using either = std::variant<std::string, std::vector<int>>;
  CHECK_THROWS_AS(skel::unpack<either>(rest), skel::protocol_error);
}

TEST_CASE("a list that announces more elements than there are bytes is refused at once") {
  std::vector<std::byte> bytes;
  skel::bytes::put_varint(bytes, std::uint64_t{1} << 40);
  bytes.resize(64);
  std::span<std::byte const> rest(bytes);
  CHECK_THROWS_AS(skel::unpack<std::vector<std::string>>(rest), skel::protocol_error);
  rest = bytes;
  CHECK_THROWS_AS((skel::unpack<std::map<int, std::string>>(rest)), skel::protocol_error);
}

TEST_CASE("a vector that says it is longer than its bytes is refused before it is allocated") {
  std::vector<std::byte> bytes;
  skel::bytes::put_varint(bytes, std::uint64_t{1} << 60);
  std::span<std::byte const> rest(bytes);
  CHECK_THROWS_AS(skel::unpack<std::vector<double>>(rest), skel::protocol_error);
}
