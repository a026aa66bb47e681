#include "program/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"

namespace skel::program {

namespace {

[[noreturn]] void fail(std::string const& path, int code) {
  throw usage_error(detail::one_line(path + ": " + std::generic_category().message(code)));
}

}  // namespace

int open_input(std::string const& path) {
  int const file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);  // NOLINT(cppcoreguidelines-pro-type-vararg)
  if (file < 0) fail(path, errno);
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISDIR(status.st_mode)) return file;  // open() takes a folder
  ::close(file);
  fail(path, EISDIR);
}

std::string read_input(std::string const& path) {
  if (auto text = detail::read_file(path)) return std::move(*text);
  fail(path, errno);
}

}  // namespace skel::program
