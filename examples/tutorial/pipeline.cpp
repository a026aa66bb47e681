// A pipeline: hosts read rows of a file in their order, the ranks of their groups process the pieces,
// and the root writes the results in the order of the file.
//     mpiexec -n 4 pipeline
#include <algorithm>
#include <cstdio>
#include <skel/skel.hpp>
#include <vector>

constexpr std::uint64_t rows = 40, width = 64, pieces = 4;

struct smoothing {
  using carried = int;  // nothing is kept from row to row
  using unit = std::vector<int>;
  using packet = std::vector<int>;
  using result = int;
  // The reader. A program would read its file here.
  std::uint64_t read(std::uint64_t number, carried& /*unused*/, unit& row) const {
    row.resize(width);
    for (std::uint64_t i = 0; i < width; ++i) row[i] = static_cast<int>((number * 7919 + i * i) % 1000);
    return pieces;
  }
  packet cut(unit const& row, std::uint64_t first, std::uint64_t count) const {
    auto const begin = row.begin() + static_cast<std::ptrdiff_t>(first * width / pieces);
    return {begin, begin + static_cast<std::ptrdiff_t>(count * width / pieces)};
  }
  // The workers: the median of a piece.
  result process(packet const& p, std::size_t i) const {
    auto const begin = p.begin() + static_cast<std::ptrdiff_t>(i * width / pieces);
    std::vector<int> part(begin, begin + width / pieces);
    std::nth_element(part.begin(), part.begin() + part.size() / 2, part.end());
    return part[part.size() / 2];
  }
};

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) {
    auto const write = [](std::uint64_t row, std::uint64_t piece, int median) {
      std::printf("%llu.%llu %d\n", static_cast<unsigned long long>(row),
                  static_cast<unsigned long long>(piece), median);
    };
    skel::multi_host(ctx, rows, smoothing{}, write);
  });
}
