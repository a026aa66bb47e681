// Each form is lossless, and all kernels pack and link alike.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "catch.hpp"
#include "generate.hpp"
#include "label_kernel.hpp"
#include "labels.hpp"
#include "reference.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"
#include "union_find.hpp"

using namespace components;

namespace {

using vector = std::vector<node>;

vector labels_of(std::string const& spec) {
  auto const g = parse_graph(spec);
  vector labels(g.nodes);
  label_components(reference::edges_of(g), labels, 1);
  return labels;
}

std::vector<std::byte> encoded(vector const& labels, exchange form,
                               label_kernel const& kernel = label_kernels().back()) {
  std::vector<std::byte> bytes;
  encode(labels, form, bytes, kernel);
  bytes.shrink_to_fit();  // so that the sanitizer detects reads beyond the end
  return bytes;
}

vector singletons(std::size_t nodes) {
  vector labels(nodes);
  make_singletons(labels);
  return labels;
}

// Compresses from the smallest node on: all links lead to smaller nodes.
vector compressed(vector parent) {
  for (auto& p : parent) p = parent[p];
  return parent;
}

// Unites two forests without union-find: propagates labels along the links until nothing changes.
vector united(vector const& labels, vector const& others) {
  std::vector<edge> edges;
  for (std::size_t x = 0; x < labels.size(); ++x) {
    edges.push_back({static_cast<node>(x), labels[x]});
    edges.push_back({static_cast<node>(x), others[x]});
  }
  return reference::labels(edges, labels.size());
}

}  // namespace

TEST_CASE("all kernels pack the same bytes and link all their labels") {
  auto const spec =
      GENERATE("uniform:n=1,m=0", "uniform:n=63,m=20", "uniform:n=64,m=200", "uniform:n=65,m=30",
               "uniform:n=256,m=128", "uniform:n=257,m=128", "uniform:n=4097,m=2048",
               "uniform:n=70001,m=30000", "uniform:n=70000,m=90000", "uniform:n=300000,m=20",
               "kronecker:scale=13,degree=16", "grid:width=90", "uniform:n=17000009,m=8000000");
  INFO(spec);
  auto const labels = labels_of(spec);
  for (auto const form : {exchange::cheapest, exchange::dense}) {
    auto const bytes = encoded(labels, form, label_kernels().front());
    for (auto const& kernel : label_kernels()) {
      INFO(kernel.name);
      CHECK((encoded(labels, form, kernel) == bytes));
      auto parent = singletons(labels.size());
      join(bytes, parent, kernel);
      CHECK((parent == labels));
    }
  }
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
  for (auto const form : {exchange::cheapest, exchange::dense}) {
    auto const bytes = encoded(theirs, form);
    for (auto const& kernel : label_kernels()) {
      INFO(kernel.name);
      auto parent = mine;
      join(bytes, parent, kernel);
      for (std::size_t x = 0; x < parent.size(); ++x) REQUIRE(parent[x] <= x);
      CHECK((compressed(parent) == expected));
    }
  }
}

TEST_CASE("a giant component is found") {
  CHECK(label_of_giant({}) == most_nodes);
  CHECK(label_of_giant(labels_of("uniform:n=100000,m=40000")) == most_nodes);
  auto const labels = labels_of("uniform:n=100000,m=100000");
  std::map<node, int> sizes;
  for (auto const label : labels) ++sizes[label];
  auto const largest = std::ranges::max_element(sizes, {}, [](auto const& s) { return s.second; });
  CHECK(label_of_giant(labels) == largest->first);
}

TEST_CASE("messages are short for few links, for one large component, and in between") {
  auto const size = [](std::string const& spec) {
    return encoded(labels_of(spec), exchange::cheapest).size();
  };
  auto const few = size("uniform:n=1000000,m=200");  // a word and 3 bytes for each link
  CHECK((few > 200 * 10 && few < 200 * 11 + 1000000 / 512 + 64));
  auto const large = size("uniform:n=65536,m=524288");  // little more than a bit per node
  CHECK((large > 65536 / 8 && large < 65536 / 8 + 16 * (8 + 2) + 64));
  auto const labels = labels_of("uniform:n=1000000,m=500000");
  std::size_t linked = 0;
  for (std::size_t x = 0; x < labels.size(); ++x) linked += labels[x] != x ? 1 : 0;
  auto const marks = encoded(labels, exchange::cheapest).size();
  CHECK(static_cast<double>(marks) == Approx(1000000. / 8 + 3. * static_cast<double>(linked)).epsilon(0.02));
}

TEST_CASE("damaged messages are refused or decode to a forest") {
  auto const labels =
      labels_of(GENERATE("uniform:n=300,m=250", "uniform:n=300,m=100", "uniform:n=4800,m=20"));
  for (auto const form : {exchange::cheapest, exchange::dense}) {
    auto const whole = encoded(labels, form);
    std::size_t refused = 0;
    for (std::uint64_t i = 0; i < 3000; ++i) {
      auto bytes = whole;
      auto const random = mix(i);
      if (i % 3 == 0)
        bytes.resize(below(random, bytes.size()));
      else
        bytes[below(random, bytes.size())] ^= static_cast<std::byte>(1 + random % 255);
      bytes.shrink_to_fit();
      std::vector<bool> good;
      for (auto const& kernel : label_kernels()) {
        INFO(kernel.name << ", change " << i);
        auto parent = singletons(labels.size());
        try {
          join(bytes, parent, kernel);
          good.push_back(true);
        } catch (skel::protocol_error const&) {
          good.push_back(false);
        }
        CHECK(good.back() == good.front());
        for (std::size_t x = 0; x < parent.size(); ++x) REQUIRE(parent[x] <= x);
      }
      refused += good.front() ? 0 : 1;
    }
    CHECK((refused >= 1000 && refused < 3000));  // all truncated messages
  }
}

TEST_CASE("roots keep their message alive while they refer to it") {
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

TEST_CASE("roots are sent in the requested form") {
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
    std::vector<std::byte> again;  // forwarding does not change the message
    skel::pack(back, again);
    CHECK((again == bytes));
    auto const got = back.labels();
    CHECK(std::equal(got.begin(), got.end(), labels.begin(), labels.end()));
  }
}
