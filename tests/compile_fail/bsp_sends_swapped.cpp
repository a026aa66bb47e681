// Swapped arguments of send: the rank comes first, then the message.
#include "skel/bsp.hpp"

void swap(skel::superstep<double>& now) {
#ifdef SKEL_COMPILE_FAIL
  now.send(0.5, 1);
#else
  now.send(1, 0.5);
#endif
}
