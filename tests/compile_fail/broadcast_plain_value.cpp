// A value to broadcast that every rank has made.
#include <string>

#include "skel/broadcast.hpp"

void f(skel::context& ctx) {
  std::string const text = "text";
#ifdef SKEL_COMPILE_FAIL
  skel::broadcast(ctx, text);
#else
  static_cast<void>(skel::broadcast(ctx, skel::on_root([&] { return text; })));
#endif
}
