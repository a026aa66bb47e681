// An erasure code on a buffer in memory: any four of six shards restore it.
//     shards
#include <cstddef>
#include <cstdio>
#include <skel/skel.hpp>
#include <skel/storage/encode.hpp>
#include <span>
#include <vector>

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) {
    if (!ctx.is_root()) return;
    std::vector<double> state(1'000'000, 1.5);
    auto const buffer = std::as_bytes(std::span(state));
    skel::storage::code const code("ida:4,2");
    auto shards = skel::storage::encode(code, buffer);
    std::printf("%zu bytes in %zu shards of %zu\n", buffer.size(), shards.size(), shards[0].size());
    shards[0].clear();  // two machines are lost
    shards[3].clear();
    auto const again = skel::storage::decode(code, shards, buffer.size());
    bool const same = std::equal(again.begin(), again.end(), buffer.begin(), buffer.end());
    std::printf("restored from 4 of them: %s\n", same ? "the same bytes" : "different");
  });
}
