#include "idle_connections.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <span>

namespace skel::transport {

namespace {

using clock = std::chrono::steady_clock;
constexpr std::byte welcome{1}, goodbye{2};
constexpr std::size_t most_strangers = 64;  // callers that have not proved yet who they are

idle_connections::secret make_secret() {
  idle_connections::secret made{};
  std::random_device random;
  for (auto& b : made) b = static_cast<std::byte>(random() & 0xff);
  return made;
}

// Takes as long for any two.
bool is_same(idle_connections::secret const& a, std::byte const* b) {
  std::byte difference{0};
  for (auto const x : a) difference |= x ^ *b++;
  return difference == std::byte{0};
}

std::array<std::uint32_t, idle_connections::most_addresses> own_addresses() {
  std::array<std::uint32_t, idle_connections::most_addresses> found{};
  std::size_t n = 0;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return found;
  for (auto const* a = all; a != nullptr && n < found.size(); a = a->ifa_next)
    if (a->ifa_addr != nullptr && a->ifa_addr->sa_family == AF_INET && (a->ifa_flags & IFF_UP) != 0 &&
        (a->ifa_flags & IFF_LOOPBACK) == 0) {
      sockaddr_in ip{};
      std::memcpy(&ip, a->ifa_addr, sizeof ip);
      found.at(n++) = ip.sin_addr.s_addr;
    }
  ::freeifaddrs(all);
  return found;
}

sockaddr_in socket_name(std::uint32_t address, std::uint16_t port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = address;
  name.sin_port = port;
  return name;
}

int open_socket() { return ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

// These few bytes fit into the buffer of any connection.
bool send_bytes(int descriptor, std::span<std::byte const> what) {
  return ::send(descriptor, what.data(), what.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(what.size());
}

}  // namespace

idle_connections::idle_connections(int self, std::chrono::milliseconds patience)
    : self_(self), patience_(patience), events_(::epoll_create1(EPOLL_CLOEXEC)) {
  listener_ = open_socket();
  auto name = socket_name(htonl(INADDR_ANY), 0);
  socklen_t size = sizeof name;
  auto* const any = reinterpret_cast<sockaddr*>(&name);
  epoll_event event{.events = EPOLLIN, .data = {.fd = listener_}};
  bool const listens = listener_ >= 0 && ::bind(listener_, any, size) == 0 &&
                       ::listen(listener_, SOMAXCONN) == 0 && ::getsockname(listener_, any, &size) == 0 &&
                       ::epoll_ctl(events_, EPOLL_CTL_ADD, listener_, &event) == 0;
  listens_until_ = clock::now() + patience_;
  if (listens)
    own_ = {make_secret(), make_secret(), own_addresses(), name.sin_port};
  else
    stop_listening();
}

idle_connections::~idle_connections() {
  close_all();
  if (events_ >= 0) ::close(events_);
}

void idle_connections::stop_listening() {
  if (listener_ >= 0) ::close(std::exchange(listener_, -1));
}

void idle_connections::add(int descriptor, connection c) {
  c.until = clock::now() + patience_;
  epoll_event event{.events = EPOLLIN, .data = {.fd = descriptor}};
  if (::epoll_ctl(events_, EPOLL_CTL_ADD, descriptor, &event) == 0)
    connections_.insert_or_assign(descriptor, c);
  else
    ::close(descriptor);
}

void idle_connections::close(int descriptor) {
  connections_.erase(descriptor);
  ::close(descriptor);
}

void idle_connections::call(int rank, card const& of, bool same_host) {
  if (of.port == 0) return;
  std::set<std::uint32_t> addresses(of.addresses.begin(), of.addresses.end());
  if (same_host) addresses.insert(htonl(INADDR_LOOPBACK));
  addresses.erase(0);
  for (auto const address : addresses) {  // at once: the first that leads to the rank is used
    int const descriptor = open_socket();
    if (descriptor < 0) return;
    auto const name = socket_name(address, of.port);
    if (::connect(descriptor, reinterpret_cast<sockaddr const*>(&name), sizeof name) != 0 &&
        errno != EINPROGRESS)
      ::close(descriptor);
    else
      add(descriptor, {.at = stage::calling, .rank = rank, .call = of.call, .answer = of.answer});
  }
}

void idle_connections::expect(std::set<int> ranks) {
  expected_ = std::move(ranks);
  if (expected_.empty()) stop_listening();
}

int idle_connections::open() const {
  return static_cast<int>(
      std::ranges::count(connections_, stage::complete, [](auto const& c) { return c.second.at; }));
}

void idle_connections::accept_all() {
  for (;;) {
    int const descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) return;
    auto const strangers =
        std::ranges::count(connections_, stage::called, [](auto const& c) { return c.second.at; });
    if (static_cast<std::size_t>(strangers) < most_strangers && send_bytes(descriptor, own_.answer))
      add(descriptor, {.at = stage::called});
    else
      ::close(descriptor);
  }
}

std::vector<int> idle_connections::ended() {
  std::vector<int> ranks;
  std::array<epoll_event, 64> some;
  int const n = ::epoll_wait(events_, some.data(), static_cast<int>(some.size()), 0);
  for (int i = 0; i < n; ++i) {
    int const descriptor = some[static_cast<std::size_t>(i)].data.fd;
    auto const c = connections_.find(descriptor);
    if (descriptor == listener_)
      accept_all();
    else if (c != connections_.end() && !read(descriptor, c->second, ranks))
      close(descriptor);
  }
  drop_late();
  return ranks;
}

void idle_connections::drop_late() {
  if (listener_ < 0 && static_cast<std::size_t>(open()) == connections_.size()) return;
  auto const now = clock::now();
  if (now >= listens_until_) stop_listening();
  for (auto it = connections_.begin(); it != connections_.end();) {
    auto const next = std::next(it);
    if (it->second.at != stage::complete && now >= it->second.until) close(it->first);
    it = next;
  }
}

// Returns whether to keep the connection.
bool idle_connections::read(int descriptor, connection& c, std::vector<int>& ranks) {
  for (;;) {
    auto const wanted = c.at == stage::calling  ? sizeof(secret)
                        : c.at == stage::called ? c.in.size()
                                                : std::size_t{1};
    auto const n = ::recv(descriptor, c.in.data() + c.arrived, wanted - c.arrived, 0);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) {
      if (c.at == stage::complete) ranks.push_back(c.rank);
      return false;
    }
    c.arrived += static_cast<std::size_t>(n);
    if (c.arrived < wanted) continue;
    c.arrived = 0;
    if (!advance(descriptor, c)) return false;
  }
}

// All bytes of a stage have arrived.
bool idle_connections::advance(int descriptor, connection& c) {
  auto const number = static_cast<std::uint32_t>(self_);
  switch (c.at) {
    case stage::calling:
      if (!is_same(c.answer, c.in.data())) return false;
      std::ranges::copy(c.call, c.in.begin());
      std::memcpy(c.in.data() + sizeof(secret), &number, sizeof number);
      c.at = stage::agreed;
      return send_bytes(descriptor, c.in);
    case stage::called: {
      std::uint32_t caller = 0;
      std::memcpy(&caller, c.in.data() + sizeof(secret), sizeof caller);
      if (!is_same(own_.call, c.in.data()) || expected_.erase(static_cast<int>(caller)) == 0) return false;
      if (expected_.empty()) stop_listening();
      c.rank = static_cast<int>(caller);
      c.at = stage::complete;
      return send_bytes(descriptor, {&welcome, 1});
    }
    case stage::agreed:
      if (c.in[0] != welcome) return false;
      c.at = stage::complete;
      close_incomplete(c.rank);
      return true;
    case stage::complete:  // it leaves on purpose
      return false;
  }
  return false;
}

// Another address led to the rank first.
void idle_connections::close_incomplete(int rank) {
  std::erase_if(connections_, [&](auto const& c) {
    bool const other = c.second.rank == rank && c.second.at != stage::complete;
    if (other) ::close(c.first);
    return other;
  });
}

void idle_connections::leave() {
  for (auto const& [descriptor, c] : connections_)
    if (c.at == stage::complete) static_cast<void>(send_bytes(descriptor, {&goodbye, 1}));
  close_all();
}

void idle_connections::close_all() {
  stop_listening();
  for (auto const& [descriptor, c] : connections_) ::close(descriptor);
  connections_.clear();
}

neighbours neighbours_of(int rank, std::vector<int> const& groups) {
  std::map<int, std::vector<int>> members;
  for (std::size_t r = 0; r < groups.size(); ++r) members[groups[r]].push_back(static_cast<int>(r));
  neighbours found;
  if (members.size() < 2) return found;
  // Every rank of the smaller of two groups has as many connections as one of the larger, or several.
  auto const join = [&](std::vector<int> const& callers, std::vector<int> const& called) {
    for (std::size_t k = 0; k < std::max(callers.size(), called.size()); ++k) {
      int const from = callers[k % callers.size()], to = called[k % called.size()];
      if (from == rank) found.calls.insert(to);
      if (to == rank) found.expects.insert(from);
    }
  };
  auto const own = members.find(groups[static_cast<std::size_t>(rank)]);
  auto const last = std::prev(members.end());
  bool const two = members.size() == 2;  // no ring
  if (own != last)
    join(own->second, std::next(own)->second);
  else if (!two)
    join(own->second, members.begin()->second);
  if (own != members.begin())
    join(std::prev(own)->second, own->second);
  else if (!two)
    join(last->second, own->second);
  return found;
}

}  // namespace skel::transport
