#include "read_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace skel::detail {

std::optional<std::string> read_file(std::string const& path, std::size_t most) {
  int const file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);  // NOLINT(cppcoreguidelines-pro-type-vararg)
  if (file < 0) return std::nullopt;
  std::string text;
  while (text.size() <= most) {
    auto const had = text.size();
    text.resize(had + std::min(std::size_t{1} << 16, most + 1 - had));
    auto const got = ::read(file, text.data() + had, text.size() - had);
    auto const code = errno;
    text.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got > 0 || (got < 0 && code == EINTR)) continue;
    ::close(file);
    errno = code;
    return got == 0 ? std::optional(std::move(text)) : std::nullopt;
  }
  ::close(file);
  return text;
}

}  // namespace skel::detail
