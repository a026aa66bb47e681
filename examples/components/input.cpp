#include "input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "skel/error.hpp"

namespace skel::components {

void input::closer::operator()(gzFile_s* file) const { gzclose(file); }

input::input(std::string path) : path_(std::move(path)) {
  auto const refuse = [&](int code) { throw usage_error(fmt::format("{}: {}", path_, std::strerror(code))); };
  int const descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);  // NOLINT: O_RDONLY takes no mode
  if (descriptor < 0) refuse(errno);
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    refuse(EISDIR);
  }
  file_.reset(gzdopen(descriptor, "rb"));
  if (!file_) {
    ::close(descriptor);
    refuse(ENOMEM);
  }
  gzbuffer(file_.get(), 1U << 18);
}

std::size_t input::read(std::span<std::byte> to) {
  std::size_t done = 0;
  while (done < to.size()) {
    auto const most = static_cast<unsigned>(std::min<std::size_t>(to.size() - done, 1U << 30));
    int const got = gzread(file_.get(), to.data() + done, most);
    int code = Z_OK;
    char const* const text = gzerror(file_.get(), &code);
    position_ += got > 0 ? static_cast<std::uint64_t>(got) : 0;
    if (code == Z_ERRNO) throw usage_error(fmt::format("{}: {}", path_, std::strerror(errno)));
    if (code == Z_BUF_ERROR) fail("the gzip file is truncated");
    if (code != Z_OK || got < 0) {  // zlib puts "<fd:3>: " in front
      std::string_view const what(text);
      fail(fmt::format("the gzip file is damaged ({})",
                       what.substr(std::min(what.size(), what.find(": ") + 2))));
    }
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::string input::begins_with(std::size_t size) {
  std::string head(size, '\0');
  head.resize(read(std::as_writable_bytes(std::span(head))));
  if (gzrewind(file_.get()) != 0)
    throw usage_error(fmt::format("{}: cannot be read twice; not a file?", path_));
  position_ = 0;
  return head;
}

void input::fail_at(std::uint64_t at, std::string const& text) const {
  throw usage_error(fmt::format("{}: at byte {}: {}", path_, at, text));
}

}  // namespace skel::components
