#include "read_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

namespace skel::detail {

std::optional<std::string> read_file(std::string const& path, std::size_t most) {
  struct close_file {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::unique_ptr<std::FILE, close_file> file(std::fopen(path.c_str(), "rbe"));
  if (!file) return std::nullopt;
  std::string text;
  while (text.size() <= most) {
    constexpr std::size_t step = std::size_t{1} << 16;
    auto const had = text.size();
    auto const wanted = std::min(step, most + 1 - had);
    text.resize(had + wanted);
    auto const got = std::fread(text.data() + had, 1, wanted, file.get());
    text.resize(had + got);
    if (got < wanted) break;
  }
  if (std::ferror(file.get()) == 0) return text;
  int const why = errno;
  file.reset();
  errno = why;
  return std::nullopt;
}

}  // namespace skel::detail
