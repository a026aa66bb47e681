// A user's first program: the same source runs under mpiexec and alone. The argument: how many ranks are
// expected.
#include <skel/skel.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    if (argc > 1 && std::to_string(ctx.size()) != argv[1]) throw skel::error("not so many ranks");
    std::vector<long> squares(100);
    skel::farm(
        ctx, skel::indices(squares.size()), [](std::uint64_t i) { return static_cast<long>(i * i); },
        skel::schedule::guided{}, skel::into(squares));
    if (ctx.is_root() && squares.at(99) != 99 * 99) throw skel::error("wrong result");
  });
}
