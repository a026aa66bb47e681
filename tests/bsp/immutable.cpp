// skel::immutable: a checkpoint that packs values later has the same bytes as one that packs them at once.
#include "skel/immutable.hpp"

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "catch.hpp"
#include "skel/serialization.hpp"

namespace {

using numbers = std::vector<double>;
using bytes = std::vector<std::byte>;

static_assert(skel::transferable<skel::immutable<numbers>>);
static_assert(skel::transferable<skel::immutable<std::string>>);
static_assert(skel::transferable<std::map<int, skel::immutable<std::string>>>);
static_assert(!skel::transferable<skel::immutable<std::unique_ptr<int>>>);
static_assert(!skel::transferable<std::vector<skel::immutable<std::unique_ptr<int>>>>);

// A state with immutables or without: `Of` is skel::immutable or `plain`.
template <class T>
using plain = T;

template <template <class> class Of>
struct state {
  std::uint64_t step = 0;
  Of<numbers> a, b;
  numbers c;
  std::vector<Of<numbers>> rows;
  std::optional<Of<std::string>> name;
};

// Packs into its own vector first, to prefix the length.
template <template <class> class Of>
struct framed {
  Of<numbers> a;
  int b = 0;
};

template <template <class> class Of>
struct by_boost {
  int a = 0;
  Of<std::vector<std::string>> b;
  std::vector<Of<numbers>> c;
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& a& b& c;
  }
};

bytes at_once(auto const& value) {
  bytes out{std::byte{7}};
  skel::pack(value, out);
  return out;
}

struct packed_later {
  bytes all;
  std::size_t deferred = 0;
};
packed_later later(auto const& value, bytes memory = {}) {
  skel::detail::deferred_bytes part;
  part.packed = {std::byte{7}};
  {
    skel::detail::packing_may_wait const here(part);
    skel::pack(value, part.packed);
  }
  packed_later p{std::move(memory), part.deferred.size()};
  part.complete(p.all);
  CHECK(part.deferred.empty());
  return p;
}

numbers ascending(std::size_t n) {
  numbers v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = 0.5 + static_cast<double>(i);
  return v;
}

template <template <class> class Of>
state<Of> some_state() {
  state<Of> s;
  s.step = 5;
  s.a = ascending(1000);
  s.b = ascending(3);
  s.c = ascending(17);
  s.rows = {ascending(2), numbers{}, ascending(1)};
  s.name = std::string("name");
  return s;
}

}  // namespace

template <template <class> class Of>
struct skel::transfer_traits<state<Of>> {
  static void pack(state<Of> const& s, std::vector<std::byte>& out) {
    skel::pack(s.step, out);
    skel::pack(s.a, out);
    skel::pack(s.b, out);
    skel::pack(s.c, out);
    for (auto const& r : s.rows) skel::pack(r, out);
    skel::pack(s.name.has_value(), out);
    if (s.name) skel::pack(*s.name, out);
  }
  static state<Of> unpack(std::span<std::byte const>&) {
    throw std::logic_error("this state is never unpacked");
  }
};

template <template <class> class Of>
struct skel::transfer_traits<framed<Of>> {
  static void pack(framed<Of> const& f, std::vector<std::byte>& out) {
    std::vector<std::byte> body;
    skel::pack(f.a, body);
    skel::pack(f.b, body);
    bytes::put_block(out, body);
  }
  static framed<Of> unpack(std::span<std::byte const>& in) {
    auto const body = bytes::get_block(in);
    std::span<std::byte const> rest(body);
    auto a = skel::unpack<Of<numbers>>(rest);
    return {std::move(a), skel::unpack<int>(rest)};
  }
};

TEST_CASE("an immutable has the bytes of its value and unpacks from them") {
  skel::immutable<numbers> const a = ascending(20);
  CHECK(at_once(a) == at_once(*a));
  CHECK(later(a).all == at_once(*a));
  CHECK(later(a).deferred == 1);
  auto const packed = at_once(a);
  auto in = std::span<std::byte const>(packed).subspan(1);
  CHECK(*skel::unpack<skel::immutable<numbers>>(in) == *a);
  CHECK(in.empty());
}

TEST_CASE("a state has the same bytes with and without immutables, packed at once or later") {
  auto const without = at_once(some_state<plain>());
  auto const with = some_state<skel::immutable>();
  CHECK(at_once(with) == without);
  CHECK(later(with).all == without);
  CHECK(later(with).deferred == 6);                                // a, b, three rows and the name
  CHECK(later(with, bytes(100000, std::byte{1})).all == without);  // reuses a longer buffer of another part
  CHECK(later(some_state<plain>()).all == without);
  CHECK(later(some_state<plain>()).deferred == 0);
}

TEST_CASE("empty values, first and last in a state, have the same bytes") {
  CHECK(later(state<skel::immutable>()).all == at_once(state<plain>()));
  CHECK(later(skel::immutable<numbers>()).all == at_once(numbers()));
  CHECK(later(skel::immutable<std::string>()).all == at_once(std::string()));
}

TEST_CASE("a value packed into a separate vector is packed at once") {
  CHECK(at_once(framed<skel::immutable>{ascending(5), 3}) == at_once(framed<plain>{ascending(5), 3}));
  auto const p = later(framed<skel::immutable>{ascending(5), 3});
  CHECK(p.all == at_once(framed<plain>{ascending(5), 3}));
  CHECK(p.deferred == 0);
}

TEST_CASE("a nested immutable is packed later, with the outer one") {
  auto const p = later(skel::immutable<state<skel::immutable>>(some_state<skel::immutable>()));
  CHECK(p.all == at_once(some_state<plain>()));
  CHECK(p.deferred == 1);
  auto const f = later(skel::immutable<framed<skel::immutable>>({ascending(5), 3}));
  CHECK(f.all == at_once(framed<plain>{ascending(5), 3}));
}

TEST_CASE("Boost.Serialization writes an immutable as its value and reads it back") {
  by_boost<plain> const without{1, {{"a", "bc", ""}}, {ascending(3), {}}};
  by_boost<skel::immutable> const with{1, std::vector<std::string>{"a", "bc", ""}, {ascending(3), numbers{}}};
  auto const p = later(with);
  CHECK(p.all == at_once(without));
  CHECK(p.deferred == 0);
  auto in = std::span<std::byte const>(p.all).subspan(1);
  auto const back = skel::unpack<by_boost<skel::immutable>>(in);
  CHECK(back.a == 1);
  CHECK(*back.b == *with.b);
  REQUIRE(back.c.size() == 2);
  CHECK(*back.c[0] == ascending(3));
  CHECK(back.c[1]->empty());
}

TEST_CASE("copies share a value; assigning to one does not change the others") {
  skel::immutable<numbers> a = ascending(3);
  auto const b = a;
  CHECK(&*a == &*b);
  auto moved = std::move(a);  // NOLINT(performance-move-const-arg): a keeps its value
  CHECK(moved->size() == 3);
  CHECK(a->size() == 3);  // NOLINT(bugprone-use-after-move): an immutable is never empty
  a = numbers{1};
  CHECK(a->size() == 1);
  CHECK(*b == ascending(3));
}

TEST_CASE("a value to be packed later lives until it is packed, and no longer") {
  std::weak_ptr<numbers const> watched;
  skel::detail::deferred_bytes part;
  {
    skel::immutable<numbers> const a = ascending(9);
    watched = a.share();
    skel::detail::packing_may_wait const here(part);
    skel::pack(a, part.packed);
  }
  CHECK_FALSE(watched.expired());
  bytes all;
  part.complete(all);
  CHECK(watched.expired());
  auto in = std::span<std::byte const>(all);
  CHECK(skel::unpack<numbers>(in) == ascending(9));
}

TEST_CASE("other threads and vectors pack at once; so does every thread after an exception") {
  skel::immutable<numbers> const a = ascending(4);
  skel::detail::deferred_bytes part, inner;
  auto const fails = [&] {
    skel::detail::packing_may_wait const here(part);
    bytes other;
    skel::pack(a, other);
    CHECK(other.size() == 1 + 4 * sizeof(double));
    std::thread([&] { skel::pack(a, part.packed); }).join();
    CHECK(part.deferred.empty());
    {
      skel::detail::packing_may_wait const there(inner);
      skel::pack(a, inner.packed);
    }
    CHECK(inner.deferred.size() == 1);
    skel::pack(a, part.packed);
    CHECK(part.deferred.size() == 1);
    throw std::runtime_error("packing");
  };
  CHECK_THROWS(fails());
  skel::pack(a, part.packed);
  CHECK(part.deferred.size() == 1);
}

TEST_CASE("a known packed_size is an upper bound") {
  CHECK(skel::packed_size(3) == sizeof(int));
  for (std::size_t const n : {0U, 1U, 127U, 128U, 20000U}) {
    auto const told = skel::packed_size(ascending(n));
    CHECK(told >= at_once(ascending(n)).size() - 1);
    CHECK(told <= at_once(ascending(n)).size() + 10);
  }
  CHECK(skel::packed_size(std::string("seven")) >= at_once(std::string("seven")).size());
  CHECK(skel::packed_size(skel::immutable<numbers>(ascending(3))) == 0);
}
