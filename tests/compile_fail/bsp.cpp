#include <cstdint>
#include <memory>
#include <vector>

#include "mistake.hpp"

namespace bsp {

// A program with, in each section, a mistake in one of these types.
template <class State = int, class Message = int, class Argument = State&>
struct program {
  using state = State;
  using message = Message;
  [[nodiscard]] state begin(int /*rank*/, int /*size*/) const { return {}; }
  bool step(Argument /*s*/, skel::superstep<message>& /*now*/) const { return false; }
};

// error: skel::bsp: the state cannot be saved.
void state_not_sendable(skel::context& ctx) { skel::bsp(ctx, program<MISTAKE(int, std::unique_ptr<int>)>{}); }

// error: skel: this type holds an address (pointer, reference, view, iterator)
void message_is_iterator(skel::context& ctx) {
  skel::bsp(ctx, program<int, MISTAKE(int, std::vector<int>::iterator)>{});
}

// error: skel::bsp: step must take the state by reference
void steps_on_copy(skel::context& ctx) { skel::bsp(ctx, program<int, int, MISTAKE(int&, int)>{}); }

// The rank comes first, then the message.
// error: use of deleted function
void sends_swapped(skel::superstep<double>& now) { MISTAKE(now.send(1, 0.5), now.send(0.5, 1)); }

// error: skel::bsp: the parameter of parallel_for's function cannot hold every index
void loop_narrow_index(skel::superstep<int>& now) {
  now.parallel_for(1000, [](MISTAKE(int, std::uint8_t)) {});
}

}  // namespace bsp
