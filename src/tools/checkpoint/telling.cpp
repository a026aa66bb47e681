#include "tools/checkpoint/telling.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "base/text.hpp"
#include "storage/shard_store.hpp"

namespace skel::storage {

namespace {

constexpr unsigned all_permissions = 0777;

std::vector<std::string> paths_of(stored_generation const& g) {
  std::vector<std::string> all;
  for (auto const& [number, part] : g.parts) std::ranges::move(paths_of(part), std::back_inserter(all));
  return all;
}

unsigned common_mode(std::vector<std::string> const& paths) {
  unsigned mode = all_permissions;
  bool any = false;
  struct stat status {};
  for (auto const& path : paths) {
    if (::stat(path.c_str(), &status) != 0) continue;
    mode &= status.st_mode;
    any = true;
  }
  constexpr unsigned usual = 0666;
  return any ? mode : usual;
}

}  // namespace

void warn(std::string const& problem) {
  fmt::print(stderr, "{}: {}\n", program_name, skel::detail::one_line(problem));
}

std::string bytes_in_words(double bytes) {
  for (auto const* const unit : {"B", "kB", "MB", "GB"}) {
    if (bytes < 1000) return fmt::format("{:.4g} {}", bytes, unit);
    bytes /= 1000;
  }
  return fmt::format("{:.4g} TB", bytes);
}

same_mode::same_mode(std::vector<std::string> const& existing)
    : mode_(common_mode(existing)), umask_before_(::umask(all_permissions)) {
  ::umask(umask_before_ | (all_permissions & ~mode_));
}
same_mode::same_mode(stored_object const& o) : same_mode(paths_of(o)) {}
same_mode::same_mode(stored_generation const& g) : same_mode(paths_of(g)) {}
same_mode::~same_mode() { ::umask(umask_before_); }

// A file system without permissions refuses, and needs none.
void same_mode::apply(std::vector<std::string> const& created) const {
  for (auto const& path : created) ::chmod(path.c_str(), mode_);
}

}  // namespace skel::storage
