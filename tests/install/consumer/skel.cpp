// A user's first program: the same source runs under mpiexec and alone.
#include <skel/skel.hpp>
#include <vector>

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) {
    std::vector<long> squares(100);
    skel::farm(
        ctx, skel::indices(squares.size()), [](std::uint64_t i) { return static_cast<long>(i * i); },
        skel::guided{}, skel::into(squares));
    if (ctx.is_root() && squares.at(99) != 99 * 99) throw skel::error("wrong result");
  });
}
