#include "port.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstring>
#include <simgrid/Exception.hpp>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <string>

#include "engine/engine.hpp"
#include "world.hpp"

namespace skel::sim {

namespace {

namespace s4u = simgrid::s4u;

// Gives each fiber its own state of exceptions, which the C++ runtime keeps per thread.
// Must enclose every call that may switch to another fiber. The exceptions being handled belong to a fiber,
// but the runtime keeps them per thread (Itanium C++ ABI, 2.2.2: a pointer and a count). No exception may
// leave the scope.
class exceptions_of_this_fiber {
 public:
  exceptions_of_this_fiber() : shared_(abi::__cxa_get_globals()) {
    std::memcpy(&own_, shared_, size);
    std::memset(shared_, 0, size);
  }
  ~exceptions_of_this_fiber() { std::memcpy(shared_, &own_, size); }
  exceptions_of_this_fiber(exceptions_of_this_fiber const&) = delete;
  exceptions_of_this_fiber& operator=(exceptions_of_this_fiber const&) = delete;

 private:
  struct globals {
    void* caught;
    unsigned uncaught;
  };
  static constexpr std::size_t size = sizeof(void*) + sizeof(unsigned);
  void* shared_;
  globals own_{};
};

double clock() { return s4u::Engine::get_clock(); }

// The precision of SimGrid. A rank never waits for less, so that the clock advances.
constexpr double instant = 1e-9;

void pay(double seconds) {
  if (seconds <= 0) return;
  exceptions_of_this_fiber const keep;
  s4u::this_actor::sleep_for(seconds);
}

}  // namespace

port::port(world& w, machine const& m, int rank)
    : world_(w), machine_(m), rank_(rank), mailbox_(s4u::Mailbox::by_name("rank" + std::to_string(rank))) {}

void port::open() {
  exceptions_of_this_fiber const keep;
  mailbox_->set_receiver(s4u::Actor::self());
  pending_.resize(receives);
  for (std::size_t i = 0; i < receives; ++i) listen(i);
}

void port::close() {
  engine_ = nullptr;
  ended_ = true;
  exceptions_of_this_fiber const keep;
  for (auto& p : pending_) p->cancel();
  pending_.clear();
  mailbox_->set_receiver(nullptr);
  // SimGrid cancels what a fiber that ends has not delivered.
  while (!sent_.empty()) forget_oldest();
}

void port::listen(std::size_t slot) { pending_[slot] = mailbox_->get_async<message>(&slots_[slot]); }

void port::check_alive() const {
  if (world_.failed() || world_.dead(rank_)) throw killed();
}

void port::send(int to, transport::packet what) {
  pay(world_.where().send_overhead_seconds);
  // A rank that has ended receives no more messages, like a dead rank.
  auto& target = world_.at(to);
  if (world_.failed() || world_.dead(rank_) || world_.dead(to) || target.ended_) return;
  auto& m = world_.new_message(what.size());
  m.from = rank_;
  m.number = ++target.from_[rank_].sent;
  m.accepted = m.forgotten = false;
  m.what = std::move(what);
  exceptions_of_this_fiber const keep;
  sent_.push_back({target.mailbox_->put_async(&m, m.what.size()), &m, &target});
  while (!sent_.empty() && (sent_.front().what->accepted || sent_.front().to->ended_)) forget_oldest();
  while (sent_.size() > most_in_transit) forget_oldest();
}

// Waits until it has arrived.
void port::forget_oldest() {
  auto const [comm, what, to] = sent_.front();
  sent_.pop_front();
  try {
    if (what->accepted || !to->ended_) comm->wait();
  } catch (simgrid::Exception const&) {
    // The receiver has ended meanwhile.
  }
  what->forgotten = true;
  if (what->accepted || to->ended_) world_.recycle(*what);
}

std::optional<transport::transport::arrival> port::receive() {
  check_alive();
  if (inbox_.empty()) return std::nullopt;
  auto a = std::move(inbox_.front());
  inbox_.pop_front();
  pay(world_.where().receive_overhead_seconds);
  return a;
}

// Delivers packets from one rank in the order of sending, even if they overtook each other.
void port::accept(message& m) {
  auto& c = from_[m.from];
  if (world_.dead(m.from)) {
    // The sender died while the message was in transit.
  } else if (m.number != c.delivered + 1) {
    c.early.emplace(m.number, std::move(m.what));
  } else {
    inbox_.push_back({m.from, std::move(m.what)});
    for (++c.delivered; !c.early.empty() && c.early.begin()->first == c.delivered + 1; ++c.delivered) {
      inbox_.push_back({m.from, std::move(c.early.begin()->second)});
      c.early.erase(c.early.begin());
    }
  }
  m.what = transport::packet::received({});  // without a buffer
  m.accepted = true;
  if (m.forgotten) world_.recycle(m);
}

// Accepts one packet at a time: SimGrid's test for several keeps those that it has found and becomes slower
// with their number.
bool port::sleep_until(double time) {
  check_alive();
  if (inbox_.empty()) {
    exceptions_of_this_fiber const keep;
    auto const at = s4u::Comm::wait_any_for(pending_, std::max(instant, time - clock()));
    if (at >= 0) {
      accept(*slots_[static_cast<std::size_t>(at)]);
      listen(static_cast<std::size_t>(at));
    }
  }
  check_alive();
  return !inbox_.empty();
}

void port::compute(double seconds) {
  check_alive();
  double end = machine_.finish_time(clock(), seconds);
  while (end - clock() >= instant) {
    bool const arrived = sleep_until(std::min(end, std::max(engine_->driver().next_tick(), clock() + 1e-6)));
    if (!arrived && clock() < engine_->driver().next_tick()) continue;
    double const before = clock();
    engine_->helper().serve();
    // The time for serving is lost for the task.
    if (double const after = clock(); after > before)
      end = machine_.finish_time(after, machine_.work_done(before, end));
  }
}

int wires::size() const { return port_.where().size(); }
double wires::now() const { return clock(); }
void wires::wait(double seconds) { port_.sleep_until(clock() + seconds); }

// Returns the power that a short probe would measure.
std::optional<double> wires::power() const {
  constexpr double probe_seconds = 1e-3;
  return port_.processor().work_done(clock(), clock() + probe_seconds) / probe_seconds;
}

}  // namespace skel::sim
