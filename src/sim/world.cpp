#include "world.hpp"

#include <array>
#include <simgrid/s4u.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/context_access.hpp"
#include "engine/run_body.hpp"
#include "simgrid_network.hpp"
#include "skel/error.hpp"

namespace skel::sim {

namespace {

namespace s4u = simgrid::s4u;

world* the_world = nullptr;

// Uses latency and bandwidth as given: by default SimGrid multiplies them by factors that fit TCP.
std::array settings = {"skel", "--log=root.thresh:critical", "--cfg=network/model:CM02",
                       "--cfg=network/crosstraffic:0", "--cfg=network/TCP-gamma:1e12"};

// Ranks whose machines have the same name share a host.
std::vector<detail::host_place> places_of(std::vector<machine> const& machines) {
  std::unordered_map<std::string_view, int> sizes;
  std::vector<detail::host_place> places;
  places.reserve(machines.size());
  for (auto const& m : machines) places.push_back({sizes[m.name]++, 0});
  for (std::size_t r = 0; r < machines.size(); ++r) places[r].size = sizes[machines[r].name];
  return places;
}

}  // namespace

world* current_world() { return the_world; }

world::world(platform const& where, run_options const& options)
    : where_(where), options_(options), places_(places_of(where.machines)) {}

bool world::dead(int rank) const {
  return ports_[static_cast<std::size_t>(rank)]->dies_at() <= s4u::Engine::get_clock();
}

void world::fail(std::string why) {
  if (result_.failure.empty()) result_.failure = std::move(why);
}

port& world::current(char const* caller) {
  auto const found = by_fiber_.find(s4u::this_actor::get_pid());
  if (found == by_fiber_.end())
    throw usage_error(std::string(caller) + ": called outside of the ranks of a simulation");
  return *found->second;
}

message& world::new_message(std::size_t bytes) {
  ++result_.packets;
  result_.bytes += bytes;
  if (unused_.empty()) return messages_.emplace_back();
  auto* const m = unused_.back();
  unused_.pop_back();
  return *m;
}

void world::recycle(message& m) { unused_.push_back(&m); }

// Runs one rank, on its fiber.
void world::live(port& me, std::function<void(context&)> const& body) {
  by_fiber_[s4u::this_actor::get_pid()] = &me;
  me.open();
  try {
    context_options o;
    o.threads = 1;
    o.trace.on = options_.trace;
    o.suspect_after_seconds = options_.suspect_after_seconds;
    auto const rank = static_cast<std::size_t>(me.rank());
    auto const name = where_.machines[rank].name;
    auto const engine = std::make_shared<detail::engine>(std::make_unique<wires>(me), std::move(o), name);
    engine->place.on_host = places_[rank];
    me.attach(engine.get());
    context ctx = detail::context_access::make(engine);
    // Only the root prints a line: if it is lost, every survivor of a real run would print the same.
    auto const end = detail::run_body(ctx, [&](context& own) { return body(own), 0; });
    int const code = engine->say_farewell(end, me.rank() == 0 ? options_.program : std::string()).value_or(0);
    if (me.rank() == 0) result_.exit_code = code;
  } catch (std::exception const&) {
    // The rank was killed, or the simulation has failed. On the root the exit code is still 1.
  }
  result_.seconds = s4u::Engine::get_clock();  // without messages that nobody waits for
  me.close();
}

outcome world::run(std::function<void(context&)> const& body) {
  int argc = static_cast<int>(settings.size());
  std::vector<char*> argv;
  argv.reserve(settings.size() + 1);
  for (char const* text : settings) argv.push_back(const_cast<char*>(text));
  argv.push_back(nullptr);
  s4u::Engine simgrid(&argc, argv.data());
  auto const hosts = build_network(where_.wires, where_.machines.size());
  for (std::size_t r = 0; r < hosts.size(); ++r)
    ports_.push_back(std::make_unique<port>(*this, where_.machines[r], static_cast<int>(r)));
  for (auto const& f : where_.failures) at(f.rank).die_at(f.at_seconds);
  result_.exit_code = 1;
  s4u::Engine::on_deadlock_cb([this] { fail("deadlock: all ranks wait, and nothing is under way"); });
  the_world = this;
  for (std::size_t r = 0; r < hosts.size(); ++r)
    s4u::Actor::create("rank" + std::to_string(r), hosts[r],
                       [this, &me = *ports_[r], &body] { live(me, body); });
  simgrid.run();
  the_world = nullptr;
  if (at(0).dies_at() <= result_.seconds && result_.exit_code != 0) fail("the root (rank 0) was lost");
  if (failed()) result_.exit_code = 1;
  return result_;
}

}  // namespace skel::sim
