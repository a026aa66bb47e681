// Each form holds the labels exactly, in as many bytes as was computed before.
#include <numeric>

#include "catch.hpp"
#include "label_encoding.hpp"
#include "label_kernel.hpp"
#include "parallel_link.hpp"
#include "random_hash.hpp"
#include "reference.hpp"
#include "roots.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

using namespace skel::components;

namespace {

using vector = std::vector<node>;

vector labels_of(std::string const& spec) {
  auto const g = parse_graph(spec);
  vector labels(g.nodes);
  label_components(reference::edges_of(g), labels, 1);
  return labels;
}

vector decoded(std::span<std::byte const> bytes, std::size_t nodes) {
  vector labels(nodes);
  std::iota(labels.begin(), labels.end(), node{0});
  decode(bytes, nodes, [&](std::span<edge const> edges) {
    for (auto const& e : edges) labels[e.u] = e.v;
  });
  return labels;
}

constexpr std::array<encoding, 4> all_forms{encoding::dense, encoding::pairs, encoding::giant,
                                            encoding::marks};

// Node after node, from the smallest: all links are to smaller nodes.
vector compressed(vector parent) {
  for (auto& p : parent) p = parent[p];
  return parent;
}

// Without union-find: the labels of one forest and the links of another, until nothing changes.
vector united(vector const& labels, vector const& others) {
  std::vector<edge> edges;
  for (std::size_t x = 0; x < labels.size(); ++x) {
    edges.push_back({static_cast<node>(x), labels[x]});
    edges.push_back({static_cast<node>(x), others[x]});
  }
  return reference::labels(edges, labels.size());
}

}  // namespace

TEST_CASE("all forms of all kinds of labels") {
  auto const spec = GENERATE("uniform:n=1,m=0", "uniform:n=63,m=20", "uniform:n=64,m=200",
                             "uniform:n=65,m=30", "uniform:n=256,m=128", "uniform:n=257,m=128",
                             "uniform:n=70000,m=30000", "uniform:n=70000,m=90000", "uniform:n=300000,m=20",
                             "kronecker:scale=13,degree=16", "grid:width=90", "uniform:n=17000000,m=100000");
  INFO(spec);
  auto const labels = labels_of(spec);
  auto const sizes = sizes_of(labels);
  for (auto const form : all_forms) {
    if (sizes[form] == UINT64_MAX) continue;
    INFO(name_of(form));
    std::vector<std::byte> bytes(3);
    encode(labels, form, sizes, bytes);
    CHECK(bytes.size() == 3 + sizes[form]);
    CHECK((decoded(std::span(bytes).subspan(3), labels.size()) == labels));
    CHECK(sizes[sizes.cheapest()] <= sizes[form]);
  }
}

TEST_CASE("all kernels write the same bytes") {
  auto const spec = GENERATE("uniform:n=1,m=0", "uniform:n=63,m=20", "uniform:n=200,m=128",
                             "uniform:n=4097,m=2048", "uniform:n=70001,m=30000", "uniform:n=300007,m=170000",
                             "kronecker:scale=13,degree=16", "uniform:n=17000009,m=8000000");
  INFO(spec);
  auto const labels = labels_of(spec);
  auto const sizes = sizes_of(labels, portable_label_kernel);
  for (auto const* kernel : label_kernels()) {
    INFO(kernel->name);
    auto const same = sizes_of(labels, *kernel);
    CHECK(same.bytes == sizes.bytes);
    CHECK(same.linked == sizes.linked);
    CHECK(same.rest == sizes.rest);
    for (auto const form : all_forms) {
      if (sizes[form] == UINT64_MAX) continue;
      std::vector<std::byte> bytes, expected;
      encode(labels, form, sizes, bytes, *kernel);
      encode(labels, form, sizes, expected, portable_label_kernel);
      CHECK((bytes == expected));
    }
  }
}

namespace {

// Of 1,024 labels that are looked at first, so many are linked, and so many of the others.
vector linked_labels(std::size_t nodes, double first, double others) {
  vector labels(nodes);
  std::iota(labels.begin(), labels.end(), node{0});
  auto const step = nodes / 1024;
  auto const chance = [](std::uint64_t i) { return static_cast<double>(below(mix(i), 1000)) / 1000; };
  for (std::size_t x = 1; x < nodes; ++x)
    if (chance(x) < (x % step == 0 ? first : others)) labels[x] = 0;
  for (std::size_t x = 2; x < nodes; ++x) {
    if (labels[x] == x) continue;
    std::uint64_t root = x;
    for (std::uint64_t draw = 0; labels[root] != root || root == x; ++draw)
      root = below(mix(x ^ (draw << 32U)), x);
    labels[x] = static_cast<node>(root);
  }
  return labels;
}

}  // namespace

TEST_CASE("one pass packs what two do, right guess or wrong") {
  auto const check = [](vector const& labels) {
    auto const sizes = sizes_of(labels);
    for (auto const* kernel : label_kernels()) {
      INFO(kernel->name);
      std::vector<std::byte> bytes(5), expected(5);
      pack_shortest(labels, bytes, *kernel);
      skel::bytes::put_varint(expected, sizes[sizes.cheapest()]);
      encode(labels, sizes.cheapest(), sizes, expected, portable_label_kernel);
      CHECK((bytes == expected));
    }
    return std::pair(sizes.cheapest(), sizes.linked);
  };
  for (auto const* spec :
       {"uniform:n=1,m=0", "uniform:n=63,m=20", "uniform:n=200,m=128", "uniform:n=4097,m=2048",
        "uniform:n=70001,m=30000", "uniform:n=300007,m=170000", "uniform:n=70000,m=90000",
        "kronecker:scale=13,degree=16", "uniform:n=17000009,m=8000000"}) {
    INFO(spec);
    check(labels_of(spec));
  }
  check({});
  CHECK(check(linked_labels(65536, 1, 0)).first == encoding::pairs);  // not marks
  CHECK(check(linked_labels(65536, 0, 1)).first == encoding::marks);  // not pairs
  // The number of linked nodes has a byte less than guessed, and one more.
  auto const [fewer_form, fewer] = check(linked_labels(65536, 1, 0.22));
  CHECK((fewer_form == encoding::marks && fewer < 16384));
  auto const [more_form, more] = check(linked_labels(65536, 0.2, 0.3));
  CHECK((more_form == encoding::marks && more >= 16384));
}

TEST_CASE("all kernels join the forests of a graph's halves") {
  auto const spec =
      GENERATE("uniform:n=1,m=0", "uniform:n=63,m=40", "uniform:n=64,m=64", "uniform:n=250,m=250",
               "uniform:n=30011,m=30000", "uniform:n=70001,m=60000", "uniform:n=70001,m=7000",
               "kronecker:scale=13,degree=8", "grid:width=150", "uniform:n=8192,m=65536");
  INFO(spec);
  auto const g = parse_graph(spec);
  auto const edges = reference::edges_of(g);
  auto const half = edges.size() / 2;
  vector mine(g.nodes), theirs(g.nodes);
  label_components(std::span(edges).first(half), mine, 1);
  label_components(std::span(edges).subspan(half), theirs, 1);
  auto const expected = united(mine, theirs);
  auto const sizes = sizes_of(theirs);
  for (auto const form : all_forms) {
    if (sizes[form] == UINT64_MAX) continue;
    std::vector<std::byte> bytes;
    encode(theirs, form, sizes, bytes);
    bytes.shrink_to_fit();
    for (auto const* kernel : label_kernels()) {
      INFO(name_of(form) << ", " << kernel->name);
      auto parent = mine;
      kernel->join(bytes, parent);
      for (std::size_t x = 0; x < parent.size(); ++x) REQUIRE(parent[x] <= x);
      CHECK((compressed(parent) == expected));
    }
  }
}

TEST_CASE("all kernels find the edges that leave a set of nodes") {
  node const nodes = GENERATE(1U, 63U, 64U, 1000U, 70001U);
  auto const count = GENERATE(0U, 1U, 7U, 8U, 9U, 64U, 1023U);
  auto const of_ten = GENERATE(0U, 5U, 9U, 10U);  // nodes of ten that are in the set
  std::vector<std::uint64_t> set(nodes / 64 + 1, 0);
  std::vector<bool> inside(nodes);
  for (node x = 0; x < nodes; ++x) {
    inside[x] = mix(x) % 10 < of_ten;
    if (inside[x]) set[x / 64] |= std::uint64_t{1} << (x % 64);
  }
  std::vector<edge> edges, expected;
  for (std::uint64_t i = 0; i < count; ++i) {
    edge const e{static_cast<node>(mix(2 * i) % nodes), static_cast<node>(mix(2 * i + 1) % nodes)};
    edges.push_back(e);
    if (!inside[e.u] || !inside[e.v]) expected.push_back(e);
  }
  for (auto const* kernel : label_kernels()) {
    INFO(kernel->name << ", " << nodes << " nodes, " << count << " edges");
    std::vector<edge> rest(edges.size() + 8);
    rest.resize(kernel->leaving(edges, set.data(), rest.data()));
    CHECK((rest == expected));
  }
}

TEST_CASE("each form is the shortest for some labels") {
  auto const cheapest = [](std::string const& spec) { return name_of(sizes_of(labels_of(spec)).cheapest()); };
  CHECK(cheapest("uniform:n=100000,m=2000") == "pairs");
  CHECK(cheapest("uniform:n=1000000,m=500000") == "marks");
  CHECK(cheapest("kronecker:scale=13,degree=16") == "giant");
  CHECK(cheapest("uniform:n=8192,m=65536") == "giant");
  CHECK(cheapest("uniform:n=3,m=9") != "giant");
}

// Measured before with another generator: four rounds of 16 ranks on R-MAT with 8,192 nodes of mean degree
// 16, where the roots take 32,768 bytes each time.
TEST_CASE("messages are as long as was measured before") {
  auto const g = parse_graph("kronecker:scale=13,degree=8");
  auto const edges = reference::edges_of(g);
  std::array<double, 4> pairs{4319, 5921, 7749, 9640}, giant{1274, 1167, 1101, 1067};
  for (std::size_t round = 0; round < 4; ++round) {
    vector labels(g.nodes);
    label_components(std::span(edges).first((edges.size() / 16) << round), labels, 1);
    auto const sizes = sizes_of(labels);
    CHECK(static_cast<double>(sizes[encoding::pairs]) == Approx(pairs[round]).epsilon(0.1));
    CHECK(static_cast<double>(sizes[encoding::giant]) == Approx(giant[round]).epsilon(0.1));
    CHECK(sizes.cheapest() == encoding::giant);
  }
}

TEST_CASE("damaged messages are refused or hold a forest") {
  auto const labels = labels_of("uniform:n=300,m=250");
  auto const sizes = sizes_of(labels);
  for (auto const form : all_forms) {
    if (sizes[form] == UINT64_MAX) continue;
    std::vector<std::byte> whole;
    encode(labels, form, sizes, whole);
    for (std::uint64_t i = 0; i < 3000; ++i) {
      auto bytes = whole;
      auto const random = mix(i);
      if (i % 3 == 0)
        bytes.resize(below(random, bytes.size()));
      else
        bytes[below(random, bytes.size())] ^= static_cast<std::byte>(1 + random % 255);
      bytes.shrink_to_fit();
      bool refused = false;
      try {
        decode(bytes, labels.size(), [&](std::span<edge const> edges) {
          for (auto const& e : edges) REQUIRE((e.u < labels.size() && e.v < e.u));
        });
      } catch (skel::protocol_error const&) {
        refused = true;
      }
      for (auto const* kernel : label_kernels()) {
        INFO(name_of(form) << ", " << kernel->name << ", change " << i);
        vector parent(labels.size());
        std::iota(parent.begin(), parent.end(), node{0});
        if (refused)
          CHECK_THROWS_AS(kernel->join(bytes, parent), skel::protocol_error);
        else
          CHECK_NOTHROW(kernel->join(bytes, parent));
        for (std::size_t x = 0; x < parent.size(); ++x) REQUIRE(parent[x] <= x);
      }
    }
  }
}

TEST_CASE("roots refer to the message they came in as long as they need it") {
  auto const labels = labels_of("uniform:n=10000,m=5000");
  big_array<node> copy(labels.size());
  std::copy(labels.begin(), labels.end(), copy.begin());
  auto message = std::make_shared<std::vector<std::byte>>();
  skel::pack(roots(std::move(copy), exchange::cheapest), *message);
  std::span<std::byte const> in(*message), again(*message);
  auto referring = skel::unpack<roots>(in, message);
  auto copied = skel::unpack<roots>(again);
  CHECK(in.empty());
  CHECK(message.use_count() == 2);
  auto second = referring;
  CHECK(message.use_count() == 3);
  auto const check = [&](roots& r) {
    auto const got = r.labels();
    CHECK(std::equal(got.begin(), got.end(), labels.begin(), labels.end()));
  };
  check(referring);
  CHECK(message.use_count() == 2);
  check(second);
  CHECK(message.use_count() == 1);
  std::fill(message->begin(), message->end(), std::byte{0xff});
  check(copied);
}

TEST_CASE("types that do not refer to messages are copied from them") {
  auto const message = std::make_shared<std::vector<std::byte>>();
  skel::pack(vector{1, 2, 3}, *message);
  std::span<std::byte const> in(*message);
  CHECK((skel::unpack<vector>(in, message) == vector{1, 2, 3}));
  CHECK(message.use_count() == 1);
}

TEST_CASE("roots travel in the form that was asked for") {
  auto const labels = labels_of("uniform:n=10000,m=5000");
  for (auto const how : {exchange::cheapest, exchange::dense}) {
    big_array<node> copy(labels.size());
    std::copy(labels.begin(), labels.end(), copy.begin());
    std::vector<std::byte> bytes;
    skel::pack(roots(std::move(copy), how), bytes);
    if (how == exchange::dense) CHECK(bytes.size() > 40000);
    if (how == exchange::cheapest) CHECK(bytes.size() < 15000);
    std::span<std::byte const> in(bytes);
    auto back = skel::unpack<roots>(in);
    CHECK(back.encoded());
    std::vector<std::byte> again;  // what is passed on is not changed
    skel::pack(back, again);
    CHECK((again == bytes));
    auto const got = back.labels();
    CHECK(std::equal(got.begin(), got.end(), labels.begin(), labels.end()));
  }
}
