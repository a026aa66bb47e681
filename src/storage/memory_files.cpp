#include "storage/memory_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "skel/error.hpp"
#include "storage/paths.hpp"

namespace skel::storage {

// In pieces, so that a file that grows is not copied.
struct memory_files::content {
  static constexpr std::size_t piece = std::size_t{1} << 20U;
  std::mutex mutex;
  std::vector<std::vector<std::byte>> pieces;
  std::uint64_t size = 0;

  void append(std::span<std::byte const> bytes) {
    while (!bytes.empty()) {
      if (size == pieces.size() * piece) pieces.emplace_back().reserve(piece);
      auto& last = pieces.back();
      auto const n = std::min(bytes.size(), piece - last.size());
      last.insert(last.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
      bytes = bytes.subspan(n);
      size += n;
    }
  }
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> to) const {
    std::size_t done = 0;
    while (done < to.size() && offset + done < size) {
      auto const& from = pieces[(offset + done) / piece];
      auto const at = (offset + done) % piece;
      auto const n = std::min<std::size_t>(to.size() - done, from.size() - at);
      std::memcpy(to.data() + done, from.data() + at, n);
      done += n;
    }
    return done;
  }
};

class memory_files::open_file final : public file {
 public:
  open_file(std::string path, std::shared_ptr<content> of) : path_(std::move(path)), of_(std::move(of)) {}

  void write(std::span<std::byte const> bytes) override {
    std::lock_guard const lock(of_->mutex);
    try {
      of_->append(bytes);
    } catch (std::bad_alloc const&) {
      throw error(path_ + ": " + std::generic_category().message(ENOMEM));
    }
  }
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> bytes) override {
    std::lock_guard const lock(of_->mutex);
    return of_->read_at(offset, bytes);
  }
  std::uint64_t size() override {
    std::lock_guard const lock(of_->mutex);
    return of_->size;
  }
  void sync() override {}

 private:
  std::string path_;
  std::shared_ptr<content> of_;
};

memory_files::files::iterator memory_files::find(std::string const& path) {
  auto const at = files_.find(path);
  if (at == files_.end()) throw error(path + ": " + std::generic_category().message(ENOENT));
  return at;
}

// Those who have opened the former file keep it.
std::unique_ptr<file> memory_files::create(std::string const& path) {
  std::lock_guard const lock(mutex_);
  auto const made = std::make_shared<content>();
  files_[path] = made;
  return std::make_unique<open_file>(path, made);
}

std::unique_ptr<file> memory_files::open(std::string const& path) {
  std::lock_guard const lock(mutex_);
  return std::make_unique<open_file>(path, find(path)->second);
}

void memory_files::rename(std::string const& from, std::string const& to) {
  std::lock_guard const lock(mutex_);
  auto const at = find(from);
  auto moved = std::move(at->second);
  files_.erase(at);
  files_[to] = std::move(moved);
}

void memory_files::remove(std::string const& path) {
  std::lock_guard const lock(mutex_);
  files_.erase(find(path));
}

std::vector<std::string> memory_files::list(std::string const& directory) {
  std::lock_guard const lock(mutex_);
  auto const prefix = in_directory(directory, "");
  std::vector<std::string> names;
  for (auto at = files_.lower_bound(prefix); at != files_.end() && at->first.starts_with(prefix); ++at)
    names.push_back(at->first.substr(prefix.size()));
  return names;
}

}  // namespace skel::storage
