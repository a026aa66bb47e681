// The threads of a rank are fibres, too, and every clock shows virtual time: the linker leads calls of the
// standard library's primitives here (CMakeLists.txt). Outside of a job they are the real ones.
#include <pthread.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "disks.hpp"
#include "world.hpp"

namespace {

using storm::nanoseconds;

// The world, if one of its ranks runs.
storm::world* running_world() {
  auto* const w = storm::current_world();
  return w != nullptr && w->current() >= 0 ? w : nullptr;
}

// In place of the system's number of a thread, which is an address.
constexpr std::uint64_t is_fibre = std::uint64_t{0x5709} << 48U;
std::uint64_t& number_of(std::thread& t) { return *reinterpret_cast<std::uint64_t*>(&t); }
storm::world::thread_number fibre_of(std::thread& t) { return number_of(t) & ~is_fibre; }
bool is_of_world(std::thread& t) { return (number_of(t) & is_fibre) == is_fibre; }

int waiting_for_locks = 0;

void relock(storm::world& w, pthread_mutex_t* m) {
  while (::pthread_mutex_trylock(m) == EBUSY) {
    ++waiting_for_locks;
    w.await(m, storm::never);
    --waiting_for_locks;
  }
}

}  // namespace

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's names

int __real_pthread_mutex_lock(pthread_mutex_t* m);
int __wrap_pthread_mutex_lock(pthread_mutex_t* m) {
  auto* const w = running_world();
  if (w == nullptr) return __real_pthread_mutex_lock(m);
  relock(*w, m);
  return 0;
}

int __real_pthread_mutex_unlock(pthread_mutex_t* m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t* m) {
  int const result = __real_pthread_mutex_unlock(m);
  if (waiting_for_locks > 0)
    if (auto* const w = running_world()) w->notify(m);
  return result;
}

int __real_pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock,
                                  timespec const* until);
int __wrap_pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock,
                                  timespec const* until) {
  auto* const w = running_world();
  if (w == nullptr) return __real_pthread_cond_clockwait(c, m, clock, until);
  __wrap_pthread_mutex_unlock(m);
  auto const time =
      static_cast<nanoseconds>(until->tv_sec) * 1'000'000'000 + static_cast<nanoseconds>(until->tv_nsec);
  bool const notified = w->await(c, time);
  relock(*w, m);
  w->check_alive();
  return notified ? 0 : ETIMEDOUT;
}

// std::condition_variable::wait, notify_all and notify_one
void __real__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(std::condition_variable* c,
                                                                      std::unique_lock<std::mutex>& lock);
void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(std::condition_variable* c,
                                                                      std::unique_lock<std::mutex>& lock) {
  auto* const w = running_world();
  if (w == nullptr) return __real__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(c, lock);
  auto* const m = lock.mutex()->native_handle();
  __wrap_pthread_mutex_unlock(m);
  w->await(c->native_handle(), storm::never);
  relock(*w, m);
  if (w->is_first_thread()) w->check_alive();  // the others are told to end
}
void __real__ZNSt18condition_variable10notify_allEv(std::condition_variable* c);
void __wrap__ZNSt18condition_variable10notify_allEv(std::condition_variable* c) {
  if (auto* const w = running_world()) return w->notify(c->native_handle());
  __real__ZNSt18condition_variable10notify_allEv(c);
}
void __real__ZNSt18condition_variable10notify_oneEv(std::condition_variable* c);
void __wrap__ZNSt18condition_variable10notify_oneEv(std::condition_variable* c) {
  if (auto* const w = running_world()) return w->notify(c->native_handle());
  __real__ZNSt18condition_variable10notify_oneEv(c);
}

// std::thread: begin, join, detach
void __real__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
    std::thread* t, std::unique_ptr<std::thread::_State> state, void (*needed)());
void __wrap__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
    std::thread* t, std::unique_ptr<std::thread::_State> state, void (*needed)()) {
  auto* const w = running_world();
  if (w == nullptr)
    return __real__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
        t, std::move(state), needed);
  auto const what = std::shared_ptr<std::thread::_State>(std::move(state));
  number_of(*t) = is_fibre | w->begin_thread([what] { what->_M_run(); });
}
void __real__ZNSt6thread4joinEv(std::thread* t);
void __wrap__ZNSt6thread4joinEv(std::thread* t) {
  if (!is_of_world(*t)) return __real__ZNSt6thread4joinEv(t);
  storm::current_world()->join(fibre_of(*t));
  number_of(*t) = 0;
}
void __real__ZNSt6thread6detachEv(std::thread* t);
void __wrap__ZNSt6thread6detachEv(std::thread* t) {
  if (!is_of_world(*t)) return __real__ZNSt6thread6detachEv(t);
  number_of(*t) = 0;
}

// The state of a future: _M_futex_wait_until, _M_futex_wait_until_steady and _M_futex_notify_all
using whole_seconds = std::chrono::seconds;
using rest = std::chrono::nanoseconds;
bool __real__ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
    void* self, unsigned* address, unsigned value, bool limited, whole_seconds s, rest ns);
bool __wrap__ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
    void* self, unsigned* address, unsigned value, bool limited, whole_seconds s, rest ns) {
  auto* const w = running_world();
  if (w == nullptr)
    return __real__ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
        self, address, value, limited, s, ns);
  if (*address != value) return true;
  auto const until = limited ? static_cast<nanoseconds>((s + ns).count()) : storm::never;
  return w->await(address, until) || w->now() < until;
}
bool __real__ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
    void* self, unsigned* address, unsigned value, bool limited, whole_seconds s, rest ns);
bool __wrap__ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
    void* self, unsigned* address, unsigned value, bool limited, whole_seconds s, rest ns) {
  if (running_world() == nullptr)
    return __real__ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
        self, address, value, limited, s, ns);
  return __wrap__ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
      self, address, value, limited, s, ns);
}
void __real__ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj(unsigned* address);
void __wrap__ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj(unsigned* address) {
  if (auto* const w = running_world()) return w->notify(address);
  __real__ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj(address);
}

// std::chrono::steady_clock::now. What waits by looking at the clock again and again sees it move.
std::chrono::steady_clock::time_point __real__ZNSt6chrono3_V212steady_clock3nowEv();
std::chrono::steady_clock::time_point __wrap__ZNSt6chrono3_V212steady_clock3nowEv() {
  auto* const w = running_world();
  if (w == nullptr) return __real__ZNSt6chrono3_V212steady_clock3nowEv();
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(w->look_at_clock()));
}

// std::random_device
unsigned __real__ZNSt13random_device9_M_getvalEv(std::random_device* d);
unsigned __wrap__ZNSt13random_device9_M_getvalEv(std::random_device* d) {
  if (auto* const w = running_world()) return static_cast<unsigned>(w->draw_number() >> 32U);
  return __real__ZNSt13random_device9_M_getvalEv(d);
}

// A rank that ends its process (engine/exit_status.hpp) ends its fibre.
[[noreturn]] void __real__exit(int code);
[[noreturn]] void __wrap__exit(int code);
void __wrap__exit(int code) {
  if (auto* const w = running_world()) w->exit(code);
  __real__exit(code);
}

// skel::storage::real_file_system, skel::storage::claim_owner, skel::detail::available_memory
skel::storage::file_system& __real__ZN4skel7storage16real_file_systemEv();
skel::storage::file_system& __wrap__ZN4skel7storage16real_file_systemEv() {
  auto* const w = running_world();
  return w != nullptr ? w->files() : __real__ZN4skel7storage16real_file_systemEv();
}
std::string __real__ZN4skel7storage11claim_ownerB5cxx11Ev();
std::string __wrap__ZN4skel7storage11claim_ownerB5cxx11Ev() {
  auto* const w = running_world();
  return w != nullptr ? storm::owner_of_claims(w->current())
                      : __real__ZN4skel7storage11claim_ownerB5cxx11Ev();
}
std::uint64_t __real__ZN4skel6detail16available_memoryEv();
std::uint64_t __wrap__ZN4skel6detail16available_memoryEv() {
  return running_world() != nullptr ? std::uint64_t{1} << 30U : __real__ZN4skel6detail16available_memoryEv();
}

// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
}
