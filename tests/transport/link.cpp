// One rank's end of a connection: numbers, credits, pieces, duplicates.
#include "transport/link.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "skel/error.hpp"
#include "transport/arrival_memory.hpp"
#include "transport/transport.hpp"

using skel::transport::header;
using end = skel::transport::link;
using skel::transport::packet;

namespace {

packet body_of(std::string const& text) {
  packet p;
  for (char c : text) p.body().push_back(static_cast<std::byte>(c));
  return p;
}
std::string text_of(packet const& p) {
  auto const b = p.bytes();
  return {reinterpret_cast<char const*>(b.data()), b.size()};
}
// Returns the packet as the other end receives it.
packet copy_of(packet const& p) { return packet::received({p.bytes().begin(), p.bytes().end()}); }

}  // namespace

TEST_CASE("at most 32 messages are under way without an acknowledgement") {
  end a, b;
  for (int i = 0; i < 100; ++i) a.push(1, 2, body_of(std::to_string(i)));
  std::vector<packet> wire;
  while (auto p = a.pop()) wire.push_back(std::move(*p));
  CHECK(wire.size() == end::credits);
  int acknowledgements = 0;
  for (auto const& p : wire) {
    auto const d = b.accept(copy_of(p));
    REQUIRE(d);
    CHECK(d->context == 1);
    CHECK(d->run == 2);
    if (auto ack = b.acknowledgement()) {
      ++acknowledgements;
      CHECK_FALSE(a.accept(copy_of(*ack)));
    }
  }
  CHECK(acknowledgements == 2);
  int more = 0;
  while (a.pop()) ++more;
  CHECK(more == 32);
}

TEST_CASE("a message is passed on at once unless it lacks credit, is long or follows one that waits") {
  end a(4), b(4);
  std::vector<packet> wire;
  auto const pass = [&](std::string const& text) {
    auto p = a.pass(1, 2, body_of(text));
    if (p) wire.push_back(*std::move(p));
  };
  pass("long one");  // in pieces: the first is passed, the second waits
  CHECK(wire.size() == 1);
  CHECK(a.waiting() == 1);
  pass("x");
  CHECK(wire.size() == 2);  // the second piece
  CHECK(a.waiting() == 1);
  while (auto p = a.pop()) wire.push_back(*std::move(p));
  while (wire.size() < end::credits) pass("y");
  pass("z");
  CHECK(wire.size() == end::credits);
  CHECK(a.waiting() == 1);
  std::string got;
  for (auto const& p : wire)
    if (auto const d = b.accept(copy_of(p))) got += text_of(d->body);
  CHECK(got == "long onex" + std::string(end::credits - 3, 'y'));
}

TEST_CASE("two links carry everything once and in order, through duplicates and pieces") {
  std::mt19937_64 dice(4);
  for (std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1000}, end::default_piece}) {
    end ends[2] = {end(piece), end(piece)};
    std::vector<std::string> sent[2], got[2];
    std::deque<packet> wire[2];
    auto const moves = [&](std::size_t e, bool duplicates) {
      bool moved = false;
      auto const put = [&](packet const& p) {
        moved = true;
        wire[e].push_back(copy_of(p));
        if (duplicates && dice() % 8 == 0) wire[e].push_back(copy_of(p));
      };
      if (auto p = ends[e].pop()) put(*p);
      if (auto p = ends[e].acknowledgement()) put(*p);
      if (wire[e].empty() || dice() % 2 == 0) return moved;
      if (auto d = ends[1 - e].accept(std::move(wire[e].front()))) got[e].push_back(text_of(d->body));
      wire[e].pop_front();
      return true;
    };
    for (int step = 0; step < 5000; ++step) {
      auto const e = static_cast<std::size_t>(dice() % 2);
      if (dice() % 4 == 0) {
        sent[e].emplace_back(dice() % 30, static_cast<char>('a' + dice() % 26));
        ends[e].push(1, 1, body_of(sent[e].back()));
      }
      moves(e, true);
    }
    for (int quiet = 0; quiet < 64;) {
      bool const first = moves(0, false);
      bool const second = moves(1, false);
      quiet = first || second ? 0 : quiet + 1;
    }
    INFO("pieces of " << piece);
    CHECK(got[0] == sent[0]);
    CHECK(got[1] == sent[1]);
  }
}

TEST_CASE("sequence numbers wrap around") {
  // 2^32 messages are too many for a test: the peer's headers say where it is.
  end b;
  std::uint32_t sequence = 0x7ffffff0U;
  auto const arrives = [&](std::uint32_t number) {
    auto p = body_of("x");
    header const h{1, 1, false, number, 0};
    p.prepend(std::as_bytes(std::span(&h, 1)));
    return b.accept(copy_of(p)).has_value();
  };
  CHECK(arrives(sequence));
  CHECK(arrives(0xd0000000U));
  sequence = 0xfffffff0U;
  CHECK(arrives(sequence));
  for (int i = 0; i < 64; ++i) {
    CHECK_FALSE(arrives(sequence));
    CHECK(arrives(++sequence));  // through 0
  }
}

TEST_CASE("a packet too short for a header is refused") {
  end b;
  CHECK_THROWS_AS(b.accept(packet::received(std::vector<std::byte>(5))), skel::protocol_error);
}

TEST_CASE("buffers of large messages are reused for large messages") {
  skel::transport::alone wires;
  auto const give_back = [&](std::size_t bytes) { wires.recycle(std::vector<std::byte>(bytes)); };
  CHECK(wires.buffer(100000).capacity() == 0);
  for (std::size_t const bytes : {100000U, 300000U, 200000U, 10U}) give_back(bytes);
  CHECK(wires.buffer(6).capacity() == 0);  // a small message takes none away
  CHECK(wires.buffer(150000).capacity() == 200000);
  CHECK(wires.buffer().capacity() == 300000);
  give_back(300000);
  auto const grows = wires.buffer(400000);
  CHECK(grows.capacity() == 300000);
  CHECK(grows.empty());
  CHECK(wires.buffer(5000).capacity() == 100000);
  CHECK(wires.buffer(5000).capacity() == 0);
}

TEST_CASE("a shared packet returns its buffer when the last reference is released") {
  std::shared_ptr<packet const> late;
  {
    skel::transport::alone wires;
    auto const first = wires.share(packet::received(std::vector<std::byte>(100000)));
    std::shared_ptr<void const> other = first;
    late = wires.share(packet::received(std::vector<std::byte>(200000, std::byte{7})));
    CHECK(wires.buffer().capacity() == 0);
    std::thread([mine = std::exchange(other, nullptr)]() mutable { mine.reset(); }).join();
    CHECK(wires.buffer().capacity() == 0);
    static_cast<void>(wires.share(packet::received(std::vector<std::byte>(50000))));
    CHECK(wires.buffer().capacity() == 50000);
  }
  CHECK(late->bytes()[199999] == std::byte{7});  // the wires are gone
}

TEST_CASE("large messages share one block, which is reused once all of them are released") {
  std::shared_ptr<std::byte> late;
  {
    skel::transport::arrival_memory memory;
    auto first = memory.take(300000);
    auto const* const begin = first.get();
    auto second = memory.take(300000);
    CHECK(second.get() - begin >= 300000);
    CHECK(second.get() - begin < 300100);
    std::fill_n(second.get(), 300000, std::byte{5});
    auto const huge = memory.take(5000000);  // larger than a block
    std::fill_n(huge.get(), 5000000, std::byte{6});
    first.reset();
    std::vector<std::shared_ptr<std::byte>> others;
    others.reserve(100);
    for (int i = 0; i < 100; ++i) others.push_back(memory.take(1000000));
    for (auto const& o : others) CHECK(o.get() != begin);
    CHECK(second.get()[299999] == std::byte{5});
    CHECK(huge.get()[4999999] == std::byte{6});
    others.clear();
    auto const again = memory.take(100).get();
    CHECK(memory.take(2000000).get() == again);
    late = memory.take(70000);
  }
  std::fill_n(late.get(), 70000, std::byte{7});  // the memory outlives its allocator
}

TEST_CASE("a packet in memory of its own reads like any other and has no buffer to return") {
  auto const memory = std::make_shared<std::array<std::byte, 5>>();
  auto p = packet::arriving({memory, memory->data()}, 5);
  std::ranges::copy(body_of("hello").bytes(), p.data());
  CHECK(text_of(p) == "hello");
  p.drop_front(1);
  CHECK(text_of(p) == "ello");
  auto q = p;
  q.prepend(body_of("j").bytes());
  CHECK(text_of(q) == "jello");
  CHECK(text_of(p) == "ello");
  auto const buffer = std::move(p).release();
  CHECK(buffer.empty());
}
