#include <memory>

#include "skel/gather.hpp"

#ifdef SKEL_COMPILE_FAIL
using part = std::unique_ptr<int>;
#else
using part = int;
#endif

void call(skel::context& ctx) { static_cast<void>(skel::gather(ctx, skel::result<part>{})); }
