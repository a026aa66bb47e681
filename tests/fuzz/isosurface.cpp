// libFuzzer: any bytes give a model or an error. If the first byte is odd, the checksums are
// corrected, so that the code behind them is reached.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "fuzz.hpp"
#include "piecewise_model.hpp"
#include "skel/hash.hpp"

namespace {

using bytes = std::vector<std::byte>;

std::uint64_t hash_of(std::uint64_t const* number, std::byte const* data, std::size_t size) {
  skel::xxh3_hasher hasher;
  if (number != nullptr) hasher.update(std::as_bytes(std::span(number, 1)));
  hasher.update({data, size});
  return hasher.value();
}

void put_checksums(bytes& file) {
  if (file.size() < 48) return;
  std::uint64_t nodes[3];
  std::uint32_t per_node = 0;
  std::memcpy(nodes, &file[24], sizeof nodes);
  std::memcpy(&per_node, &file[20], sizeof per_node);
  for (auto const n : nodes)
    if (n > file.size()) return;
  std::size_t at = 48 + 8 * (nodes[0] + nodes[1] + nodes[2]);
  if (at + 8 > file.size()) return;
  auto const head = hash_of(nullptr, file.data(), at);
  std::memcpy(&file[at], &head, sizeof head);
  auto const slice = nodes[0] * nodes[1] * per_node * 8;
  at += 8;
  for (std::uint64_t k = 0; k < nodes[2] && slice < file.size() && at + slice + 8 <= file.size(); ++k) {
    auto const sum = hash_of(&k, &file[at], slice);
    std::memcpy(&file[at + slice], &sum, sizeof sum);
    at += slice + 8;
  }
}

std::string const& path() {
  static std::string const name = [] {
    std::string folder = "/tmp/skel-fuzz-model-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) std::abort();
    return folder + "/model";
  }();
  return name;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size == 0) return 0;
  auto const all = fuzz::input{data, size}.bytes();
  bytes content(all.begin() + 1, all.end());
  if (data[0] % 2 == 1) put_checksums(content);
  int const file = open(path().c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);  // NOLINT
  if (file < 0 || write(file, content.data(), content.size()) != static_cast<ssize_t>(content.size()))
    std::abort();
  close(file);
  fuzz::expect_error_or_result([] {
    isosurface::piecewise_model model(path());
    auto const& c = model.header().coordinates;
    for (double const t : {0.0, 0.5, 1.0}) {
      isosurface::vector3 p{};
      for (std::size_t a = 0; a < 3; ++a)
        p[a] = t == 1 ? c[a].back() : c[a].front() + t * (c[a][1] - c[a].front());
      if (model.contains(p)) static_cast<void>(model.at(p));
    }
  });
  return 0;
}
