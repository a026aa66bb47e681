#include "storage/claim.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/format.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"
#include "storage/paths.hpp"

namespace skel::storage {

namespace {

using std::chrono::steady_clock;
constexpr auto claim_beat = std::chrono::seconds(2);
constexpr auto claim_patience = 3 * claim_beat;
// A job that is started again at once may meet the last process of its predecessor.
constexpr auto last_breath = std::chrono::seconds(3);
// It has had time already: the others have agreed to go on without it.
constexpr auto last_breath_left_out = std::chrono::milliseconds(300);
constexpr auto look_again = std::chrono::milliseconds(100);

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

// "HOST, process 12, since 2026-05-04 12:00:00"
std::string own_words() {
  std::time_t const now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 32> since{};
  std::strftime(since.data(), since.size(), "%F %T", &local);
  return detail::format("{}, since {}", claim_owner(), since.data());
}

class claim_file {
 public:
  explicit claim_file(int value) : value_(value) {}
  ~claim_file() {
    if (value_ >= 0) ::close(value_);
  }
  claim_file(claim_file&& from) noexcept : value_(std::exchange(from.value_, -1)) {}
  claim_file(claim_file const&) = delete;
  claim_file& operator=(claim_file const&) = delete;
  claim_file& operator=(claim_file&&) = delete;
  [[nodiscard]] int value() const { return value_; }

 private:
  int value_;
};

// What another process has written into the file, and when it last touched it.
struct claim_state {
  std::string words;
  timespec touched{};
  [[nodiscard]] bool same_as(claim_state const& other) const {
    return words == other.words && touched.tv_sec == other.touched.tv_sec &&
           touched.tv_nsec == other.touched.tv_nsec;
  }
};

// Opens the file anew, since a network file system asks its server then. Empty: there is none.
std::optional<claim_state> read_claim(std::string const& path) {
  claim_file const f(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (f.value() < 0 || ::fstat(f.value(), &status) != 0) return {};
  std::array<char, 1000> text{};
  auto const n = ::pread(f.value(), text.data(), text.size(), 0);
  return claim_state{{text.data(), static_cast<std::size_t>(n > 0 ? n : 0)}, status.st_mtim};
}

[[noreturn]] void refuse_claim(std::string const& directory, std::string const& object,
                               std::string const& owner) {
  auto const what = object.empty() ? "job uses this store" : "process writes \"" + object + "\"";
  throw usage_error(detail::format("{}: another {}: {}; wait until it ends, or use another {}", directory,
                                   what, owner.empty() ? "it has just begun" : detail::one_line(owner),
                                   object.empty() ? "store" : "name"));
}

// Whether the file at `path` is still the one that was opened.
bool is_at(int file, std::string const& path) {
  struct stat mine {
  }, there{};
  return ::fstat(file, &mine) == 0 && ::stat(path.c_str(), &there) == 0 && mine.st_ino == there.st_ino &&
         mine.st_dev == there.st_dev;
}

class held_claim {
 public:
  held_claim(std::string path, claim_file file) : path_(std::move(path)), file_(std::move(file)) {
    touching_ = std::jthread([this](std::stop_token const& stop) { touch(stop); });
  }
  // Without its name first: a process that has opened the file meanwhile sees that it is another one.
  ~held_claim() { release(); }
  held_claim(held_claim const&) = delete;
  held_claim& operator=(held_claim const&) = delete;
  void release() const {
    if (!taken_over()) ::unlink(path_.c_str());
  }
  [[nodiscard]] bool taken_over() const { return !is_at(file_.value(), path_); }

 private:
  void touch(std::stop_token const& stop) const {
    std::mutex mutex;
    std::condition_variable_any wakes;
    std::unique_lock lock(mutex);
    while (!wakes.wait_for(lock, stop, claim_beat, [] { return false; }) && !stop.stop_requested())
      ::futimens(file_.value(), nullptr);
  }

  std::string path_;
  claim_file file_;
  std::jthread touching_;
};

// Those of this process to whole directories.
struct own_claims {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<held_claim const>> by_path;
  static own_claims& all() {
    static own_claims of_process;
    return of_process;
  }
};

std::string path_of_claim(std::string const& directory, std::string const& object = {}) {
  return in_directory(directory, (object.empty() ? "" : '.' + object) + ".skel-claim");
}

}  // namespace

std::string claim_owner() { return detail::format("{}, process {}", host_name(), ::getpid()); }

void release_claims() {
  auto& own = own_claims::all();
  std::lock_guard const lock(own.mutex);
  for (auto const& [path, claim] : own.by_path)
    if (auto const c = claim.lock()) c->release();
}

void check_claim(std::string const& path) {
  auto const directory = directory_of(path);
  auto& own = own_claims::all();
  std::lock_guard const lock(own.mutex);
  auto const at = own.by_path.find(path_of_claim(directory));
  if (at == own.by_path.end()) return;
  if (auto const c = at->second.lock(); c && c->taken_over())
    throw error(directory + ": another process has taken over this store");
}

std::shared_ptr<void const> claim_directory(std::string const& directory, std::string const& object,
                                            std::string const& lost_owner) {
  auto const path = path_of_claim(directory, object);
  auto const is_lost = [&](claim_state const& c) {
    return !lost_owner.empty() && c.words.starts_with(lost_owner + ", ");
  };
  for (auto const begin = steady_clock::now();;) {
    claim_file file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (file.value() < 0) return {};
    bool const taken = ::flock(file.value(), LOCK_EX | LOCK_NB) != 0;
    bool const knows_locks = !taken || errno == EWOULDBLOCK;
    if (taken && knows_locks) {
      auto const owner = read_claim(path).value_or(claim_state{});
      if (steady_clock::now() < begin + (is_lost(owner) ? last_breath_left_out : last_breath))
        std::this_thread::sleep_for(look_again);
      else if (!is_lost(owner) || (::unlink(path.c_str()) != 0 && errno != ENOENT))
        refuse_claim(directory, object, owner.words);
      continue;  // a lost owner keeps the lock of a file without a name
    }
    if (!is_at(file.value(), path)) continue;  // its owner has just ended
    auto const before = read_claim(path).value_or(claim_state{});
    bool const owner_is_dead = is_lost(before) || before.words.empty() ||
                               (knows_locks && before.words.starts_with(host_name() + ", "));
    for (auto const until = steady_clock::now() + claim_patience;
         !owner_is_dead && steady_clock::now() < until;) {
      std::this_thread::sleep_for(look_again);
      auto const now = read_claim(path);
      if (!now || now->words.empty()) break;
      if (!now->same_as(before)) refuse_claim(directory, object, now->words);
    }
    if (!is_at(file.value(), path)) continue;
    auto const words = own_words();
    if (::ftruncate(file.value(), 0) != 0 ||
        ::pwrite(file.value(), words.data(), words.size(), 0) != static_cast<ssize_t>(words.size()))
      return {};            // a full disk is reported when the first checkpoint is saved
    ::fsync(file.value());  // other hosts see it
    auto held = std::make_shared<held_claim const>(path, std::move(file));
    if (object.empty()) {
      auto& own = own_claims::all();
      std::lock_guard const lock(own.mutex);
      own.by_path[path] = held;
    }
    return held;
  }
}

}  // namespace skel::storage
