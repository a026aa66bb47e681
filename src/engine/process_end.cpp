#include "process_end.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "environment.hpp"

namespace skel::detail {

namespace {

constexpr char const* crashed = "!";  // in place of a host

std::optional<std::string> name_of_notes() {
  char const* const name = std::getenv("SKEL_EXIT_STATUS_FILE");
  if (name == nullptr || *name == '\0') return std::nullopt;
  return std::string(name) + ".ends";
}

// Since this host has started.
std::optional<std::uint64_t> out_of_memory_kills() {
  std::ifstream file("/proc/vmstat");
  std::uint64_t n = 0;
  for (std::string what; file >> what >> n;)
    if (what == "oom_kill") return n;
  return std::nullopt;
}

// After the handler, the instruction that caused one of the first four causes it again.
constexpr std::array fatal{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGXFSZ};

// For the handler, which may call next to nothing, and for comparison.
struct {
  int notes = -1;
  std::array<char, 16> line{};
  std::size_t length = 0;
  std::array<struct sigaction, fatal.size()> before{};
  std::optional<std::uint64_t> kills;
} at_start;

extern "C" void note_crash(int signal, siginfo_t* info, void* /*context*/) {
  bool const from_others = info->si_code == SI_USER && info->si_pid != getpid();
  if (!from_others) static_cast<void>(!::write(at_start.notes, at_start.line.data(), at_start.length));
  for (std::size_t i = 0; i < fatal.size(); ++i) {
    if (fatal[i] != signal) continue;
    ::sigaction(signal, &at_start.before[i], nullptr);
    if (i >= 4 || info->si_code <= 0) static_cast<void>(std::raise(signal));
  }
}

}  // namespace

void note_end_of(int rank) {
  auto const name = name_of_notes();
  if (name) at_start.notes = ::open(name->c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (at_start.notes < 0) return;  // this host does not see the file
  auto const who = std::to_string(rank) + " ", runs = who + system_host_name() + "\n",
             ends = who + crashed + "\n";
  static_cast<void>(!::write(at_start.notes, runs.data(), runs.size()));
  at_start.length = ends.copy(at_start.line.data(), at_start.line.size());
  at_start.kills = out_of_memory_kills();
  struct sigaction note {};
  note.sa_sigaction = note_crash;
  note.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (std::size_t i = 0; i < fatal.size(); ++i) ::sigaction(fatal[i], &note, &at_start.before[i]);
}

process_end how_ended(int rank) {
  auto const name = name_of_notes();
  if (!name) return process_end::unknown;
  std::ifstream file(*name);
  auto const here = system_host_name();
  bool was_here = false;
  int who = 0;
  for (std::string where; file >> who >> where;) {
    if (who != rank) continue;
    if (where == crashed) return process_end::by_itself;
    was_here = was_here || where == here;
  }
  if (!was_here || !at_start.kills) return process_end::unknown;
  return out_of_memory_kills() == at_start.kills ? process_end::from_outside : process_end::by_itself;
}

}  // namespace skel::detail
