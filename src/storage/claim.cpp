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
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/format.hpp"
#include "base/one_line.hpp"
#include "skel/error.hpp"
#include "storage/paths.hpp"

namespace skel::storage {

namespace {

using std::chrono::steady_clock;
constexpr auto claim_beat = std::chrono::seconds(2);
constexpr auto claim_patience = 3 * claim_beat;
// A job that is started again at once may meet the last process of its predecessor.
constexpr auto last_breath = std::chrono::seconds(3);
// One that was left out has had the time in which the others agreed on that.
constexpr auto last_breath_left_out = std::chrono::milliseconds(300);
constexpr auto look_again = std::chrono::milliseconds(100);

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

// "host, process 12, since 2026-05-04 12:00:00"
std::string own_words() {
  std::time_t const now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 32> since{};
  std::strftime(since.data(), since.size(), "%F %T", &local);
  return detail::format("{}, process {}, since {}", host_name(), ::getpid(), since.data());
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
  ~held_claim() {
    if (is_at(file_.value(), path_)) ::unlink(path_.c_str());  // otherwise it was taken over
  }
  held_claim(held_claim const&) = delete;
  held_claim& operator=(held_claim const&) = delete;

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

}  // namespace

std::shared_ptr<void const> claim_directory(std::string const& directory, std::string const& object,
                                            bool takes_over) {
  auto const path = in_directory(directory, (object.empty() ? "" : '.' + object) + ".skel-claim");
  for (auto const end = steady_clock::now() + (takes_over ? last_breath_left_out : last_breath);;) {
    claim_file file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (file.value() < 0) return {};
    bool const taken = ::flock(file.value(), LOCK_EX | LOCK_NB) != 0;
    bool const knows_locks = !taken || errno == EWOULDBLOCK;
    if (taken && knows_locks) {
      if (steady_clock::now() < end)
        std::this_thread::sleep_for(look_again);
      else if (takes_over)
        ::unlink(path.c_str());  // its owner keeps the lock of a file without a name
      else
        refuse_claim(directory, object, read_claim(path).value_or(claim_state{}).words);
      continue;
    }
    if (!is_at(file.value(), path)) continue;  // its owner has just ended
    auto const before = read_claim(path).value_or(claim_state{});
    bool const owner_is_dead =
        takes_over || before.words.empty() || (knows_locks && before.words.starts_with(host_name() + ", "));
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
    return std::make_shared<held_claim const>(path, std::move(file));
  }
}

}  // namespace skel::storage
