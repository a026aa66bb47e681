// Replaces itself by a program that dies at a chosen time: die_after MILLISECONDS PROGRAM
// ARGUMENTS... The timer survives execve, and its signal kills like SIGKILL.
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: die_after MILLISECONDS PROGRAM ARGUMENTS...\n");
    return 2;
  }
  long const microseconds = std::strtol(argv[1], nullptr, 10) * 1000 + 1;  // 0 would disable the timer
  itimerval const timer{{0, 0}, {microseconds / 1'000'000, microseconds % 1'000'000}};
  setitimer(ITIMER_REAL, &timer, nullptr);
  execvp(argv[2], argv + 2);
  std::perror(argv[2]);
  return 2;
}
