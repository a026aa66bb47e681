// Types that can be sent: bytes, vectors, strings, containers, types with serialize (also private), with
// transfer_traits.
#include <array>
#include <boost/serialization/access.hpp>
#include <boost/serialization/split_free.hpp>
#include <complex>
#include <map>
#include <memory>
#include <ranges>
#include <set>
#include <string>
#include <vector>

#include "skel/serialization.hpp"
#include "suite.hpp"

namespace {

struct plain {
  double x = 0;
  int n = 0;
  friend bool operator==(plain const&, plain const&) = default;
};

class hidden {
 public:
  hidden() = default;
  explicit hidden(std::string text) : text_(std::move(text)), codes_(text_.begin(), text_.end()) {}
  friend bool operator==(hidden const&, hidden const&) = default;

 private:
  friend class boost::serialization::access;
  template <class Archive>
  void serialize(Archive& archive, unsigned /*version*/) {
    archive& text_& codes_;
  }
  std::string text_;
  std::vector<int> codes_;
};

struct outside {
  std::map<std::string, double> values;
  friend bool operator==(outside const&, outside const&) = default;
};
template <class Archive>
void serialize(Archive& archive, outside& o, unsigned /*version*/) {
  archive& o.values;
}

// A type unknown to skel, which owns memory and cannot be copied.
struct foreign {
  std::unique_ptr<int> value = std::make_unique<int>(0);
};

// Types of other libraries: their functions are in namespace boost::serialization.
struct vendored {
  std::map<std::string, double> values;
  friend bool operator==(vendored const&, vendored const&) = default;
};
template <class T>
struct vendored_pair {
  T first;
  std::string second;
  friend bool operator==(vendored_pair const&, vendored_pair const&) = default;
};
struct split {
  std::string text;
  friend bool operator==(split const&, split const&) = default;
};

// Its serialize avoids sending the address that its bytes contain.
class pointing {
 public:
  pointing() = default;
  explicit pointing(int i) : value_(i) {}
  pointing(pointing const&) = default;
  pointing& operator=(pointing const&) = default;
  friend bool operator==(pointing const& a, pointing const& b) { return a.where() == b.where(); }

 private:
  friend class boost::serialization::access;
  static inline int const table[64] = {};
  [[nodiscard]] std::ptrdiff_t where() const { return place_ == nullptr ? value_ : place_ - table; }
  template <class Archive>
  void serialize(Archive& archive, unsigned /*version*/) {
    auto at = static_cast<int>(where());
    archive& at;
    value_ = -1;
    place_ = table + at;
  }
  int value_ = 0;
  int const* place_ = nullptr;
};

// Copyable as bytes, but its own traits apply, also in a vector.
struct negated {
  int value = 0;
  friend bool operator==(negated const&, negated const&) = default;
};

}  // namespace

namespace boost::serialization {

template <class Archive>
void serialize(Archive& archive, vendored& v, unsigned /*version*/) {
  archive& v.values;
}
template <class Archive, class T>
void serialize(Archive& archive, vendored_pair<T>& p, unsigned const /*version*/) {
  archive& p.first& p.second;
}
template <class Archive>
void save(Archive& archive, split const& s, unsigned /*version*/) {
  archive << s.text;
}
template <class Archive>
void load(Archive& archive, split& s, unsigned /*version*/) {
  archive >> s.text;
}

}  // namespace boost::serialization
BOOST_SERIALIZATION_SPLIT_FREE(split)

template <>
struct skel::transfer_traits<negated> {
  static inline thread_local int packed = 0;  // ranks may be threads
  static void pack(negated const& n, std::vector<std::byte>& out) {
    ++packed;
    skel::pack(-n.value, out);
  }
  static negated unpack(std::span<std::byte const>& in) { return {-skel::unpack<int>(in)}; }
};
static_assert(!skel::detail::raw_bytes<pointing>);

template <>
struct skel::transfer_traits<foreign> {
  static void pack(foreign const& f, std::vector<std::byte>& out) { skel::pack(*f.value, out); }
  static foreign unpack(std::span<std::byte const>& in) {
    return {std::make_unique<int>(skel::unpack<int>(in))};
  }
};

namespace suite::types {

namespace {

// `make(i)` is sent to the task and back, even if the schedule keeps it on the root.
template <class Make>
void there_and_back(skel::context& ctx, Make make) {
  constexpr int n = 40;
  using value = decltype(make(0));
  std::vector<value> got;
  skel::farm(
      ctx, skel::on_root([&] { return std::views::iota(0, n) | std::views::transform(make); }),
      [](value const& v) { return v; }, skel::schedule::first_come{}, skel::into(got));
  if (!ctx.is_root()) return;
  for (int i = 0; i < n; ++i) CHECK((got.at(static_cast<std::size_t>(i)) == make(i)));
}

}  // namespace

TEST_CASE("values of all types travel to a task and back", "[types]") {
  on_ranks([](skel::context& ctx) {
    auto const text = [](int i) { return std::string(static_cast<std::size_t>(i), '\xff'); };
    there_and_back(ctx, [](int i) { return i; });
    there_and_back(ctx, [](int i) { return std::complex<double>(i, -i); });
    there_and_back(ctx, [](int i) { return plain{i / 3.0, i}; });
    there_and_back(ctx, [](int i) { return std::array<int, 3>{i, i + 1, i + 2}; });
    there_and_back(ctx, text);
    there_and_back(ctx, [](int i) { return std::vector<plain>(static_cast<std::size_t>(i), plain{1.5, i}); });
    there_and_back(ctx, [&](int i) { return std::vector<std::string>(3, text(i)); });
    there_and_back(ctx, [](int i) { return std::vector<bool>(static_cast<std::size_t>(i), i % 2 == 0); });
    there_and_back(ctx, [&](int i) { return std::map<int, std::string>{{i, text(i)}, {-1, "x"}}; });
    there_and_back(ctx, [](int i) { return std::set<int>{i, 2 * i}; });
    there_and_back(ctx, [&](int i) { return std::pair(i, text(i)); });
    there_and_back(ctx, [&](int i) { return hidden(text(i)); });
    there_and_back(ctx, [&](int i) { return outside{{{text(i), i * 0.5}}}; });
    there_and_back(ctx, [&](int i) { return vendored{{{text(i), i * 0.5}}}; });
    there_and_back(ctx, [&](int i) { return std::vector<vendored>(2, vendored{{{text(i), i * 0.5}}}); });
    there_and_back(ctx, [&](int i) { return vendored_pair<std::vector<int>>{{i, 2 * i}, text(i)}; });
    there_and_back(ctx, [&](int i) { return split{text(i)}; });
    there_and_back(ctx, [](int i) { return pointing(i); });
    there_and_back(ctx, [](int i) { return std::vector<negated>(static_cast<std::size_t>(i), negated{i}); });
    // Sends directly, since the root may have run all tasks of the farm above and sent none.
    std::vector<std::byte> bytes;
    auto const before = skel::transfer_traits<negated>::packed;
    skel::pack(std::vector<negated>(2, negated{1}), bytes);
    CHECK(skel::transfer_traits<negated>::packed == before + 2);
  });
}

TEST_CASE("types with transfer_traits need not be copied", "[types]") {
  on_ranks([](skel::context& ctx) {
    std::vector<int> got(50);
    skel::farm(
        ctx, skel::indices(50),
        [](std::uint64_t i) { return foreign{std::make_unique<int>(static_cast<int>(i * i))}; },
        skel::schedule::interleaved{}, [&](skel::task_id id, foreign&& f) { got.at(id) = *f.value; });
    if (ctx.is_root()) CHECK(got.at(7) == 49);
    if (ctx.is_root()) CHECK(got.at(8) == 64);
  });
}

TEST_CASE("large and empty results may be mixed", "[types]") {
  on_ranks([](skel::context& ctx) {
    std::vector<std::vector<int>> got;
    skel::farm(
        ctx, skel::indices(40),
        [](std::uint64_t i) { return std::vector<int>(i % 3 == 0 ? 0 : 200'000 + i, static_cast<int>(i)); },
        skel::schedule::guided{}, skel::into(got));
    if (!ctx.is_root()) return;
    for (std::uint64_t i = 0; i < 40; ++i)
      CHECK((got.at(i) == std::vector<int>(i % 3 == 0 ? 0 : 200'000 + i, static_cast<int>(i))));
  });
}

}  // namespace suite::types
