// Each public concept with what it accepts and what it rejects.
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "catch.hpp"
#include "skel/farm.hpp"

namespace {

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
struct point {
  double x, y;
  friend bool operator==(point const&, point const&) = default;
};

static_assert(skel::transferable<point>);
static_assert(skel::transferable<secret>);
static_assert(skel::transferable<std::map<std::string, std::vector<secret>>>);
static_assert(!skel::transferable<int*>);
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
}

TEST_CASE("a vector that says it is longer than its bytes is refused before it is allocated") {
  std::vector<std::byte> bytes;
  skel::bytes::put_varint(bytes, std::uint64_t{1} << 60);
  std::span<std::byte const> rest(bytes);
  CHECK_THROWS_AS(skel::unpack<std::vector<double>>(rest), skel::protocol_error);
}
