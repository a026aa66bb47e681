// Tests the word that the kernel marks when a process ends. It is read as another rank reads it.
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <string>

#include "catch.hpp"
#include "mpi/host_processes.hpp"

namespace {

// A process that owns a word until this one says how it ends.
class owner {
 public:
  owner() {
    int says[2], hears[2];
    REQUIRE((::pipe(says) == 0 && ::pipe(hears) == 0));
    pid_ = ::fork();
    if (pid_ == 0) {
      char ends = 0;
      {
        skel::detail::owned_word const word;
        int const file = word.file();
        static_cast<void>(!::write(says[1], &file, sizeof file));
        static_cast<void>(!::read(hears[0], &ends, 1));
      }
      static_cast<void>(!::write(says[1], &ends, 1));  // the word is left
      static_cast<void>(!::read(hears[0], &ends, 1));
      ::_exit(0);
    }
    heard_from_ = says[0];
    tells_ = hears[1];
    int file = -1;
    REQUIRE(::read(heard_from_, &file, sizeof file) == sizeof file);
    REQUIRE(file >= 0);
    int const opened =
        ::open(("/proc/" + std::to_string(pid_) + "/fd/" + std::to_string(file)).c_str(), O_RDONLY);
    REQUIRE(opened >= 0);
    page_ = static_cast<char const*>(::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, opened, 0));
    REQUIRE(page_ != MAP_FAILED);
  }
  owner(owner const&) = delete;
  owner& operator=(owner const&) = delete;

  void kill() const {
    ::kill(pid_, SIGKILL);
    REQUIRE(::waitpid(pid_, nullptr, 0) == pid_);
  }
  void leave_word() const {
    REQUIRE(::write(tells_, "x", 1) == 1);
    char c = 0;
    REQUIRE(::read(heard_from_, &c, 1) == 1);
  }
  [[nodiscard]] bool is_marked() const {
    std::uint32_t word = 0;
    __atomic_load(reinterpret_cast<std::uint32_t const*>(page_ + sizeof(void*)), &word, __ATOMIC_RELAXED);
    return (word & FUTEX_OWNER_DIED) != 0;
  }

 private:
  pid_t pid_ = 0;
  int heard_from_ = -1, tells_ = -1;
  char const* page_ = nullptr;
};

}  // namespace

TEST_CASE("the word of a process that is killed is marked") {
  owner const process;
  CHECK_FALSE(process.is_marked());
  process.kill();
  CHECK(process.is_marked());
}

TEST_CASE("a word that its process has left is not marked, whatever happens then") {
  owner const process;
  process.leave_word();
  process.kill();
  CHECK_FALSE(process.is_marked());
}
