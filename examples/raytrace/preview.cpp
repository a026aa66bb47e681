#include "preview.hpp"

#include <utility>

#include "skel/error.hpp"

namespace raytrace {

preview::preview(std::string path, writer write, clock::duration interval)
    : path_(std::move(path)), write_(std::move(write)), interval_(interval) {}

bool preview::update(clock::time_point now) {
  if (path_.empty() || (written_at_ && now - *written_at_ < interval_)) return false;
  try {
    rewrite();
  } catch (skel::error const&) {
    if (!written_at_)
      throw;  // the user can correct a bad path; a disk that fills up later must not end the run
  }
  written_at_ = now;
  return true;
}

void preview::finish() {
  if (!path_.empty()) rewrite();
}

void preview::rewrite() {
  skel::atomic_file file(path_);
  write_(file);
  file.commit();
}

}  // namespace raytrace
