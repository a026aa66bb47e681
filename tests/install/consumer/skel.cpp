// A user's first program. The same binary runs under mpiexec and alone; the argument is the
// expected number of ranks.
#include <skel/program.hpp>
#include <skel/skel.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    skel::program::session const self(ctx, "consumer", argc, argv);
    if (argc > 1 && std::to_string(ctx.size()) != argv[1]) throw skel::error("wrong number of ranks");
    std::vector<long> squares(100);
    skel::farm(
        ctx, skel::indices(squares.size()), [](std::uint64_t i) { return static_cast<long>(i * i); },
        skel::schedule::guided{}, skel::into(squares));
    if (ctx.is_root() && squares.at(99) != 99 * 99) throw skel::error("wrong result");
  });
}
