// Connections whose end tells of the end of a process: the handshake against strangers, and the news.
#include "transport/idle_connections.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "catch.hpp"

using skel::transport::idle_connections;
using skel::transport::neighbours_of;
using namespace std::chrono_literals;

namespace {

using byte_list = std::vector<std::byte>;
constexpr std::size_t secret_size = sizeof(idle_connections::secret);

// Lets them work until `done()`, at most for 10 s. Returns the ends that `of` reports.
std::vector<int> work(idle_connections& of, std::vector<idle_connections*> const& others,
                      std::function<bool()> const& done) {
  std::vector<int> news;
  for (int i = 0; i < 10000 && !done(); ++i) {
    for (auto* const c : others) CHECK(c->ended().empty());
    auto const more = of.ended();
    news.insert(news.end(), more.begin(), more.end());
    std::this_thread::sleep_for(1ms);
  }
  CHECK(done());
  return news;
}

// Connects to a port of this host; -1 if that fails.
int dial(std::uint16_t port) {
  int const made = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  name.sin_port = port;
  if (::connect(made, reinterpret_cast<sockaddr const*>(&name), sizeof name) == 0) return made;
  ::close(made);
  return -1;
}

// Another program's end of a connection.
class stranger {
 public:
  explicit stranger(int descriptor) : descriptor_(descriptor) {}
  stranger(stranger const&) = delete;
  stranger& operator=(stranger const&) = delete;
  ~stranger() { hang_up(); }

  [[nodiscard]] bool is_connected() const { return descriptor_ >= 0; }
  void send(std::span<std::byte const> what) const {
    (void)::send(descriptor_, what.data(), what.size(), MSG_NOSIGNAL);
  }
  // What comes until it has `most` bytes, or the other end closes the connection, while `of` works.
  [[nodiscard]] byte_list hear(idle_connections& of, std::size_t most = 100) {
    byte_list all;
    for (int i = 0; i < 5000 && all.size() < most && !closed; ++i) {
      CHECK(of.ended().empty());
      std::byte b{};
      auto const n = ::recv(descriptor_, &b, 1, MSG_DONTWAIT);
      if (n == 1)
        all.push_back(b);
      else if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
        closed = true;
      else
        std::this_thread::sleep_for(1ms);
    }
    return all;
  }
  void hang_up(bool in_order = true) {
    if (descriptor_ < 0) return;
    linger const at_once{1, 0};
    if (!in_order) ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    ::close(descriptor_);
    descriptor_ = -1;
  }
  bool closed = false;  // by the other end

 private:
  int descriptor_;
};

byte_list bytes_of(idle_connections::secret const& s) { return {s.begin(), s.end()}; }

byte_list call_of(idle_connections const& of, std::uint32_t rank) {
  auto all = bytes_of(of.own().call);
  auto const number = std::as_bytes(std::span(&rank, 1));
  all.insert(all.end(), number.begin(), number.end());
  return all;
}

// A listener that is not a rank of the job, or pretends to be.
class other_listener {
 public:
  other_listener() : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    REQUIRE(::bind(descriptor_, reinterpret_cast<sockaddr*>(&name), size) == 0);
    REQUIRE(::listen(descriptor_, 8) == 0);
    REQUIRE(::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&name), &size) == 0);
    card.port = name.sin_port;
    card.call.fill(std::byte{1});
    card.answer.fill(std::byte{2});
  }
  other_listener(other_listener const&) = delete;
  other_listener& operator=(other_listener const&) = delete;
  ~other_listener() { ::close(descriptor_); }
  [[nodiscard]] stranger accept() const { return stranger(::accept(descriptor_, nullptr, nullptr)); }
  idle_connections::card card;

 private:
  int descriptor_;
};

std::vector<int> look_for(idle_connections& of, std::chrono::milliseconds time) {
  std::vector<int> news;
  for (auto const end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;) {
    auto const more = of.ended();
    news.insert(news.end(), more.begin(), more.end());
    std::this_thread::sleep_for(1ms);
  }
  return news;
}

}  // namespace

TEST_CASE("the end of a process is known from its connection, unless it leaves on purpose") {
  for (bool const killed : {true, false}) {
    CAPTURE(killed);
    idle_connections here(0);
    here.expect({1});
    auto const card = here.own();
    pid_t const child = ::fork();
    if (child == 0) {
      idle_connections there(1);
      there.call(0, card, true);
      for (int i = 0; i < 10000 && there.open() == 0; ++i) {
        (void)there.ended();
        std::this_thread::sleep_for(1ms);
      }
      if (killed) ::raise(SIGKILL);
      there.leave();
      ::_exit(0);
    }
    int status = 0;
    auto const news = work(here, {}, [&, ended = false]() mutable {
      ended = ended || ::waitpid(child, &status, WNOHANG) == child;
      return ended && here.open() == 0;
    });
    CHECK(WIFSIGNALED(status) == killed);
    CHECK(news == (killed ? std::vector<int>{1} : std::vector<int>{}));
  }
}

TEST_CASE("several ranks connect, and one that leaves is no loss") {
  std::vector<std::unique_ptr<idle_connections>> ranks;
  for (int r = 0; r < 6; ++r) ranks.push_back(std::make_unique<idle_connections>(r));
  for (int r = 0; r < 6; ++r) ranks[static_cast<std::size_t>(r)]->expect({(r + 5) % 6});
  for (int r = 0; r < 6; ++r)
    ranks[static_cast<std::size_t>(r)]->call((r + 1) % 6, ranks[static_cast<std::size_t>((r + 1) % 6)]->own(),
                                             true);
  std::vector<idle_connections*> others;
  for (int r = 1; r < 6; ++r) others.push_back(ranks[static_cast<std::size_t>(r)].get());
  auto const have = [&](int n) {
    return std::ranges::all_of(ranks, [&](auto const& c) { return !c || c->open() >= n; });
  };
  CHECK(work(*ranks[0], others, [&] { return have(2); }).empty());
  ranks[3]->leave();
  CHECK(work(*ranks[0], others, [&] { return ranks[2]->open() == 1 && ranks[4]->open() == 1; }).empty());
  CHECK(ranks[0]->open() == 2);
  others.resize(3);
  ranks[5].reset();  // without a word
  CHECK(work(*ranks[0], others, [&] { return ranks[0]->open() == 1; }) == std::vector<int>{5});
}

TEST_CASE("strangers are refused") {
  bool const patient = GENERATE(true, false);
  idle_connections here(0, patient ? 20s : 300ms);
  here.expect({1, 2});
  auto const refused = [&](byte_list const& what) {
    stranger s(dial(here.own().port));
    REQUIRE(s.is_connected());
    CHECK(s.hear(here, secret_size) == bytes_of(here.own().answer));
    s.send(what);
    CHECK(s.hear(here).empty());
    return s.closed && here.open() == 0;
  };
  auto wrong = call_of(here, 1);
  SECTION("with a wrong secret") {
    for (std::size_t const i : {0U, 7U, 15U}) {
      auto one_bit = wrong;
      one_bit[i] ^= std::byte{16};
      CHECK(refused(one_bit));
    }
    CHECK(refused(byte_list(secret_size + 4)));
    auto answer = bytes_of(here.own().answer);  // sent back
    answer.resize(secret_size + 4, std::byte{1});
    CHECK(refused(answer));
  }
  SECTION("with a rank that is not expected") {
    CHECK(refused(call_of(here, 0)));
    CHECK(refused(call_of(here, 3)));
    CHECK(refused(call_of(here, 0xffffffff)));
  }
  if (!patient) {
    SECTION("if they say nothing, after some time") { CHECK(refused({})); }
    SECTION("if they say too little, after some time") { CHECK(refused({wrong.begin(), wrong.end() - 1})); }
    return;
  }
  SECTION("if they hang up in the middle") {
    for (bool const in_order : {true, false}) {
      stranger s(dial(here.own().port));
      s.send(std::span(wrong).first(19));
      CHECK(look_for(here, 20ms).empty());
      s.hang_up(in_order);
      CHECK(look_for(here, 20ms).empty());
    }
  }
  SECTION("with random bytes") {
    std::mt19937 dice(1);
    for (int i = 0; i < 300; ++i) {
      stranger s(dial(here.own().port));
      if (!s.is_connected()) break;  // no longer listening
      byte_list noise(dice() % 60);
      for (auto& b : noise) b = static_cast<std::byte>(dice());
      if (dice() % 2 == 0) std::copy_n(wrong.begin(), std::min<std::size_t>(noise.size(), 15), noise.begin());
      for (auto rest = std::span<std::byte const>(noise); !rest.empty();) {
        auto const n = 1 + dice() % rest.size();
        s.send(rest.first(n));
        rest = rest.subspan(n);
        CHECK(here.ended().empty());
      }
    }
  }
  SECTION("many at once, and the right one is accepted later") {
    std::vector<std::unique_ptr<stranger>> crowd;
    for (int i = 0; i < 100; ++i) {
      crowd.push_back(std::make_unique<stranger>(dial(here.own().port)));
      CHECK(here.ended().empty());
    }
    crowd.clear();
    CHECK(look_for(here, 20ms).empty());
  }
  CHECK(here.open() == 0);
}

TEST_CASE("the right caller is accepted, also if it is slow, but only once") {
  idle_connections here(0);
  here.expect({1, 2});
  stranger first(dial(here.own().port));
  CHECK(first.hear(here, secret_size) == bytes_of(here.own().answer));
  for (auto const b : call_of(here, 1)) {
    CHECK(here.open() == 0);
    first.send({&b, 1});
    CHECK(look_for(here, 2ms).empty());
  }
  CHECK(first.hear(here, 1).size() == 1);
  CHECK(here.open() == 1);
  stranger again(dial(here.own().port));
  again.send(call_of(here, 1));
  CHECK(again.hear(here) == bytes_of(here.own().answer));
  CHECK(again.closed);
  stranger second(dial(here.own().port));
  second.send(call_of(here, 2));
  CHECK(second.hear(here, secret_size + 1).size() == secret_size + 1);
  CHECK(here.open() == 2);
  CHECK_FALSE(stranger(dial(here.own().port)).is_connected());  // all are here

  first.hang_up();
  CHECK(work(here, {}, [&] { return here.open() == 1; }) == std::vector<int>{1});
}

TEST_CASE("a connection that breaks, or on which anything is sent, proves nothing") {
  for (bool const breaks : {true, false}) {
    CAPTURE(breaks);
    idle_connections here(0);
    here.expect({1});
    stranger other(dial(here.own().port));
    other.send(call_of(here, 1));
    CHECK(other.hear(here, secret_size + 1).size() == secret_size + 1);
    if (!breaks) other.send(byte_list(5, std::byte{77}));
    other.hang_up(!breaks);
    CHECK(work(here, {}, [&] { return here.open() == 0; }).empty());
  }
}

TEST_CASE("a rank tells its secret only to the rank that it calls") {
  other_listener const trap;
  auto const right = bytes_of(trap.card.answer);
  struct script {
    byte_list first, then;
    std::size_t told;  // bytes that the caller sends
  };
  byte_list wrong = right;
  wrong.back() ^= std::byte{1};
  byte_list const half(right.begin(), right.begin() + 8);
  for (auto const& [first, then, told] :
       {script{wrong, {}, 0}, script{half, {}, 0}, script{byte_list(40, std::byte{9}), {}, 0},
        script{right, byte_list{std::byte{0}}, secret_size + 4}, script{right, {}, secret_size + 4}}) {
    CAPTURE(first.size(), then.size(), told);
    idle_connections here(5, 300ms);
    here.call(1, trap.card, true);
    auto s = trap.accept();
    s.send(first);
    auto const heard = s.hear(here, told > 0 ? told : 100);
    CHECK(heard.size() == told);
    if (told > 0) CHECK(std::equal(trap.card.call.begin(), trap.card.call.end(), heard.begin()));
    s.send(then);
    if (!then.empty()) CHECK(s.hear(here).empty());
    s.hang_up();
    CHECK(look_for(here, 20ms).empty());
    CHECK(here.open() == 0);
  }
}

TEST_CASE("a rank that cannot be called is left out") {
  idle_connections here(0, 100ms);
  here.call(1, {}, true);
  idle_connections::card nobody;
  {
    other_listener const gone;
    nobody = gone.card;
  }
  here.call(2, nobody, true);
  CHECK(look_for(here, 150ms).empty());
  CHECK(here.open() == 0);
}

TEST_CASE("groups of ranks form a ring, in which every rank has neighbours on both sides") {
  std::mt19937 dice(2);
  for (int round = 0; round < 300; ++round) {
    int const ranks = 1 + static_cast<int>(dice() % 40);
    int const most = 1 + static_cast<int>(dice() % 9);
    std::vector<int> groups, lowest(static_cast<std::size_t>(most), -1);
    for (int r = 0; r < ranks; ++r) {
      auto& first = lowest[dice() % static_cast<unsigned>(most)];
      if (first < 0) first = r;
      groups.push_back(first);
    }
    std::map<int, int> sizes;
    for (int const g : groups) ++sizes[g];
    int largest = 0;
    for (auto const& [g, size] : sizes) largest = std::max(largest, size);
    CAPTURE(groups);
    for (int r = 0; r < ranks; ++r) {
      auto const own = neighbours_of(r, groups);
      std::set<int> met;
      for (int const to : own.calls) {
        CHECK(neighbours_of(to, groups).expects.contains(r));
        met.insert(groups[static_cast<std::size_t>(to)]);
      }
      for (int const from : own.expects) {
        CHECK(neighbours_of(from, groups).calls.contains(r));
        met.insert(groups[static_cast<std::size_t>(from)]);
      }
      CHECK_FALSE(met.contains(groups[static_cast<std::size_t>(r)]));
      CHECK(met.size() == std::min<std::size_t>(2, sizes.size() - 1));
      CHECK(static_cast<int>(own.calls.size() + own.expects.size()) <= 2 * largest);
    }
  }
  std::vector<int> hosts;  // 1,000 of 8 ranks each
  for (int r = 0; r < 8000; ++r) hosts.push_back(r - r % 8);
  for (int const r : {0, 4001, 7999}) {
    auto const own = neighbours_of(r, hosts);
    CHECK(own.calls == std::set<int>{(r + 8) % 8000});
    CHECK(own.expects == std::set<int>{(r + 7992) % 8000});
  }
}
